"""Archived collections to ``raw.*``: append-only, in bulk, the same whatever is loaded twice or in whatever order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

import pyarrow as pa

from scrapers.archive import Archive, Manifest
from scrapers.source import Adapter, PageError, Parsed, Rejected, UnknownSourceError
from scrapers.source import load as load_source
from warehouse import database, rates, verdicts
from warehouse.database import Connection

# Facts of one transaction: enough to be quick in bulk, few enough to be short.
OFFERS_PER_TRANSACTION = 100_000

_AMOUNT = pa.decimal128(18, 9)
WORDS = {
    "sku": pa.string(), "accelerator_name": pa.string(), "accelerator_count": _AMOUNT, "memory_gb": _AMOUNT,
    "memory_scope": pa.string(), "currency": pa.string(), "per": pa.string(), "price_scope": pa.string(),
    "pricing_model": pa.string(), "commitment_days": pa.int32(), "tier": pa.string(), "region": pa.string(),
    "zone": pa.string(), "minimum_accelerators": _AMOUNT, "minimum_days": pa.int32(), "upfront": _AMOUNT, "tax": pa.string(),
    "vcpus": _AMOUNT, "ram_gb": _AMOUNT, "storage_gb": _AMOUNT, "interconnect": pa.string(), "effective_at": pa.date32(),
}  # fmt: skip
_FACTS = {"price": _AMOUNT, "price_text": pa.string(), "available": pa.bool_(), "quantity": pa.int32()}
_NANO = Decimal("1e-9")

OFFER_SCHEMA = pa.schema(
    {
        "snapshot_id": pa.string(),
        "ordinal": pa.int32(),
        "source": pa.string(),
        "provider": pa.string(),
        **WORDS,
        **_FACTS,
    }
)
SNAPSHOT_SCHEMA = pa.schema(
    {
        "snapshot_id": pa.string(), "parser_version": pa.string(), "source": pa.string(), "provider": pa.string(),
        "source_kind": pa.string(), "scope": pa.string(), "observed_at": pa.timestamp("us", tz="UTC"), "content_hash": pa.string(),
        "urls": pa.list_(pa.string()), "status": pa.string(), "reason": pa.string(), "offers": pa.int32(), "rejected": pa.int32(),
        "is_whole": pa.bool_(), "is_unproven": pa.bool_(),
    }
)  # fmt: skip
REJECTED_SCHEMA = pa.schema({"snapshot_id": pa.string(), "record": pa.string(), "reason": pa.string()})


@dataclass(frozen=True)
class Loaded:
    """How one collection fared: ``ok``, ``partial``, ``empty``, ``failed`` or ``skipped``, and why, or what is odd about it."""

    manifest: Manifest
    provider: str
    parser_version: str
    status: str
    reason: str
    is_whole: bool
    is_unproven: bool
    parsed: Parsed
    rates: pa.Table | None = None
    offers: int = 0
    """How many it has; of what is loaded only this is kept."""

    def row(self) -> dict[str, Any]:
        """The row of ``raw.snapshots`` but for what the warehouse adds."""
        own = {
            name: getattr(self, name)
            for name in ("provider", "parser_version", "status", "reason", "is_whole", "is_unproven")
        }
        of_manifest = {
            name: getattr(self.manifest, name)
            for name in ("snapshot_id", "source", "source_kind", "scope", "observed_at", "content_hash")
        }
        counts = {"offers": self.offers, "rejected": len(self.parsed.rejected)}
        return {**own, **of_manifest, **counts, "urls": sorted({page.url for page in self.manifest.pages})}


def load_new(
    connection: Connection, archive: Archive, progress: Callable[[int, int], None] | None = None
) -> list[Loaded]:
    """Load every archived collection that the warehouse does not have; oldest first.

    ``progress`` is told how many are done of how many. Raises ArchiveError when the archive can't be read.
    """
    known = {row[0] for row in connection.execute("SELECT DISTINCT snapshot_id FROM raw.snapshots").fetchall()}
    paths = archive.stored_ids(known).values()
    # Of two words of a dataset on one moment the one archived last is the last to load, and holds.
    new = [archive.manifest(path) for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns)]
    new.sort(key=lambda manifest: manifest.observed_at)
    if new:
        rates.load_history(connection)  # verdicts know one currency taken for another by the rates
    loaded: list[Loaded] = []
    for batch in batches(read_archived(archive, manifest) for manifest in new):
        write(connection, batch)
        loaded += [replace(one, parsed=Parsed([], []), rates=None) for one in batch]
        if progress:
            progress(len(loaded), len(new))
    return loaded


def read(adapter: Adapter, manifest: Manifest, parse: Callable[[], Parsed]) -> Loaded:
    """What one collection says, or why it says nothing."""
    parsed, reason = Parsed([], []), manifest.reason
    status: str = manifest.outcome
    if manifest.outcome == "collected":
        try:
            parsed = parse()
            status, reason = _status(parsed, manifest)
        except PageError as error:
            status, reason = "failed", str(error)
    is_whole = status == "ok" and adapter.source.whole and manifest.source_kind in {"live", "archived_page", "dataset"}
    return Loaded(
        manifest,
        adapter.source.provider,
        adapter.parser_version,
        status,
        reason,
        is_whole,
        adapter.source.unproven,
        parsed,
        offers=len(parsed.offers),
    )


def _status(parsed: Parsed, manifest: Manifest) -> tuple[str, str]:
    if not parsed.offers:
        return "empty", "the page was read and lists no offer"
    if parsed.rejected:
        first: Rejected = parsed.rejected[0]
        return "partial", f"{len(parsed.rejected)} records do not read, first {first.record}: {first.reason}"
    if manifest.source_kind == "live":
        return ("ok", parsed.remark) if manifest.scope == "whole" else ("partial", manifest.scope)
    return "ok", ""


def read_archived(archive: Archive, manifest: Manifest) -> Loaded:
    """What an archived collection says by today's parser, or why it says nothing."""
    if manifest.source == rates.SOURCE:
        return _read_rates(archive, manifest)
    try:
        adapter = load_source(manifest.source)
    except UnknownSourceError as error:
        return _without_offers(manifest, manifest.source, "failed", str(error))
    return read(adapter, manifest, lambda: adapter.parse(archive.pages(manifest)))


