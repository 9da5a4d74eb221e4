"""Everything that the pages show, read from the published copy in few large queries."""

from dataclasses import dataclass
from typing import Any

from warehouse.database import Connection
from warehouse.reports import cheapest, claims, coverage, marts, prices, runs, wording
from warehouse.reports.marts import Build, Row, grouped
from warehouse.reports.wording import Names

Rows = list[Row]


@dataclass(frozen=True)
class Ledger:
    """What is in the published copy, as rows under the keys that pages are made for."""

    build: Build | None
    names: Names
    kinds: tuple[str, ...]
    """Kinds of snapshot behind the prices."""
    claims: Rows
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

    @property
    def accelerators(self) -> list[str]:
        """Those that have a page: that had a price once, or an offer that counts."""
        return sorted({*self.prices_by_segment, *self.offers_by_accelerator, *self.spans_by_accelerator})

    @property
    def providers(self) -> list[str]:
        """Those that have a page."""
        return sorted({*self.spans_by_provider, *self.offers_by_provider})


def read(connection: Connection) -> Ledger:
    """Read it all."""
    spans = prices.provider_spans(connection)
    by_provider = prices.by_provider(connection)
    offers = cheapest.every_offer(connection)
    with runs.costs_as_run(connection):
        as_run, costs_today = runs.as_run(connection), runs.today(connection)
    kinds = marts.fetch(
        connection,
        "SELECT DISTINCT unnest(source_kinds) AS kind FROM prices_daily ORDER BY kind",
        needs=["prices_daily"],
    )
    return Ledger(
        build=marts.newest_build(connection),
        names=wording.names(connection),
        kinds=tuple(row["kind"] for row in kinds),
        claims=claims.claims(connection),
        published=claims.published(connection),
        prices_by_segment=grouped(prices.by_segment(connection), "accelerator"),
        prices_by_model=grouped(prices.by_pricing_model(connection), "accelerator"),
        prices_by_accelerator=grouped(by_provider, "accelerator"),
        prices_by_provider=grouped(by_provider, "provider"),
        spans_by_accelerator=grouped(spans, "accelerator"),
        spans_by_provider=grouped(spans, "provider"),
        newest_prices={row["accelerator"]: row for row in prices.newest_prices(connection)},
        cheapest=cheapest.by_accelerator(connection),
        offers_by_accelerator=grouped(offers, "accelerator"),
        offers_by_provider=grouped(offers, "provider"),
        run_facts={row["run"]: row for row in runs.facts(connection)},
        as_run=grouped(as_run, "run"),
        frontier=grouped(runs.frontier(connection), "run"),
        run_costs_today=grouped(costs_today, "run"),
        sources=coverage.sources(connection),
        failures=coverage.failures(connection),
        left_out=coverage.left_out(connection),
        without_price=coverage.without_price(connection),
        unknown_spellings=coverage.unknown_spellings(connection),
    )
