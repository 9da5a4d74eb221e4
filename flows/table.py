"""Rows as a table of text that fits a terminal: headers break at underscores, what is the same in all rows stands above, long words are cut."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

GAP = "  "
SHORTEST_TEXT = 12
# With fewer rows, the same in all of them is chance.
ROWS_ALIKE = 3


@dataclass(frozen=True)
class Table:
    """What to print, and what had no room."""

    lines: list[str]
    left_out: list[str]
    """Columns."""


@dataclass
class _Column:
    name: str
    cells: list[str]
    is_number: bool
    width: int
    header: list[str]

    def fit(self, width: int) -> None:
        """Break the header and cut the cells to a width."""
        self.width = width
        self.header = _broken(self.name, width)
        self.cells = [cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell in self.cells]

    @property
    def least(self) -> int:
        """The width below which a word of the header or a number is cut."""
        return max(self._word, self._text if self.is_number else min(self._text, SHORTEST_TEXT))

    @property
    def snug(self) -> int:
        """The width that cuts nothing but breaks the header."""
        return max(self._word, self._text)

    @property
    def _word(self) -> int:
        return max(len(part) for part in _parts(self.name))

    @property
    def _text(self) -> int:
        return max(map(len, self.cells), default=0)


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[bool],
    width: int | None,
    keep: Collection[str] = (),
) -> Table:
    """Lay out cells of text under their names; ``numbers`` stand to the right.

    Without a width, as wide as it takes. With one, columns that have no room are left out from the right, those to ``keep`` last.
    """
    columns = [_Column(name, [row[place] for row in rows], numbers[place], 0, []) for place, name in enumerate(names)]
    for column in columns:
        column.fit(max(len(column.name), *map(len, column.cells), 0))
    if width is None or _width(columns) <= width:
        return Table(_lines(columns), [])
    columns = [column for column in columns if any(column.cells)] or columns
    above, columns = _lifted(columns, len(rows))
    left_out: list[str] = []
    while sum(column.least + len(GAP) for column in columns) - len(GAP) > width and len(columns) > 1:
        column = next((one for one in reversed(columns) if one.name not in keep), columns[-1])
        columns.remove(column)
        left_out.insert(0, column.name)
    _squeeze(columns, width)
    return Table([line for line in above if line] + _lines(columns), left_out)


def _lifted(columns: list[_Column], rows: int) -> tuple[list[str], list[_Column]]:
    """What is the same in all rows, said once above them."""
    if rows < ROWS_ALIKE:
        return [], columns
    alike = [column for column in columns if len(set(column.cells)) == 1]
    if len(alike) == len(columns):
        return [], columns
    return [f"{column.name}: {column.cells[0]}" for column in alike], [one for one in columns if one not in alike]


def _squeeze(columns: list[_Column], width: int) -> None:
    """Break headers, then cut the widest texts, until all fit."""
    widths = [column.snug for column in columns]
    over = sum(widths) + len(GAP) * (len(columns) - 1) - width
    while over > 0:
        spare = [wide - column.least for wide, column in zip(widths, columns, strict=True)]
        place = max(range(len(columns)), key=lambda one: (spare[one] > 0, widths[one]))
        if spare[place] <= 0:
            break
        widths[place] -= 1
        over -= 1
    for column, wide in zip(columns, widths, strict=True):
        column.fit(wide)


def _parts(name: str) -> list[str]:
    """The words of a name, each with the underscore behind it."""
    words = name.split("_")
    return [f"{word}_" for word in words[:-1]] + [words[-1]]


def _broken(name: str, width: int) -> list[str]:
    """A name in lines of at most a width, broken behind underscores."""
    lines = [""]
    for part in _parts(name):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return lines


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _lines(columns: Sequence[_Column]) -> list[str]:
    height = max((len(column.header) for column in columns), default=0)
    headers = [[""] * (height - len(column.header)) + column.header for column in columns]
    rules = ["-" * column.width for column in columns]
    body = [list(line) for line in zip(*(column.cells for column in columns), strict=True)]
    found = []
    for line in [*(list(line) for line in zip(*headers, strict=True)), rules, *body]:
        cells = [
            cell.rjust(column.width) if column.is_number else cell.ljust(column.width)
            for cell, column in zip(line, columns, strict=True)
        ]
        found.append(GAP.join(cells).rstrip())
    return found


BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", "_.:-=+*#"


def sparkline(values: Sequence[float | None], *, is_plain: bool = False) -> str:
    """A line as high as each value between the lowest and the highest; a gap where there is none. ``is_plain`` keeps to ASCII."""
    steps = PLAIN if is_plain else BLOCKS
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        " " if value is None else steps[round((value - low) / span * (len(steps) - 1)) if span else 0]
        for value in values
    )
