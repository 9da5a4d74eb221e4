"""What the published copy holds: which tables are there, and rows of a query as dictionaries."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from warehouse.database import Connection

Row = dict[str, Any]


def present(connection: Connection) -> frozenset[str]:
    """Names of the tables and views there are; those outside ``main`` with their schema."""
    found = connection.execute(
        """
        SELECT schema_name, name
        FROM (
            SELECT database_name, schema_name, table_name AS name FROM duckdb_tables()
            UNION ALL
            SELECT database_name, schema_name, view_name FROM duckdb_views()
        )
        WHERE database_name IN (current_database(), 'temp')
        """
    )
    return frozenset(name if schema == "main" else f"{schema}.{name}" for schema, name in found.fetchall())


def fetch(connection: Connection, sql: str, parameters: object = None, *, needs: Iterable[str] = ()) -> list[Row]:
    """Rows of one query; none when a table that it needs is not there yet."""
    if not frozenset(needs) <= present(connection):
        return []
    found = connection.execute(sql, parameters)
    columns = [column[0] for column in found.description or []]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def grouped(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Rows by the value of a column, or by the values of several; order is kept."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys)].append(row)
    return dict(groups)


@dataclass(frozen=True)
class Build:
    """The build that a report is made from: what someone cites."""

    build_id: str
    built_at: datetime
    code_version: str
    first_day: date | None
    last_day: date | None


def newest_build(connection: Connection) -> Build | None:
    """The newest build; None when nothing was built."""
    rows = fetch(
        connection,
        "SELECT build_id, built_at, code_version, first_day, last_day FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1",
        needs=["builds"],
    )
    return Build(**rows[0]) if rows else None
