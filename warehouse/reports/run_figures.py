"""Figures of training costs: panels by run, and the charts and tables of one run."""

from collections.abc import Mapping, Sequence

from warehouse.reports import wording
from warehouse.reports.claims import mark_of
from warehouse.reports.figure import Cell, Figure, Line, Panel, Table, by_year, figure_of, line_chart, newest, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, grouped
from warehouse.reports.price_figures import BLENDED
from warehouse.reports.runs import FRONTIER_BASIS
from warehouse.reports.wording import Names

_AS_RUN_LINES = {
    "hyperscaler_median": Line("As run, hyperscalers", "var(--blue)"),
    "neocloud_median": Line("As run, neoclouds", "var(--orange)"),
    "reserved_3y_median": Line("As run, reserved three years", "var(--purple)"),
}
_OVERVIEW_BASES = ("hyperscaler_median", "neocloud_median")
_FIRM = Line("On the cheapest part, with its range", "var(--green)")
_RELAXED = Line("On the cheapest part, weaker evidence", "var(--yellow)")
# In the CSV files.
_LINE_KEYS = {line.name: basis for basis, line in _AS_RUN_LINES.items()} | {
    _FIRM.name: "cheapest_part",
    _RELAXED.name: "cheapest_part_relaxed",
}
PUBLISHED = Line("Published estimate", "var(--ink)", is_mark=True)
# On the page at most so many stretches and parts.
MOST_STRETCHES, MOST_PARTS = 6, 5
_COLUMNS = (
    "run",
    "line",
    "from_day",
    "to_day",
    "priced_on",
    "cost_usd_low",
    "cost_usd_mid",
    "cost_usd_high",
    "price_status",
    "n_providers",
)
_BASIS = (
    "nominal US dollars, final run only; as run: reported hours on the run's own part at the median of a segment, on demand;"
    " cheapest part: carried over by FLOP, on demand, median of all providers"
)
_RANGES = "Ranges are judgement ranges, not confidence intervals. The scale is logarithmic."
_DASHED = (
    "Dashed: priced by one or two providers, or sold by one firm only. Weaker evidence: such a price, or a utilisation that nobody has"
    " measured. A gap: no price within its age limit, or no longer listed."
)


def by_run(
    runs: Sequence[str],
    as_run: Mapping[str, Sequence[Row]],
    frontier: Mapping[str, Sequence[Row]],
    published: Sequence[Row],
    names: Names,
    links: Links,
    kinds: tuple[str, ...],
) -> Figure:
    """A panel for each run: as run by hyperscalers and neoclouds, on the cheapest part, and as published."""
    panels, numbers, table_rows = [], [], []
    for run in runs:
        series = _lines(as_run.get(run, []), frontier.get(run, []), names, bases=_OVERVIEW_BASES, banded=(_FIRM,))
        marks = _marks(run, published)
        if not series:
            continue
        panels.append(_panel(run, series, marks, names, links))
        numbers += _numbers(run, series, marks)
        table_rows += [row | {"run": run, "line": line.name} for line, rows in series for row in rows]
    return Figure(
        name="training-costs",
        explained="cost-as-run",
        title="What known training runs would cost over time",
        basis=_BASIS,
        columns=_COLUMNS,
        rows=numbers,
        table=by_year(table_rows, ("run", "line"), lambda row: (names.run(row["run"]), row["line"]), wording.usd),
        counted=f"{len(panels)} runs, {len(table_rows):,} price points",
        day=newest(table_rows),
        source_kinds=kinds,
        panels=tuple(panels),
        legend=(*(_AS_RUN_LINES[basis] for basis in _OVERVIEW_BASES), _FIRM, _RELAXED, PUBLISHED),
        notes=(_DASHED, BLENDED, _RANGES),
        empty="No training costs in this build yet.",
        tall=True,
        details="The cost at the end of each year, as a table",
    )


def of_run(run: str, as_run: Sequence[Row], published: Sequence[Row], names: Names, kinds: tuple[str, ...]) -> Figure:
    """One run on its own part, on every basis, with what others published."""
    series = _lines(as_run, [], names, bases=tuple(_AS_RUN_LINES), banded=(_AS_RUN_LINES["hyperscaler_median"],))
    return _one_run(
        run, series, _marks(run, published), names, kinds,
        name=f"run-{run}-as-run",
        explained="cost-as-run",
        title="As run",
        basis="reported accelerator-hours x the price of the run's own part (or its stand-in, named in the CSV); nominal US dollars",
        empty="The part it was run on has no price yet, or its hours are not known.",
        notes=_RANGES,
    )  # fmt: skip


