"""COMMENTs of tables, views and their columns: what docs/schema.md is made of."""

from collections.abc import Mapping
from typing import Literal

from warehouse.database import Connection


def comment(
    connection: Connection, kind: Literal["TABLE", "VIEW"], name: str, text: str, columns: Mapping[str, str]
) -> None:
    """Say what a table and its columns mean."""
    statements = [f"COMMENT ON {kind} {name} IS {literal(text)}"]
    statements += [f'COMMENT ON COLUMN {name}."{column}" IS {literal(told)}' for column, told in columns.items()]
    connection.execute(";\n".join(statements))


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"
