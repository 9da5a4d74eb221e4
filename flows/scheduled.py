"""The flows that a schedule starts: each does its part of the pipeline once, and records when and how it went."""

import logging
import os
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from flows import prefect_settings

os.environ.update(prefect_settings.chosen())

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from flows import logs, pipeline, schedule, steps
from flows.keep import report_outcomes, say_built
from flows.output import say
from scrapers.archive import ArchiveError
from scrapers.source import one_line
from warehouse.database import WarehouseError
from warehouse.gates import CheckError

# A run that takes longer hangs, and would keep every other from its turn.
LONGEST_SECONDS = 3 * 3600
STATUSES = {0: "ok", 1: "failed", 3: "partial"}


class NothingCameError(RuntimeError):
    """No source gave anything; the run counts as failed."""


# Their messages say what to do; all else is a defect.
EXPECTED = (WarehouseError, CheckError, ArchiveError, NothingCameError)


@flow(name="marketplaces", timeout_seconds=LONGEST_SECONDS)
def marketplaces(*, jitter_seconds: float = 0.0, fixtures: bool = False) -> "State[Any] | None":
    """The sources whose prices move by the hour: collect, load, build, publish, tell."""
    return _turn("marketplaces", jitter_seconds, lambda: _collect(steps.hourly_sources(), fixtures=fixtures))


@flow(name="lists", timeout_seconds=LONGEST_SECONDS)
def lists(*, jitter_seconds: float = 0.0, fixtures: bool = False) -> "State[Any] | None":
    """The price lists and the exchange rates: collect, load, build, publish, tell."""
    return _turn("lists", jitter_seconds, lambda: _collect(steps.list_sources(), fixtures=fixtures, references=True))


@flow(name="daily-report", timeout_seconds=LONGEST_SECONDS)
def report(*, jitter_seconds: float = 0.0) -> "State[Any] | None":
    """The report of what is published."""
    return _turn("report", jitter_seconds, _report)


@flow(name="digest", timeout_seconds=LONGEST_SECONDS)
def digest(*, jitter_seconds: float = 0.0) -> "State[Any] | None":
    """The week in words, of what is published."""
    return _turn("digest", jitter_seconds, _digest)


def _turn(name: str, jitter_seconds: float, work: Callable[[], str]) -> "State[Any] | None":
    """Do the work unless a later run has done it since; record how it went."""
    logs.set_up()
    due_at = flow_run.scheduled_start_time or datetime.now(UTC)
    if schedule.is_covered(name, due_at):
        say(f"{name}: the run of {due_at:%Y-%m-%d %H:%M} UTC is made up for by one that began later")
        return Completed(name="CaughtUp", message="made up for by a run that began later")
    time.sleep(random.uniform(0, jitter_seconds))  # noqa: S311  # no secret
    schedule.begin(name, due_at)
    status, reason = "stopped", "stopped before it was done"
    try:
        status, reason = work(), ""
    except EXPECTED as error:
        status, reason = "failed", " ".join(str(error).split())
        return Failed(message=reason)
    except Exception as error:
        # Prefect's own log is too loud for what is expected, and silent here for what is not.
        status, reason = "failed", one_line(error)
        logs.LOGGER.exception("%s: a defect", name, extra={"facts": {"deployment": name}})
        raise
    finally:
        schedule.end(name, status, reason)
        told = f": {reason}" if reason else ""
        say(
            f"{name}: {status}{told}",
            logging.INFO if status == "ok" else logging.WARNING,
            deployment=name,
            status=status,
        )
    return None


def _collect(sources: list[str], *, fixtures: bool, references: bool = False) -> str:
    """Collect, load, build and publish; how it went. A failed check is an error after all that came is loaded."""
    status = 0
    if sources or fixtures or references:
        outcomes = pipeline.collect(fixtures=fixtures, sources=sources, references=references)
        status = report_outcomes(outcomes)
    say_built(pipeline.build())
    if status == 1:
        raise NothingCameError("no source gave anything; see: gpuledger status")
    return STATUSES[status]


def _report() -> str:
    say(f"report: {pipeline.report()}")
    return "ok"


def _digest() -> str:
    say(f"digest: {pipeline.digest()}")
    return "ok"
