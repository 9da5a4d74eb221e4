"""Figures of prices over time: panels by accelerator, and the charts of one accelerator or provider."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from warehouse.reports import wording
from warehouse.reports.figure import COLOURS, Figure, Line, Panel, by_year, figure_of, kinds_of, line_chart, newest
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, grouped
from warehouse.reports.series import STEPS_DAYS
from warehouse.reports.wording import Names

Told = Callable[[Row], tuple[str, ...]]
SEGMENT_LINES = tuple(
    Line(wording.SEGMENTS[key], COLOURS[key]) for key in ("hyperscaler", "neocloud", "marketplace", "other")
)
_RUN_COLUMNS = ("from_day", "to_day", "usd", "status", "n_providers", "source_kinds")
_PROVIDER_COLUMNS = ("from_day", "to_day", "usd", "source_kinds")
_MODEL_LINES = {
    ("on_demand", 0): Line("On demand", "var(--blue)"),
    ("spot", 0): Line("Spot", "var(--orange)"),
    ("reserved", 365): Line("Reserved, one year", "var(--green)"),
    ("reserved", 1095): Line("Reserved, three years", "var(--purple)"),
}
BLENDED = "The median of all providers also jumps where sellers enter or leave the ledger; the lines of a segment are steadier."
DASHED = "Dashed: one or two providers, or sold by one firm only. A gap: no price within its age limit."


def by_accelerator(series: Mapping[str, Sequence[Row]], keys: Sequence[str], names: Names, links: Links) -> Figure:
    """A panel for each accelerator, a line for each segment."""
    shown = [key for key in keys if key in series]
    drawn = [row for key in shown for row in series[key]]
    columns, numbers = figure_of(drawn, ("accelerator", "segment", *_RUN_COLUMNS))
    last = newest(drawn)
    return Figure(
        name="prices-by-accelerator",
        explained="prices",
        title="Price by accelerator over time",
        basis="US dollars per accelerator and hour, on demand, median of the providers of a segment; nominal dollars",
        columns=columns,
        rows=numbers,
        table=by_year(
            drawn,
            ("accelerator", "segment"),
            lambda row: (names.accelerator(row["accelerator"]), wording.SEGMENTS[row["segment"]]),
        ),
        counted=f"{len(shown)} accelerators, {len(drawn):,} price points",
        day=last,
        source_kinds=kinds_of(drawn),
        panels=tuple(
            Panel(
                title=names.accelerator(key),
                href=links.accelerator(key),
                chart="prices",
                data=line_chart(_segment_lines(series[key])),
                alt=_told(names.accelerator(key), series[key], "segment", wording.SEGMENTS),
                note=_newest_price(series[key], last),
            )
            for key in shown
        ),
        legend=_legend(drawn),
        notes=(DASHED, *_step_note(drawn)),
        empty="No daily prices in this build yet.",
        details="The price at the end of each year, as a table",
    )


def of_accelerator(key: str, rows: Sequence[Row], names: Names) -> Figure:
    """One accelerator, by segment."""
    return _one_chart(
        rows,
        name=f"accelerator-{key}-segments",
        explained="prices",
        title="On demand, by segment",
        basis="US dollars per accelerator and hour, on demand, median of the providers of a segment; nominal dollars",
        keys=("segment",),
        series=_segment_lines(rows),
        told=lambda row: (wording.SEGMENTS[row["segment"]],),
        alt=_told(names.accelerator(key), rows, "segment", wording.SEGMENTS),
        notes=(DASHED,),
    )


def by_pricing_model(key: str, rows: Sequence[Row], names: Names) -> Figure:
    """One accelerator: on demand, spot and reserved, over all providers."""
    series = grouped(rows, "pricing_model", "commitment_days")
    lines = [(_stepped(line, series[of]), series[of]) for of, line in _MODEL_LINES.items() if of in series]
    label = {of: line.name for of, line in _MODEL_LINES.items()}
    return _one_chart(
        rows,
        name=f"accelerator-{key}-pricing-models",
        explained="prices",
        title="On demand, spot and reserved",
        basis="US dollars per accelerator and hour, median of all providers; reserved is a rate, the term is owed whole",
        keys=("pricing_model", "commitment_days"),
        series=lines,
        told=lambda row: (label[(row["pricing_model"], row["commitment_days"])],),
        alt=f"{names.accelerator(key)}: " + ", ".join(line.name for line, _ in lines),
        notes=(BLENDED,),
    )


def by_provider(key: str, rows: Sequence[Row], names: Names) -> Figure:
    """One accelerator, a line for each provider in the colour of its segment."""
    lines = [
        (_stepped(Line(names.provider(provider), COLOURS.get(segment, "var(--purple)")), found), found)
        for (provider, segment), found in grouped(rows, "provider", "segment").items()
    ]
    return _one_chart(
        rows,
        name=f"accelerator-{key}-providers",
        explained="provider-prices",
        title="On demand, by provider",
        basis="US dollars per accelerator and hour, on demand, median of a provider's home regions; colour: its segment",
        keys=("provider", "segment"),
        series=lines,
        told=lambda row: (names.provider(row["provider"]),),
        alt=f"{names.accelerator(key)}: prices of {len(lines)} providers, which the table lists",
        legend=_legend(rows),
        of=_PROVIDER_COLUMNS,
    )


def of_provider(key: str, rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """One provider: a panel for each of its accelerators, those with the longest history first, at most nine."""
    series = grouped(rows, "accelerator")
    shown = sorted(series, key=lambda part: (series[part][0]["from_day"] - series[part][-1]["to_day"], part))[:9]
    drawn = [row for part in shown for row in series[part]]
    columns, numbers = figure_of(drawn, ("accelerator", "segment", *_PROVIDER_COLUMNS))
    left = len(series) - len(shown)
    return Figure(
        name=f"provider-{key}-prices",
        explained="provider-prices",
        title="On-demand prices over time",
        basis="US dollars per accelerator and hour, on demand, median of its home regions; nominal dollars",
        columns=columns,
        rows=numbers,
        table=by_year(drawn, ("accelerator",), lambda row: (names.accelerator(row["accelerator"]),)),
        counted=f"{wording.count(len(shown), 'accelerator')}, {wording.count(len(drawn), 'price point')}",
        day=newest(drawn),
        source_kinds=kinds_of(drawn),
        panels=tuple(_provider_panel(part, series[part], names, links) for part in shown),
        notes=(
            *_step_note(drawn),
            *(
                (f"{wording.count(left, 'accelerator')} with shorter histories are on their own pages.",)
                if left
                else ()
            ),
        ),
        empty="No on-demand price of this provider counts yet.",
        details="The price at the end of each year, as a table",
    )


def _provider_panel(part: str, rows: Sequence[Row], names: Names, links: Links) -> Panel:
    line = _stepped(Line(names.accelerator(part), COLOURS.get(rows[0]["segment"], "var(--purple)")), rows)
    first, last = (
        f"{wording.usd_per_hour(row['usd'])} on {wording.on_day(day)}"
        for row, day in ((rows[0], rows[0]["from_day"]), (rows[-1], rows[-1]["to_day"]))
    )
    return Panel(
        title=line.name,
        href=links.accelerator(part),
        chart="prices",
        data=line_chart([(line, rows)]),
        alt=f"{line.name}: from {first} to {last}",
        note=last,
    )


def offers_today(key: str, rows: Sequence[Row], names: Names) -> Panel | None:
    """How today's on-demand and spot offers of one accelerator are spread; None where there are fewer than two."""
    drawn = [row for row in rows if row["pricing_model"] in {"on_demand", "spot"}]
    if len(drawn) < 2:
        return None
    lines = []
    for model, colour in (("on_demand", "var(--blue)"), ("spot", "var(--orange)")):
        found = [row for row in drawn if row["pricing_model"] == model]
        told = [
            [row["usd"], f"{names.provider(row['provider'])}, {row['sku']}\n{wording.usd_per_hour(row['usd'])}"]
            for row in found
        ]
        if told:
            lines.append({"name": model.replace("_", " "), "colour": colour, "rows": told})
    low, high = min(row["usd"] for row in drawn), max(row["usd"] for row in drawn)
    alt = f"{names.accelerator(key)}: {len(drawn)} offers from {wording.usd_per_hour(low)} to {wording.usd_per_hour(high)}"
    return Panel("Today's offers", "offers", {"lines": lines}, alt)


