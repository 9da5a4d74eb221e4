"""The questions that the command answers, as SQL on the published copy; every answer is column names and rows."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from warehouse import names
from warehouse.database import Connection, WarehouseError
from warehouse.model import all_models


class UnknownNameError(LookupError):
    """No accelerator, run or basis of that name; the message names near ones."""


class QueryError(ValueError):
    """SQL that does not run; the message is the engine's, on one line."""


@dataclass(frozen=True)
class Answer:
    """Rows under their column names."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def ask(connection: Connection, sql: str, parameters: object = None) -> Answer:
    """Run one query. Raises QueryError."""
    try:
        found = connection.execute(sql, parameters)
        return Answer([column[0] for column in found.description or []], found.fetchall())
    except duckdb.Error as error:
        raise QueryError(" ".join(str(error).split())[:500]) from None


def statements(connection: Connection, sql: str) -> int:
    """How many statements a text holds. Raises QueryError."""
    try:
        return len(connection.extract_statements(sql))
    except duckdb.Error as error:
        raise QueryError(" ".join(str(error).split())[:500]) from None


def read_only(connection: Connection) -> None:
    """Nothing but reading this file from here on: no other file, no network, no settings, nothing of this process."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")  # no variable of this program is a table
    connection.execute("SET lock_configuration = true")


def known(connection: Connection, table: str, column: str) -> list[str]:
    """The words that a column of a published table has."""
    rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1").fetchall()
    return [row[0] for row in rows]


def accelerators(connection: Connection, name: str) -> list[str]:
    """The keys that a name means: a key, or every key of a model. Raises UnknownNameError."""
    rows = connection.execute("SELECT accelerator, may_be IS NULL FROM reference.accelerators ORDER BY 1").fetchall()
    known = [row[0] for row in rows]
    if name in known:
        return [name]
    part = names.resolve(name)
    # A key that may be several parts is no answer to a person who left the form out.
    if part.accelerator is not None and (part.accelerator, True) in rows and part.memory_gb is not None:
        return [part.accelerator]
    if part.model is not None:
        found = connection.execute(
            "SELECT accelerator FROM reference.accelerators WHERE model = ? ORDER BY 1", [part.model]
        ).fetchall()
        if found:
            return [row[0] for row in found]
    near = ", ".join(difflib.get_close_matches(name.lower(), known, n=4, cutoff=0.4)) or ", ".join(known[:4])
    raise UnknownNameError(f"no accelerator {name!r}; near it: {near}")


def prices(connection: Connection, keys: Sequence[str], count: int | None) -> Answer:
    """What the parts cost now, cheapest first; with a count, only offers that give so many in one place, and the price of them all.

    More than one node needs a part that sellers connect by a fabric.
    """
    return ask(
        connection,
        """
        WITH wanted AS (
            SELECT o.*, a.node_size, a.has_fabric, coalesce($count, accelerator_count, 1) AS wanted_count
            FROM offers_current AS o
            JOIN reference.accelerators AS a USING (accelerator)
            WHERE list_contains($keys, accelerator) AND index_eligible AND available IS DISTINCT FROM FALSE
        ),
        fitting AS (
            SELECT *, ceil(wanted_count / coalesce(accelerator_count, 1)) AS machines
            FROM wanted
            WHERE wanted_count <= coalesce(accelerator_count, node_size, 1)
                OR (has_fabric AND coalesce(accelerator_count, node_size) >= node_size)
        )
        SELECT
            accelerator, provider, sku, accelerator_count, pricing_model, commitment_days, tier, region, usd_per_accelerator_hour,
            CAST(machines * coalesce(usd_per_hour, usd_per_accelerator_hour) AS DECIMAL(18, 4)) AS usd_per_hour,
            price, currency, seen_day, age_days, source_kind
        FROM fitting
        ORDER BY usd_per_hour / wanted_count, usd_per_accelerator_hour, provider, sku
        """,
        {"keys": list(keys), "count": count},
    )


def trend(
    connection: Connection,
    keys: Sequence[str],
    *,
    segment: str,
    pricing_model: str,
    commitment_days: int,
    since: date | None,
) -> Answer:
    """How the daily price moved, one row per month and part: that of the month's last priced day."""
    return ask(
        connection,
        """
        SELECT
            accelerator,
            max(day) AS day,
            arg_max(usd_per_accelerator_hour_median, day) AS usd_per_accelerator_hour_median,
            arg_max(usd_per_accelerator_hour_min, day) AS usd_per_accelerator_hour_min,
            arg_max(usd_per_dense_bf16_pflop_hour, day) AS usd_per_dense_bf16_pflop_hour,
            arg_max(n_providers, day) AS n_providers,
            arg_max(status, day) AS status,
            arg_max(age_days, day) AS age_days
        FROM prices_daily
        WHERE list_contains($keys, accelerator) AND segment = $segment AND pricing_model = $pricing_model
            AND commitment_days = $commitment_days AND day >= coalesce($since, DATE '0001-01-01')
            AND usd_per_accelerator_hour_median IS NOT NULL
        GROUP BY accelerator, date_trunc('month', day)
        ORDER BY accelerator, day
        """,
        {
            "keys": list(keys),
            "segment": segment,
            "pricing_model": pricing_model,
            "commitment_days": commitment_days,
            "since": since,
        },
    )


def export(connection: Connection, folder: Path) -> list[Path]:
    """Every mart as a Parquet file in the folder, with the build that they come from. Raises WarehouseError."""
    marts = [model.name for model in all_models() if "." not in model.name and model.partition != "transient"]
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in [*sorted(marts), "builds"]:
            path = folder / f"{name}.parquet"
            fresh = folder / f".{name}.parquet"
            connection.execute(
                f"COPY (FROM {name}) TO '{str(fresh).replace(chr(39), chr(39) * 2)}' (FORMAT parquet, COMPRESSION zstd)"
            )
            fresh.replace(path)
            written.append(path)
    except (OSError, duckdb.IOException) as error:
        raise WarehouseError(f"cannot write to {folder}: {' '.join(str(error).split())[:200]}") from None
    return written
