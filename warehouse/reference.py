"""Reference rows (``reference/*.csv``) and what the source modules say of themselves, into schema ``reference``."""

import hashlib
import importlib.resources
from collections.abc import Collection
from functools import cache
from importlib.resources.abc import Traversable

import pyarrow as pa

from scrapers.source import load_all
from warehouse import database, own_runs
from warehouse.comments import comment
from warehouse.database import Connection

SOURCES_SCHEMA = pa.schema(
    {
        "source": pa.string(), "provider": pa.string(), "kind": pa.string(), "url": pa.string(), "cadence": pa.string(),
        "key_env": pa.string(), "terms": pa.string(), "is_aggregator": pa.bool_(), "is_unproven": pa.bool_(),
        "offers_low": pa.int32(), "offers_high": pa.int32(),
    }
)  # fmt: skip


@cache
def csv_files() -> dict[str, Traversable]:
    """Table name to reference file."""
    root = importlib.resources.files("warehouse").joinpath("reference")
    files = sorted(root.iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".csv"): file for file in files if file.name.endswith(".csv")}


def sources_table() -> pa.Table:
    """One row per source module."""
    rows = [
        {
            "source": one.name, "provider": one.source.provider, "kind": one.source.kind, "url": one.source.url,
            "cadence": one.source.cadence, "key_env": one.source.key_env, "terms": one.source.terms,
            "is_aggregator": one.source.is_aggregator, "is_unproven": one.source.unproven,
            "offers_low": one.source.offers.start, "offers_high": one.source.offers.stop - 1,
        }
        for one in load_all()
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SOURCES_SCHEMA)


def reference_hash() -> str:
    """Changes whenever a reference row, a source's declaration or a run of one's own does."""
    digest = hashlib.sha256()
    for name, file in csv_files().items():
        digest.update(name.encode() + file.read_bytes())
    for row in sources_table().to_pylist():
        digest.update(repr(sorted(row.items())).encode())
    digest.update(own_runs.contents())
    return digest.hexdigest()[:12]


def load(connection: Connection, only: Collection[str] | None = None) -> None:
    """Replace every reference table, or those named. Types are sniffed over the whole file, so that a late odd row can't be cut."""
    for name, file in csv_files().items():
        if only is not None and name not in only:
            continue
        with importlib.resources.as_file(file) as path:
            connection.execute(
                f"CREATE OR REPLACE TABLE reference.{name} AS FROM read_csv(?, header = TRUE, sample_size = -1, nullstr = '')",
                [str(path)],
            )
    if only is not None:
        return
    with database.registered(connection, {"declared_sources": sources_table()}):
        connection.execute("CREATE OR REPLACE TABLE reference.sources AS FROM declared_sources ORDER BY source")
    own_runs.add(connection, own_runs.read())
    _comment(connection)


def _comment(connection: Connection) -> None:
    """Say what the tables and columns mean, by the rows of ``columns.csv``."""
    rows = connection.execute(
        """
        SELECT table_name, column_name, c.comment
        FROM reference.columns AS c
        SEMI JOIN (
            FROM duckdb_columns() SELECT schema_name, table_name, column_name UNION ALL FROM duckdb_tables() SELECT schema_name, table_name, NULL
        ) AS t ON t.schema_name = 'reference' AND t.table_name = c.table_name AND t.column_name IS NOT DISTINCT FROM c.column_name
        """
    ).fetchall()
    texts: dict[str, dict[str | None, str]] = {}
    for table, column, text in rows:
        texts.setdefault(table, {})[column] = text
    for table, columns in texts.items():
        about = columns.pop(None, "")
        comment(
            connection, "TABLE", f"reference.{table}", about, {str(column): text for column, text in columns.items()}
        )
