"""Opens the warehouse: the only file that knows where it is and which engine it is, and holds the writer's lock.

An open connection of any kind keeps every other process out of a DuckDB file, so the working file is opened late and closed early, and
people read the published copy, which is swapped in whole by rename.
"""

import contextlib
import fcntl
import importlib.resources
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

Connection = duckdb.DuckDBPyConnection
# The oldest storage that DuckDB 1.4, 1.5 and 2.0 all read.
STORAGE_VERSION = "v1.4.0"
LOCK_WAIT_SECONDS = 2.0
_OF_THE_MACHINE = (
    duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException, duckdb.SerializationException, duckdb.InternalException,
)  # fmt: skip


class WarehouseError(RuntimeError):
    """The warehouse can't be used; the message says why and what to do."""


class NothingPublishedError(WarehouseError):
    """No published copy yet."""


def data_dir() -> Path:
    """Where archive, warehouse, published copy and site live: ``GPULEDGER_DATA``, else ``data`` here."""
    return Path(os.environ.get("GPULEDGER_DATA") or "data").expanduser().absolute()


def archive_dir() -> Path:
    """The raw archive."""
    return data_dir() / "archive"


def working_file() -> Path:
    """The writer's file."""
    return data_dir() / "warehouse.duckdb"


def published_file() -> Path:
    """Everyone else's file."""
    return data_dir() / "published" / "gpuledger.duckdb"


def site_dir() -> Path:
    """The report."""
    return data_dir() / "site"


def now() -> datetime:
    """The present, for ages: ``GPULEDGER_NOW`` (ISO 8601) if set. Raises WarehouseError when that is not a time."""
    told = os.environ.get("GPULEDGER_NOW")
    if not told:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(told)
    except ValueError:
        raise WarehouseError(f"GPULEDGER_NOW is not an ISO 8601 time: {told!r}") from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


@contextlib.contextmanager
def writer_lock(wait_seconds: float = 0.0) -> Iterator[None]:
    """Held by the one process that writes; released by the system when that process dies.

    Raises WarehouseError when another process holds it for longer than ``wait_seconds``.
    """
    path = data_dir() / "warehouse.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="ascii")
    except OSError as error:
        raise WarehouseError(
            f"cannot write to {path.parent}: {error.strerror}; set GPULEDGER_DATA to a folder of yours"
        ) from None
    with file:
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise WarehouseError(_held_by(path)) from None
                time.sleep(0.1)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _held_by(path: Path) -> str:
    holder = path.read_text(encoding="ascii").strip()
    who = f"process {holder}" if holder else "another process"
    return f"{who} is writing to the warehouse; wait for it to end and run this again"


def connect_working(*, read_only: bool = False) -> Connection:
    """The working file. Writers hold ``writer_lock`` around this; the file is made where there is none.

    Raises WarehouseError when it is locked for longer than two seconds, damaged, or of a newer schema.
    """
    path = working_file()
    if not path.exists():
        if read_only:
            raise WarehouseError(f"there is no warehouse at {path}; make one with: gpuledger run --fixtures")
        _create(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            connection = duckdb.connect(str(path), read_only=read_only)
            break
        except duckdb.IOException as error:
            if "Could not set lock" not in str(error):
                raise WarehouseError(_unreadable(path, error)) from None
            if time.monotonic() >= deadline:
                raise WarehouseError(f"{path} is open in another program; close it there and run this again") from None
            time.sleep(0.05)
        except duckdb.Error as error:
            raise WarehouseError(_unreadable(path, error)) from None
    _set_up(connection)
    if not read_only:
        _plan_each_use_apart(connection)
        _migrate(connection)
    return connection


def connect_published() -> Connection:
    """The published copy, read-only. Raises NothingPublishedError when there is none, WarehouseError when it is damaged."""
    connection = _open_whole(published_file(), lambda path: duckdb.connect(path, read_only=True))
    _set_up(connection)
    return connection


def connect_beside_published() -> Connection:
    """A database in memory that shows every published table under its own name, so that made-up ones can stand in for some.

    Raises NothingPublishedError when there is no published copy, WarehouseError when it is damaged.
    """
    connection = _open_whole(published_file(), _attached)
    _set_up(connection)
    names = connection.execute(
        """
        SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'published'
        UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'published' AND NOT internal
        """
    ).fetchall()
    statements = [f"CREATE SCHEMA IF NOT EXISTS {schema}" for schema in sorted({schema for schema, _ in names})]
    statements += [f"CREATE VIEW {schema}.{name} AS FROM published.{schema}.{name}" for schema, name in names]
    connection.execute(";\n".join(statements))
    return connection


def _attached(path: str) -> Connection:
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{_quoted(path)}' AS published (READ_ONLY)")
    return connection


def _open_whole(path: Path, open_it: Callable[[str], Connection]) -> Connection:
    """Open the published copy, though a build may swap it at that moment.

    DuckDB reads the head of a file, then opens it again by its name: between the two it may have become another one.
    """
    for _ in range(100):
        try:
            there = _which(path)
        except FileNotFoundError:
            told = f"nothing is published at {path} yet; make it with: gpuledger run --fixtures"
            raise NothingPublishedError(told) from None
        try:
            connection = open_it(str(path))
        except duckdb.Error as error:
            if _which(path) == there:
                raise WarehouseError(_unreadable(path, error)) from None
            continue
        if _which(path) == there:
            return connection
        connection.close()
    raise WarehouseError(f"{path} is swapped faster than it can be opened; run this again")


def _which(path: Path) -> tuple[int, int, int]:
    """Tells a file from another of the same name."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextlib.contextmanager
def scratch() -> Iterator[Connection]:
    """An unbuilt warehouse with the raw rows of the published copy, which is attached as ``published``; gone afterwards.

    Raises NothingPublishedError when there is no published copy, WarehouseError when it is damaged.
    """
    with (
        _open_whole(published_file(), _attached) as connection,
        tempfile.TemporaryDirectory(dir=data_dir(), prefix=".scratch-") as folder,
    ):
        connection.execute(f"ATTACH '{_quoted(Path(folder) / 'scratch.duckdb')}' AS scratch")
        connection.execute("USE scratch")
        _set_up(connection)
        _plan_each_use_apart(connection)
        _migrate(connection)
        raw = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'published' AND schema_name = 'raw' ORDER BY 1"
        ).fetchall()
        for (name,) in raw:
            connection.execute(f"INSERT INTO raw.{name} BY NAME FROM published.raw.{name}")
        yield connection
        connection.execute("USE memory; DETACH scratch")


def connect_memory() -> Connection:
    """A warehouse in memory, empty, with the same schema; for looking at pages without storing them."""
    connection = duckdb.connect()
    _set_up(connection)
    _migrate(connection)
    return connection


@contextlib.contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All of what runs inside, or nothing of it."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextlib.contextmanager
def registered(connection: Connection, tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Arrow tables that SQL finds by these names while inside."""
    for name, table in tables.items():
        connection.register(name, table)
    try:
        yield
    finally:
        for name in tables:
            # After a failed statement the engine refuses this too, and would hide why.
            with contextlib.suppress(duckdb.Error):
                connection.unregister(name)


def next_load_number(connection: Connection) -> int:
    """The number by which one transaction's facts are told apart from older ones."""
    [(number,)] = connection.execute("SELECT nextval('raw.load_numbers')").fetchall()
    return int(number)


def publish() -> Path:
    """Copy the working file, closed by now, and swap the copy in by rename: readers see the old whole or the new whole."""
    target = published_file()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        os.close(handle)
        try:
            shutil.copyfile(working_file(), temporary)
            with Path(temporary).open("rb+") as file:
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
    except OSError as error:
        raise WarehouseError(f"cannot publish to {target}: {error.strerror}; the last good copy stands") from None
    return target


def write_whole(path: Path, text: str) -> None:
    """A small file beside the warehouse: all of it or the old one, also across a kill. Raises WarehouseError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise WarehouseError(f"cannot write {path}: {error.strerror}") from None


def _set_up(connection: Connection) -> None:
    """UTC, and nothing on stdout but data."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")