def _one_chart(  # noqa: PLR0913  # a figure has so many parts
    rows: Sequence[Row],
    *,
    name: str,
    explained: str,
    title: str,
    basis: str,
    keys: tuple[str, ...],
    series: Sequence[tuple[Line, Sequence[Row]]],
    told: Told,
    alt: str,
    notes: tuple[str, ...] = (),
    legend: tuple[Line, ...] | None = None,
    of: tuple[str, ...] = _RUN_COLUMNS,
) -> Figure:
    columns, numbers = figure_of(rows, (*keys, *of))
    return Figure(
        name=name,
        explained=explained,
        title=title,
        basis=basis,
        columns=columns,
        rows=numbers,
        table=by_year(rows, keys, told),
        counted=wording.count(len(rows), "price point"),
        day=newest(rows),
        source_kinds=kinds_of(rows),
        panels=(Panel("", "prices", line_chart(series), alt),) if rows else (),
        legend=tuple(line for line, _ in series) if legend is None else legend,
        notes=(*notes, *_step_note(rows)),
        empty="No such price in this build.",
        details="The price at the end of each year, as a table",
    )


def _segment_lines(rows: Sequence[Row]) -> list[tuple[Line, Sequence[Row]]]:
    series: Mapping[str, Sequence[Row]] = grouped(rows, "segment")
    return [
        (_stepped(Line(words, COLOURS[key]), series[key]), series[key])
        for key, words in wording.SEGMENTS.items()
        if key in series
    ]


