"""Whether a snapshot counts: an empty answer is not "sold out", a login page is not a price list, half a page is not a page.

A verdict is a row in ``raw.verdicts``, decided when a snapshot is loaded and never by a build. A snapshot is held against the last accepted
one *observed* before it; so that the order of loading does not matter, one that comes late has the later ones decided again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from scrapers.source import UnknownSourceError
from scrapers.source import load as load_source
from scrapers.truncation import MAYBE_TRUNCATED
from warehouse import database, drift
from warehouse.database import Connection

RULE = "rule"
# A count beyond these of the last accepted one is not the same list.
COUNT_RATIO_LOW, COUNT_RATIO_HIGH = 0.5, 2.0
COUNT_SLACK = 5
# A way of buying (spot, reserved) that was so large a share of the last list does not end from one day to the next.
WAY_SHARE = 0.1
# Fewer offers than this share of the last ones, and just as many as fit on a page, are a page and not the list.
PAGE_RATIO = 0.8
# Three whole snapshots over a day that agree with each other are the new normal.
CONSISTENT_SNAPSHOTS, CONSISTENT_HOURS, CONSISTENT_RATIO = 3, 24, 1.2
# Kinds of snapshots that tell what a source says: fixtures are cut down, curated rows are single facts.
TELLING_KINDS = {"live", "archived_page", "dataset"}


@dataclass(frozen=True)
class _Snapshot:
    snapshot_id: str
    parser_version: str
    source_kind: str
    observed_at: datetime
    observed_day: date
    status: str
    reason: str
    offers: int
    is_whole: bool
    verdict: str | None
    verdict_reason: str | None
    decided_by: str | None

    @property
    def reading(self) -> drift.Reading:
        return drift.Reading(self.snapshot_id, self.parser_version, self.observed_day)


@dataclass
class _Before:
    """What was observed before a snapshot."""

    accepted: _Snapshot | None = None
    """The last accepted one."""
    accepted_whole: _Snapshot | None = None
    in_another_unit: _Snapshot | None = None
    """The last one withheld as a change of unit, if none was accepted since."""
    whole: list[_Snapshot] = field(default_factory=list)
    """Every whole one, accepted or not."""

    def add(self, one: _Snapshot, verdict: str | None, reason: str | None) -> None:
        if verdict == "accepted" and one.offers and one.source_kind in TELLING_KINDS:
            self.accepted, self.in_another_unit = one, None
        elif verdict == "withheld" and (reason or "").endswith(drift.CHANGE_OF_UNIT):
            self.in_another_unit = one
        if one.is_whole:
            self.whole.append(one)
            if verdict == "accepted":
                self.accepted_whole = one


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
            f'no snapshot {snapshot_id!r}; list them with: gpuledger sql "SELECT day, source, status, snapshot_id, reason FROM provider_coverage"'
        )
    with database.transaction(connection):
        load_number = database.next_load_number(connection)
        _record(connection, snapshot_id, verdict, reason, decided_by, load_number)
        [(source, observed_at)] = found
        _decide_source(connection, source, observed_at, load_number)


def _decide_source(connection: Connection, source: str, first: datetime, load_number: int) -> None:
    before = _Before()
    for one in _snapshots(connection, source):
        verdict, reason = one.verdict, one.verdict_reason
        if one.observed_at >= first and one.decided_by in {None, RULE}:
            verdict, reason = _judge(connection, source, one, before)
            if (verdict, reason) != (one.verdict, one.verdict_reason):
                _record(connection, one.snapshot_id, verdict, reason, RULE, load_number)
        before.add(one, verdict, reason)


def _judge(connection: Connection, source: str, one: _Snapshot, before: _Before) -> tuple[str, str]:
    """The verdict on one snapshot, given what was observed before it."""
    if one.status == "empty":
        return "withheld", "no offers; an empty answer is not taken for sold out"
    if one.source_kind == "live" and (fault := _outside_range(source, one)):
        return "withheld", fault
    if one.source_kind in {"live", "archived_page"}:
        if before.accepted and (fault := drift.unit_moved(connection, one.reading, before.accepted.reading)):
            return "withheld", fault
        # Prices go on moving, so that in time no factor can be told any more.
        held = before.in_another_unit
        if held and drift.unit_stayed(connection, one.reading, held.reading):
            return (
                "withheld",
                f"most prices are still those of {held.observed_at:%Y-%m-%d %H:%M}: {drift.CHANGE_OF_UNIT}",
            )
        if one.is_whole and before.accepted_whole:
            fault = _fell_away(connection, one, before.accepted_whole)
            if fault and not _consistent(connection, [*before.whole, one]):
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


def _fell_away(connection: Connection, one: _Snapshot, accepted: _Snapshot) -> str:
    """Why this cannot be the same list a little later: too few offers or too many, or none of a whole kind."""
    since = f"{accepted.offers} on {accepted.observed_at:%Y-%m-%d}"
    ratio = one.offers / accepted.offers
    if not COUNT_RATIO_LOW <= ratio <= COUNT_RATIO_HIGH and abs(one.offers - accepted.offers) > COUNT_SLACK:
        return f"{one.offers} offers after {since}"
    if ratio < PAGE_RATIO and one.reason.startswith(MAYBE_TRUNCATED):
        return f"{one.offers} offers after {since}; {one.reason}"
    ways, ways_before = _ways(connection, one), _ways(connection, accepted)
    for way, count in sorted(ways_before.items()):
        if way not in ways and count > COUNT_SLACK and count >= WAY_SHARE * accepted.offers:
            return f"no offer is {way}, after {count} of {since}"
    return ""


def _consistent(connection: Connection, whole: list[_Snapshot]) -> bool:
    """Whether the last ones, over a day, agree with each other on how many offers there are and of which kinds."""
    last = whole[-CONSISTENT_SNAPSHOTS:]
    counts = [one.offers for one in last]
    over = last[-1].observed_at - last[0].observed_at
    return (
        len(last) == CONSISTENT_SNAPSHOTS
        and over >= timedelta(hours=CONSISTENT_HOURS)
        and max(counts) <= CONSISTENT_RATIO * min(counts)
        and len({frozenset(_ways(connection, one)) for one in last}) == 1
    )


def _ways(connection: Connection, one: _Snapshot) -> dict[str, int]:
    """Offers by way of buying; floors are no offers."""
    return dict(
        connection.execute(
            """
            SELECT pricing_model, count(*)
            FROM raw.offers
            JOIN raw.offer_texts USING (offer_text_id)
            WHERE snapshot_id = ? AND observed_day = ? AND parser_version = ? AND pricing_model <> 'floor'
            GROUP BY pricing_model
            """,
            [one.snapshot_id, one.observed_day, one.parser_version],
        ).fetchall()
    )


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
        SELECT
            snapshot_id, parser_version, source_kind, observed_at, observed_day, status, latest.reason, offers, is_whole,
            v.verdict, v.reason, decided_by
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
