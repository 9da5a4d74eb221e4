"""The command's frame: the application that the commands register with, and readers of what they are given."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.output import Format

if TYPE_CHECKING:
    from scrapers.source import Page

app = typer.Typer(
    name="gpuledger",
    help="What it costs to rent accelerators, over time, and what known training runs would cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
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
        raise WrongUsageError(
            f"not an ISO 8601 time: {text!r}; write it like 2026-08-22 or 2026-08-22T06:00:00Z"
        ) from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


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
