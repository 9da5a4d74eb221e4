"""Reads the raw archive again with today's parsers: what would be read otherwise, and, when told so, records it beside what was read then.

A reading is never deleted: ``raw.*`` is keyed by collection and parser version, the newest reading of a collection holds, and what was known at a
time is still known. A collection that reads as before is not recorded again. One that today's parser cannot read keeps its old reading.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from scrapers.archive import Archive, Manifest
from warehouse import database, load, rates
from warehouse.database import Connection
from warehouse.load import Loaded

COLUMNS = (
    "source", "observed_at", "snapshot_id", "change", "sku", "accelerator_name", "region", "price_before", "price_after", "what",
)  # fmt: skip


@dataclass(frozen=True)
class Unread:
    """A collection that was read once and is not any more."""

    source: str
    observed_at: datetime
    reason: str


@dataclass
class Replayed:
    """What came of reading again."""

    read: int = 0
    """Collections read again."""
    differing: int = 0
    """Of these, the ones that say something else now."""
    recorded: int = 0
    """Of these, the ones whose new reading holds from now on."""
    unread: list[Unread] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    """One for each offer that was added, is gone or changed; under COLUMNS."""


def replay(
    archive: Archive,
    source: str | None = None,
    since: datetime | None = None,
    *,
    apply: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Replayed:
    """Read what is archived and loaded again, of one source or since a time only if told; oldest first.

    Killed half way, what was recorded is whole collections, and the same call does the rest. Raises ArchiveError and WarehouseError.
    """
    done = Replayed()
    with database.writer_lock(wait_seconds=60) if apply else contextlib.nullcontext():
        with database.connect_working(read_only=not apply) as connection:
            if apply:
                rates.load_history(connection)  # verdicts know one currency taken for another by the rates
            wanted = _wanted(connection, archive, source, since)
        # The file is closed while pages are read, for others to look into.
        for batch in load.batches(load.read_archived(archive, manifest) for manifest in wanted):
            with database.connect_working(read_only=not apply) as connection:
                _take(connection, batch, done, apply=apply)
            if progress:
                progress(done.read, len(wanted))
    return done


def _wanted(connection: Connection, archive: Archive, source: str | None, since: datetime | None) -> list[Manifest]:
    loaded = {row[0] for row in connection.execute("SELECT DISTINCT snapshot_id FROM raw.snapshots").fetchall()}
    stored = (
        archive.manifest(path)
        for snapshot_id, path in archive.stored_ids().items()
        if snapshot_id in loaded and path.parent.name == (source or path.parent.name) != rates.SOURCE
    )
    found = [one for one in stored if one.outcome == "collected" and (since is None or one.observed_at >= since)]
    return sorted(found, key=lambda one: (one.observed_at, one.snapshot_id))


def _take(connection: Connection, batch: list[Loaded], done: Replayed, *, apply: bool) -> None:
    """Compare a batch with the readings that hold, and record what differs."""
    done.read += len(batch)
    held = _held(connection, batch)
    readable = []
    for one in batch:
        if one.status == "failed" and held[one.manifest.snapshot_id].status != "failed":
            done.unread.append(Unread(one.manifest.source, one.manifest.observed_at, one.reason))
        else:
            readable.append(one)
    rows, changed = _differences(connection, readable)
    differing = [
        one for one in readable if one.manifest.snapshot_id in changed or held[one.manifest.snapshot_id].differs(one)
    ]
    done.rows += rows
    done.differing += len(differing)
    if apply and differing:
        load.write(connection, [_told_apart(one, held[one.manifest.snapshot_id].versions) for one in differing])
        done.recorded += len(differing)


@dataclass(frozen=True)
class _Held:
    """The reading of a collection that holds."""

    status: str
    provider: str
    rejected: int
    is_whole: bool
    is_unproven: bool
    versions: frozenset[str]
    """All that it was read by."""

    def differs(self, one: Loaded) -> bool:
        """Whether the same offers are told otherwise: as a part, as proven, with other records that do not read."""
        now = (one.status, one.provider, len(one.parsed.rejected), one.is_whole, one.is_unproven)
        return now != (self.status, self.provider, self.rejected, self.is_whole, self.is_unproven)


def _held(connection: Connection, batch: list[Loaded]) -> dict[str, _Held]:
    rows = connection.execute(
        """
        SELECT
            snapshot_id, arg_max(status, load_number), arg_max(provider, load_number), arg_max(rejected, load_number),
            arg_max(is_whole, load_number), arg_max(is_unproven, load_number), list(parser_version)
        FROM raw.snapshots
        WHERE list_contains($ids, snapshot_id)
        GROUP BY snapshot_id
        """,
        {"ids": [one.manifest.snapshot_id for one in batch]},
    ).fetchall()
    return {row[0]: _Held(row[1], row[2], row[3], row[4], row[5], frozenset(row[6])) for row in rows}


def _told_apart(one: Loaded, versions: frozenset[str]) -> Loaded:
    """The reading under a version that it has not been stored under: a parser may go back to what it was, or change by what it calls."""
    version, times = one.parser_version, 1
    while version in versions:
        times += 1
        version = f"{one.parser_version}+{times}"
    return replace(one, parser_version=version)


def _differences(connection: Connection, batch: list[Loaded]) -> tuple[list[tuple[Any, ...]], set[str]]:
    """Rows of offers that differ from the readings that hold, and the collections they are in."""
    tables = {
        "new_snapshots": pa.Table.from_pylist([one.row() for one in batch], schema=load.SNAPSHOT_SCHEMA),
        "new_offers": load.offer_table(batch),
    }
    with database.registered(connection, tables):
        connection.execute(_FRESH)
        connection.execute(load.TEXTED)
        rows = connection.execute(_DIFFERENCES).fetchall()
        connection.execute("DROP TABLE texted; DROP TABLE fresh")
    return rows, {row[COLUMNS.index("snapshot_id")] for row in rows}


_FRESH = "CREATE TEMP TABLE fresh AS SELECT *, CAST(observed_at AT TIME ZONE 'UTC' AS DATE) AS observed_day FROM new_snapshots"
_SAID = ("price", "price_text", "available", "quantity", *load.WORDS)
_WHAT = ", ".join(f"CASE WHEN b.{name} IS DISTINCT FROM a.{name} THEN '{name}' END" for name in _SAID)
_READING = f"snapshot_id, offer_key, offer_text_id, ordinal, {', '.join(_SAID)}"
# The n-th cheapest of one offer_key answers the n-th cheapest, however a page orders them.
_DIFFERENCES = f"""
WITH held AS (
    SELECT s.*
    FROM raw.snapshots AS s
    SEMI JOIN fresh USING (snapshot_id)
    QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY load_number DESC) = 1
),

