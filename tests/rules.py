"""The tables of `docs/rules.md`, read: what each rule is called, what it says, where it is and which tests hold it."""

import ast
import itertools
import re
from dataclasses import dataclass
from functools import cache, cached_property

from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "rules.md"


@dataclass(frozen=True)
class Rule:
    name: str
    says: str
    """As it stands in the code; empty where it says nothing."""
    file: str
    place: str
    """A function, class or method of a Python file; empty for a model."""
    test: str

    @property
    def told(self) -> str:
        """The longest part of what it says that is the same every time."""
        return max(re.split(r"\{[^}]*\}?", self.says.rstrip('"')), key=len)


@cache
def rules() -> dict[str, Rule]:
    found = {}
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.removeprefix(" ").removesuffix(" ") for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            name, _, says, where, test = cells
            file, _, place = where.replace("`", "").partition(" ")
            assert name not in found, f"two rules called {name}"
            found[name.strip("`")] = Rule(
                name.strip("`"), "" if says == "—" else says[1:-1], file, place, test.strip("`")
            )
    return found


@dataclass(frozen=True)
class Source:
    """A file of Python, with the place of its nodes; `ast.get_source_segment` would go through the whole file for each."""

    text: str

    @cached_property
    def _lines(self) -> list[bytes]:
        return self.text.encode().splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        return list(itertools.accumulate(map(len, self._lines), initial=0))

    @cached_property
    def _bytes(self) -> bytes:
        return self.text.encode()

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Characters before a node."""
        return len(self._bytes[: self._starts[node.lineno - 1] + node.col_offset].decode())

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return self._bytes[self._starts[node.lineno - 1] + node.col_offset : end].decode()
