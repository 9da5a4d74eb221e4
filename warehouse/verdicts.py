"""Whether a snapshot counts: an empty answer is not "sold out", a login page is not a price list, half a page is not a page.

A verdict is a row in ``raw.verdicts``, decided when a snapshot is loaded and never by a build. A snapshot is held against the last accepted
one *observed* before it; so that the order of loading does not matter, one that comes late has the later ones decided again.
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from scrapers.source import UnknownSourceError
from scrapers.source import load as load_source
from warehouse import database
from warehouse.database import Connection

RULE = "rule"
# A count beyond these of the last accepted one is not the same list.
COUNT_RATIO_LOW, COUNT_RATIO_HIGH = 0.5, 2.0
COUNT_SLACK = 5
# Three whole snapshots over a day that agree with each other are the new normal.
CONSISTENT_SNAPSHOTS, CONSISTENT_HOURS, CONSISTENT_RATIO = 3, 24, 1.2
# When most prices move by one factor as large as this, the unit moved.
UNIT_FACTOR, UNIT_SHARE, UNIT_TOLERANCE, UNIT_MATCHES = Decimal(3), 0.5, Decimal("0.02"), 3


@dataclass(frozen=True)
class _Snapshot:
    snapshot_id: str
    parser_version: str
    source_kind: str
    observed_at: datetime
    observed_day: object
    status: str
    offers: int
    is_whole: bool
    verdict: str | None
    reason: str | None
    decided_by: str | None


def decide(connection: Connection, snapshot_ids: Iterable[str], load_number: int) -> None:
    """Give every snapshot named a verdict, and those observed after it another where theirs changes."""
    marks = list(snapshot_ids)
    firsts = connection.execute(
        """
        SELECT source, min(observed_at)
        FROM raw.snapshots
        WHERE snapshot_id IN (SELECT unnest(?)) AND status IN ('ok', 'partial', 'empty')
        GROUP BY source ORDER BY source
        """,
        [marks],
    ).fetchall()
    for source, first in firsts:
        _decide_source(connection, source, first, load_number)


def override(connection: Connection, snapshot_id: str, verdict: str, reason: str, decided_by: str) -> None:
    """Record a person's verdict, ``accepted`` or ``withheld``; it stands until another person's. Raises WarehouseError for no such snapshot."""
    found = connection.execute(
        "SELECT source, min(observed_at) FROM raw.snapshots WHERE snapshot_id = ? GROUP BY source", [snapshot_id]
    ).fetchall()
    if not found:
        raise database.WarehouseError(
            f'no snapshot {snapshot_id!r}; list them with: gpuledger sql "SELECT * FROM provider_coverage"'
        )
    with database.transaction(connection):
        load_number = database.next_load_number(connection)
        _record(connection, snapshot_id, verdict, reason, decided_by, load_number)
        [(source, observed_at)] = found
        _decide_source(connection, source, observed_at, load_number)


def _decide_source(connection: Connection, source: str, first: datetime, load_number: int) -> None:
    snapshots = _snapshots(connection, source)
    accepted: _Snapshot | None = None
    whole: list[_Snapshot] = []
    for one in snapshots:
        verdict, reason = one.verdict, one.reason
        if one.observed_at >= first and one.decided_by in {None, RULE}:
            verdict, reason = _judge(connection, source, one, accepted, whole)
            if (verdict, reason) != (one.verdict, one.reason):
                _record(connection, one.snapshot_id, verdict, reason, RULE, load_number)
        if one.is_whole:
            whole.append(one)
            if verdict == "accepted":
                accepted = one


def _judge(
    connection: Connection, source: str, one: _Snapshot, accepted: _Snapshot | None, whole: list[_Snapshot]
) -> tuple[str, str]:
    """The verdict on one snapshot, given the last accepted one and the whole ones observed before it."""
    if one.status == "empty":
        return "withheld", "no offers; an empty answer is not taken for sold out"
    if one.source_kind == "live" and (fault := _outside_range(source, one)):
        return "withheld", fault
    if one.source_kind in {"live", "archived_page"} and accepted is not None:
        if fault := _unit_moved(connection, one, accepted):
            return "withheld", fault
        if one.is_whole and (fault := _count_moved(one, accepted)) and not _consistent([*whole, one]):
            return "withheld", fault
    return "accepted", ""


def _outside_range(source: str, one: _Snapshot) -> str:
    try:
        normal = load_source(source).source.offers
    except UnknownSourceError:
        return ""
    if one.offers < normal.start:
        return f"{one.offers} offers, normal is {normal.start} to {normal.stop - 1}"
    return f"{one.offers} offers, normal is at most {normal.stop - 1}" if one.offers >= normal.stop else ""


def _count_moved(one: _Snapshot, accepted: _Snapshot) -> str:
    ratio = one.offers / accepted.offers
    if COUNT_RATIO_LOW <= ratio <= COUNT_RATIO_HIGH or abs(one.offers - accepted.offers) <= COUNT_SLACK:
        return ""
    return f"{one.offers} offers after {accepted.offers} on {accepted.observed_at:%Y-%m-%d}"


def _consistent(whole: list[_Snapshot]) -> bool:
    last = whole[-CONSISTENT_SNAPSHOTS:]
    counts = [one.offers for one in last]
    over = last[-1].observed_at - last[0].observed_at
    return (
        len(last) == CONSISTENT_SNAPSHOTS
        and over >= timedelta(hours=CONSISTENT_HOURS)
        and max(counts) <= CONSISTENT_RATIO * min(counts)
    )


def _unit_moved(connection: Connection, one: _Snapshot, accepted: _Snapshot) -> str:
    """Whether most prices of the same words moved by one large factor. Such a change is never accepted by itself."""
    ratios = [
        row[0]
        for row in connection.execute(
            """
            SELECT CAST(any_value(a.price) / any_value(b.price) AS DECIMAL(18, 6)) AS ratio
            FROM raw.offers AS a
            JOIN raw.offers AS b USING (offer_text_id)
            WHERE a.snapshot_id = $one AND a.observed_day = $one_day AND a.parser_version = $one_version
                AND b.snapshot_id = $accepted AND b.observed_day = $accepted_day AND b.parser_version = $accepted_version
            GROUP BY offer_text_id
            """,
            {
                "one": one.snapshot_id, "one_day": one.observed_day, "one_version": one.parser_version,
                "accepted": accepted.snapshot_id, "accepted_day": accepted.observed_day, "accepted_version": accepted.parser_version,
            },
        ).fetchall()
    ]  # fmt: skip
    if len(ratios) < UNIT_MATCHES:
        return ""
    factor = statistics.median(ratios)
    if not factor or 1 / UNIT_FACTOR < factor < UNIT_FACTOR:
        return ""
    alike = sum(abs(ratio / factor - 1) <= UNIT_TOLERANCE for ratio in ratios)
    if alike <= UNIT_SHARE * len(ratios):
        return ""
    return f"{alike} of {len(ratios)} prices moved by the same factor {factor:.4g}: a change of unit"


def _snapshots(connection: Connection, source: str) -> list[_Snapshot]:
    rows = connection.execute(
        """
        WITH latest AS (
            SELECT * FROM raw.snapshots
            WHERE source = ? AND status IN ('ok', 'partial', 'empty')
            QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY load_number DESC) = 1
        ),
        verdict AS (
            SELECT snapshot_id, verdict, reason, decided_by
            FROM raw.verdicts
            QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY decided_by <> 'rule' DESC, load_number DESC) = 1
        )
        SELECT snapshot_id, parser_version, source_kind, observed_at, observed_day, status, offers, is_whole, v.verdict, v.reason, decided_by
        FROM latest
        LEFT JOIN verdict AS v USING (snapshot_id)
        ORDER BY observed_at, snapshot_id
        """,
        [source],
    ).fetchall()
    return [_Snapshot(*row) for row in rows]


def _record(
    connection: Connection, snapshot_id: str, verdict: str, reason: str, decided_by: str, load_number: int
) -> None:
    connection.execute(
        "INSERT INTO raw.verdicts VALUES (?, ?, ?, ?, ?, ?)",
        [snapshot_id, verdict, reason, database.now(), decided_by, load_number],
    )