def _read_rates(archive: Archive, manifest: Manifest) -> Loaded:
    if manifest.outcome != "collected":
        return _without_offers(manifest, "ecb", manifest.outcome, manifest.reason)
    try:
        return _without_offers(manifest, "ecb", "ok", "", rates.read(archive.pages(manifest)))
    except PageError as error:
        return _without_offers(manifest, "ecb", "failed", str(error))


def _without_offers(
    manifest: Manifest, provider: str, status: str, reason: str, found: pa.Table | None = None
) -> Loaded:
    return Loaded(
        manifest,
        provider,
        "none",
        status,
        reason,
        is_whole=False,
        is_unproven=False,
        parsed=Parsed([], []),
        rates=found,
    )


def batches(loaded: Iterator[Loaded]) -> Iterator[list[Loaded]]:
    """So many collections together that one transaction is quick and short; of one source and moment only one, so that they have an order."""
    batch: dict[tuple[str, str, datetime], Loaded] = {}
    for one in loaded:
        moment = one.manifest.source, one.manifest.scope, one.manifest.observed_at
        if moment in batch or sum(len(item.parsed.offers) for item in batch.values()) >= OFFERS_PER_TRANSACTION:
            yield list(batch.values())
            batch = {}
        batch[moment] = one
    if batch:
        yield list(batch.values())


def offer_table(batch: list[Loaded]) -> pa.Table:
    """The offers of a batch as Arrow, amounts cut to nine decimals."""
    placed = [(one, place, offer) for one in batch for place, offer in enumerate(one.parsed.offers)]
    columns: dict[str, list[Any]] = {
        "snapshot_id": [one.manifest.snapshot_id for one, _, _ in placed],
        "ordinal": [place for _, place, _ in placed],
        "source": [one.manifest.source for one, _, _ in placed],
        "provider": [offer.provider or one.provider for one, _, offer in placed],
    }
    for name, kind in (WORDS | _FACTS).items():
        cells = map(attrgetter(name), (offer for _, _, offer in placed))
        columns[name] = [cell and cell.quantize(_NANO) for cell in cells] if kind == _AMOUNT else list(cells)
    return pa.table(columns, schema=OFFER_SCHEMA)


