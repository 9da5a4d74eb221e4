"""Back-ups of the data folder, and whether one can be relied on.

A back-up is a folder with the archive, the writer's file and the small records as they lie in the data folder: to restore is to copy it
there. The published copy, its Parquet and the report are left out, since a build makes them.
"""

import hashlib
import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
from pydantic import BaseModel, ConfigDict, ValidationError

from scrapers.archive import Archive, ArchiveError
from warehouse import database, gates
from warehouse.health import Finding
from warehouse.model import all_checks

MARK = "backup.json"
# Small records beside the warehouse, and what a person has written where the command runs.
RECORDS = ("alerts.json", "schedules", "digests")
SETTINGS = ("alerts.toml", "runs.toml", "schedules.toml")


class BackupError(RuntimeError):
    """The back-up can't be made, or is none; the message says what to do."""


class Mark(BaseModel):
    """What a back-up says of itself, in ``backup.json``, which is written last."""

    model_config = ConfigDict(extra="forbid")

    made_at: datetime
    code_version: str
    warehouse_sha256: str
    warehouse_bytes: int
    collections: int


def back_up(folder: Path) -> Mark:
    """Make a back-up, or bring an older one in the same folder up to date, copying of the archive only what it lacks.

    Raises BackupError, WarehouseError when another process writes for long, and ArchiveError. A back-up that fails leaves no mark, or the old
    one beside the old warehouse.
    """
    folder = folder.expanduser().absolute()
    data = database.data_dir()
    if folder.is_relative_to(data) or data.is_relative_to(folder):
        raise BackupError(f"{folder} and the data folder {data} are in one another; back up to another disk")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists() and not _is_begun(folder):
        raise BackupError(f"{folder} is no back-up and not empty; name a new folder")
    if not database.working_file().exists():
        raise BackupError(
            f"there is no warehouse at {database.working_file()} to back up; make one with: gpuledger run"
        )
    archive = Archive(folder / "archive")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".begun").touch()
        with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as fresh:
            copy = Path(fresh) / "warehouse.duckdb"
            with database.writer_lock(wait_seconds=60):
                with database.connect_working() as connection:
                    connection.execute("CHECKPOINT")
                shutil.copyfile(database.working_file(), copy)
            # After the warehouse, so that the archive has all that the warehouse was read from.
            Archive(database.archive_dir()).copy_to(archive)
            for name in RECORDS:
                _copy(data / name, folder / name)
            for name in SETTINGS:
                _copy(Path(name), folder / "settings" / name)
            with copy.open("rb+") as file:
                os.fsync(file.fileno())
            size = copy.stat().st_size
            copy.replace(folder / "warehouse.duckdb")
        mark = Mark(
            made_at=database.now(),
            code_version=importlib.metadata.version("gpu-ledger"),
            warehouse_sha256=_sha256(folder / "warehouse.duckdb"),
            warehouse_bytes=size,
            collections=len(archive.stored_ids()),
        )
        fresh_mark = folder / f"{MARK}.new"
        fresh_mark.write_text(mark.model_dump_json(indent=1), encoding="utf-8")
        fresh_mark.replace(folder / MARK)
        (folder / ".begun").unlink()
    except OSError as error:
        raise BackupError(f"cannot write the back-up to {folder}: {error.strerror or error}") from None
    return mark


def _is_begun(folder: Path) -> bool:
    """A first back-up that was cut short."""
    return (folder / ".begun").exists()


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def examine(folder: Path) -> list[Finding]:
    """Everything that a restore will count on: the mark, the warehouse with its checks, and every body of the archive against its hash.

    Raises BackupError when the folder is no back-up.
    """
    folder = folder.expanduser().absolute()
    try:
        mark = Mark.model_validate_json((folder / MARK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BackupError(f"{folder} is no whole back-up: it has no {MARK}; make one with: gpuledger backup") from None
    except (OSError, ValidationError, UnicodeDecodeError):
        raise BackupError(f"{folder / MARK} does not read; make the back-up again") from None
    told = f"of {mark.made_at:%Y-%m-%d %H:%M} UTC, version {mark.code_version}, {mark.collections:,} collections"
    again = "make the back-up again, into a new folder"
    findings = [Finding("back-up", is_well=True, how_it_is=told)]
    file = folder / "warehouse.duckdb"
    is_same = file.is_file() and _sha256(file) == mark.warehouse_sha256
    how = "as it was written" if is_same else "missing, or not what was written"
    findings.append(Finding("warehouse file", is_well=is_same, how_it_is=how, mend=again))
    findings.append(_bodies(Archive(folder / "archive"), mark, again))
    if is_same:
        findings += list(_warehouse(folder, again))
    return findings


def _bodies(archive: Archive, mark: Mark, again: str) -> Finding:
    count = 0
    try:
        for manifest in archive.manifests():
            archive.pages(manifest)
            count += 1
    except ArchiveError as error:
        return Finding("raw archive", is_well=False, how_it_is=str(error), mend=again)
    is_whole = count >= mark.collections
    how = f"{count:,} collections, every page as it was written"
    return Finding("raw archive", is_well=is_whole, how_it_is=how, mend=again)


def _warehouse(folder: Path, again: str) -> Iterator[Finding]:
    """Opens it where it is; nothing is written."""
    try:
        with duckdb.connect(str(folder / "warehouse.duckdb"), read_only=True) as connection:
            # Days that were loaded and not built yet are checked by the build that a restore begins with.
            connection.execute("CREATE TEMP TABLE days_to_build AS SELECT DISTINCT day FROM provider_coverage")
            [(snapshots, offers)] = connection.execute(
                "SELECT (SELECT count(*) FROM raw.snapshots), (SELECT count(*) FROM raw.offers)"
            ).fetchall()
            gate = {name: sql for name, sql in all_checks().items() if gates.severity_of(name, sql) == "error"}
            broken = [name for name, sql in gate.items() if connection.execute(sql).fetchone()]
    except duckdb.Error as error:
        yield Finding("warehouse", is_well=False, how_it_is=" ".join(str(error).split())[:300], mend=again)
        return
    yield Finding("warehouse", is_well=True, how_it_is=f"opens, {snapshots:,} collections, {offers:,} offers")
    how = f"these find something: {', '.join(broken)}" if broken else f"all {len(gate)} pass"
    yield Finding("checks", is_well=not broken, how_it_is=how, mend="gpuledger build --full after the restore")