def _plan_each_use_apart(connection: Connection) -> None:
    """Let two uses of one view in a query each read only the rows they need.

    DuckDB 2.0 makes one common subplan of them, and that reads all: a day's build would read years of offers.
    """
    known = connection.execute("SELECT name FROM duckdb_optimizers() WHERE name = 'common_subplan'").fetchall()
    if known:
        connection.execute("SET disabled_optimizers = 'common_subplan'")


def _create(path: Path) -> None:
    """A new file, whole or not at all: half a head would be taken for a damaged warehouse ever after."""
    fresh = path.with_name(f".new-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{_quoted(fresh)}' AS fresh (STORAGE_VERSION '{STORAGE_VERSION}')")
            connection.execute("DETACH fresh")
        fresh.replace(path)
    except (OSError, duckdb.Error) as error:
        raise WarehouseError(f"cannot make a warehouse at {path}: {_one_line(error)}") from None
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def _migrate(connection: Connection) -> None:
    """Bring the schema forward, one numbered file at a time; never back. Raises WarehouseError for a file of something else."""
    tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if tables and "schema_version" not in tables:
        raise WarehouseError(
            f"{working_file()} is a DuckDB file of something else (it has {', '.join(sorted(tables)[:3])}); move it away and run this again"
        )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, applied_at TIMESTAMPTZ NOT NULL, migration VARCHAR NOT NULL)"
    )
    found = connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()
    version = int(found[0]) if found else 0
    scripts = sorted(
        (
            item
            for item in importlib.resources.files("warehouse").joinpath("migrations").iterdir()
            if item.name.endswith(".sql")
        ),
        key=lambda item: item.name,
    )
    newest = int(scripts[-1].name[:4])
    if version > newest:
        raise WarehouseError(f"the warehouse has schema {version}, this program knows {newest}; upgrade the program")
    for script in scripts[version:]:
        connection.execute("BEGIN")
        connection.execute(script.read_text(encoding="utf-8"))
        connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", [int(script.name[:4]), now(), script.name])
        connection.execute("COMMIT")


def _quoted(path: Path | str) -> str:
    return str(path).replace("'", "''")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def failure(error: Exception) -> str | None:
    """Why the engine could not go on and what to do, where the disk, the memory or a damaged file is why; None for a defect of ours."""
    is_unwritten = isinstance(error, duckdb.TransactionException) and "Failed to commit" in str(error)
    if not isinstance(error, _OF_THE_MACHINE) and not is_unwritten:
        return None
    return (
        f"the warehouse could not be read or written ({_one_line(error)}); nothing was changed, and what is published stands:"
        " see what is wrong with: gpuledger doctor, then run this again"
    )


def _unreadable(path: Path, error: Exception) -> str:
    if not os.access(path, os.R_OK | os.W_OK):
        return f"{path} may not be opened by you; run this as its owner, or set GPULEDGER_DATA to a folder of yours"
    return f"{path} does not open as a DuckDB file ({_one_line(error)}); restore it from a back-up, or move it away and run again"
