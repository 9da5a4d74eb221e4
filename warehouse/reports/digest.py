"""What a week's letter says, as facts: what moved, what is cheapest, what the runs cost, what is missing. ``letter`` puts it into words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from warehouse.database import Connection
from warehouse.reports import cheapest, indices, marts, moves, wording
from warehouse.reports.marts import Build, Row, fetch
from warehouse.reports.prices import ASKED_ABOUT
from warehouse.reports.runs import FRONTIER_BASIS, REFERENCE_RUNS
from warehouse.reports.scope import WHOLE, Scope
from warehouse.reports.wording import Names

COLUMNS = (
    "subject", "key", "name", "measure", "value", "unit", "value_before", "change", "basis", "detail", "n_providers", "status", "since_day", "day",
)  # fmt: skip


@dataclass(frozen=True)
class Digest:
    """The facts of one span of days."""

    build: Build | None
    names: Names
    days: tuple[date, date] | None
    """The day that is compared with, and the newest."""
    is_week: bool
    moves: list[Row]
    """Of every accelerator, also of those of which nothing moved."""
    last_change: date | None
    cheapest: list[Row]
    costs: list[Row]
    """Of every run on both days: on its cheapest part, on firm evidence."""
    missing: list[Row]
    """Sources whose newest collection gave nothing."""
    has_fixtures: bool


def digest(connection: Connection, scope: Scope = WHOLE) -> Digest:
    """Read the facts from the published copy."""
    days = moves.span(connection, scope.since)
    with indices.index_days(connection):
        moved = [] if days is None else scope.of_parts(moves.by_accelerator(connection, *days))
    wanted = ASKED_ABOUT if scope.accelerators is None else scope.accelerators
    fixtures = "SELECT 1 FROM offers_current WHERE source_kind = 'fixture' AND index_eligible LIMIT 1"
    return Digest(
        build=marts.newest_build(connection),
        names=wording.names(connection),
        days=days,
        is_week=scope.since is None,
        moves=moved,
        last_change=moves.last_change(connection),
        cheapest=[row for row in cheapest.by_accelerator(connection) if row["accelerator"] in wanted],
        costs=[]
        if days is None
        else _costs(connection, days, REFERENCE_RUNS if scope.runs is None else tuple(scope.runs)),
        missing=_missing(connection),
        has_fixtures=bool(fetch(connection, fixtures, needs=["offers_current"])),
    )


def _costs(connection: Connection, days: tuple[date, date], runs: tuple[str, ...]) -> list[Row]:
    return fetch(
        connection,
        """
        SELECT
            n.run, n.accelerator, n.cost_usd_low, n.cost_usd_mid, n.cost_usd_high, n.price_status, n.n_providers,
            b.accelerator AS accelerator_before, b.cost_usd_mid AS cost_usd_before
        FROM training_cost_frontier AS n
        LEFT JOIN training_cost_frontier AS b
            ON b.run = n.run AND b.basis = n.basis AND b.is_relaxed = n.is_relaxed AND b.day = $since
        WHERE n.basis = $basis AND NOT n.is_relaxed AND n.day = $until AND list_contains($runs, n.run) AND n.cost_usd_mid IS NOT NULL
        ORDER BY list_position($runs, n.run)
        """,
        {"since": days[0], "until": days[1], "basis": FRONTIER_BASIS, "runs": sorted(runs, key=_place)},
        needs=["training_cost_frontier"],
    )


def _place(run: str) -> tuple[int, str]:
    return (REFERENCE_RUNS.index(run) if run in REFERENCE_RUNS else len(REFERENCE_RUNS), run)


def _missing(connection: Connection) -> list[Row]:
    return fetch(
        connection,
        """
        SELECT source, arg_max(status, day) AS status, arg_max(reason, day) AS reason, max(last_good_at) AS last_good_at
        FROM provider_coverage
        WHERE source_kind = 'live'
        GROUP BY source
        HAVING arg_max(status, day) NOT IN ('ok', 'partial', 'skipped')
        ORDER BY source
        """,
        needs=["provider_coverage"],
    )


def rows(of: Digest) -> Iterator[tuple[Any, ...]]:
    """The facts as rows of ``COLUMNS``, one number a row."""
    since, until = of.days or (None, None)
    for row in of.moves:
        told = (row["accelerator"], of.names.accelerator(row["accelerator"]))
        who = (row["n_providers"], row["status"], since, until)
        detail = moves.counts(row)
        yield (
            "accelerator",
            *told,
            "index_change",
            row["change_index"],
            "share",
            None,
            None,
            "on demand, all providers",
            detail,
            *who,
        )
        before = row["usd_before"]
        yield (
            "accelerator", *told, "median", row["usd"], "USD per accelerator and hour", before, row["change_usd"], "on demand, all providers",
            "", *who,
        )  # fmt: skip
    for row in of.cheapest:
        terms = wording.pricing(row["pricing_model"], row["commitment_days"])
        yield (
            "accelerator", row["accelerator"], of.names.accelerator(row["accelerator"]), "cheapest", row["usd"], "USD per accelerator and hour",
            None, None, terms, row["provider"], row["n_providers"], None, None, until,
        )  # fmt: skip
    for row in of.costs:
        before, now = row["cost_usd_before"], row["cost_usd_mid"]
        yield (
            "run", row["run"], of.names.run(row["run"]), "cost_on_cheapest_part", now, "USD", before, None if before is None else now / before - 1,
            FRONTIER_BASIS, row["accelerator"], row["n_providers"], row["price_status"], since, until,
        )  # fmt: skip
    for row in of.missing:
        yield (
            "source", row["source"], row["source"], "missing", None, None, None, None, None, row["reason"], None, row["status"], None, until,
        )  # fmt: skip
