"""Writes what is made of the warehouse itself: ``docs/schema.md`` of its COMMENTs, ``docs/cookbook.md``'s answers of the recorded pages.

    python -m tests.document           # both; the second needs a ledger of the recorded pages, which takes a while
    python -m tests.document schema    # only the first

Tests hold the first to be what this would write, and run every query of the second.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from flows import steps
from tests.conftest import ROOT
from warehouse import build, database, macro
from warehouse.ask import Answer, ask
from warehouse.database import Connection
from warehouse.model import all_models

SCHEMA = ROOT / "docs" / "schema.md"
COOKBOOK = ROOT / "docs" / "cookbook.md"
QUESTION = re.compile(
    r"^## (?P<question>[^\n]+)\n(?P<text>.*?)```sql\n(?P<sql>.*?)```\n(?:\n```\n(?P<answer>.*?)```\n)?",
    re.MULTILINE | re.DOTALL,
)
SHOWN_ROWS = 12
SCHEMAS = {
    "main": "What people ask: the marts, and what was built when.",
    "reference": "Facts, from `warehouse/reference/*.csv`, each with its source.",
    "raw": "What was collected, in the providers' own words. Append-only.",
    "staging": "Those words with their meaning.",
    "intermediate": "Steps on the way to the marts.",
}


def schema() -> str:
    """The page on tables, columns and macros, from a warehouse that holds nothing."""
    with database.connect_memory() as connection:
        build.build(connection)
        return _schema(connection)


def _schema(connection: Connection) -> str:
    kinds = {model.name: model for model in all_models()}
    lines = [
        "# Schema",
        "",
        "Every table, column and macro of the published copy, from its own COMMENTs; `python -m tests.document` writes this page.",
        "In SQL: `FROM duckdb_columns() SELECT table_name, column_name, data_type, comment`.",
        "",
    ]
    for name, about in SCHEMAS.items():
        lines += [f"## {name}", "", about, ""]
        for table, text in _tables(connection, name):
            model = kinds.get(table if name == "main" else f"{name}.{table}")
            grain = f" One row per {', '.join(f'`{part}`' for part in model.grain)}." if model else ""
            is_view = " A view." if model and model.partition == "view" else ""
            lines += [f"### {table if name == 'main' else f'{name}.{table}'}", "", f"{text}{grain}{is_view}", ""]
            lines += ["| column | type | meaning |", "|---|---|---|"]
            lines += [
                f"| `{column}` | {kind} | {_cell(told)} |" for column, kind, told in _columns(connection, name, table)
            ]
            lines.append("")
    lines += [
        "## Macros",
        "",
        "Questions with gaps to fill in. After `ATTACH` they need `USE`: see [reading.md](reading.md).",
        "",
    ]
    lines += ["| macro | gives | of |", "|---|---|---|"]
    for one in macro.all_macros():
        call = f"{one.name}({one.parameters})"
        lines.append(
            f"| `{'FROM ' if one.is_table else ''}{call}` | {_cell(one.comment)} | {'rows' if one.is_table else 'a value'} |"
        )
    return "\n".join(lines) + "\n"


def _tables(connection: Connection, schema_name: str) -> list[tuple[str, str]]:
    return connection.execute(
        """
        SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = $name AND NOT internal
        UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE schema_name = $name AND NOT internal
        ORDER BY ALL
        """,
        {"name": schema_name},
    ).fetchall()


def _columns(connection: Connection, schema_name: str, table: str) -> list[tuple[str, str, str]]:
    return connection.execute(
        "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE schema_name = ? AND table_name = ? ORDER BY column_index",
        [schema_name, table],
    ).fetchall()


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|")


def questions() -> Iterator[tuple[str, str, str | None]]:
    """Question, SQL and answer of the cookbook."""
    for found in QUESTION.finditer(COOKBOOK.read_text(encoding="utf-8")):
        yield found["question"], found["sql"], found["answer"]


def cookbook(connection: Connection) -> str:
    """The cookbook with its answers made anew."""

    def answered(found: re.Match[str]) -> str:
        table = text_table(ask(connection, found["sql"]))
        return f"## {found['question']}\n{found['text']}```sql\n{found['sql']}```\n\n```\n{table}```\n"

    return QUESTION.sub(answered, COOKBOOK.read_text(encoding="utf-8"))


def text_table(answer: Answer) -> str:
    """Rows as text."""
    rows = [[_text(value) for value in row] for row in answer.rows[:SHOWN_ROWS]]
    widths = [max(map(len, column)) for column in zip(answer.columns, *rows, strict=True)]
    is_number = [all(re.fullmatch(r"-?[\d,.e+-]*", row[place]) for row in rows) for place in range(len(widths))]
    lines = []
    for line in [answer.columns, *rows]:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, is_number, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    if len(answer.rows) > SHOWN_ROWS:
        lines.append(f"... {len(answer.rows) - SHOWN_ROWS} more")
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value.normalize():f}" if hasattr(value, "normalize") else str(value)


def main() -> None:
    """Write the pages."""
    SCHEMA.write_text(schema(), encoding="utf-8")
    if "schema" in sys.argv[1:]:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPULEDGER_DATA"] = folder
        steps.collect_fixtures()
        steps.collect_curated()
        steps.load_archive()
        steps.build()
        with database.connect_published() as connection:
            COOKBOOK.write_text(cookbook(connection), encoding="utf-8")


if __name__ == "__main__":
    main()
