"""The checks that stand before publishing, by severity, and the record of what they found: the table ``gate_results``.

``error``: the build fails and the last good copy stands. ``warn``: published, with the word. ``info``: worth knowing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

import duckdb

from warehouse import database
from warehouse.comments import comment
from warehouse.database import Connection

Severity = Literal["error", "warn", "info"]
_SEVERITY = re.compile(r"^-- severity: (\w+)$", re.MULTILINE)
MOST_OF_AN_EXAMPLE = 300

_TABLE = """
CREATE TABLE gate_results (
    checked_at TIMESTAMPTZ NOT NULL, build_id VARCHAR NOT NULL, is_published BOOLEAN NOT NULL, check_name VARCHAR NOT NULL,
    severity VARCHAR NOT NULL, says VARCHAR NOT NULL, rows_found BIGINT NOT NULL, example VARCHAR NOT NULL, builds_before BIGINT NOT NULL
)
"""
_COMMENTS = {
    "": "One row per build and check that found something, also of builds that failed by it and published nothing.",
    "checked_at": "When, UTC.",
    "build_id": "The build; one that failed is in no other table.",
    "is_published": "The build was published, with the word; false where an error kept the last good copy.",
    "check_name": "Which check: a file of warehouse/checks, or the grain of a table.",
    "severity": "error, warn or info.",
    "says": "What must hold, and did not.",
    "rows_found": "How many rows break it.",
    "example": "The first of them.",
    "builds_before": "Builds that had been published by then: a failure stands as long as there are no more.",
}


class CheckError(RuntimeError):
    """A check of severity error found rows; nothing was changed and the last good published copy stands."""

    def __init__(self, message: str, results: "list[Result]") -> None:
        super().__init__(message)
        self.results = results


class SeverityError(ValueError):
    """A check that names no severity there is; the message names the check."""


@dataclass(frozen=True)
class Result:
    """What one check found."""

    check_name: str
    severity: Severity
    says: str
    rows_found: int
    example: str

    @property
    def line(self) -> str:
        """For a person."""
        return f"{self.severity}: {self.says} ({self.check_name}: {self.rows_found:,}, first {self.example})"


@dataclass(frozen=True)
class Failure:
    """The newest build, when it failed, and what stands in its place."""

    checked_at: datetime
    check_name: str
    says: str
    stands: str

    @property
    def line(self) -> str:
        """For a person."""
        return f"the build of {self.checked_at:%Y-%m-%d %H:%M} UTC failed its check {self.check_name} ({self.says}); {self.stands} stands"


def severity_of(name: str, sql: str) -> Severity:
    """Of a check, by its line ``-- severity:``; error where it has none. Raises SeverityError."""
    found = _SEVERITY.search(sql)
    if not found:
        return "error"
    for known in get_args(Severity):
        if found[1] == known:
            severity: Severity = known
            return severity
    raise SeverityError(f"check {name}: no severity {found[1]!r}; there is {', '.join(get_args(Severity))}")


def run(connection: Connection, checks: Mapping[str, str]) -> list[Result]:
    """What the checks find. Raises CheckError when one of severity error finds anything."""
    results = []
    for name, sql in checks.items():
        found = connection.execute(sql)
        columns = [column[0] for column in found.description or []]
        if example := found.fetchone():
            [(rows,)] = connection.execute(f"SELECT count(*) FROM (\n{sql}\n)").fetchall()
            told = ", ".join(f"{name} {value}" for name, value in zip(columns, example, strict=True))[
                :MOST_OF_AN_EXAMPLE
            ]
            results.append(Result(name, severity_of(name, sql), _says(sql) or name, int(rows), told))
    errors = [one for one in results if one.severity == "error"]
    if errors:
        first = errors[0]
        others = f" and {len(errors) - 1} others" if len(errors) > 1 else ""
        text = (
            f"check {first.check_name}{others} found rows, so nothing was changed and the last good copy stands;"
            f" the first of {first.rows_found:,}: {first.example}"
        )
        raise CheckError(text, results)
    return results


def _says(sql: str) -> str:
    """The head of a check's file: what must hold."""
    head = []
    for line in sql.splitlines():
        if not line.startswith("--") or line.startswith("-- severity:"):
            break
        head.append(line.removeprefix("--").strip())
    return " ".join(head)


def make_table(connection: Connection) -> None:
    """Where there is none yet."""
    there = connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE table_name = 'gate_results' AND database_name = current_database()"
    ).fetchone()
    if there:
        return
    connection.execute(_TABLE)
    comment(connection, "TABLE", "gate_results", _COMMENTS[""], {k: v for k, v in _COMMENTS.items() if k})


def record(connection: Connection, build_id: str, results: list[Result], *, is_published: bool) -> None:
    """Keep what was found."""
    [(builds_before,)] = connection.execute("SELECT count(*) FROM builds").fetchall()
    for one in results:
        connection.execute(
            "INSERT INTO gate_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                database.now(), build_id, is_published, one.check_name, one.severity, one.says, one.rows_found, one.example,
                builds_before,
            ],
        )  # fmt: skip


def newest_failure(connection: Connection) -> Failure | None:
    """The newest build's failure; None when it was published, or nothing was built."""
    try:
        rows = connection.execute(
            """
            WITH last AS (
                SELECT max(built_at) AS built_at, arg_max(build_id, (built_at, load_number)) AS build_id, count(*) AS builds FROM builds
            )
            SELECT
                g.checked_at, g.check_name, g.says,
                coalesce('build ' || last.build_id || ' of ' || strftime(last.built_at, '%Y-%m-%d %H:%M') || ' UTC', 'nothing')
            FROM gate_results AS g
            CROSS JOIN last
            WHERE NOT g.is_published AND g.severity = 'error' AND g.builds_before = last.builds
            ORDER BY g.checked_at DESC, g.check_name
            LIMIT 1
            """
        ).fetchall()
    except duckdb.CatalogException:
        return None
    return Failure(*rows[0]) if rows else None


def words(connection: Connection, severities: tuple[Severity, ...] = ("warn",)) -> list[Result]:
    """What the newest published build was published with."""
    try:
        rows = connection.execute(
            """
            SELECT check_name, severity, says, rows_found, example
            FROM gate_results
            WHERE build_id = (SELECT arg_max(build_id, (built_at, load_number)) FROM builds) AND list_contains(?, severity)
            ORDER BY severity DESC, check_name
            """,
            [list(severities)],
        ).fetchall()
    except duckdb.CatalogException:
        return []
    return [Result(*row) for row in rows]
