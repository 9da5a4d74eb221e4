"""The commands that look after the ledger: sources, doctor."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.app import FORMAT, app
from flows.output import Format, print_rows, say
from flows.progress import shown

if TYPE_CHECKING:
    from warehouse.ask import Answer


@app.command()
def sources(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE...]", help="Only these, with --check.")] = None,
    *,
    check: Annotated[bool, typer.Option("--check", help="Try each source live; nothing is stored.")] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """Show what is collected, from where, how it last fared, and why not better.

    Example: gpuledger sources --format json
    """
    if check:
        _check(names or [], form)
        return
    from warehouse import health

    with health.working_or_published() as (connection, note):
        answer = health.sources(connection)
        unknown = [] if connection is None else health.unknown_names(connection)
    print_rows(answer.columns, answer.rows, form)
    if note:
        say(note)
    for name in unknown:
        say(f"unknown spelling: {name}")
    say(_headline(answer))


def _headline(answer: "Answer") -> str:
    """How many sources of whom; what only documentation tells of is counted apart, published histories are not counted."""
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    live = [row for row in rows if row["kind"] in {"api", "page"}]
    proven = [row for row in live if row["proven"]]
    providers = {row["provider"] for row in proven}
    return f"{len(proven)} proven sources for {len(providers)} providers, {len(live) - len(proven)} unproven"


def _check(names: list[str], form: Format) -> None:
    """What each source answers now; exit status as for a collection."""
    from flows import steps
    from flows.keep import SOURCES_AT_ONCE, exit_status

    steps.begin_run()
    chosen = steps.live_sources(names)
    with shown("trying") as progress, ThreadPoolExecutor(SOURCES_AT_ONCE) as pool:
        tried = []
        for one in pool.map(steps.try_live, chosen):
            tried.append(one)
            if progress:
                progress(len(tried), len(chosen))
    columns = ["source", "status", "offers", "unknown_names", "fixture_age_days", "reason"]
    print_rows(columns, [tuple(getattr(one, column) for column in columns) for one in tried], form)
    raise typer.Exit(
        exit_status(
            (one for one in tried if one.status == "ok"), (one for one in tried if one.status in {"failed", "odd"})
        )
    )


@app.command()
def doctor(
    backup: Annotated[
        Path | None, typer.Option(help="A back-up to examine instead: all of it is read and held against its hashes.")
    ] = None,
    form: FORMAT = Format.TABLE,
) -> None:
    """Say what is wrong with this installation or warehouse, and the mend; exit status 1 when something is.

    Examples: gpuledger doctor
      gpuledger doctor --backup ledger-backup
    """
    from warehouse import health
    from warehouse.backup import examine

    findings = health.doctor() if backup is None else examine(backup)
    rows = [
        (one.what, "well" if one.is_well else "not well", one.how_it_is, "" if one.is_well else one.mend)
        for one in findings
    ]
    print_rows(["what", "state", "how_it_is", "mend"], rows, form)
    if not all(one.is_well for one in findings):
        raise typer.Exit(1)


@app.command()
def verify(form: FORMAT = Format.TABLE) -> None:
    """Make everything published again from the raw rows and say what differs; exit status 1 when something does.

    Example: gpuledger verify
    """
    from flows.progress import shown
    from warehouse import verify as verifier

    with shown("verifying") as progress:
        found = verifier.verify(progress)
    columns = ["table", "published", "recomputed", "only_published", "only_recomputed", "differing", "example"]
    print_rows(columns, [[getattr(one, column) for column in columns] for one in found.comparisons], form)
    if found.note:
        say(found.note)
    if not found.agrees:
        names = ", ".join(one.table for one in found.comparisons if not one.agrees)
        say(f"build {found.build_id} is not what its raw rows give: {names}")
        raise typer.Exit(1)
    rows = sum(one.published for one in found.comparisons)
    say(f"build {found.build_id}: {rows:,} rows of {len(found.comparisons)} tables, all as published")
