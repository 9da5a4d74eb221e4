"""Everything that the pages show, read from the published copy in few large queries."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from warehouse import gates
from warehouse.database import Connection
from warehouse.explain import Pages
from warehouse.gates import Result
from warehouse.reports import (
    cheapest,
    claim_costs,
    claims,
    compute,
    coverage,
    explained,
    indices,
    marts,
    moves,
    prices,
    runs,
    wording,
)
from warehouse.reports.explained import Explained
from warehouse.reports.marts import Build, Row, grouped
from warehouse.reports.scope import WHOLE, Scope
from warehouse.reports.wording import Names

Rows = list[Row]


@dataclass(frozen=True)
class Ledger:
    """What is in the published copy, as rows under the keys that pages are made for."""

    build: Build | None
    names: Names
    kinds: tuple[str, ...]
    """Kinds of snapshot behind the prices."""
    moved_days: tuple[date, date] | None
    moves: Rows
    changes: Rows
    last_change: date | None
    index: dict[Any, Rows]
    index_levels: dict[Any, Row]
    index_quarters: dict[Any, Rows]
    units: Rows
    unit_quarters: Rows
    deflator: Row | None
    claims: Rows
    claimed_llama: Rows
    claimed_since: Rows
    published: Rows
    prices_by_segment: dict[Any, Rows]
    prices_by_model: dict[Any, Rows]
    prices_by_accelerator: dict[Any, Rows]
    prices_by_provider: dict[Any, Rows]
    spans_by_accelerator: dict[Any, Rows]
    spans_by_provider: dict[Any, Rows]
    newest_prices: dict[Any, Row]
    cheapest: Rows
    offers_by_accelerator: dict[Any, Rows]
    offers_by_provider: dict[Any, Rows]
    run_facts: dict[Any, Row]
    as_run: dict[Any, Rows]
    frontier: dict[Any, Rows]
    run_costs_today: dict[Any, Rows]
    sources: Rows
    failures: Rows
    left_out: Rows
    without_price: Rows
    unknown_spellings: Rows
    overlaps: Rows
    explained: Explained
    gate_words: list[Result]
    """What this build was published with."""
    drift: Rows

    @property
    def accelerators(self) -> list[str]:
        """Those that have a page: that had a price once, or an offer that counts."""
        return sorted({*self.prices_by_segment, *self.offers_by_accelerator, *self.spans_by_accelerator})

    @property
    def providers(self) -> list[str]:
        """Those that have a page."""
        return sorted({*self.spans_by_provider, *self.offers_by_provider})


def read(connection: Connection, scope: Scope = WHOLE, pages: Pages | None = None) -> Ledger:
    """Read it all, or what the scope leaves; ``pages`` are what the archive has of a snapshot."""
    clip = scope.clipped
    spans = prices.provider_spans(connection, scope)
    by_provider = clip(prices.by_provider(connection))
    offers = scope.of_parts(cheapest.every_offer(connection))
    with runs.costs_as_run(connection):
        as_run, costs_today = runs.as_run(connection), runs.today(connection)
    kinds = marts.fetch(
        connection,
        "SELECT DISTINCT unnest(source_kinds) AS kind FROM prices_daily ORDER BY kind",
        needs=["prices_daily"],
    )
    days = moves.span(connection, scope.since)
    with indices.index_days(connection):
        moved = [] if days is None else scope.of_parts(moves.by_accelerator(connection, *days))
        index = clip(indices.by_accelerator(connection))
        index_levels = {row["accelerator"]: row for row in indices.newest(connection)}
        index_quarters = grouped(indices.quarters(connection), "accelerator")
    as_run_by_run = grouped(clip(scope.of_runs(as_run)), "run")
    frontier = grouped(clip(scope.of_runs(runs.frontier(connection))), "run")
    newest_prices = {row["accelerator"]: row for row in scope.of_parts(prices.newest_prices(connection))}
    return Ledger(
        build=marts.newest_build(connection),
        names=wording.names(connection),
        kinds=tuple(row["kind"] for row in kinds),
        moved_days=days,
        moves=moved,
        changes=[] if days is None else scope.of_parts(moves.changes(connection, days[0])),
        last_change=moves.last_change(connection),
        index=grouped(index, "accelerator"),
        index_levels=index_levels,
        index_quarters=index_quarters,
        units=scope.since_only(compute.by_unit(connection)),
        unit_quarters=compute.quarters(connection),
        deflator=compute.deflator(connection),
        claims=claims.claims(connection),
        claimed_llama=claim_costs.llama(connection),
        claimed_since=claim_costs.since(connection),
        published=claims.published(connection),
        prices_by_segment=grouped(clip(prices.by_segment(connection)), "accelerator"),
        prices_by_model=grouped(clip(prices.by_pricing_model(connection)), "accelerator"),
        prices_by_accelerator=grouped(by_provider, "accelerator"),
        prices_by_provider=grouped(by_provider, "provider"),
        spans_by_accelerator=grouped(spans, "accelerator"),
        spans_by_provider=grouped(spans, "provider"),
        newest_prices=newest_prices,
        cheapest=scope.of_parts(cheapest.by_accelerator(connection)),
        offers_by_accelerator=grouped(offers, "accelerator"),
        offers_by_provider=grouped(offers, "provider"),
        run_facts={row["run"]: row for row in scope.of_runs(runs.facts(connection))},
        as_run=as_run_by_run,
        frontier=frontier,
        run_costs_today=grouped(scope.of_runs(costs_today), "run"),
        sources=coverage.sources(connection),
        failures=coverage.failures(connection),
        left_out=coverage.left_out(connection),
        without_price=coverage.without_price(connection),
        unknown_spellings=coverage.unknown_spellings(connection),
        overlaps=coverage.overlaps(connection),
        explained=explained.explained(
            connection,
            explained.newest_questions(as_run_by_run, frontier),
            [(key, runs.FRONTIER_BASIS, row["day"]) for key, row in newest_prices.items()],
            pages,
        ),
        gate_words=gates.words(connection, ("warn", "info")),
        drift=coverage.drift(connection),
    )
