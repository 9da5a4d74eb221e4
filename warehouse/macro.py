"""Reads the macros: questions with gaps to fill in, one SELECT per file, with a header that says what it answers.

They are made by every build and lie in the published copy. No parameter has the name of a column: the column would be compared with itself.
"""

import importlib.resources
import re
from dataclasses import dataclass
from functools import cache

from warehouse.comments import literal
from warehouse.database import Connection

_FILE = re.compile(
    r"(?P<comment>(?:-- .*\n)+?)-- macro: (?P<name>\w+)\((?P<parameters>.*)\)\n-- kind: (?P<kind>table|scalar)\n(?P<sql>.*)",
    re.DOTALL,
)


class MacroError(ValueError):
    """A macro file that breaks the rules for macros; the message names it."""


@dataclass(frozen=True)
class Macro:
    """One macro."""

    name: str
    parameters: str
    """As in its declaration, with defaults."""
    is_table: bool
    sql: str
    comment: str

    @property
    def parameter_names(self) -> list[str]:
        """Without defaults."""
        return re.findall(r"(\w+)(?: := [^,]+)?(?:, |$)", self.parameters)


@cache
def all_macros() -> tuple[Macro, ...]:
    """Every macro by name: those of the files, and those that models are made into. Raises MacroError for a broken header."""
    from warehouse import as_of

    found = list(as_of.macros())
    for file in importlib.resources.files("warehouse").joinpath("macros").iterdir():
        if not file.name.endswith(".sql"):
            continue
        parsed = _FILE.fullmatch(file.read_text(encoding="utf-8"))
        if not parsed:
            raise MacroError(f"{file.name}: its head says not what it answers, its macro and its kind")
        comment = " ".join(line.removeprefix("-- ") for line in parsed["comment"].splitlines())
        found.append(
            Macro(parsed["name"], parsed["parameters"], parsed["kind"] == "table", parsed["sql"].strip(), comment)
        )
    return tuple(sorted(found, key=lambda macro: (macro.name, macro.is_table)))


def create(connection: Connection) -> None:
    """Make every macro anew, with its COMMENT."""
    for macro in all_macros():
        body = f"TABLE {macro.sql}" if macro.is_table else f"({macro.sql})"
        connection.execute(f"CREATE OR REPLACE MACRO {macro.name}({macro.parameters}) AS {body}")
        kind = "MACRO TABLE" if macro.is_table else "MACRO"
        connection.execute(f"COMMENT ON {kind} {macro.name} IS {literal(macro.comment)}")
