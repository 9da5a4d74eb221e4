"""The command ``report``: the site, the week's letter, or its numbers."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import complete
from flows.app import WrongUsageError, app
from flows.ask import day_of
from flows.output import Format, print_rows, say, tell

if TYPE_CHECKING:
    from warehouse.database import Connection
    from warehouse.reports.scope import Scope


class ReportFormat(StrEnum):
    """How the report is told."""

    HTML = "html"
    MD = "md"
    CSV = "csv"
    JSON = "json"


@app.command()
def report(
    form: Annotated[
        ReportFormat,
        typer.Option(
            "--format", help="html: the site; md: the week in words, for a mail or an issue; csv, json: its numbers."
        ),
    ] = ReportFormat.HTML,
    since: Annotated[
        str | None,
        typer.Option(help="First day, such as 2026-08-01; of the letter: a week before the newest, if not said."),
    ] = None,
    accelerators: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="Only these: keys, or names such as H100.", autocompletion=complete.accelerators
        ),
    ] = None,
    runs: Annotated[
        str | None,
        typer.Option(metavar="RUN,...", help="Only these training runs, such as gpt-3.", autocompletion=complete.runs),
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Folder of the site; data/site if not said.")] = None,
) -> None:
    """Write the report from what is published: as a site, or what moved in a week as Markdown, CSV or JSON on stdout.

    Examples:
      gpuledger report
      gpuledger report --format md --accelerators H100,a100-sxm-80gb --runs gpt-3
    """
    from flows import steps
    from warehouse import database
    from warehouse.reports import site

    with database.connect_published() as connection:
        scope = _scope(connection, since, accelerators, runs)
    if form is ReportFormat.HTML:
        if to is None and not scope.is_whole:
            to = database.data_dir() / "site-part"
        try:
            say(f"report: {steps.report(scope, to)}")
        except site.NotASiteError as error:
            raise WrongUsageError(str(error)) from None
        return
    if to is not None:
        raise WrongUsageError(f"--to is where the site goes; --format {form.value} prints: redirect it into a file")
    from warehouse.reports import digest, letter

    with database.connect_published() as connection:
        found = digest.digest(connection, scope)
    if form is ReportFormat.MD:
        tell(letter.letter(found).rstrip("\n"))
    else:
        print_rows(digest.COLUMNS, list(digest.rows(found)), Format(form.value))


def _scope(connection: "Connection", since: str | None, accelerators: str | None, runs: str | None) -> "Scope":
    """Raises WrongUsageError and UnknownNameError for what is not there."""
    from warehouse import ask
    from warehouse.reports import moves
    from warehouse.reports.scope import Scope
    from warehouse.run_names import known_runs, run_id

    first = day_of(since)
    days = moves.span(connection)
    if first is not None and days is not None and first >= days[1]:
        raise WrongUsageError(f"--since {first}: the newest day of the ledger is {days[1]}; name an earlier one")
    keys = (
        None
        if accelerators is None
        else {key for name in _names(accelerators) for key in ask.accelerators(connection, name)}
    )
    known = known_runs(connection)
    chosen = None if runs is None else {run_id(name, known) for name in _names(runs)}
    return Scope(first, None if keys is None else frozenset(keys), None if chosen is None else frozenset(chosen))


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise WrongUsageError("an empty list of names; leave the option for all")
    return names
