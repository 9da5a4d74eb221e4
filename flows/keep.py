"""The commands that write: collect, load, build, report, run."""

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import complete
from flows.app import WrongUsageError, app, read_pages, when
from flows.output import say
from flows.progress import shown

if TYPE_CHECKING:
    from flows.steps import Outcome
    from warehouse.build import Built

SOURCES = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE...]", help="Only these; all if none. See: gpuledger sources", autocompletion=complete.sources
    ),
]
FIXTURES = Annotated[
    bool, typer.Option("--fixtures", help="Take the recorded pages of tests/fixtures instead of the network.")
]
# Sources wait on their hosts, not on this machine.
SOURCES_AT_ONCE = 8


class SavedKind(StrEnum):
    """What saved pages are."""

    LIVE = "live"
    ARCHIVED_PAGE = "archived_page"


@app.command()
def collect(
    sources: SOURCES = None,
    *,
    fixtures: FIXTURES = False,
    record: Annotated[
        bool, typer.Option("--record", help="Save the live answers as trimmed fixtures instead.")
    ] = False,
) -> None:
    """Fetch price lists into the raw archive and the warehouse.

    Example: gpuledger collect vast runpod
    """
    from flows import steps

    names = sources or []
    if record:
        if not names or fixtures:
            raise WrongUsageError(
                "--record wants the sources named, and their live answers: gpuledger collect vultr --record"
            )
        for adapter in steps.live_sources(names):
            say(f"{adapter.name}: {steps.record(adapter)}; read every line of its offers.json against the page")
        return
    if fixtures:
        steps.collect_fixtures(names)
    else:
        chosen = steps.live_sources(names)
        steps.begin_run()
        with shown("collecting") as progress, ThreadPoolExecutor(SOURCES_AT_ONCE) as pool:
            ask = partial(steps.collect_live, is_asked_for=bool(names))
            for done, _ in enumerate(pool.map(ask, chosen), start=1):
                if progress:
                    progress(done, len(chosen))
        if not names:
            steps.collect_rates()
    if not names:
        steps.collect_curated()
    raise typer.Exit(report_outcomes(_load()))


@app.command()
def load(
    source: Annotated[
        str, typer.Argument(help="Whose pages these are; see: gpuledger sources", autocompletion=complete.sources)
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved pages, one snapshot together.")],
    observed_at: Annotated[str, typer.Option(help="When they were saved (ISO 8601, UTC unless it says otherwise).")],
    kind: Annotated[SavedKind, typer.Option(help="Your own capture, or an archived page.")] = SavedKind.LIVE,
) -> None:
    """Take saved pages into the archive and the warehouse, as if collected then.

    Example: gpuledger load lambda_page lambda.html --observed-at 2023-09-09 --kind archived_page
    """
    from flows import steps

    steps.take_in(source, read_pages(files), when(observed_at), kind.value)
    raise typer.Exit(report_outcomes(_load()))


@app.command()
def build(*, full: Annotated[bool, typer.Option("--full", help="Make everything anew.")] = False) -> None:
    """Bring the tables up to what is loaded, check them, and publish.

    Example: gpuledger build
    """
    _build(full=full)


@app.command()
def run(*, fixtures: FIXTURES = False) -> None:
    """Collect, load, build and report, as a Prefect flow.

    Example: gpuledger run --fixtures
    """
    from flows.pipeline import run_pipeline

    outcomes, built, page = run_pipeline(fixtures=fixtures)
    status = report_outcomes(outcomes)
    say_built(built)
    say(f"report: {page}")
    raise typer.Exit(status)


def load_and_report() -> int:
    """Load what is archived and say how it fared; returns the exit status."""
    return report_outcomes(_load())


def _load() -> "list[Outcome]":
    from flows import steps

    with shown("loading") as progress:
        return steps.load_archive(progress)


def _build(*, full: bool = False) -> None:
    from flows import steps
    from flows.tell import tell_alerts

    with shown("building") as progress:
        built = steps.build(full=full, progress=progress)
    say_built(built)
    steps.publish_parquet()
    if not tell_alerts():
        raise typer.Exit(3)


def report_outcomes(outcomes: "Sequence[Outcome]") -> int:
    """A line for each source that did not fare well, one for the rest; returns the exit status."""
    good = [one for one in outcomes if one.is_good]
    # What lies in the reference rows is no success of the network.
    collected = [one for one in good if one.source_kind != "curated"]
    bad = [one for one in outcomes if one.status in {"failed", "empty", "withheld"}]
    for one in outcomes:
        if one.status != "ok" or one.reason:
            mend = (
                f" (if that is how it is: gpuledger accept {one.snapshot_id} --reason ...)"
                if one.status == "withheld"
                else ""
            )
            level = logging.WARNING if one in bad else logging.INFO
            facts = {name: getattr(one, name) for name in ("source", "status", "reason", "offers", "snapshot_id")}
            say(f"{one.source}: {one.status}: {one.reason}{mend}", level, **facts)
    if good:
        say(
            f"{len(good)} collections of {len({one.source for one in good})} sources, {sum(one.offers for one in good):,} offers"
        )
    elif not outcomes:
        say("nothing new")
    return exit_status(collected, bad)


def exit_status(good: Iterable[object], bad: Iterable[object]) -> int:
    """0 all well, 1 nothing succeeded, 3 done in part."""
    if not list(bad):
        return 0
    return 3 if list(good) else 1


def say_built(built: "Built | None") -> None:
    """What the build did, and the spellings that wait for a row."""
    if built is None:
        say("nothing new to build")
        return
    if built.first_day is None:
        made = "no collection counts yet, so nothing has a price; what came, and why not: gpuledger sources"
    else:
        made = f"{built.first_day} to {built.last_day}, {built.days_built:,} days made"
    say(
        f"build {built.build_id}: {made}",
        build_id=built.build_id, first_day=built.first_day, last_day=built.last_day, days_built=built.days_built,
    )  # fmt: skip
    for one in built.results:
        say(one.line, logging.WARNING if one.severity == "warn" else logging.INFO, build_id=built.build_id, **vars(one))
    for name in built.unknown_names:
        say(f"unknown spelling, add a row to warehouse/reference/spellings.csv: {name}")


REASON = Annotated[str, typer.Option("--reason", help="Why; kept on record.")]


@app.command()
def accept(snapshot: Annotated[str, typer.Argument(help="Id of a snapshot.")], reason: REASON) -> None:
    """Let a withheld snapshot count; the decision is kept on record.

    Example: gpuledger accept 3f2a9c1b7d40e6580a1c --reason "they did sell out"
    """
    from flows import steps

    steps.decide(snapshot, "accepted", reason)
    _build()


@app.command()
def reject(snapshot: Annotated[str, typer.Argument(help="Id of a snapshot.")], reason: REASON) -> None:
    """Keep a snapshot out of every table; the decision is kept on record.

    Example: gpuledger reject 3f2a9c1b7d40e6580a1c --reason "a test page"
    """
    from flows import steps

    steps.decide(snapshot, "withheld", reason)
    _build()
