"""The commands that read: resolve, parse, prices, trend, sql, export."""

from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import complete
from flows.app import FORMAT, WrongUsageError, app, read_pages, when
from flows.output import Format, is_unicode, print_json, print_rows, say, tell
from flows.table import sparkline

if TYPE_CHECKING:
    from warehouse.ask import Answer

ACCELERATOR = Annotated[
    str,
    typer.Argument(help="A key such as h100-sxm-80gb, or a name such as H100.", autocompletion=complete.accelerators),
]
SHOWN_ROWS = 40
# What a narrow terminal shows first.
PRICE_COLUMNS = (
    "accelerator",
    "provider",
    "sku",
    "pricing_model",
    "usd_per_accelerator_hour",
    "usd_per_hour",
    "age_days",
)
TREND_COLUMNS = ("accelerator", "day", "usd_per_accelerator_hour_median", "n_providers", "status")


def day_of(text: str | None) -> date | None:
    """An ISO date. Raises WrongUsageError."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise WrongUsageError(f"not a date: {text!r}; write it like 2023-03-01") from None


@app.command()
def resolve(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Spellings as printed; put -- before them.")],
    provider: Annotated[
        str | None, typer.Option(help="Whose spelling it is; its instance types are known by rule.")
    ] = None,
) -> None:
    """Say which accelerator a spelling names, as JSON lines.

    Example: gpuledger resolve --provider aws -- p4d.24xlarge
    """
    from warehouse.names import resolve as resolve_name

    parts = (resolve_name(name, provider) for name in names)
    print_json(
        {
            "raw": part.raw, "vendor": part.vendor, "model": part.model, "form_factor": part.form_factor, "memory_gb": part.memory_gb,
            "count": part.count, "accelerator": part.accelerator,
        }
        for part in parts
    )  # fmt: skip


@app.command()
def parse(
    source: Annotated[
        str, typer.Argument(help="Whose pages these are; see: gpuledger sources", autocompletion=complete.sources)
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved pages, one snapshot together.")],
    observed_at: Annotated[str | None, typer.Option(help="When they were saved (ISO 8601); now if not said.")] = None,
) -> None:
    """Show the offers on saved pages, as JSON lines, touching no warehouse.

    Example: gpuledger parse vultr plans.json --observed-at 2026-08-22
    """
    from scrapers.source import load
    from warehouse.preview import preview

    moment = when(observed_at)
    rows, rejected = preview(load(source), read_pages(files), moment)
    print_json(rows)
    for bad in rejected:
        say(f"{source}: record {bad.record}: {bad.reason}")
    if not rows:
        say(f"{source}: the pages were read and list no offer")
        raise typer.Exit(1)


@app.command()
def prices(
    accelerator: ACCELERATOR,
    count: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="So many in one place, with a fabric if it takes more than a node."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every offer, not only the cheapest.")] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """Show what an accelerator costs now, cheapest first.

    Example: gpuledger prices h100-sxm-80gb --count 8
    """
    from warehouse import ask, database

    with database.connect_published() as connection:
        keys = ask.accelerators(connection, accelerator)
        answer = ask.prices(connection, keys, count)
    show(answer, form, f"no current offer of {', '.join(keys)}", every=every, keep=PRICE_COLUMNS)


@app.command()
def trend(
    accelerator: ACCELERATOR,
    segment: Annotated[str, typer.Option(help="hyperscaler, neocloud, marketplace or all.")] = "all",
    pricing_model: Annotated[str, typer.Option(help="on_demand, spot, reserved or flex.")] = "on_demand",
    commitment_days: Annotated[int, typer.Option(min=0, help="365 for one year, 1095 for three.")] = 0,
    since: Annotated[str | None, typer.Option(help="First day, such as 2023-01-01.")] = None,
    form: FORMAT = Format.TABLE,
) -> None:
    """Show how an accelerator's price moved, month by month.

    Example: gpuledger trend a100-sxm-80gb --segment hyperscaler
    """
    from warehouse import ask, database

    with database.connect_published() as connection:
        keys = ask.accelerators(connection, accelerator)
        for option, column, told in (
            ("--segment", "segment", segment),
            ("--pricing-model", "pricing_model", pricing_model),
        ):
            known = ask.known(connection, "prices_daily", column)
            if told not in known:
                raise WrongUsageError(f"{option} is not {told!r}; there is {', '.join(known)}")
        answer = ask.trend(
            connection,
            keys,
            segment=segment,
            pricing_model=pricing_model,
            commitment_days=commitment_days,
            since=day_of(since),
        )
    nothing = f"no {pricing_model} price of {', '.join(keys)} in segment {segment}"
    if form is Format.TABLE:
        _sketch(answer)
    show(answer, form, nothing, every=True, keep=TREND_COLUMNS)


@app.command()
def sql(
    query: Annotated[
        str, typer.Argument(help="A SELECT on the published copy; its tables are described by: DESCRIBE offers")
    ],
    form: FORMAT = Format.TABLE,
) -> None:
    """Run read-only SQL on the published copy.

    Example: gpuledger sql "SELECT count(*) FROM offers"
    """
    from warehouse import ask, database

    with database.connect_published() as connection:
        ask.read_only(connection)
        if (count := ask.statements(connection, query)) != 1:
            raise WrongUsageError(f"sql runs one statement, and this is {count or 'none'}")
        answer = ask.ask(connection, query)
    if form is Format.JSON and len(set(answer.columns)) < len(answer.columns):
        raise WrongUsageError("JSON has no room for two columns of one name; give each its own with AS")
    print_rows(answer.columns, answer.rows, form)


@app.command()
def export(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the Parquet files go.")]) -> None:
    """Write every table of the published copy as Parquet.

    Example: gpuledger export ledger-parquet
    """
    from warehouse import ask, database

    with database.connect_published() as connection:
        written = ask.export(connection, folder)
    say(f"{len(written)} files in {folder}")


def _sketch(answer: "Answer") -> None:
    """A line for each part: how its median moved, from the first month to the last."""
    part, median = answer.columns.index("accelerator"), answer.columns.index("usd_per_accelerator_hour_median")
    for key in dict.fromkeys(row[part] for row in answer.rows):
        values = [row[median] for row in answer.rows if row[part] == key]
        tell(f"{key}  {sparkline(values, is_plain=not is_unicode())}  {values[0]:.2f} to {values[-1]:.2f} USD an hour")


def show(answer: "Answer", form: Format, nothing: str, *, every: bool, keep: Collection[str] = ()) -> None:
    """Print the rows; with none, say so and exit with 1."""
    if not answer.rows:
        say(nothing)
        raise typer.Exit(1)
    rows = answer.rows if every or form is not Format.TABLE else answer.rows[:SHOWN_ROWS]
    print_rows(answer.columns, rows, form, keep)
    if len(rows) < len(answer.rows):
        say(f"{len(answer.rows) - len(rows)} more rows with --all")
