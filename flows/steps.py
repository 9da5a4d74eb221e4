"""The steps as plain functions: what ``gpuledger``'s commands call directly and the Prefect flows put in order."""

import getpass
import importlib.resources
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from scrapers import collect as collector
from scrapers.archive import Archive, Manifest, SourceKind
from scrapers.datasets import list_prices
from scrapers.source import Adapter, Capture, Page, PageError, SourceType, UnknownSourceError, load_all
from scrapers.source import load as load_source
from warehouse import build as builder
from warehouse import database, load, rates, verdicts

if TYPE_CHECKING:
    from scrapers.fetch import Client
    from scrapers.politeness import Politeness
    from scrapers.unchanged import KnownPage
    from scrapers.wayback import Skipped, Wanted
    from warehouse.explain import Node, Pages
    from warehouse.reports.scope import Scope
    from warehouse.retention import Pruned

CURATED = "list_prices"
# A day's run begins up to some minutes late; a week after it still is a week.
WEEK_OF_A_LIST = timedelta(days=6, hours=12)
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Outcome:
    """How one collection of one source fared: ``ok``, ``partial``, ``empty``, ``failed``, ``skipped`` or ``withheld``, and why, or what is odd."""

    source: str
    source_kind: str
    status: str
    reason: str
    offers: int
    observed_at: datetime
    snapshot_id: str = ""

    @property
    def is_good(self) -> bool:
        """Its offers count."""
        return self.status in {"ok", "partial"}


def archive() -> Archive:
    """The raw archive of this installation."""
    return Archive(database.archive_dir())


def live_sources(names: Iterable[str] | None = None) -> list[Adapter]:
    """The sources named, or all that are read from the network; no names are all of them, too. Raises UnknownSourceError."""
    chosen = [load_source(name) for name in names or ()] or load_all()
    return [one for one in chosen if one.source.kind in {"api", "page"}]


def hourly_sources() -> list[str]:
    """The sources whose prices move by the hour."""
    return [one.name for one in live_sources() if one.source.cadence == "hourly"]


def list_sources() -> list[str]:
    """The sources worth reading once a day, and those worth it once a week that were not read for so long."""
    read_before = database.now() - WEEK_OF_A_LIST
    return [
        one.name
        for one in live_sources()
        if one.source.cadence == "daily"
        or (one.source.cadence == "weekly" and (archive().newest_at(one.name) or read_before) <= read_before)
    ]


@cache
def _manners() -> "Politeness":
    """Pauses, robots.txt and Retry-After hold for a host, whichever of the sources asks it."""
    from scrapers.politeness import Politeness

    return Politeness()


def begin_run() -> None:
    """Forget what the hosts said in the run before: who asked to be left alone, who did not answer."""
    _manners.cache_clear()


def _client(name: str, kind: SourceType, known: "Mapping[str, KnownPage] | None" = None) -> "Client":
    from scrapers.fetch import Client

    return Client(name, kind=kind, politeness=_manners(), known=known, now=database.now)


def collect_live(adapter: Adapter, *, is_asked_for: bool = False) -> Manifest:
    """One live collection of one source into the archive; never raises for what the source does.

    One that keeps failing is left alone for a while, unless a person asks for it. What has not changed since the last
    collection is not sent again, and is recorded as seen.
    """
    store = archive()

    def client() -> "Client":
        return _client(adapter.name, adapter.source.kind, store.known_pages(adapter.name))

    return collector.from_network(adapter, store, client, database.now, is_asked_for=is_asked_for)


def record(adapter: Adapter) -> Path:
    """A live answer of a source as a fixture of this checkout; returns its folder.

    Raises FetchError, PageError, RecordError, NoFixturesError.
    """
    from scrapers import record as recorder

    observed_at = database.now()
    with _client(adapter.name, adapter.source.kind) as client:
        pages = [page for page in adapter.fetch(client) if isinstance(page, Page)]
    return recorder.record(adapter, pages, observed_at, collector.fixtures_dir())


@dataclass(frozen=True)
class Tried:
    """What a source answers now."""

    source: str
    status: str
    offers: int
    unknown_names: tuple[str, ...]
    fixture_age_days: int | None
    reason: str


