"""The runs that the claims are about, at the prices of the day: LLaMA at each provider's price, GPT-3 and PaLM on the parts since."""

from collections.abc import Sequence
from datetime import date

from warehouse.database import Connection
from warehouse.reports import wording
from warehouse.reports.figure import Cell, Figure, Line, Panel, Table, by_year, figure_of, line_chart, newest, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, fetch, grouped
from warehouse.reports.series import thinned
from warehouse.reports.wording import Names

LLAMA, LLAMA_PARTS = "llama-65b", ("a100-sxm-80gb", "a100-sxm-40gb")
# When DGX Cloud, whose price was one of the questions, was announced.
LLAMA_DAY = date(2023, 3, 21)
RUNS = ("gpt-3-175b", "palm-540b")
# Accelerator (none: as run), basis, and the line that it is.
_LINES = {
    ("", "hyperscaler_median"): Line("As run, hyperscalers", "var(--blue)"),
    ("a100-sxm-80gb", "hyperscaler_median"): Line("A100 80 GB, hyperscalers", "var(--orange)"),
    ("h100-sxm-80gb", "hyperscaler_median"): Line("H100, hyperscalers", "var(--purple)"),
    ("h100-sxm-80gb", "neocloud_median"): Line("H100, neoclouds", "var(--green)"),
    ("b200-sxm-180gb", "neocloud_median"): Line("B200, neoclouds", "var(--yellow)"),
}
_MOST_ROWS = 400
_NEEDS = ["training_costs", "training_hours"]
_LLAMA_COLUMNS = (
    "day", "run", "basis", "accelerator", "as_run", "accelerator_hours_mid", "usd_per_accelerator_hour_mid", "cost_usd_low", "cost_usd_mid",
    "cost_usd_high", "committed_usd", "n_providers", "price_status", "age_days",
)  # fmt: skip
_SINCE_COLUMNS = (
    "run", "line", "from_day", "to_day", "priced_on", "cost_usd_low", "cost_usd_mid", "cost_usd_high", "price_status", "n_providers",
)  # fmt: skip


def llama(connection: Connection) -> list[Row]:
    """LLaMA 65B at each provider's own price on the day, on the part that it used and on the smaller one."""
    return fetch(
        connection,
        f"""
        SELECT {", ".join(_LLAMA_COLUMNS)}
        FROM training_costs
        WHERE run = $run AND day = $day AND starts_with(basis, 'provider:') AND accelerator IN {LLAMA_PARTS} AND precision = 'bf16'
            AND cost_usd_mid IS NOT NULL
        ORDER BY as_run DESC, cost_usd_mid, basis
        """,
        {"run": LLAMA, "day": LLAMA_DAY},
        needs=_NEEDS,
    )


def since(connection: Connection) -> list[Row]:
    """GPT-3 and PaLM on their own part and on those that came after, in 16 bits."""
    parts = tuple(part for part, _ in _LINES if part)
    days = f"""
        SELECT
            run, CASE WHEN as_run THEN '' ELSE accelerator END AS accelerator, basis, day, round(cost_usd_mid, 2) AS usd,
            round(cost_usd_low, 2) AS usd_low, round(cost_usd_high, 2) AS usd_high, price_status AS status, coalesce(priced_on, '') AS told,
            n_providers, NULL::VARCHAR[] AS source_kinds
        FROM training_costs
        WHERE run IN {RUNS} AND basis IN ('hyperscaler_median', 'neocloud_median') AND NOT coalesce(before_release, false)
            AND (as_run OR accelerator IN {parts} AND precision = 'bf16')
    """
    return fetch(connection, thinned(days, ("run", "accelerator", "basis"), most_rows=_MOST_ROWS), needs=_NEEDS)


def llama_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """LLaMA 65B by provider."""
    columns, numbers = figure_of(rows, _LLAMA_COLUMNS)
    return Figure(
        name="llama-65b-by-provider",
        explained="cost-as-run",
        title="LLaMA 65B at the prices of early 2023",
        basis="1,022,362 reported accelerator-hours x each provider's own list price; on the 40 GB part, on which it was not run, the same hours",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Provider", "Part", "Price per hour", "Cost", "Range", "Owed for the whole term", "Price seen"),
            [
                (
                    Cell(
                        names.provider(row["basis"].removeprefix("provider:")),
                        href=links.provider(row["basis"].removeprefix("provider:")),
                    ),
                    Cell(
                        names.accelerator(row["accelerator"]),
                        href=links.accelerator(row["accelerator"]),
                        note="as run" if row["as_run"] else "not as run",
                    ),
                    number(wording.usd_per_hour(row["usd_per_accelerator_hour_mid"])),
                    number(wording.usd(row["cost_usd_mid"])),
                    number(f"{wording.usd(row['cost_usd_low'])} to {wording.usd(row['cost_usd_high'])}"),
                    number(wording.usd(row["committed_usd"])),
                    Cell("" if row["age_days"] is None else wording.days_old(row["age_days"])),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} prices",
        day=newest(rows, "day"),
        notes=("Where a price is bound to a term, what the term comes to stands beside the cost of the hours alone.",),
        empty="The ledger has no prices of that day.",
    )  # fmt: skip


def since_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """A panel for each run, a line for each part and segment."""
    told = [
        row | {"line": line.name, "part": row["told"], "told": names.accelerator(row["told"])}
        for row in rows
        if (line := _LINES.get((row["accelerator"], row["basis"]))) is not None
    ]
    return Figure(
        name="claimed-runs-since",
        explained="cost-as-run",
        title="GPT-3 and PaLM, then and since",
        basis="nominal US dollars, on demand, final run only; as run: reported hours on the run's own part; other parts: carried over by FLOP, in 16"
        " bits",
        columns=_SINCE_COLUMNS,
        rows=[
            (
                row["run"], row["line"], row["from_day"], row["to_day"], row["part"], row["usd_low"], row["usd"], row["usd_high"], row["status"],
                row["n_providers"],
            )
            for row in told
        ],
        table=by_year(told, ("run", "line"), lambda row: (names.run(row["run"]), row["line"]), wording.usd),
        counted=f"{len(told):,} price points",
        day=newest(told),
        panels=tuple(_panel(run, found, names, links) for run, found in grouped(told, "run").items()),
        legend=tuple(line for line in _LINES.values() if any(row["line"] == line.name for row in told)),
        notes=("Dashed: priced by one or two providers. The scale is logarithmic. Ranges are judgement ranges.",),
        empty="No costs of these runs in this build yet.",
        tall=True,
        details="The cost at the end of each year, as a table",
    )  # fmt: skip


def _panel(run: str, rows: Sequence[Row], names: Names, links: Links) -> Panel:
    lines = {line.name: line for line in _LINES.values()}
    series: list[tuple[Line, Sequence[Row]]] = [
        (Line(name, lines[name].colour, found[0]["step_days"]), [_banded(row) for row in found])
        for name, found in grouped(rows, "line").items()
    ]
    now = "; ".join(
        f"{line.name}: {wording.usd(found[-1]['usd'])} on {wording.on_day(found[-1]['to_day'])}"
        for line, found in series
    )
    return Panel(names.run(run), "costs", line_chart(series), f"Cost of {names.run(run)}. {now}.", href=links.run(run))


def _banded(row: Row) -> Row:
    """A chart with five ranges shows none: the one as run keeps its own."""
    return row if row["accelerator"] == "" else row | {"drawn_low": None}
