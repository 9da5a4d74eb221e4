"""Turns expected failures into one clear line and the exit status that the contract names; ends cleanly when told to."""

import contextlib
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from flows.output import say

ENDED = 128 + signal.SIGTERM
GRACE_SECONDS = 10.0
"""So long what runs may take to end; hosts that are waited for do not hold up a machine that shuts down."""
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}


class Ended(BaseException):
    """SIGTERM: everything open is closed on the way out. No Exception, so that nothing takes it for a failure of its own."""


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Print what goes wrong inside as one line on stderr and exit: 1 for bad data or nothing done, 2 for wrong usage, 143 when told to end."""
    told_to_end: list[int] = []
    before = _listen(told_to_end)
    try:
        yield
    except Ended:
        _end()
    except Exception as error:
        if told_to_end:  # the engine was interrupted, and told it in its own way
            _end()
        if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
            sys.exit(128 + signal.SIGINT)
        told = _told(error)
        if told is None:
            raise
        status, line = told
        say(f"gpuledger: {' '.join(line.split())}", logging.ERROR, exit_status=status)
        sys.exit(status)
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _listen(told_to_end: list[int]) -> signal.Handlers | None:
    """Have SIGTERM end what runs; returns what it did before, None where this is not the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def end(number: int, _: FrameType | None) -> None:
        told_to_end.append(number)
        last = threading.Timer(GRACE_SECONDS, os._exit, [ENDED])
        last.daemon = True
        last.start()
        raise Ended

    before = signal.signal(signal.SIGTERM, end)
    return before if isinstance(before, signal.Handlers) else signal.SIG_DFL


def _end() -> None:
    """Exit without waiting for threads that wait for hosts: the archive writes by rename, so they leave nothing half done."""
    with contextlib.suppress(OSError, ValueError):
        say(
            "gpuledger: ended by SIGTERM; nothing is half done, the next run completes it",
            logging.WARNING,
            exit_status=ENDED,
        )
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(ENDED)


def _told(error: Exception) -> tuple[int, str] | None:
    """Exit status and line of an expected failure; None for a defect of ours, whose traceback is wanted."""
    from flows.app import WrongUsageError
    from scrapers.archive import ArchiveError
    from scrapers.collect import NoFixturesError
    from scrapers.source import PageError, UnknownSourceError
    from warehouse.ask import UnknownNameError
    from warehouse.cost_questions import ImpossibleQuestionError
    from warehouse.database import failure
    from warehouse.own_runs import OwnRunError

    if isinstance(
        error, WrongUsageError | UnknownSourceError | UnknownNameError | ImpossibleQuestionError | OwnRunError
    ):
        return 2, str(error)
    if isinstance(error, PageError | ArchiveError | NoFixturesError):
        return 1, str(error)
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        where = f"cannot write {error.filename}" if error.filename else "cannot write"
        return 1, f"{where}: {error.strerror}; nothing is half done, run this again when that is mended"
    if line := _under_a_file(error) or failure(error):
        return 1, line
    module = type(error).__module__.partition(".")[0]
    if module in {"warehouse", "scrapers", "flows"} and isinstance(error, RuntimeError | ValueError | LookupError):
        return 1, str(error)
    return None


def _under_a_file(error: Exception) -> str | None:
    if isinstance(error, NotADirectoryError):
        return f"{error.filename} is under a file, not a folder; set GPULEDGER_DATA to a folder of yours"
    return None
