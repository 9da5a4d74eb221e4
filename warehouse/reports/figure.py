"""What a page is made of: figures and tables, each with its numbers, its basis and where they come from."""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from warehouse.reports import wording
from warehouse.reports.marts import Row, grouped

EPOCH = date(1970, 1, 1)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
COLOURS = {
    "hyperscaler": "var(--blue)",
    "neocloud": "var(--orange)",
    "marketplace": "var(--green)",
    "aggregator": "var(--purple)",
    "other": "var(--purple)",
    "all": "var(--ink)",
}


@dataclass(frozen=True)
class Cell:
    """One cell of a table on a page; the text comes from outside and is escaped by the template."""

    text: str
    href: str = ""
    is_number: bool = False
    note: str = ""
    mark: str = ""
    """good, bad or muted."""

    @property
    def classes(self) -> str:
        """Classes of the cell in the style sheet."""
        return " ".join(filter(None, (self.mark, "long" if len(self.text) > 90 else "")))


@dataclass(frozen=True)
class Table:
    """A table on a page."""

    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]

    @property
    def column_styles(self) -> str:
        """How the columns stand, by their first line, and what they are called where a row becomes a block."""
        styles: list[str] = []
        for place, head in enumerate(self.head[1:], start=2):
            cell = next((row[place - 1] for row in self.rows if row[place - 1].text), Cell(""))
            styles.append(f"--label-{place}:'{head}'")
            styles += [f"--align-{place}:right"] if cell.is_number else []
            styles += [f"--wrap-{place}:nowrap"] if _DAY.fullmatch(cell.text) or _DAY.fullmatch(cell.note[-10:]) else []
        return ";".join(styles)


@dataclass(frozen=True)
class Line:
    """One line of a chart: its name and its colour, a CSS variable."""

    name: str
    colour: str
    step_days: int = 1
    is_mark: bool = False
    """Single points, not a line."""


@dataclass(frozen=True)
class Panel:
    """One chart: a template of ``charts`` and the data to draw with it."""

    title: str
    chart: str
    data: dict[str, Any]
    alt: str
    href: str = ""
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure or table with its numbers. Where there are no panels, the table is the figure; else it stands in for them."""

    name: str
    title: str
    basis: str
    columns: tuple[str, ...]
    """Of the CSV file."""
    rows: Sequence[tuple[Any, ...]]
    table: Table
    counted: str = ""
    """What n is."""
    day: date | None = None
    source_kinds: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    legend: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    empty: str = "No rows yet."
    tall: bool = False
    is_stacked: bool = True
    """On a phone each row of the table becomes a block."""
    details: str = "The numbers as a table"
    shows_table: bool = False
    """The table stands open beside the panels."""
    explained: str = ""
    """Which of the ``explanations`` tells how it comes about."""


def number(text: str, note: str = "") -> Cell:
    """A cell that stands to the right."""
    return Cell(text, is_number=True, note=note)


def figure_of(rows: Sequence[Row], columns: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows for the CSV file, from rows under their names."""
    return tuple(columns), [tuple(row[column] for column in columns) for row in rows]


def kinds_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """The kinds of snapshot behind the rows."""
    found: set[str] = set()
    for row in rows:
        kinds = row["source_kinds"] if "source_kinds" in row else [row["source_kind"]]
        found.update(kinds or ())
    return tuple(sorted(found))


def newest(rows: Iterable[Row], column: str = "to_day") -> date | None:
    """The newest day among the rows."""
    return max((row[column] for row in rows if row[column] is not None), default=None)


def by_year(
    rows: Sequence[Row],
    keys: tuple[str, ...],
    told: Callable[[Row], tuple[str, ...]],
    write: Callable[[float], str] = wording.usd_per_hour,
) -> Table:
    """The last value of every year of each series, one series a line: what stands in for a chart."""
    years = range(
        min((row["from_day"].year for row in rows), default=0),
        max((row["to_day"].year for row in rows), default=-1) + 1,
    )
    lines = []
    for series in grouped(rows, *keys).values():
        last = {
            year: max(
                (row for row in series if row["from_day"].year <= year <= row["to_day"].year),
                key=lambda row: row["to_day"],
                default=None,
            )
            for year in years
        }
        lines.append(
            (*map(Cell, told(series[0])), *(number("" if row is None else write(row["usd"])) for row in last.values()))
        )
    width = len(lines[0]) - len(years) if lines else 0
    return Table((*("Series", "", "")[:width], *map(str, years)), lines)


def line_chart(
    series: Sequence[tuple[Line, Sequence[Row]]], *, marks: Sequence[tuple[date, float, str]] = ()
) -> dict[str, Any]:
    """Data for the charts ``prices`` and ``costs``: lines of runs as ``thinned`` gives them, and single marks with what they say."""
    days = [day for _, rows in series for row in rows for day in (row["from_day"], row["to_day"])] + [
        mark[0] for mark in marks
    ]
    first, last = min(days), max(days)
    says: list[str] = []
    data: dict[str, Any] = {
        "says": says,
        "first": _day_number(date(first.year, 1, 1)),
        "last": _day_number(last),
        "lines": [
            {
                "name": line.name,
                "colour": line.colour,
                "step": line.step_days,
                "rows": _drawn(rows, says),
            }
            for line, rows in series
        ],
    }
    if marks:
        data["marks"] = [[_day_number(day), float(value), told] for day, value, told in marks]
    return data


def _drawn(rows: Sequence[Row], says: list[str]) -> list[list[Any]]:
    """Runs as numbers: days since the run before, days it lasts, price, whether dashed, providers, what it says; low and high."""
    drawn = []
    before = EPOCH
    for row in rows:
        told = row["told"] or wording.STATUSES.get(row["status"], "")
        if told not in says:
            says.append(told)
        one = [
            (row["from_day"] - before).days,
            (row["to_day"] - row["from_day"]).days,
            _short(row["usd"]),
            1 if row["status"] in {"thin", "single_seller"} else 0,
            row["n_providers"] or 0,
            says.index(told),
        ]
        if row.get("drawn_low", row["usd_low"]) is not None:
            one += [_short(row["usd_low"]), _short(row["usd_high"])]
        drawn.append(one)
        before = row["to_day"]
    return drawn


def _short(value: float | Decimal) -> float:
    """Four digits that count are more than a screen shows; whole where it is."""
    short = float(f"{float(value):.4g}")
    return int(short) if short == int(short) else short


def _day_number(day: date) -> int:
    return (day - EPOCH).days


def write_csv(figure: Figure, folder: Path) -> None:
    """The figure's numbers as CSV, with no cell that a spreadsheet takes for a formula."""
    with (folder / f"{figure.name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(figure.columns)
        writer.writerows([csv_cell(value) for value in row] for row in figure.rows)


def csv_cell(value: object) -> object:
    """A value as a CSV cell: numbers plain, times in ISO 8601, words joined by a plus, text that begins like a formula behind an apostrophe."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e5 or abs(value) >= 1e15 else f"{value:.0f}"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        value = "+".join(value)
    if isinstance(value, str) and (
        value.lstrip().startswith(("=", "+", "-", "@")) or value.startswith(("\t", "\r", "\n"))
    ):
        return f"'{value}"
    return value
