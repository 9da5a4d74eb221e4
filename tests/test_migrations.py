"""A warehouse of every schema that was released is brought forward with all that is in it, and is then as a new one is."""

from pathlib import Path

import duckdb
import pytest

from flows import steps
from tests.conftest import ROOT
from warehouse import database

RELEASED = sorted((ROOT / "tests" / "released").glob("*.sql"))
MIGRATIONS = sorted((ROOT / "warehouse" / "migrations").glob("*.sql"))


def columns(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute(
        """
        SELECT schema_name, table_name, column_name, data_type, is_nullable
        FROM duckdb_columns()
        WHERE schema_name = 'raw' OR table_name = 'schema_version'
        ORDER BY ALL
        """
    ).fetchall()


def rows(connection: duckdb.DuckDBPyConnection) -> dict[str, list[dict[str, object]]]:
    """Every raw row by its columns."""
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'raw' ORDER BY 1").fetchall()
    found = {}
    for (name,) in names:
        asked = connection.execute(f"FROM raw.{name}")
        heads = [column[0] for column in asked.description or []]
        found[name] = [dict(zip(heads, row, strict=True)) for row in asked.fetchall()]
    return found


def test_every_migration_has_its_released_schema() -> None:
    assert [path.stem for path in RELEASED] == [path.name[:4] for path in MIGRATIONS]
    assert [int(path.name[:4]) for path in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize("released", RELEASED, ids=lambda path: path.stem)
def test_a_released_schema_is_brought_forward_with_all_its_rows(released: Path, tmp_path: Path) -> None:
    database.data_dir().mkdir()
    with duckdb.connect(str(database.working_file())) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(released.read_text(encoding="utf-8"))
        before = rows(connection)
    assert all(before.values()), "a released schema without rows in each table shows nothing"
    with database.writer_lock(), database.connect_working() as connection:
        after = rows(connection)
        versions = connection.execute("SELECT version FROM schema_version ORDER BY 1").fetchall()
        migrated = columns(connection)
    assert versions == [(number,) for number in range(1, len(MIGRATIONS) + 1)]
    for name, old in before.items():
        assert [{column: row[column] for column in old[0]} for row in after[name]] == old, name
    with database.connect_memory() as connection:
        assert migrated == columns(connection)
    # And it works: what it holds is built and published.
    steps.load_archive()
    steps.build()
    with database.connect_published() as connection:
        assert connection.execute("SELECT sku, price, accelerator FROM offers").fetchall() == [
            ("h100-1", before["offers"][0]["price"], "h100-sxm-80gb")
        ]


def test_a_migration_that_was_interrupted_is_made_again_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    database.data_dir().mkdir()
    with monkeypatch.context() as patch:

        def ended() -> None:
            raise KeyboardInterrupt

        patch.setattr(database, "now", ended)  # between the tables and the row that says that they are there
        with pytest.raises(KeyboardInterrupt):
            database.connect_working()
    with database.connect_working() as connection:
        assert connection.execute("SELECT count(*) FROM schema_version").fetchall() == [(len(MIGRATIONS),)]