old AS (
    SELECT o.*, t.* EXCLUDE (offer_text_id)
    FROM raw.offers AS o
    JOIN held USING (snapshot_id, parser_version, observed_day)
    JOIN raw.offer_texts AS t USING (offer_text_id)
),

before AS (
    SELECT {_READING}, row_number() OVER (PARTITION BY snapshot_id, offer_key ORDER BY price, ordinal) AS place
    FROM old
),

after AS (
    SELECT {_READING}, row_number() OVER (PARTITION BY snapshot_id, offer_key ORDER BY price, ordinal) AS place
    FROM texted
)

SELECT
    f.source,
    f.observed_at,
    f.snapshot_id,
    CASE WHEN b.snapshot_id IS NULL THEN 'added' WHEN a.snapshot_id IS NULL THEN 'gone' ELSE 'changed' END AS change,
    coalesce(a.sku, b.sku) AS sku,
    coalesce(a.accelerator_name, b.accelerator_name) AS accelerator_name,
    coalesce(a.region, b.region) AS region,
    b.price AS price_before,
    a.price AS price_after,
    CASE WHEN a.snapshot_id IS NOT NULL AND b.snapshot_id IS NOT NULL THEN concat_ws(', ', {_WHAT}) END AS what
FROM before AS b
FULL JOIN after AS a ON a.snapshot_id = b.snapshot_id AND a.offer_key = b.offer_key AND a.place = b.place
JOIN fresh AS f ON f.snapshot_id = coalesce(a.snapshot_id, b.snapshot_id)
WHERE a.snapshot_id IS NULL OR b.snapshot_id IS NULL OR {" OR ".join(f"b.{name} IS DISTINCT FROM a.{name}" for name in _SAID)}
ORDER BY f.observed_at, f.snapshot_id, sku, region, change, price_after
"""
