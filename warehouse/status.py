"""Whether the ledger keeps its promise: how old each source's data is against its cadence, what this month lacks, what waits for a decision."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from scrapers.source import Adapter, load_all
from warehouse import database, health
from warehouse.ask import Answer
from warehouse.database import Connection
from warehouse.model import all_models

# A run may be late or fail twice before its data counts as late.
PROMISED = {"hourly": timedelta(hours=3), "daily": timedelta(hours=36), "weekly": timedelta(days=9)}
_SLOTS = {
    "hourly": ("hour", timedelta(hours=1)),
    "daily": ("day", timedelta(days=1)),
    "weekly": ("week", timedelta(weeks=1)),
}
STATUS_COLUMNS = [
    "source", "cadence", "status", "last_run_at", "last_good_at", "age_hours", "promised_hours", "is_late", "gaps_this_month",
    "slots_this_month", "next_run_at", "reason",
]  # fmt: skip


@dataclass(frozen=True)
class Fared:
    """How a source fares."""

    source: str
    cadence: str
    status: str
    last_run_at: datetime | None
    last_good_at: datetime | None
    age_hours: Decimal | None
    """Since the last good collection."""
    promised_hours: int
    is_late: bool
    """It was good once, and has not been for longer than promised."""
    gaps_this_month: int
    """Hours, days or weeks of this month, by its cadence, without a good collection; counted from its first."""
    slots_this_month: int
    """Out of so many."""
    reason: str


def fared(connection: Connection | None, within: timedelta | None = None) -> list[Fared]:
    """Every source that is read from the network, alphabetically. ``within`` replaces what is promised of each."""
    now = database.now()
    runs = {} if connection is None else _runs(connection, now)
    return [_of(one, runs.get(one.name), now, within) for one in load_all() if one.source.kind in {"api", "page"}]


def _of(
    one: Adapter, run: "tuple[datetime, str, str | None, datetime | None, datetime | None, dict[str, int]] | None",
    now: datetime, within: timedelta | None,
) -> Fared:  # fmt: skip
    cadence = one.source.cadence
    promised = round((PROMISED[cadence] if within is None else within) / timedelta(hours=1))
    if run is None:
        reason = health.why_never(one.source.key_env)
        return Fared(one.name, cadence, "never", None, None, None, promised, False, 0, 0, reason)  # noqa: FBT003
    run_at, status, reason_told, good_at, first_at, good_slots = run
    age = None if good_at is None else (now - good_at) / timedelta(hours=1)
    slots = 0 if first_at is None else _slots(cadence, first_at, now)
    return Fared(
        one.name, cadence, status, run_at, good_at, None if age is None else round(Decimal(age), 1), promised, age is not None and age > promised,
        max(0, slots - good_slots[cadence]), slots, reason_told or "",
    )  # fmt: skip


def _slots(cadence: str, first_at: datetime, now: datetime) -> int:
    """Hours, days or weeks of this month that are over, from the source's first collection on."""
    _, size = _SLOTS[cadence]
    start = max(_month(now), first_at)
    return max(0, (_floor(now, size) - _floor(start, size)) // size)


def _month(now: datetime) -> datetime:
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _floor(moment: datetime, size: timedelta) -> datetime:
    """The start of the hour, day or week (from Monday) in UTC."""
    monday = datetime(2001, 1, 1, tzinfo=moment.tzinfo)
    return monday + (moment - monday) // size * size


def _runs(
    connection: Connection, now: datetime
) -> "dict[str, tuple[datetime, str, str | None, datetime | None, datetime | None, dict[str, int]]]":
    """By source: last run, its status and reason, last good one, first one ever, and distinct slots of this month with a good one."""
    snapshots = next(model.sql for model in all_models() if model.name == "staging.snapshots")
    slots = ", ".join(
        f"count(DISTINCT date_trunc('{unit}', observed_at)) FILTER (is_good AND observed_at >= date_trunc('{unit}', $month)"
        f" AND observed_at < date_trunc('{unit}', $now))"
        for unit, _ in _SLOTS.values()
    )
    try:
        rows = connection.execute(
            f"""
            WITH snapshots AS ({snapshots})
            SELECT
                source, max(observed_at),
                arg_max(CASE WHEN verdict = 'withheld' AND status <> 'empty' THEN 'withheld' ELSE status END, (observed_at, snapshot_id)),
                nullif(arg_max(concat_ws('; ', nullif(reason, ''), nullif(verdict_reason, '')), (observed_at, snapshot_id)), ''),
                max(observed_at) FILTER (is_good), min(observed_at), {slots}
            FROM snapshots
            WHERE source_kind = 'live'
            GROUP BY source
            """,
            {"month": _month(now), "now": now},
        ).fetchall()
    except duckdb.CatalogException:
        return {}
    return {row[0]: (*row[1:6], dict(zip(_SLOTS, row[6:], strict=True))) for row in rows}


QUARANTINE_COLUMNS = [
    "snapshot_id", "source", "observed_at", "offers", "reason", "decided_by", "decided_at", "last_good_at", "offers_last_good", "waits_for",
]  # fmt: skip


def quarantine(connection: Connection, sources: Iterable[str], *, decided: bool) -> Answer:
    """Collections that are withheld, newest first, and what decides each; with ``decided`` those that a person has decided, either way."""
    chosen = list(sources)
    snapshots = next(model.sql for model in all_models() if model.name == "staging.snapshots")
    found = connection.execute(
        f"""
        WITH snapshots AS ({snapshots}),
        verdicts AS (
            SELECT *
            FROM raw.verdicts
            QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY decided_by <> 'rule' DESC, load_number DESC) = 1
        )
        SELECT
            s.snapshot_id, s.source, s.observed_at, s.offers, v.reason, v.decided_by, v.decided_at,
            g.observed_at AS last_good_at, g.offers AS offers_last_good,
            CASE
                WHEN v.decided_by <> 'rule' THEN v.verdict || ' by ' || v.decided_by
                WHEN g.observed_at > s.observed_at THEN 'nothing: a later collection is good'
                ELSE 'gpuledger accept or reject'
            END AS waits_for
        FROM snapshots AS s
        JOIN verdicts AS v USING (snapshot_id)
        LEFT JOIN (
            SELECT source, max(observed_at) AS observed_at, arg_max(offers, observed_at) AS offers FROM snapshots WHERE is_good GROUP BY source
        ) AS g ON g.source = s.source
        WHERE (len($chosen) = 0 OR list_contains($chosen, s.source))
            AND CASE WHEN $decided THEN v.decided_by <> 'rule' ELSE v.verdict = 'withheld' AND v.decided_by = 'rule' END
        ORDER BY s.observed_at DESC, s.source
        """,
        {"chosen": chosen, "decided": decided},
    )
    return Answer(QUARANTINE_COLUMNS, found.fetchall())


def disk_use() -> dict[str, int]:
    """Bytes of each part of the data folder, by its name; what is not there is left out."""
    folder = database.data_dir()
    if not folder.is_dir():
        return {}
    return {path.name: _bytes(path) for path in sorted(folder.iterdir())}


def _bytes(path: Path) -> int:
    """Of a file, or of all files below a folder; what goes away meanwhile counts nothing."""
    total = 0
    for one in [path] if path.is_file() or path.is_symlink() else path.rglob("*"):
        try:
            if one.is_file() and not one.is_symlink():
                total += one.stat().st_size
        except OSError:
            continue
    return total
