"""Turns expected failures into one clear line and the exit status that the contract names."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from flows.output import say


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Print what goes wrong inside as one line on stderr and exit: 1 for bad data or nothing done, 2 for wrong usage."""
    try:
        yield
    except Exception as error:
        status = _status(error)
        if status is None:
            raise
        say(f"gpuledger: {' '.join(str(error).split())}", logging.ERROR, exit_status=status)
        sys.exit(status)


def _status(error: Exception) -> int | None:
    """Exit status of an expected failure; None for a defect of ours, whose traceback is wanted."""
    from flows.app import WrongUsageError
    from scrapers.archive import ArchiveError
    from scrapers.collect import NoFixturesError
    from scrapers.source import PageError, UnknownSourceError
    from warehouse.ask import UnknownNameError
    from warehouse.cost_questions import ImpossibleQuestionError
    from warehouse.own_runs import OwnRunError

    if isinstance(
        error, WrongUsageError | UnknownSourceError | UnknownNameError | ImpossibleQuestionError | OwnRunError
    ):
        return 2
    if isinstance(error, PageError | ArchiveError | NoFixturesError):
        return 1
    module = type(error).__module__.partition(".")[0]
    return (
        1
        if module in {"warehouse", "scrapers", "flows"} and isinstance(error, RuntimeError | ValueError | LookupError)
        else None
    )
