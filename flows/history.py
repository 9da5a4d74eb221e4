"""The commands about what was: changes, replay."""

import difflib
from collections import Counter
from typing import Annotated

import typer

from flows.app import FORMAT, WrongUsageError, app, when
from flows.ask import day_of, show
from flows.keep import say_built
from flows.output import Format, print_rows, say
from flows.progress import shown

SHOWN_ROWS = 40


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
        if provider is not None and provider not in (known := ask.known(connection, "staging.providers", "provider")):
            near = difflib.get_close_matches(provider, known, n=4, cutoff=0.4) or known[:4]
            raise WrongUsageError(f"no provider {provider!r}; near it: {', '.join(near)}")
        answer = history.changes(connection, since=day_of(since), provider=provider, keys=keys)
    show(answer, form, "nothing changed in that time", every=every)


@app.command()
def replay(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Only this one; all if none. See: gpuledger sources")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only what was seen from then on, such as 2026-08-01.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Let what is read now hold, and build.")] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """Read the raw archive again with today's parsers and show which offers are added, gone or changed.

    Nothing is replaced without --apply, and with it the old reading stays on record.

    Example: gpuledger replay vultr --since 2026-08-01
    """
    from flows import steps
    from scrapers.source import load
    from warehouse import replay as replayer

    if source is not None:
        load(source)
    moment = None if since is None else when(since)
    with shown("reading again") as progress:
        done = replayer.replay(steps.archive(), source, moment, apply=apply, progress=progress)
    if not done.read:
        say("nothing of that is archived and loaded")
        raise typer.Exit(1)
    rows = done.rows[:SHOWN_ROWS] if form is Format.TABLE else done.rows
    if rows or form is not Format.TABLE:
        print_rows(replayer.COLUMNS, rows, form)
    if len(rows) < len(done.rows):
        say(f"{len(done.rows) - len(rows)} more rows with --format csv")
    counts = Counter(row[replayer.COLUMNS.index("change")] for row in done.rows)
    say(
        f"{done.differing:,} of {done.read:,} collections read otherwise:"
        f" {counts['added']:,} offers added, {counts['gone']:,} gone, {counts['changed']:,} changed"
    )
    for one in done.unread:
        say(
            f"{one.source} of {one.observed_at:%Y-%m-%d %H:%M} does not read any more, its old reading holds: {one.reason}"
        )
    if done.recorded:
        say(f"{done.recorded:,} new readings recorded, the old ones are kept")
        say_built(steps.build())
    elif done.differing:
        say("nothing was replaced; to let the new readings hold: the same with --apply")
    if done.unread:
        raise typer.Exit(3 if len(done.unread) < done.read else 1)
