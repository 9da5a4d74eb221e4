"""The commands that look after the ledger: sources, doctor."""

import typer

from flows.app import FORMAT, app
from flows.output import Format, print_rows, say


@app.command()
def sources(form: FORMAT = Format.TABLE) -> None:
    """Show what is collected, from where, how it last fared, and why not better.

    Example: gpuledger sources --format json
    """
    from warehouse import health

    with health.working_or_published() as (connection, note):
        answer = health.sources(connection)
        unknown = [] if connection is None else health.unknown_names(connection)
    print_rows(answer.columns, answer.rows, form)
    if note:
        say(note)
    for name in unknown:
        say(f"unknown spelling: {name}")
    proven = [row for row in answer.rows if row[answer.columns.index("proven")]]
    providers = {row[answer.columns.index("provider")] for row in proven}
    say(f"{len(proven)} proven sources for {len(providers)} providers, {len(answer.rows) - len(proven)} unproven")


@app.command()
def doctor(form: FORMAT = Format.TABLE) -> None:
    """Say what is wrong with this installation or warehouse, and the mend; exit status 1 when something is.

    Example: gpuledger doctor
    """
    from warehouse import health

    findings = health.doctor()
    rows = [
        (one.what, "well" if one.is_well else "not well", one.how_it_is, "" if one.is_well else one.mend)
        for one in findings
    ]
    print_rows(["what", "state", "how_it_is", "mend"], rows, form)
    if not all(one.is_well for one in findings):
        raise typer.Exit(1)
