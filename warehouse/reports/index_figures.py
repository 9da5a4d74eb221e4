"""Figures of the index and of the price of a unit: panels, and how fast each halves."""

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.reports import wording
from warehouse.reports.figure import (
    COLOURS,
    Cell,
    Figure,
    Line,
    Panel,
    Table,
    figure_of,
    kinds_of,
    line_chart,
    newest,
    number,
)
from warehouse.reports.halving import FEWEST_QUARTERS, Halving, halving
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, grouped
from warehouse.reports.wording import Names

_LEVEL = (
    "Level 100 is the first day of a chain; levels of two chains can't be compared, so a new one starts a new line."
)
_INTERVAL = f"Halving time of the longest chain: in brackets its 90 percent interval. Fewer than {FEWEST_QUARTERS} quarters: too short to say."
_SEGMENTS = ("all", "hyperscaler", "neocloud", "marketplace", "other")
_HALVING_COLUMNS = (
    "quarters",
    "change_a_year",
    "change_a_year_low",
    "change_a_year_high",
    "halving_years",
    "halving_years_low",
    "halving_years_high",
)


def told_halving(found: Halving | None) -> str:
    """A halving time and its interval in words."""
    if found is None:
        return "too short to say"
    if found.change_a_year == found.change_a_year_low == found.change_a_year_high == 0:
        return "unchanged"
    low = found.years_low
    if found.years is None:
        slow = f"; at the fastest {_years(low)}" if low is not None else ""
        return f"does not fall{slow}"
    high = _years(found.years_high) if found.years_high is not None else "no end"
    return f"{_years(found.years)} ({_years(low)} to {high})"


def _years(years: float | None) -> str:
    if years is None:
        return ""
    return "over 50 years" if years > 50 else f"{years:.1f} years"


def halving_numbers(found: Halving | None) -> tuple[object, ...]:
    """The same as numbers, for files."""
    if found is None:
        return (None,) * len(_HALVING_COLUMNS)
    return (
        found.quarters, found.change_a_year, found.change_a_year_low, found.change_a_year_high, found.years, found.years_low,
        found.years_high,
    )  # fmt: skip


def index_figure(
    series: Mapping[str, Sequence[Row]],
    levels: Mapping[str, Row],
    quarters: Mapping[str, Sequence[Row]],
    keys: Sequence[str],
    names: Names,
    links: Links,
) -> Figure:
    """A panel for each accelerator, and a table of levels and halving times."""
    shown = [key for key in keys if key in series and key in levels]
    drawn = [row for key in shown for row in series[key]]
    told = [(levels[key], quarters.get(key, [])) for key in shown]
    columns, numbers = figure_of([row for row, _ in told], _LEVEL_COLUMNS)
    return Figure(
        name="price-index",
        explained="price-index",
        title="The price index, and how fast it halves",
        basis="matched-model chained Jevons in two stages, on demand; black: all providers, of which the table tells",
        columns=(*columns, "halving_from", "halving_to", *_HALVING_COLUMNS),
        rows=[
            (*row, *_span(found), *halving_numbers(_halving(found)))
            for row, (_, found) in zip(numbers, told, strict=True)
        ],
        table=_level_table(told, names, links),
        counted=f"{len(shown)} accelerators, {len(drawn):,} price points",
        day=newest([row for row, _ in told], "day"),
        panels=tuple(_panel(key, series[key], levels[key], names, links) for key in shown),
        legend=_legend(drawn),
        notes=(_LEVEL, _INTERVAL),
        empty="No index in this build yet.",
        shows_table=True,
    )


_LEVEL_COLUMNS = (
    "accelerator", "day", "price_index", "chain_id", "chain_started_on", "n_providers", "n_providers_seen", "cells_matched", "change_7_days",
    "change_30_days", "change_365_days", "parameters_version",
)  # fmt: skip


def _halving(quarters: Sequence[Row]) -> Halving | None:
    return halving([row["price_index"] for row in quarters])


def _span(quarters: Sequence[Row]) -> tuple[object, object]:
    return (quarters[0]["day"], quarters[-1]["day"]) if quarters else (None, None)


def _level_table(told: Sequence[tuple[Row, Sequence[Row]]], names: Names, links: Links) -> Table:
    return Table(
        ("Accelerator", "Index", "30 days", "One year", "Halves in", "Providers", "Newest day"),
        [
            (
                Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"])),
                number(f"{row['price_index']:.1f}", note=f"100 on {wording.on_day(row['chain_started_on'])}"),
                number(wording.percent(row["change_30_days"], 1)),
                number(wording.percent(row["change_365_days"], 1)),
                Cell(told_halving(_halving(found)), note=_told_span(found)),
                number(str(row["n_providers"]), note=f"{row['n_providers_seen']} seen that day"),
                Cell(wording.on_day(row["day"])),
            )
            for row, found in told
        ],
    )


def _told_span(quarters: Sequence[Row]) -> str:
    if len(quarters) <= FEWEST_QUARTERS:
        return ""
    return f"{wording.on_day(quarters[0]['day'])} to {wording.on_day(quarters[-1]['day'])}"


def of_accelerator(
    stem: str, key: str, rows: Sequence[Row], level: Row, quarters: Sequence[Row], names: Names
) -> Figure:
    """The index of one accelerator, by segment."""
    columns, numbers = figure_of(rows, ("segment", "chain_id", "from_day", "to_day", "usd", "n_providers"))
    return Figure(
        name=f"accelerator-{stem}-index",
        explained="price-index",
        title="The price index",
        basis="matched-model chained Jevons in two stages, on demand, by segment; black: all providers",
        columns=tuple("price_index" if column == "usd" else column for column in columns),
        rows=numbers,
        table=_level_table([(level, quarters)], names, Links()),
        counted=wording.count(len(rows), "price point"),
        day=level["day"],
        panels=(_panel(key, rows, level, names, Links(), title=""),),
        legend=_legend(rows),
        notes=(_LEVEL, _INTERVAL),
        shows_table=True,
    )


