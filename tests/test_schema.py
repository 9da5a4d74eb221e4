"""The published copy explains itself: comments, macros, and the pages that are made of them."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests import document
from warehouse import database, macro
from warehouse.ask import ask
from warehouse.database import Connection

# For each macro arguments that find something on the recorded pages.
CALLS = {
    ("cheapest", True): "'H100', DATE '2026-08-22'",
    ("cheapest_part", True): "'gpt-3-175b', '2023-03-01'",
    ("index_change", False): "'v100-sxm-16gb', '2018-07-01', DATE '2019-01-01', for_segment := 'hyperscaler'",
    ("offers_as_of", True): "'infinity'",
    ("offers_of", True): "'vultr'",
    ("price_history", True): "'a100-sxm-80gb', for_basis := 'hyperscaler_median'",
    ("price_on", False): "'a100-sxm-80gb', '2023-03-01', 'hyperscaler_median'",
    ("price_on", True): "'a100-sxm-80gb', DATE '2023-03-01', 'hyperscaler_median'",
    ("prices_daily_as_of", True): "'infinity'",
    ("providers_of", True): "'a100-sxm-80gb'",
    ("run_cost", True): "'llama-65b', '2023-03-01', 'hyperscaler_median'",
    ("training_costs_as_of", True): "'infinity'",
}
# Every run on every part and basis in nine years is more than memory has room for.
NARROWED = {"training_costs_as_of": "run = 'llama-65b' AND day = DATE '2023-03-01'"}


def narrowed(name: str) -> str:
    """What follows a call of that macro, so that the answer is small."""
    return f" WHERE {NARROWED[name]}" if name in NARROWED else ""


@pytest.fixture
def published(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with database.connect_published() as connection:
        yield connection


def test_every_table_view_column_and_macro_has_a_comment(published: Connection) -> None:
    """A column of a reference table gets its own in ``warehouse/reference/columns.csv``."""
    silent = published.execute(
        """
        SELECT schema_name || '.' || table_name || '.' || column_name FROM duckdb_columns() WHERE coalesce(comment, '') = '' AND NOT internal
        UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE coalesce(comment, '') = '' AND NOT internal
        UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE coalesce(comment, '') = '' AND NOT internal
        UNION ALL SELECT function_name FROM duckdb_functions() WHERE coalesce(comment, '') = '' AND NOT internal
        ORDER BY ALL
        """
    ).fetchall()
    assert silent == []


def test_what_columns_csv_explains_is_there(published: Connection) -> None:
    strays = published.execute(
        """
        SELECT c.table_name, c.column_name
        FROM reference.columns AS c
        ANTI JOIN (SELECT table_name, unnest([column_name, NULL]) AS column_name FROM duckdb_columns() WHERE schema_name = 'reference') AS d
            ON d.table_name = c.table_name AND d.column_name IS NOT DISTINCT FROM c.column_name
        """
    ).fetchall()
    assert strays == []


def test_no_parameter_of_a_macro_is_a_column(published: Connection) -> None:
    columns = {row[0] for row in published.execute("SELECT DISTINCT column_name FROM duckdb_columns()").fetchall()}
    named = published.execute(
        "SELECT function_name, unnest(parameters) FROM duckdb_functions() WHERE NOT internal AND function_type LIKE '%macro'"
    ).fetchall()
    assert {name for name, _ in named} >= {one.name for one in macro.all_macros()}
    assert [(name, parameter) for name, parameter in named if parameter in columns] == []


@pytest.mark.parametrize(
    "one", macro.all_macros(), ids=lambda one: f"{one.name}-{'table' if one.is_table else 'scalar'}"
)
def test_every_macro_answers(published: Connection, one: macro.Macro) -> None:
    call = f"{one.name}({CALLS[one.name, one.is_table]})"
    rows = published.execute(f"FROM {call}{narrowed(one.name)}" if one.is_table else f"SELECT {call}").fetchall()
    assert rows
    assert rows[0][0] is not None


def test_every_view_reads_where_the_copy_is_attached_under_another_name(ledger: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{ledger / 'published' / 'gpuledger.duckdb'}' AS elsewhere (READ_ONLY)")
        views = connection.execute(
            "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE database_name = 'elsewhere' AND NOT internal"
        ).fetchall()
        assert len(views) > 10
        for (name,) in views:
            connection.execute(f"SELECT * FROM elsewhere.{name} LIMIT 1").fetchall()


def test_cheapest_on_the_newest_day_agrees_with_what_is_on_offer(published: Connection) -> None:
    [(macros,)] = published.execute(
        "SELECT min(usd_per_accelerator_hour_min) FROM cheapest('h100-sxm-80gb') WHERE pricing_model = 'on_demand'"
    ).fetchall()
    [(offers,)] = published.execute(
        "SELECT min(usd_per_accelerator_hour) FROM offers_current WHERE accelerator = 'h100-sxm-80gb' AND index_eligible"
        " AND pricing_model = 'on_demand' AND available IS DISTINCT FROM FALSE"
    ).fetchall()
    assert macros == offers


def test_the_schema_page_is_what_the_warehouse_says() -> None:
    """If not: python -m tests.document schema"""
    assert document.SCHEMA.read_text(encoding="utf-8") == document.schema()


def test_the_cookbook_has_25_questions() -> None:
    assert len(list(document.questions())) == 25


@pytest.mark.parametrize(
    ("question", "sql", "answer"),
    list(document.questions()),
    ids=lambda text: text if text and text.endswith("?") else "",
)
def test_every_recipe_finds_something_under_the_columns_shown(
    published: Connection, question: str, sql: str, answer: str | None
) -> None:
    """If not: python -m tests.document"""
    found = ask(published, sql)
    assert found.rows
    assert answer is not None
    assert answer.splitlines()[0].split() == found.columns
