"""The commands for whoever has forgotten about the ledger: status, quarantine."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows import complete, schedule
from flows.app import FORMAT, WrongUsageError, app
from flows.output import Format, print_json, print_rows, say, tell

if TYPE_CHECKING:
    from warehouse.gates import Failure, Result
    from warehouse.status import Fared

NAMES = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE...]", help="Only these; all if none.", autocompletion=complete.sources),
]
# What is published may be as old as the slowest of what feeds it, and a night.
PUBLISHED_PROMISED = timedelta(hours=36)


@dataclass(frozen=True)
class _Ledger:
    """How the whole stands."""

    build_id: str | None
    built_at: datetime | None
    last_day: object
    newest_good_at: datetime | None
    age_hours: float | None
    promised_hours: float
    is_late: bool
    failed_build: str
    warnings: list[str]
    withheld: int
    disk_bytes: dict[str, int]
    disk_free_bytes: int


@app.command()
def status(
    names: NAMES = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 when all is older than promised, 3 when some of it is.")
    ] = False,
    within: Annotated[
        str | None,
        typer.Option(help="The age promised of everything, such as 36h, in place of 3h, 36h and 9d by cadence."),
    ] = None,
    form: FORMAT = Format.TABLE,
) -> None:
    """Say how old each source's data is, what this month lacks, what runs next, what was published, and the disk it takes.

    JSON has an object a line, told apart by its field "what": ledger, schedule or source. CSV has the sources.

    Examples: gpuledger status
      gpuledger status --format json
      gpuledger status vast runpod
      gpuledger status --check --within 36h
    """
    ledger, fared, note = _look(names or [], within)
    if note:
        say(note, logging.WARNING)
    planned = _planned()
    rows = [_row(one, _next_run(one.cadence)) for one in fared]
    if form is Format.JSON:
        print_json([{"what": "ledger", **vars(ledger)}])
        print_json({"what": "schedule", **one} for one in planned)
        print_json({"what": "source", **row} for row in rows)
    else:
        if form is Format.TABLE:
            _tell_ledger(ledger)
            print_rows(list(planned[0]), [list(one.values()) for one in planned], form)
            tell("")
        print_rows(
            _columns(), [list(row.values()) for row in rows], form, keep=("source", "status", "age_hours", "is_late")
        )
    if check:
        raise typer.Exit(_verdict(ledger, fared))


def _look(names: list[str], within: str | None) -> "tuple[_Ledger, list[Fared], str]":
    import shutil

    from scrapers.source import load
    from warehouse import database, gates, health
    from warehouse import status as promises

    try:
        limit = None if within is None else schedule.duration(within)
    except ValueError as error:
        raise WrongUsageError(f"--within: {error}") from None
    chosen = {load(name).name for name in names}
    with health.working_or_published() as (connection, note):
        fared = promises.fared(connection, limit)
        failure = None if connection is None else gates.newest_failure(connection)
        words = [] if connection is None else gates.words(connection)
        waiting = [] if connection is None else promises.quarantine(connection, [], decided=False).rows
    disk = promises.disk_use()
    folder = database.data_dir()
    free = shutil.disk_usage(folder if folder.exists() else folder.parent).free
    ledger = _Ledger(
        **_whole(failure, words, PUBLISHED_PROMISED if limit is None else limit),
        withheld=sum(str(row[-1]).startswith("gpuledger") for row in waiting),
        disk_bytes=disk,
        disk_free_bytes=free,
    )
    return ledger, [one for one in fared if not chosen or one.source in chosen], note


def _whole(failure: "Failure | None", words: "Sequence[Result]", limit: timedelta) -> dict[str, Any]:
    """The published build, and how old the newest live data in it is."""
    from warehouse import database

    build: tuple[Any, ...] = (None, None, None)
    newest = None
    try:
        with database.connect_published() as connection:
            found = connection.execute(
                "SELECT build_id, built_at, last_day FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
            ).fetchone()
            [(newest,)] = connection.execute(
                "SELECT max(observed_at) FROM staging.snapshots WHERE is_good AND source_kind = 'live'"
            ).fetchall()
            build = found or build
    except database.NothingPublishedError:
        pass
    age = None if newest is None else (database.now() - newest) / timedelta(hours=1)
    promised = limit / timedelta(hours=1)
    return dict(zip(("build_id", "built_at", "last_day"), build, strict=True)) | {
        "newest_good_at": newest,
        "age_hours": None if age is None else round(age, 1),
        "promised_hours": promised,
        "is_late": age is None or age > promised,
        "failed_build": "" if failure is None else failure.line,
        "warnings": [one.line for one in words],
    }


def _verdict(ledger: _Ledger, fared: "Sequence[Fared]") -> int:
    """Exit status of a dead-man check: 1 when the whole is older than promised or failed its checks, 3 when a source is, else 0."""
    late = [one for one in fared if one.is_late]
    for one in late:
        say(
            f"{one.source}: no good collection for {one.age_hours:,} h, promised {one.promised_hours:,.0f} h: {one.status} {one.reason}",
            logging.ERROR, source=one.source, age_hours=one.age_hours, promised_hours=one.promised_hours,
        )  # fmt: skip
    if ledger.failed_build:
        say(ledger.failed_build, logging.ERROR)
    if ledger.is_late:
        told = "nothing live was ever" if ledger.age_hours is None else f"what is newest is {ledger.age_hours:,} h old,"
        say(f"{told} published, promised {ledger.promised_hours:,.0f} h", logging.ERROR)
    if ledger.is_late or ledger.failed_build:
        return 1
    return 3 if late else 0


def _planned() -> list[dict[str, Any]]:
    """Each deployment: when it last ran, how it went, when it runs next if something serves it."""
    from warehouse import database

    found = []
    for one in schedule.schedules():
        last = schedule.turns(one.name).last
        found.append(
            {
                "deployment": one.name,
                "every": str(one.every),
                "last_started_at": last and last.started_at,
                "last_status": "never" if last is None else last.status,
                "last_reason": last.reason if last else "",
                "next_run_at": one.next_after(database.now()),
                "is_missed": schedule.is_missed(one, database.now() - one.jitter - timedelta(minutes=5)),
            }
        )
    return found


def _next_run(cadence: str) -> datetime | None:
    """When a source of that cadence is read next by ``serve``; None where it has never run here."""
    from warehouse import database

    name = "marketplaces" if cadence == "hourly" else "lists"
    if schedule.turns(name).last is None:
        return None
    [one] = [one for one in schedule.schedules() if one.name == name]
    return one.next_after(database.now())


def _columns() -> list[str]:
    from warehouse import status as promises

    return promises.STATUS_COLUMNS


def _row(one: "Fared", next_run_at: datetime | None) -> dict[str, Any]:
    told = vars(one) | {"next_run_at": next_run_at}
    return {column: told[column] for column in _columns()}


def _tell_ledger(ledger: _Ledger) -> None:
    if ledger.build_id is None:
        tell("nothing is published yet")
    else:
        age = "no live data in it" if ledger.age_hours is None else f"newest live data {ledger.age_hours:,} h old"
        tell(
            f"published: build {ledger.build_id} of {ledger.built_at:%Y-%m-%d %H:%M} UTC, up to {ledger.last_day}; {age}"
        )
    if ledger.failed_build:
        tell(f"NOT published since: {ledger.failed_build}")
    for line in ledger.warnings:
        tell(line)
    if ledger.withheld:
        tell(f"{ledger.withheld} collections wait for a decision: gpuledger quarantine")
    parts = ", ".join(f"{name} {size / 2**20:,.1f}" for name, size in ledger.disk_bytes.items() if size >= 2**16)
    tell(f"disk, MiB: {parts or 'nothing yet'}; {ledger.disk_free_bytes / 2**30:,.1f} GiB free")
    tell("")


@app.command()
def quarantine(
    names: NAMES = None,
    *,
    decided: Annotated[
        bool, typer.Option("--decided", help="What people have decided instead, with who, when and why.")
    ] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """List the collections that are withheld, why, and what decides them.

    With its id, accept lets one count and reject keeps it out for good; both want a --reason and are kept on record. To look at
    one first: gpuledger explain, or the pages in the archive.

    Examples: gpuledger quarantine
      gpuledger quarantine vast --format json
      gpuledger quarantine --decided
    """
    from scrapers.source import load
    from warehouse import database, health
    from warehouse import status as promises

    chosen = [load(name).name for name in names or []]
    with health.working_or_published() as (connection, note):
        if connection is None:
            raise database.WarehouseError(note)
        answer = promises.quarantine(connection, chosen, decided=decided)
    if note:
        say(note, logging.WARNING)
    print_rows(answer.columns, answer.rows, form, keep=("snapshot_id", "source", "reason", "waits_for"))
    if decided:
        return
    waiting = [row for row in answer.rows if str(row[-1]).startswith("gpuledger")]
    if waiting:
        say(
            f"{len(waiting)} of {len(answer.rows)} wait; decide with: gpuledger accept {waiting[0][0]} --reason ...,"
            f" or gpuledger reject {waiting[0][0]} --reason ..."
        )
    else:
        say("nothing waits for a decision")