def write(connection: Connection, batch: list[Loaded]) -> None:
    """One transaction: snapshots, words, offers, rates and verdicts, or none of them."""
    tables = {
        "new_snapshots": pa.Table.from_pylist([one.row() for one in batch], schema=SNAPSHOT_SCHEMA),
        "new_offers": offer_table(batch),
        "new_rejected": _rejected_table(batch),
    }
    with database.transaction(connection), database.registered(connection, tables):
        load_number = database.next_load_number(connection)
        for statement, parameters in (
            (_FRESH, {}),
            (_INSERT_SNAPSHOTS, {"load_number": load_number, "now": database.now()}),
            (TEXTED, {}),
            (_INSERT_TEXTS, {"load_number": load_number}),
            (_INSERT_OFFERS, {}),
            (_INSERT_REJECTED, {}),
        ):
            connection.execute(statement, parameters)
        for one in batch:
            if one.rates is not None:
                rates.insert(connection, one.rates, rates.SOURCE, load_number)
        verdicts.decide(connection, [one.manifest.snapshot_id for one in batch], load_number)
        connection.execute("DROP TABLE fresh")
        connection.execute("DROP TABLE texted")


def write_unjudged(connection: Connection, one: Loaded) -> None:
    """One collection into an empty warehouse in memory, taken as it is."""
    tables = {
        "new_snapshots": pa.Table.from_pylist([one.row()], schema=SNAPSHOT_SCHEMA),
        "new_offers": offer_table([one]),
    }
    with database.registered(connection, tables):
        connection.execute(_FRESH)
        connection.execute(_INSERT_SNAPSHOTS, {"load_number": 0, "now": database.now()})
        connection.execute(TEXTED)
        connection.execute(_INSERT_TEXTS, {"load_number": 0})
        connection.execute(_INSERT_OFFERS)
        connection.execute(
            "INSERT INTO raw.verdicts SELECT snapshot_id, 'accepted', '', loaded_at, 'preview', 0 FROM raw.snapshots"
        )


def _rejected_table(batch: list[Loaded]) -> pa.Table:
    rows = [
        (one.manifest.snapshot_id, bad.record, bad.reason)
        for one in batch
        for bad in (*one.parsed.rejected, *one.parsed.unpriced)
    ]
    names = REJECTED_SCHEMA.names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=REJECTED_SCHEMA)


# A snapshot goes in whole, so that what is stored is told from what is new by the small table alone.
_FRESH = """
CREATE TEMP TABLE fresh AS
SELECT *, CAST(observed_at AT TIME ZONE 'UTC' AS DATE) AS observed_day
FROM new_snapshots
ANTI JOIN raw.snapshots AS old USING (snapshot_id, parser_version)
"""

_INSERT_SNAPSHOTS = """
INSERT INTO raw.snapshots BY NAME
SELECT *, $now AS loaded_at, $load_number AS load_number FROM fresh
"""

_KEY_WORDS = (
    "source", "provider", "sku", "accelerator_count", "region", "zone", "pricing_model", "commitment_days", "tier", "price_scope",
    "currency", "per",
)  # fmt: skip


def _digest(words: Iterable[str]) -> str:
    """SQL for the 128-bit identity of some columns; null and empty differ."""
    cells = ", ".join(f"coalesce(CAST(o.{word} AS VARCHAR), chr(30))" for word in words)
    return f"CAST(md5(concat_ws(chr(31), {cells})) AS UUID)"


TEXTED = f"""
CREATE TEMP TABLE texted AS
SELECT
    {_digest(("source", "provider", *WORDS))} AS offer_text_id,
    {_digest(_KEY_WORDS)} AS offer_key,
    s.parser_version,
    s.observed_day,
    o.*
FROM new_offers AS o
JOIN fresh AS s USING (snapshot_id)
"""

_INSERT_TEXTS = f"""
INSERT INTO raw.offer_texts BY NAME
SELECT DISTINCT ON (offer_text_id) offer_text_id, offer_key, $load_number AS load_number, source, provider, {", ".join(WORDS)}
FROM texted
ANTI JOIN raw.offer_texts AS old USING (offer_text_id)
ORDER BY offer_text_id
"""

_INSERT_OFFERS = """
INSERT INTO raw.offers BY NAME
SELECT
    snapshot_id, parser_version, ordinal, observed_day, offer_text_id, price, price_text, available, quantity,
    nullif(
        first_value(ordinal) OVER (
            PARTITION BY snapshot_id, offer_key
            ORDER BY coalesce(effective_at > observed_day, FALSE), effective_at DESC NULLS LAST, price, ordinal
        ),
        ordinal
    ) AS duplicate_of
FROM texted
ORDER BY observed_day, snapshot_id, ordinal
"""

_INSERT_REJECTED = """
INSERT INTO raw.rejected BY NAME
SELECT snapshot_id, parser_version, record, r.reason
FROM new_rejected AS r
JOIN fresh USING (snapshot_id)
"""