def try_live(adapter: Adapter) -> Tried:
    """One live answer of a source, read and thrown away; never raises for what the source does."""
    from scrapers.fetch import FetchError, MissingKeyError
    from warehouse import names

    age = collector.fixture_age_days(adapter.name, database.now())
    try:
        with _client(adapter.name, adapter.source.kind) as client:
            parsed = adapter.parse([page for page in adapter.fetch(client) if isinstance(page, Page)])
    except MissingKeyError as error:
        return Tried(adapter.name, "skipped", 0, (), age, str(error))
    except (FetchError, PageError) as error:
        return Tried(adapter.name, "failed", 0, (), age, str(error))
    unknown = {
        offer.accelerator_name
        for offer in parsed.offers
        if offer.price_scope not in {"host_vcpu", "host_gib"}
        and names.resolve_text(
            provider=offer.provider or adapter.source.provider, sku=offer.sku, accelerator_name=offer.accelerator_name,
            accelerator_count=offer.accelerator_count, memory_gb=offer.memory_gb, memory_scope=offer.memory_scope,
        ).accelerator is None
    }  # fmt: skip
    normal = adapter.source.offers
    status = "ok" if len(parsed.offers) in normal else "odd"
    reason = "" if status == "ok" else f"normal is {normal.start} to {normal.stop - 1}"
    return Tried(adapter.name, status, len(parsed.offers), tuple(sorted(unknown)), age, reason)


def collect_rates() -> Manifest:
    """Today's exchange rates into the archive."""
    from scrapers import exchange_rates

    return collector.pages_from_network(
        rates.SOURCE, exchange_rates.fetch, archive(), lambda: _client(rates.SOURCE, "api"), database.now
    )


def collect_fixtures(names: Iterable[str] = ()) -> list[Manifest]:
    """The recorded fixtures of the sources named, or of all, into the archive. Raises NoFixturesError."""
    chosen = list(names) or [*(one.name for one in live_sources()), rates.SOURCE]
    return [manifest for name in chosen for manifest in collector.from_fixtures(name, archive())]


def collect_curated() -> list[Manifest]:
    """The dated list prices kept in the reference rows, into the archive."""
    file = importlib.resources.files("warehouse").joinpath("reference", f"{CURATED}.csv")
    with importlib.resources.as_file(file) as path:
        return collector.from_captures(CURATED, list_prices.captures(path), archive(), curated=True)


def dataset(name: str) -> Adapter:
    """A published price history. Raises UnknownSourceError, naming those there are."""
    known = {one.name: one for one in load_all() if one.source.kind == "dataset"}
    if name not in known:
        raise UnknownSourceError(f"no dataset {name!r}; there is {', '.join(known)}, and wayback for archived pages")
    return known[name]


def dataset_captures(adapter: Adapter, path: Path, mapping: Path | None = None) -> Iterator[Capture]:
    """What a published history shows, oldest first. Raises PageError and CloneError for what it can't be read from."""
    told = {} if mapping is None else {"mapping": mapping}
    captures: Iterator[Capture] = adapter.module.captures(path, **told)
    return captures


def backfill_dataset(
    adapter: Adapter, captures: Iterable[Capture], progress: Progress | None = None
) -> tuple[int, int]:
    """Captures into the archive, which stays as it is for those that are there; returns how many, and how many were new."""
    known = archive().stored_ids().keys()
    seen: set[str] = set()
    for capture in captures:
        seen.update(
            one.snapshot_id for one in collector.from_captures(adapter.name, [capture], archive(), curated=False)
        )
        if progress:
            progress(len(seen), None)
    return len(seen), len(seen - known)


def backfill_wayback(source: str, wanted: "Wanted", progress: Progress | None = None) -> "Iterator[Manifest | Skipped]":
    """Archived copies of a source's page into the archive. Raises UnknownSourceError and WaybackError."""
    from scrapers import wayback
    from scrapers.fetch import Client
    from scrapers.politeness import Politeness

    [adapter] = live_sources([source])
    manners = Politeness(pause_seconds=wayback.PAUSE_SECONDS)
    with Client(f"wayback {source}", kind="api", politeness=manners) as client:
        yield from wayback.backfill(adapter, archive(), client, wanted, progress=progress)


def take_in(source: str, pages: list[Page], observed_at: datetime, source_kind: SourceKind) -> Manifest:
    """Saved pages into the archive, as if collected then. Raises UnknownSourceError."""
    load_source(source)
    return archive().write(source, pages, observed_at=observed_at, source_kind=source_kind)


