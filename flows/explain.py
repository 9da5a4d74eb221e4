"""The commands ``explain …``: from a published number down to the page that it was read from."""

import json
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from flows import complete
from flows.app import WrongUsageError, app
from flows.costs import asked_run, day_of, reckoned
from flows.output import Format, plain, printable

if TYPE_CHECKING:
    from warehouse.database import Connection
    from warehouse.explain import Node

explain = typer.Typer(no_args_is_help=True, help="From a published number down to the page that it was read from.")
app.add_typer(explain, name="explain")

ON = Annotated[str | None, typer.Option(help="Day of the prices, such as 2023-03-01; the newest if not said.")]
BASIS = Annotated[str, typer.Option(help="Such as on_demand_median, hyperscaler_median, provider:aws.")]
FORM = Annotated[
    Format, typer.Option("--format", help="table is an indented tree; json is one object. There is no csv of a tree.")
]
EVERY = Annotated[bool, typer.Option("--all", help="Every offer behind a price, not only those nearest to it.")]
MANY = 1_000_000


@explain.command("cost")
def explain_cost(
    run: Annotated[
        str, typer.Argument(help="A training run such as gpt-3, palm-540b, llama-65b.", autocompletion=complete.runs)
    ],
    on: ON = None,
    accelerator: Annotated[str | None, typer.Option(help="The part; the run's own if not said.")] = None,
    basis: BASIS = "on_demand_median",
    precision: Annotated[str | None, typer.Option(help="Number format, where a part has several.")] = None,
    every: EVERY = False,
    form: FORM = Format.TABLE,
) -> None:
    """Show what a run's cost is made of: hours, constants, price, providers, offers, pages and their hashes.

    Example: gpuledger explain cost llama-65b --on 2023-03-01 --accelerator a100-sxm-80gb --basis provider:azure
    """
    from flows import steps
    from warehouse import explain as tree

    with reckoned() as connection:
        name = asked_run(connection, run)
        key = None if accelerator is None else _part(connection, accelerator)
        node = tree.cost(
            connection,
            name,
            on=_day(on),
            basis=basis,
            key=key,
            precision=precision,
            pages=steps.archived_pages(),
            most=MANY if every else tree.MOST_OFFERS,
        )
    _print(node, form)


@explain.command("price")
def explain_price(
    accelerator: Annotated[
        str, typer.Argument(help="A key such as h100-sxm-80gb.", autocompletion=complete.accelerators)
    ],
    on: ON = None,
    basis: BASIS = "on_demand_median",
    every: EVERY = False,
    form: FORM = Format.TABLE,
) -> None:
    """Show what a part's price is made of: providers, offers, pages and their hashes.

    Example: gpuledger explain price a100-sxm-80gb --on 2023-03-01 --basis hyperscaler_median
    """
    from flows import steps
    from warehouse import database
    from warehouse import explain as tree

    with database.connect_published() as connection:
        key = _part(connection, accelerator)
        node = tree.price(
            connection, key, basis, _day(on), pages=steps.archived_pages(), most=MANY if every else tree.MOST_OFFERS
        )
    _print(node, form)


@explain.command("offer")
def explain_offer(
    snapshot_id: Annotated[str, typer.Argument(help="The column snapshot_id of offers.")],
    ordinal: Annotated[int, typer.Argument(help="The column ordinal of offers.")],
    form: FORM = Format.TABLE,
) -> None:
    """Show what an offer says, what was made of it, and the page that it stood on.

    Example: gpuledger explain offer 3f6c0e51a2b4 17
    """
    from flows import steps
    from warehouse import database
    from warehouse import explain as tree

    with database.connect_published() as connection:
        node = tree.offer(connection, snapshot_id, ordinal, pages=steps.archived_pages())
    _print(node, form)


def _day(on: str | None) -> date | None:
    return None if on is None else day_of(on)


def _part(connection: "Connection", name: str) -> str:
    from warehouse import ask

    keys = ask.accelerators(connection, name)
    if len(keys) > 1:
        raise WrongUsageError(f"{name} may be {', '.join(keys)}; say which")
    return keys[0]


def _print(node: "Node", form: Format) -> None:
    if form is Format.CSV:
        raise WrongUsageError("a tree has no rows: write --format json, or leave --format")
    if form is Format.JSON:
        typer.echo(json.dumps(plain(node.as_dict()), ensure_ascii=False))
        return
    for line in node.lines():
        typer.echo(printable(line))
