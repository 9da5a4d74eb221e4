"""How the sources fare and what is wrong with this installation, read from the working file or, where that is busy, the published copy."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from scrapers import keys
from scrapers.archive import Archive, ArchiveError
from scrapers.source import load_all
from warehouse import database, gates
from warehouse.ask import Answer
from warehouse.build import UNKNOWN_NAMES
from warehouse.database import Connection, WarehouseError
from warehouse.model import all_checks, all_models

# Less than this and a day's archive and a build may not fit.
FREE_BYTES = 2 * 1024**3
SOURCE_COLUMNS = ["source", "provider", "segment", "kind", "proven", "status", "last_good_at", "offers", "reason"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at, how it is, and the mend where it is not well."""

    what: str
    is_well: bool
    how_it_is: str
    mend: str = ""


@contextlib.contextmanager
def working_or_published() -> Iterator[tuple[Connection | None, str]]:
    """The working file, read-only; the published copy with a note when it is busy; None when there is neither."""
    note = ""
    try:
        connection = database.connect_working(read_only=True)
    except WarehouseError as busy:
        try:
            connection = database.connect_published()
            note = f"{busy}; this is from the published copy"
        except WarehouseError:
            yield None, str(busy)
            return
    try:
        yield connection, note
    finally:
        connection.close()


def sources(connection: Connection | None) -> Answer:
    """One row per source: what it is, how it last fared, and why not better."""
    fared = {} if connection is None else _fared(connection)
    segments = {} if connection is None else _segments(connection)
    rows: list[tuple[Any, ...]] = []
    for one in load_all():
        status, last_good_at, offers, reason = fared.get(one.name, ("never", None, None, why_never(one.source.key_env)))
        rows.append(
            (
                one.name, one.source.provider, segments.get(one.source.provider), one.source.kind, not one.source.unproven, status,
                last_good_at, offers, reason,
            )
        )  # fmt: skip
    return Answer(SOURCE_COLUMNS, rows)


def why_never(key_env: str | None) -> str:
    """Why a source was never collected: no key, or nobody asked."""
    try:
        if key_env and not keys.find(key_env):
            return f"needs a key in {key_env}"
    except keys.KeysFileError as error:
        return str(error)
    return "never collected"


def _fared(connection: Connection) -> dict[str, tuple[str, datetime | None, int | None, str | None]]:
    snapshots = next(model.sql for model in all_models() if model.name == "staging.snapshots")
    rows = connection.execute(
        f"""
        WITH snapshots AS ({snapshots})
        SELECT
            source,
            arg_max(CASE WHEN verdict = 'withheld' AND status <> 'empty' THEN 'withheld' ELSE status END, (observed_at, snapshot_id)),
            max(observed_at) FILTER (WHERE is_good),
            arg_max(offers, (observed_at, snapshot_id)) FILTER (WHERE is_good),
            nullif(arg_max(concat_ws('; ', nullif(reason, ''), nullif(verdict_reason, '')), (observed_at, snapshot_id)), '')
        FROM snapshots
        GROUP BY source
        """
    ).fetchall()
    return {row[0]: tuple(row[1:]) for row in rows}


def _segments(connection: Connection) -> dict[str, str]:
    try:
        return dict(connection.execute("SELECT provider, segment FROM reference.providers").fetchall())
    except duckdb.CatalogException:
        return {}


def unknown_names(connection: Connection) -> list[str]:
    """Spellings that no rule or row knows, with whose they are."""
    try:
        rows = connection.execute(UNKNOWN_NAMES).fetchall()
    except duckdb.CatalogException:
        return []
    return [row[0] for row in rows]


def doctor() -> list[Finding]:
    """Everything worth looking at, in the order in which one would mend it."""
    findings = [_python(), _disk()]
    with working_or_published() as (connection, note):
        if connection is None:
            mend = "gpuledger run --fixtures" if not database.working_file().exists() else "see the message"
            return [*findings, _archive(), Finding("warehouse", is_well=False, how_it_is=note, mend=mend)]
        where = note or str(database.working_file())
        findings += [_archive(), Finding("warehouse", is_well=True, how_it_is=where), *_builds(connection)]
    return [*findings, _published()]


def _python() -> Finding:
    told = f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__}"
    return Finding("program", is_well=sys.version_info >= (3, 11), how_it_is=told, mend="use Python 3.11 or newer")


def _disk() -> Finding:
    folder = database.data_dir()
    there = folder if folder.exists() else folder.parent
    if not os.access(there, os.W_OK):
        return Finding(
            "data folder",
            is_well=False,
            how_it_is=f"{folder} is not writable",
            mend="set GPULEDGER_DATA to a folder of yours",
        )
    free = shutil.disk_usage(there).free
    return Finding(
        "data folder",
        is_well=free >= FREE_BYTES,
        how_it_is=f"{folder}, {free / 1024**3:.1f} GiB free",
        mend="free some disk space",
    )


def _archive() -> Finding:
    archive = Archive(database.archive_dir())
    try:
        count = sum(1 for _ in archive.manifests())
    except ArchiveError as error:
        return Finding("raw archive", is_well=False, how_it_is=str(error), mend="restore the archive from a back-up")
    return Finding("raw archive", is_well=True, how_it_is=f"{count} collections")


def _builds(connection: Connection) -> Iterator[Finding]:
    try:
        last = connection.execute(
            "SELECT build_id, built_at, last_day FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
        ).fetchone()
    except duckdb.CatalogException:
        last = None
    if last is None:
        yield Finding("build", is_well=False, how_it_is="nothing was built yet", mend="gpuledger build")
        return
    yield Finding("build", is_well=True, how_it_is=f"{last[0]} of {last[1]:%Y-%m-%d %H:%M} UTC, up to {last[2]}")
    connection.execute("CREATE TEMP TABLE days_to_build AS SELECT DISTINCT observed_day AS day FROM raw.snapshots")
    if failure := gates.newest_failure(connection):
        mend = "mend what it found or withhold it (gpuledger quarantine), then gpuledger build"
        yield Finding("gate", is_well=False, how_it_is=failure.line, mend=mend)
    for name, sql in all_checks().items():
        severity = gates.severity_of(name, sql)
        found = connection.execute(sql).fetchmany(1) if severity == "error" else []
        if found:
            yield Finding(f"check {name}", is_well=False, how_it_is=f"finds {found[0]}", mend="gpuledger build --full")


def _published() -> Finding:
    try:
        with database.connect_published() as connection:
            [(build_id,)] = connection.execute(
                "SELECT build_id FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
            ).fetchall()
    except WarehouseError as error:
        return Finding("published copy", is_well=False, how_it_is=str(error), mend="gpuledger build")
    return Finding("published copy", is_well=True, how_it_is=f"build {build_id} at {database.published_file()}")