def load_archive(progress: Progress | None = None) -> list[Outcome]:
    """Everything archived that the warehouse does not have yet. Raises WarehouseError when another process is writing."""
    with database.writer_lock(wait_seconds=60), database.connect_working() as connection:
        loaded = load.load_new(connection, archive(), progress)
        withheld = dict(
            connection.execute(
                """
                SELECT snapshot_id, arg_max(reason, load_number)
                FROM raw.verdicts
                GROUP BY snapshot_id
                HAVING arg_max(verdict, load_number) = 'withheld'
                """
            ).fetchall()
        )
    return [_outcome(one, withheld) for one in loaded]


def _outcome(one: load.Loaded, withheld: dict[str, str]) -> Outcome:
    status, reason = one.status, one.reason
    if one.manifest.snapshot_id in withheld:
        status = "empty" if status == "empty" else "withheld"
        reason = withheld[one.manifest.snapshot_id]
    told = one.manifest
    return Outcome(told.source, told.source_kind, status, reason, one.offers, told.observed_at, told.snapshot_id)


def build(*, full: bool = False, progress: Progress | None = None) -> builder.Built | None:
    """Bring the models up to date and publish; None when nothing was new. A failed check publishes nothing.

    Raises NothingLoadedError, CheckError and WarehouseError.
    """
    with database.writer_lock(wait_seconds=60):
        with database.connect_working() as connection:
            builder.refuse_nothing(connection)
            built = builder.build(connection, full=full, progress=progress)
            connection.execute("CHECKPOINT")
        if built is not None or not database.published_file().exists():
            database.publish()
    return built


def publish_parquet() -> Path | None:
    """Write what has changed of the published copy as Parquet; None when nothing has. Raises WarehouseError."""
    from warehouse import parquet

    with database.writer_lock(wait_seconds=60), database.connect_published() as connection:
        return parquet.publish(connection)


def prune_archive(age: timedelta, *, dry_run: bool) -> "Pruned":
    """Take live collections older than an age out of the archive. Raises ArchiveError and WarehouseError."""
    from warehouse import retention

    with database.writer_lock(wait_seconds=60), database.connect_working() as connection:
        return retention.prune(connection, archive(), database.now() - age, dry_run=dry_run)


def report(scope: "Scope | None" = None, folder: Path | None = None) -> Path:
    """Write the report from the published copy; returns its first page. Where a later build failed, its pages say so.

    Raises NothingPublishedError.
    """
    from warehouse.reports import site
    from warehouse.reports.scope import WHOLE

    notice = failed_build()
    with database.connect_published() as connection:
        return site.write(connection, folder or database.site_dir(), scope or WHOLE, archived_pages(), notice)


def archived_pages() -> "Pages":
    """What the archive of this installation has of a snapshot; nothing where there is no archive, as beside a copied ledger."""
    from warehouse.explain import Node

    kept = archive()
    manifests = kept.stored_ids()

    def of(snapshot_id: str) -> "Sequence[Node]":
        path = manifests.get(snapshot_id)
        if path is None:
            return []
        return [
            Node(
                f"page {page.name}",
                page.sha256,
                "SHA-256",
                f"{page.size_bytes:,} bytes, archived as objects/{page.sha256[:2]}/{page.sha256}.gz",
                url=page.url,
            )
            for page in kept.manifest(path).pages
        ]

    return of


def failed_build() -> str:
    """That the newest build failed a check, and what stands in its place; empty where it did not."""
    from warehouse import gates, health

    with health.working_or_published() as (connection, _):
        failure = None if connection is None else gates.newest_failure(connection)
    return "" if failure is None else failure.line


def digest() -> Path:
    """Write the week in words, of what is published, into a file of its newest day; returns it. Raises WarehouseError."""
    from warehouse.reports import digest as week
    from warehouse.reports import letter

    with database.connect_published() as connection:
        found = week.digest(connection)
    if found.days is None:
        raise database.WarehouseError("no day is published yet; collect something and run: gpuledger build")
    path = database.data_dir() / "digests" / f"{found.days[1]}.md"
    database.write_whole(path, letter.letter(found))
    return path


def decide(snapshot_id: str, verdict: str, reason: str) -> None:
    """Record a person's verdict on a snapshot. Raises WarehouseError for no such snapshot."""
    with database.writer_lock(wait_seconds=60), database.connect_working() as connection:
        verdicts.override(connection, snapshot_id, verdict, reason, decided_by=getpass.getuser())
