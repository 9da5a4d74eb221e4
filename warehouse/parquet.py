"""The tables that people ask as Parquet, a file for each month, beside the published copy.

A build writes the months that it changed into a folder of its own, links the others from the last one, and swaps a link: readers find the
old whole or the new whole.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import duckdb

from warehouse import database
from warehouse.comments import literal
from warehouse.database import Connection, WarehouseError
from warehouse.model import Model, all_models

MANIFEST = "manifest.json"
_PREFIX = "parquet-"
# One row for each day, run, part and basis: what it has of the runs on their own parts is small, and the rest is a join of two tables that are here.
_SHORTENED = {"training_costs": ("training_costs_as_run", "SELECT * FROM training_costs WHERE as_run")}


@dataclass(frozen=True)
class _Table:
    name: str
    query: str
    is_monthly: bool
    is_costly: bool
    """Its query reads other months too, so it is asked once for all of them."""


@dataclass(frozen=True)
class _Manifest:
    """Of which build the files are, and a fingerprint of the rows in each, as this version of the engine hashes them."""

    build: str = ""
    engine: str = ""
    files: dict[str, dict[str, str]] = field(default_factory=dict)


def folder() -> Path:
    """Where they are: a link to the newest."""
    return database.published_file().parent / "parquet"


def publish(connection: Connection) -> Path | None:
    """Write what has changed since the last time and swap it in; None when nothing has. Raises WarehouseError.

    ``connection`` is to the published copy, and no other process may publish.
    """
    build_id = _newest_build(connection)
    last = _manifest()
    if (last.build, last.engine) == (build_id, duckdb.__version__):
        return None
    from_day = _first_changed_day(connection, last)
    target = folder()
    try:
        fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=_PREFIX))
        try:
            fresh.chmod(0o755)
            files = {
                table.name: _write(connection, table, fresh, from_day, last.files.get(table.name, {}))
                for table in _tables()
            }
            manifest = _Manifest(build_id, duckdb.__version__, files)
            (fresh / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
            _swap_in(fresh, target)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    except (OSError, duckdb.IOException) as error:
        told = " ".join(str(error).split())[:200]
        raise WarehouseError(f"cannot write Parquet to {target}: {told}; the last good files stand") from None
    return target


def _tables() -> Iterator[_Table]:
    for model in all_models():
        if "." in model.name or model.partition == "transient":
            continue
        name, query = _SHORTENED.get(model.name, (model.name, f"SELECT * FROM {model.name}"))
        yield _Table(name, query, _is_monthly(model), model.partition == "view" and " OVER " in model.sql)
    yield _Table("builds", "SELECT * FROM builds", is_monthly=False, is_costly=False)


def _is_monthly(model: Model) -> bool:
    return "day" in model.columns and (model.partition in {"day", "view"} or "day" in model.grain)


def _newest_build(connection: Connection) -> str:
    [(build_id,)] = connection.execute(
        "SELECT build_id FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
    ).fetchall()
    return str(build_id)


def _manifest() -> _Manifest:
    try:
        return _Manifest(**json.loads((folder() / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return _Manifest()


def _first_changed_day(connection: Connection, last: _Manifest) -> date | None:
    """The first day that the builds after the last one written here have made; None for all days."""
    builds = connection.execute(
        "SELECT build_id, is_full, last_day - days_built + 1 FROM builds ORDER BY load_number, built_at"
    ).fetchall()
    place = (
        [build_id for build_id, _, _ in builds].index(last.build) if last.build in {row[0] for row in builds} else None
    )
    if place is None or last.engine != duckdb.__version__ or any(is_full for _, is_full, _ in builds[place + 1 :]):
        return None
    return min((first for _, _, first in builds[place + 1 :] if first is not None), default=None)


def _write(
    connection: Connection, table: _Table, fresh: Path, from_day: date | None, known: dict[str, str]
) -> dict[str, str]:
    """Write a table's changed files and link the others; returns each file's fingerprint."""
    columns = ", ".join(f'"{row[0]}"' for row in connection.execute(f"DESCRIBE {table.query}").fetchall())
    since = "" if from_day is None or not table.is_monthly else f"WHERE day >= DATE '{from_day.replace(day=1)}'"
    query = f"SELECT * FROM ({table.query}) {since}"
    if table.is_costly:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE asked_once AS {query}")
        query = "SELECT * FROM asked_once"
    month = "strftime(day, '%Y-%m')" if table.is_monthly else "''"
    # Hashed twice: of values hashed together the last would cancel out over an even number of rows.
    found = connection.execute(
        f"SELECT {month} AS month, concat_ws(' ', count(*), bit_xor(hash(hash({columns})))) FROM ({query}) GROUP BY month ORDER BY month"
    ).fetchall()
    if not found and not table.is_monthly:
        found = [("", "0")]  # a table without rows is a file without rows
    prints = {file: print_ for file, print_ in known.items() if since and file < _file(table, f"{from_day:%Y-%m}")}
    for file in prints:
        _link(folder() / file, fresh / file)
    for month_of, fingerprint in found:
        file = _file(table, month_of)
        prints[file] = fingerprint
        if known.get(file) == fingerprint and (folder() / file).exists():
            _link(folder() / file, fresh / file)
            continue
        (fresh / file).parent.mkdir(parents=True, exist_ok=True)
        only = f"WHERE day BETWEEN DATE '{month_of}-01' AND last_day(DATE '{month_of}-01')" if table.is_monthly else ""
        connection.execute(
            f"COPY (SELECT * FROM ({query}) {only}) TO {literal(str(fresh / file))} (FORMAT parquet, COMPRESSION zstd)"
        )
    return prints


def _file(table: _Table, month: str) -> str:
    return f"{table.name}/month={month}/{table.name}.parquet" if month else f"{table.name}/{table.name}.parquet"


def _link(old: Path, new: Path) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old.resolve(), new)
    except OSError:  # a file system without links
        shutil.copyfile(old, new)


def _swap_in(fresh: Path, target: Path) -> None:
    """Point the link at the fresh folder; the one before stays for those who are reading it."""
    before = target.resolve()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".link-") as place:
        link = Path(place) / "parquet"
        link.symlink_to(fresh.name)
        link.replace(target)
    for other in target.parent.glob(f"{_PREFIX}*"):
        if other not in {fresh, before}:
            shutil.rmtree(other, ignore_errors=True)