def cheapest_part(
    run: str, frontier: Sequence[Row], published: Sequence[Row], names: Names, kinds: tuple[str, ...]
) -> Figure:
    """One run on the cheapest part that could do it, with its range and what others published."""
    series = _lines([], frontier, names, bases=(), banded=(_FIRM, _RELAXED))
    return _one_run(
        run, series, _marks(run, published), names, kinds,
        name=f"run-{run}-cheapest-part",
        explained="cheapest-part",
        title="On the cheapest part",
        basis=f"model FLOP / (dense peak x utilisation) x price, {wording.basis(FRONTIER_BASIS)}; only parts that fit and finish in the"
        " run's own time",
        empty="No part does it on the prices of this build.",
        notes=_DASHED,
    )  # fmt: skip


def who_was_cheapest(run: str, frontier: Sequence[Row], names: Names, links: Links, kinds: tuple[str, ...]) -> Figure:
    """Since when which part was the cheapest: on firm evidence first, newest first."""
    stretches: list[tuple[str, bool, Row, Row]] = []
    for row in sorted(frontier, key=lambda row: (row["is_relaxed"], row["from_day"])):
        if stretches and stretches[-1][:2] == (row["told"], row["is_relaxed"]):
            stretches[-1] = (*stretches[-1][:3], row)
        else:
            stretches.append((row["told"], row["is_relaxed"], row, row))
    newest_first = sorted(stretches, key=lambda one: (one[1], -one[2]["from_day"].toordinal()))
    return Figure(
        name=f"run-{run}-who-was-cheapest",
        explained="cheapest-part",
        title="Which part was the cheapest",
        basis=f"{wording.basis(FRONTIER_BASIS)}; nominal US dollars",
        columns=("accelerator", "is_relaxed", "from_day", "to_day", "cost_usd_first", "cost_usd_last"),
        rows=[
            (part, is_relaxed, first["from_day"], last["to_day"], first["usd"], last["usd"])
            for part, is_relaxed, first, last in newest_first
        ],
        table=Table(
            ("Part", "From", "To", "Cost at first", "Cost at last", "Evidence"),
            [
                (
                    Cell(names.accelerator(part), href=links.accelerator(part)),
                    Cell(wording.on_day(first["from_day"])),
                    Cell(wording.on_day(last["to_day"])),
                    number(wording.usd(first["usd"])),
                    number(wording.usd(last["usd"])),
                    Cell("weaker" if is_relaxed else "firm"),
                )
                for part, is_relaxed, first, last in newest_first[:MOST_STRETCHES]
            ],
        ),
        counted=f"{len(newest_first)} stretches",
        day=newest(frontier),
        source_kinds=kinds,
        empty="No part does it on the prices of this build.",
    )


_TODAY_COLUMNS = (
    "basis", "accelerator", "precision", "as_run", "priced_on", "accelerator_hours_mid", "usd_per_accelerator_hour_mid", "cost_usd_low",
    "cost_usd_mid", "cost_usd_high", "committed_usd", "n_providers", "price_status", "mfu_evidence", "age_days", "dominant_uncertainty",
)  # fmt: skip


def today(run: str, rows: Sequence[Row], names: Names, links: Links, kinds: tuple[str, ...]) -> Figure:
    """One run on every part today; the page shows as run and, on the median of all, the cheapest; the CSV file has more."""
    columns, numbers = figure_of(rows, _TODAY_COLUMNS)
    shown = [row for row in rows if row["as_run"]] + [
        row for row in rows if not row["as_run"] and row["basis"] == FRONTIER_BASIS
    ][:MOST_PARTS]
    return Figure(
        name=f"run-{run}-today",
        explained="costs-today",
        title="On each part today",
        basis=f"nominal US dollars; parts other than its own: {wording.basis(FRONTIER_BASIS)}; more parts are in the CSV file",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Part", "Basis", "Hours", "Price per hour", "Cost", "Range", "Evidence", "Range mostly from"),
            [
                (
                    Cell(
                        names.accelerator(row["accelerator"]),
                        href=links.accelerator(row["accelerator"]),
                        note=_priced_on(row, names),
                    ),
                    Cell(wording.basis(row["basis"]), note=_providers(row)),
                    number(wording.whole(row["accelerator_hours_mid"])),
                    number(wording.usd_per_hour(row["usd_per_accelerator_hour_mid"])),
                    number(wording.usd(row["cost_usd_mid"])),
                    number(f"{wording.usd(row['cost_usd_low'])} to {wording.usd(row['cost_usd_high'])}"),
                    Cell((row["mfu_evidence"] or "").replace("_", " ")),
                    Cell(row["dominant_uncertainty"] or ""),
                )
                for row in shown
            ],
        ),
        counted=f"{len(rows):,} costs on {len({row['accelerator'] for row in rows})} parts",
        day=newest(rows, "day"),
        source_kinds=kinds,
        empty="No part has a price for it today.",
    )


