"""When each deployment runs, and when it last did: ``schedules.toml``, and a small file per deployment in the data folder.

    [marketplaces]
    every = "30m"
    first = "2026-01-01T00:40:00Z"
    jitter = "5m"

All times are UTC, so that no change of the clocks moves, doubles or drops a run. Knows nothing of Prefect.
"""

import os
import re
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from warehouse import database

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
# A shorter period than this is no schedule for other people's servers.
SHORTEST = timedelta(seconds=30)


class ScheduleError(ValueError):
    """A file of schedules, or a record of runs, that can't be used; the message is one line that says what is wrong."""


def duration(text: object) -> timedelta:
    """A time such as ``90s``, ``15m``, ``6h``, ``1d`` or ``2w``. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip()) if isinstance(text, str) else None
    if not found:
        raise ValueError(f"not a time: {text!r}; write it like 15m, 6h, 1d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


@dataclass(frozen=True)
class Schedule:
    """When one deployment runs: every so often from a first moment on, each time up to ``jitter`` late."""

    name: str
    every: timedelta
    first: datetime
    jitter: timedelta
    does: str

    def last_before(self, moment: datetime) -> datetime:
        """The newest time at or before a moment at which it is due."""
        return self.first + (moment - self.first) // self.every * self.every

    def next_after(self, moment: datetime) -> datetime:
        """The first time after a moment at which it is due."""
        return self.last_before(moment) + self.every


# A Monday, so that what is weekly falls on Mondays.
_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
DEFAULTS = (
    Schedule(
        "marketplaces", timedelta(hours=1), _MONDAY + timedelta(minutes=40), timedelta(minutes=5),
        "collects the sources whose prices move by the hour, loads, builds, publishes, tells alerts",
    ),
    Schedule(
        "lists", timedelta(days=1), _MONDAY + timedelta(hours=6, minutes=10), timedelta(minutes=20),
        "collects the daily lists, the weekly ones that are due and the exchange rates, loads, builds, publishes, tells alerts",
    ),
    Schedule(
        "report", timedelta(days=1), _MONDAY + timedelta(hours=7, minutes=10), timedelta(),
        "writes the report",
    ),
    Schedule(
        "digest", timedelta(weeks=1), _MONDAY + timedelta(hours=7, minutes=20), timedelta(),
        "writes the digest of the week",
    ),
)  # fmt: skip


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")

    every: Annotated[timedelta, BeforeValidator(duration)] | None = None
    first: datetime | None = None
    jitter: Annotated[timedelta, BeforeValidator(duration)] | None = None


def file() -> Path | None:
    """Where the schedules stand: ``GPULEDGER_SCHEDULES``, else ``schedules.toml`` here, where there is one. Raises ScheduleError."""
    told = os.environ.get("GPULEDGER_SCHEDULES")
    path = Path(told or "schedules.toml").expanduser()
    if path.is_file():
        return path
    if told:
        raise ScheduleError(f"GPULEDGER_SCHEDULES names {told}, which is not a file")
    return None


def schedules() -> list[Schedule]:
    """Every deployment's schedule; what the file does not say is as always. Raises ScheduleError."""
    path = file()
    return list(DEFAULTS) if path is None else read(path)


def read(path: Path) -> list[Schedule]:
    """The schedules of a file. Raises ScheduleError."""
    try:
        said = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise ScheduleError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScheduleError(f"{path} is not TOML: {error}") from None
    if unknown := said.keys() - {one.name for one in DEFAULTS}:
        names = ", ".join(one.name for one in DEFAULTS)
        raise ScheduleError(f"{path}: no deployment {min(unknown)!r}; there is {names}")
    return [_changed(path, one, said.get(one.name, {})) for one in DEFAULTS]


def _changed(path: Path, one: Schedule, said: Any) -> Schedule:
    try:
        told = _Told.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, (one.name, *first["loc"][:1])))
        raise ScheduleError(f"{path}: {place}: {first['msg'].removeprefix('Value error, ')}") from None
    changed = replace(
        one,
        every=told.every or one.every,
        first=one.first if told.first is None else _in_utc(told.first),
        jitter=one.jitter if told.jitter is None else told.jitter,
    )
    if changed.every < SHORTEST:
        raise ScheduleError(f"{path}: {one.name}.every: at least {SHORTEST.seconds}s")
    if changed.jitter >= changed.every:
        raise ScheduleError(f"{path}: {one.name}.jitter: shorter than every, or the runs change places")
    return changed


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


class Turn(BaseModel):
    """One run of a deployment."""

    model_config = ConfigDict(extra="forbid")

    scheduled_at: datetime
    started_at: datetime
    ended_at: datetime | None = None
    """None while it runs, and where it was killed."""
    status: str = "running"
    """``running`` (also of one that was killed), ``ok``, ``partial``, ``failed``, or ``stopped`` from outside."""
    reason: str = ""


class Turns(BaseModel):
    """The newest runs of one deployment, oldest first."""

    model_config = ConfigDict(extra="forbid")

    turns: list[Turn] = []

    @property
    def last(self) -> Turn | None:
        """The newest one."""
        return self.turns[-1] if self.turns else None


MOST_TURNS = 200


def turns(name: str) -> Turns:
    """The newest runs of a deployment. Raises ScheduleError for a record that does not read."""
    path = _record(name)
    try:
        return Turns.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Turns()
    except (OSError, ValidationError, UnicodeDecodeError):
        raise ScheduleError(f"{path} does not read; remove it, and one run is counted as the first") from None


def is_covered(schedule_name: str, scheduled_at: datetime) -> bool:
    """Whether a run for this time is no longer needed: one that began since has done it. So a stretch of missed runs is made up for once."""
    last = turns(schedule_name).last
    return last is not None and last.scheduled_at != scheduled_at and last.started_at >= scheduled_at


def is_missed(schedule: Schedule, moment: datetime) -> bool:
    """Whether it was due since it last ran, or the run that was due was stopped or killed, once. What never ran is new, not missed."""
    found = turns(schedule.name).turns
    due_at = schedule.last_before(moment)
    since = [one for one in found if one.started_at >= due_at]
    return bool(found) and (not since or (len(since) == 1 and since[0].status in {"running", "stopped"}))


def begin(name: str, scheduled_at: datetime) -> None:
    """Record that a run began. Raises ScheduleError and WarehouseError."""
    kept = turns(name).turns[-MOST_TURNS + 1 :]
    _write(name, Turns(turns=[*kept, Turn(scheduled_at=scheduled_at, started_at=datetime.now(UTC))]))


def end(name: str, status: str, reason: str = "") -> None:
    """Record how the run ended. Raises ScheduleError and WarehouseError."""
    kept = turns(name).turns
    if kept:
        done = kept[-1].model_copy(update={"ended_at": datetime.now(UTC), "status": status, "reason": reason[:500]})
        _write(name, Turns(turns=[*kept[:-1], done]))


def _record(name: str) -> Path:
    return database.data_dir() / "schedules" / f"{name}.json"


def _write(name: str, found: Turns) -> None:
    database.write_whole(_record(name), found.model_dump_json(indent=1))
