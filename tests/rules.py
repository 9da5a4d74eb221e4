"""The tables of `docs/rules.md`, read: what each rule is called, what it says, where it is and which tests hold it."""

import re
from dataclasses import dataclass
from functools import cache

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
