"""``gpuledger serve``: every deployment on its schedule, by one process that may be forgotten about."""

import contextlib
import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import schedule
from flows.app import app
from flows.output import say
from warehouse import database

if TYPE_CHECKING:
    from flows.schedule import Schedule


class ServeError(RuntimeError):
    """The schedules can't be served; the message is one line that says what to do."""


@app.command()
def serve(
    *,
    schedules: Annotated[
        Path | None, typer.Option(help="A file of schedules in place of schedules.toml; see docs/operations.md.")
    ] = None,
    fixtures: Annotated[
        bool, typer.Option("--fixtures", help="Take the recorded pages of tests/fixtures instead of the network.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Only say when what runs next.")] = False,
) -> None:
    """Run everything on its schedule until it is stopped: marketplaces hourly, lists and report daily, digest weekly.

    Times are UTC. Runs never overlap, and what was missed while this was not running is made up for once. It starts a Prefect
    server of its own, unless PREFECT_API_URL names one.

    Example: gpuledger serve --show
    """
    chosen = schedule.schedules() if schedules is None else schedule.read(schedules)
    for one in chosen:
        _say_next(one)
    if show:
        return
    # Runs are processes of their own, which may be started elsewhere.
    os.environ["GPULEDGER_DATA"] = str(database.data_dir())
    # The runs say themselves how they went.
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    with only_one(), _server() as server:
        from flows import runner

        runner.serve(chosen, server, fixtures=fixtures)


def _say_next(one: "Schedule") -> None:
    now = datetime.now(UTC)
    last = schedule.turns(one.name).last
    told = f"last {last.started_at:%Y-%m-%d %H:%M} {last.status}" if last else "never ran"
    missed = ", missed since" if schedule.is_missed(one, now) else ""
    say(
        f"{one.name}: every {one.every}, next {one.next_after(now):%Y-%m-%d %H:%M} UTC ({told}{missed}); {one.does}",
        deployment=one.name,
    )


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Held by the one process that serves a data folder. Raises ServeError when another does."""
    path = database.data_dir() / "serve.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="ascii")
    except OSError as error:
        raise ServeError(
            f"cannot write to {path.parent}: {error.strerror}; set GPULEDGER_DATA to a folder of yours"
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = path.read_text(encoding="ascii").strip()
            raise ServeError(f"process {holder} serves {path.parent} already; stop it first") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextlib.contextmanager
def _server() -> Iterator[subprocess.Popen[bytes] | None]:
    """A server of our own, or None where PREFECT_API_URL names one."""
    if os.environ.get("PREFECT_API_URL"):
        yield None
        return
    from flows import prefect_server

    started = time.monotonic()
    with prefect_server.running() as process:
        say(f"Prefect's server is ready after {time.monotonic() - started:.0f} s, process {process.pid}")
        yield process
