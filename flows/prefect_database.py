"""Prefect's own database, looked at before a server is started on it: what is wrong there is one line, not a page of traces."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

WAIT_SECONDS = 20.0
"""So long a write of another server may take."""
_ELSEWHERE = ("PREFECT_API_URL", "PREFECT_SERVER_DATABASE_CONNECTION_URL", "PREFECT_API_DATABASE_CONNECTION_URL")
"""Where one of these is set, the database is not the file in PREFECT_HOME."""
_MENDED_BY = {
    "SQLITE_BUSY": "another process holds it; end that one",
    "SQLITE_LOCKED": "another process holds it; end that one",
    "SQLITE_NOTADB": "move it away, a new one is made",
    "SQLITE_CORRUPT": "move it away, a new one is made",
}


class PrefectDatabaseError(RuntimeError):
    """A server could not use its database; the message says what to do."""


def check() -> None:
    """See that a server started with PREFECT_HOME as it is can write to its database. Raises PrefectDatabaseError.

    A database that is not there yet is made by the server, and one that is not SQLite's is not looked at.
    """
    if any(os.environ.get(name) for name in _ELSEWHERE):
        return
    file = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        mend = _MENDED_BY.get(getattr(error, "sqlite_errorname", ""), "set PREFECT_HOME to a folder of yours")
        raise PrefectDatabaseError(f"Prefect's database {file} does not open ({error}): {mend}") from None
