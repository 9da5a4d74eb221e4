"""The commands about what was: changes."""

from typing import Annotated

import typer

from flows.app import FORMAT, app
from flows.ask import day_of, show
from flows.output import Format


@app.command()
def changes(
    since: Annotated[
        str | None, typer.Option(help="First day, such as 2026-08-01; the newest week if not said.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Only this provider's, by its key.")] = None,
    accelerator: Annotated[str | None, typer.Option(help="Only of this part: a key, or a name such as H100.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every change, not only the newest.")] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """Show what moved: offers that came, went, rose and fell, in their printed currency.

    Example: gpuledger changes --since 2026-08-01 --accelerator H100
    """
    from warehouse import ask, database, history

    with database.connect_published() as connection:
        keys = None if accelerator is None else ask.accelerators(connection, accelerator)
        answer = history.changes(connection, since=day_of(since), provider=provider, keys=keys)
    show(answer, form, "nothing changed in that time", every=every)