def _priced_on(row: Row, names: Names) -> str:
    if not row["as_run"]:
        return ""
    return (
        "as run"
        if row["priced_on"] == row["accelerator"]
        else f"as run, at the price of {names.accelerator(row['priced_on'])}"
    )


def _providers(row: Row) -> str:
    count = row["n_providers"]
    return f"{count} provider{'' if count == 1 else 's'}, {wording.days_old(row['age_days'])}"


def _one_run(  # noqa: PLR0913  # a figure has so many parts
    run: str,
    series: list[tuple[Line, list[Row]]],
    marks: list[tuple[Row, float, str]],
    names: Names,
    kinds: tuple[str, ...],
    *,
    name: str,
    explained: str,
    title: str,
    basis: str,
    empty: str,
    notes: str,
) -> Figure:
    rows = [row | {"line": line.name} for line, found in series for row in found]
    return Figure(
        name=name,
        explained=explained,
        title=title,
        basis=basis,
        columns=_COLUMNS[1:],
        rows=[numbers[1:] for numbers in _numbers(run, series, marks)],
        table=by_year(rows, ("line",), lambda row: (row["line"],), wording.usd),
        counted=wording.count(len(rows), "price point"),
        day=newest(rows),
        source_kinds=kinds,
        panels=(_panel(run, series, marks, names, Links(), title=""),) if series else (),
        legend=(*(line for line, _ in series), *((PUBLISHED,) if marks else ())),
        notes=(notes,),
        empty=empty,
        tall=True,
        details="The cost at the end of each year, as a table",
    )


def _lines(
    as_run: Sequence[Row], frontier: Sequence[Row], names: Names, *, bases: tuple[str, ...], banded: tuple[Line, ...]
) -> list[tuple[Line, list[Row]]]:
    """The lines of one run; only some keep their range, since a chart with five of them shows none."""
    own = grouped(as_run, "basis")
    cheapest = grouped(frontier, "is_relaxed")
    found = [(_AS_RUN_LINES[basis], own[basis]) for basis in bases if basis in own]
    found += [
        (line, cheapest[is_relaxed])
        for is_relaxed, line in ((True, _RELAXED), (False, _FIRM))
        if is_relaxed in cheapest
    ]
    lines = []
    for line, rows in found:
        ends = {} if line in banded else {"drawn_low": None}
        told = [row | ends | {"part": row["told"], "told": names.accelerator(row["told"])} for row in rows]
        lines.append((Line(line.name, line.colour, rows[0]["step_days"]), told))
    return lines


def _marks(run: str, published: Sequence[Row]) -> list[tuple[Row, float, str]]:
    return [
        (row, *mark)
        for row in published
        if row["run"] == run and (mark := mark_of(row)) is not None and row["published_on"] is not None
    ]


def _numbers(
    run: str, series: list[tuple[Line, list[Row]]], marks: list[tuple[Row, float, str]]
) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = [
        (
            run, _LINE_KEYS[line.name], row["from_day"], row["to_day"], row["part"], row["usd_low"], row["usd"], row["usd_high"], row["status"],
            row["n_providers"],
        )
        for line, rows in series
        for row in rows
    ]  # fmt: skip
    day = "published_on"
    return lines + [
        (
            run, "published", row[day], row[day], None, row["published_low_usd"], row["published_usd"], row["published_high_usd"],
            None, None,
        )
        for row, _, _ in marks
    ]  # fmt: skip


def _panel(
    run: str,
    series: list[tuple[Line, list[Row]]],
    marks: list[tuple[Row, float, str]],
    names: Names,
    links: Links,
    *,
    title: str | None = None,
) -> Panel:
    newest_costs = [
        f"{line.name}: {wording.usd(rows[-1]['usd'])} on {wording.on_day(rows[-1]['to_day'])}" for line, rows in series
    ]
    return Panel(
        title=names.run(run) if title is None else title,
        href=links.run(run),
        chart="costs",
        data=line_chart(series, marks=[(row["published_on"], usd, told) for row, usd, told in marks]),
        alt=f"Cost of {names.run(run)}. {'; '.join(newest_costs)}. {len(marks)} published estimates.",
        note=_latest(series),
    )


def _latest(series: list[tuple[Line, list[Row]]]) -> str:
    """The newest firm cost on the cheapest part, else on the weaker evidence."""
    by_line = {line.name: rows[-1] for line, rows in series}
    row = by_line.get(_FIRM.name) or by_line.get(_RELAXED.name)
    return "" if row is None else f"{wording.usd(row['usd'])} on {row['told']}, {wording.on_day(row['to_day'])}"