def _panel(key: str, rows: Sequence[Row], level: Row, names: Names, links: Links, *, title: str | None = None) -> Panel:
    lines: list[tuple[Line, Sequence[Row]]] = [
        (Line(wording.SEGMENTS[segment], COLOURS[segment], max(row["step_days"] for row in found)), found)
        for (segment, _), found in grouped(rows, "segment", "chain_id").items()
        if segment in _SEGMENTS
    ]
    # What is drawn last lies on top.
    lines.sort(key=lambda one: -_order(one[0].name))
    note = f"{level['price_index']:.1f} on {wording.on_day(level['day'])}, 100 on {wording.on_day(level['chain_started_on'])}"
    return Panel(
        title=names.accelerator(key) if title is None else title,
        href=links.accelerator(key),
        chart="index",
        data=line_chart(lines),
        alt=f"Price index of {names.accelerator(key)}: {note}",
        note=note,
    )


def _order(name: str) -> int:
    return [wording.SEGMENTS[segment] for segment in _SEGMENTS].index(name)


def _legend(rows: Sequence[Row]) -> tuple[Line, ...]:
    there = {row["segment"] for row in rows}
    return tuple(Line(wording.SEGMENTS[segment], COLOURS[segment]) for segment in _SEGMENTS if segment in there)


_UNITS = {"pflop": "PFLOP/s-hour", "gb": "GB-hour"}


def unit_figure(rows: Sequence[Row], quarters: Sequence[Row], deflator: Row | None, names: Names) -> Figure:
    """What a unit of compute and of memory costs on the part that sells it cheapest, nominal and deflated."""
    lines = grouped(rows, "unit", "money")
    levels = grouped(quarters, "unit", "money", "segment")
    last: dict[Any, Row] = {key: found[-1] for key, found in grouped(rows, "unit", "money", "segment").items()}
    columns, numbers = figure_of(
        rows, ("unit", "money", "segment", "from_day", "to_day", "usd", "told", "status", "n_providers", "source_kinds")
    )
    year = "" if deflator is None else f"dollars of {deflator['year']}"
    return Figure(
        name="price-per-unit",
        explained="price-per-unit",
        title="The price of a unit of compute, and of memory",
        basis="on demand, the part that sells it cheapest in each segment; compute: PFLOP/s of dense 16-bit peak for an hour; memory: GB for an"
        f" hour; nominal, and in {year or 'deflated dollars'}",
        columns=tuple({"usd": "usd_per_unit_hour", "told": "accelerator"}.get(column, column) for column in columns),
        rows=numbers,
        table=Table(
            ("Unit", "Segment", "Price now", "On", "Halves in", "Newest day"),
            [
                (
                    Cell(f"{_UNITS[unit]}, {'nominal' if money == 'nominal' else year}"),
                    Cell(wording.SEGMENTS[segment]),
                    number(_unit_price(row["usd"])),
                    Cell(names.accelerator(row["told"])),
                    Cell(told_halving(halving([one["usd"] for one in levels.get((unit, money, segment), [])]))),
                    Cell(wording.on_day(row["to_day"])),
                )
                for (unit, money, segment), row in sorted(last.items(), key=lambda one: (one[0][0] != "pflop", one[0][1] != "nominal", one[0][2]))
            ],
        ),
        counted=f"{len(rows):,} price points",
        day=newest(rows),
        source_kinds=kinds_of(rows),
        panels=tuple(
            _unit_panel(unit, money, lines[(unit, money)], year, names)
            for unit in _UNITS
            for money in ("nominal", "deflated")
            if (unit, money) in lines
        ),
        legend=tuple(Line(wording.SEGMENTS[key], COLOURS[key]) for key in _SEGMENTS if any(row["segment"] == key for row in rows)),
        notes=(
            "The scale is logarithmic. Dashed: one or two providers. The cheapest part changes; the tip of a line names it.",
            _INTERVAL,
            *_deflated_by(deflator),
        ),
        empty="No price per unit in this build yet.",
        shows_table=True,
    )  # fmt: skip


def _deflated_by(deflator: Row | None) -> tuple[str, ...]:
    if deflator is None:
        return ()
    series, last = f"{deflator['series']} ({deflator['source']})", f"{deflator['last_month']:%Y-%m}"
    return (f"Deflated by {series}, which ends with {last}: later days can't be told in real dollars yet.",)


def _unit_panel(unit: str, money: str, rows: Sequence[Row], year: str, names: Names) -> Panel:
    series: list[tuple[Line, Sequence[Row]]] = [
        (
            Line(wording.SEGMENTS[segment], COLOURS[segment], max(row["step_days"] for row in found)),
            [row | {"told": names.accelerator(row["told"])} for row in found],
        )
        for segment, found in grouped(rows, "segment").items()
    ]
    now = "; ".join(
        f"{line.name} {_unit_price(found[-1]['usd'])} on {wording.on_day(found[-1]['to_day'])}"
        for line, found in series
    )
    return Panel(
        title=f"US dollars per {_UNITS[unit]}, {'nominal' if money == 'nominal' else year}",
        chart="units",
        data=line_chart(series),
        alt=f"US dollars per {_UNITS[unit]}, {money}: {now}",
    )


def _unit_price(usd: float) -> str:
    return f"${usd:.4f}" if usd < 0.1 else f"${usd:,.2f}"