def _stepped(line: Line, rows: Sequence[Row]) -> Line:
    return Line(line.name, line.colour, max((row["step_days"] for row in rows), default=1))


def _legend(rows: Sequence[Row]) -> tuple[Line, ...]:
    there = {wording.SEGMENTS[row["segment"]] for row in rows}
    return tuple(line for line in SEGMENT_LINES if line.name in there)


def _step_note(rows: Sequence[Row]) -> tuple[str, ...]:
    step = max((row["step_days"] for row in rows), default=1)
    if step == STEPS_DAYS[0]:
        return ()
    return (
        f"Lines that move too often to draw every change have one point in {step} days; the warehouse has every day.",
    )


def _newest_price(rows: Sequence[Row], last: date | None) -> str:
    """The newest price of each segment, lowest first; with its day where that is not the newest of all."""
    newest_rows = [max(found, key=lambda row: row["to_day"]) for found in grouped(rows, "segment").values()]
    day = max(row["to_day"] for row in newest_rows)
    usd = sorted(row["usd"] for row in newest_rows if row["to_day"] == day)
    span = wording.usd_per_hour(usd[0]) + (f" to {wording.usd_per_hour(usd[-1])}" if usd[-1] != usd[0] else "")
    return span if day == last else f"{span}, last on {wording.on_day(day)}"


def _told(what: str, rows: Sequence[Row], key: str, words: Mapping[str, str]) -> str:
    parts = [
        f"{words.get(of, of)} from {wording.usd_per_hour(found[0]['usd'])} ({wording.on_day(found[0]['from_day'])})"
        f" to {wording.usd_per_hour(found[-1]['usd'])} ({wording.on_day(found[-1]['to_day'])})"
        for of, found in grouped(rows, key).items()
    ]
    return f"{what}: {'; '.join(parts)}"
