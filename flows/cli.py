"""The ``gpuledger`` command. Prefect is imported only by the commands that run flows.

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 nothing succeeded or bad data, 2 wrong usage, 3 done in part.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.output import Format, print_json, say

if TYPE_CHECKING:
    from scrapers.source import Page

app = typer.Typer(
    name="gpuledger",
    help="What it costs to rent accelerators, over time, and what known training runs would cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
FORMAT = Annotated[Format, typer.Option("--format", help="How to print: table, csv or json (one object per line).")]


class WrongUsageError(Exception):
    """The command was called in a way that can't work; the message says how it can."""


def when(text: str | None) -> datetime:
    """An ISO 8601 time, UTC unless it says otherwise; now for None. Raises WrongUsageError."""
    from warehouse import database

    if text is None:
        return database.now()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUsageError(f"not an ISO 8601 time: {text!r}; write it like 2026-08-22 or 2026-08-22T06:00:00Z") from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


@app.command()
def resolve(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Spellings as printed; put -- before them.")],
    provider: Annotated[str | None, typer.Option(help="Whose spelling it is; its instance types are known by rule.")] = None,
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
    source: Annotated[str, typer.Argument(help="Whose pages these are; see: gpuledger sources")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved pages, one snapshot together.")],
    observed_at: Annotated[str | None, typer.Option(help="When they were saved (ISO 8601); now if not said.")] = None,
) -> None:
    """Show the offers on saved pages, as JSON lines, touching no warehouse.

    Example: gpuledger parse vultr plans.json --observed-at 2026-08-22
    """
    from scrapers.source import load
    from warehouse.preview import preview

    rows, rejected = preview(load(source), read_pages(files), when(observed_at))
    print_json(rows)
    for bad in rejected:
        say(f"{source}: record {bad.record} does not read: {bad.reason}")
    if not rows:
        say(f"{source}: the pages were read and list no offer")
        raise typer.Exit(1)


def read_pages(files: Iterable[Path]) -> "list[Page]":
    """Files as pages. Raises WrongUsageError for one that can't be read."""
    from scrapers.source import MAX_PAGE_BYTES, Page

    pages = []
    for path in files:
        try:
            if path.stat().st_size > MAX_PAGE_BYTES:
                raise WrongUsageError(f"{path} is larger than {MAX_PAGE_BYTES // 2**20} MiB, no price page is")
            pages.append(Page(f"file:{path.name}", path.read_bytes(), path.name))
        except OSError as error:
            raise WrongUsageError(f"cannot read {path}: {error.strerror}") from None
    return pages


def main() -> None:
    """Run the command; every expected failure is one line and an exit status."""
    from flows import ask, keep, look  # noqa: F401  # they register their commands
    from flows.errors import explained

    with explained():
        app()
