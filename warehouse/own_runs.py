"""Training runs of one's own, from ``runs.toml`` or from a question: rows that join the reference runs and are reckoned by the same models.

A file has one table for each run::

    [my-7b]
    parameters = 7e9
    tokens = 1e12

and may say more (``OwnRun`` lists what). ``GPULEDGER_RUNS`` names the file; else it is ``runs.toml`` in the current folder, where there is one.
A build takes its runs into every table; the commands that answer questions also take in what was written since.
"""

import os
import re
import tomllib
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from warehouse import database
from warehouse.database import Connection

Memory = Literal["adam", "adam_8bit", "lora", "qlora"]
Precision = Literal["bf16", "fp16", "fp8", "fp32"]
_ID = re.compile(r"[a-z0-9][a-z0-9.-]*")
# What a run of one's own may say and a reference run does not.
_STATED = {
    "stated_mfu": "DOUBLE",
    "stated_accelerators": "BIGINT",
    "memory_setting": "VARCHAR",
    "utilisation_low": "DOUBLE",
    "utilisation_mid": "DOUBLE",
    "utilisation_high": "DOUBLE",
}


class OwnRunError(ValueError):
    """A run that can't be; the message says which, what is wrong with it, and what could stand there."""


def _no_truth(value: object) -> object:
    """TOML's true is no number, though Python takes it for one."""
    if isinstance(value, bool):
        raise ValueError("a number belongs here")  # noqa: TRY004  # pydantic reads ValueError only
    return value


Positive = Annotated[float, BeforeValidator(_no_truth), Field(gt=0, allow_inf_nan=False)]
# A run of more than ten years is a slip of the unit.
Duration = Annotated[float, BeforeValidator(_no_truth), Field(gt=0, le=90_000, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_no_truth), Field(gt=0)]


class OwnRun(BaseModel):
    """One run. Sizes are plain numbers; hours are of the whole cluster in ``accelerator_hours`` and of the clock in ``wall_clock_hours``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    name: str | None = None
    published_on: date | None = None
    """Without it the run competes in no quality class."""
    parameters: Positive
    active_parameters: Positive | None = None
    """Those that a token passes through, in a mixture of experts."""
    tokens: Positive | None = None
    flop: Positive | None = None
    """Model FLOP, without recomputation; 6 x parameters x tokens where not said."""
    accelerator: str | None = None
    """Key of the part it was run on."""
    accelerator_count: Count | None = None
    accelerator_hours: Positive | None = None
    wall_clock_hours: Duration | None = None
    """How long it took, or may take."""
    precision: Precision = "bf16"
    mfu: Annotated[float, BeforeValidator(_no_truth), Field(gt=0, le=1)] | None = None
    """Share of the dense peak over all hours, on every part, in place of what the ledger assumes."""
    cluster: Count | None = None
    """Accelerators to use on every part; as many as the time needs where not said."""
    memory: Memory = "adam"
    """What has to be held: ``adam`` (all weights in training), ``adam_8bit``, ``lora``, ``qlora``."""
    quality_class: str | None = None
    source: str = "a run of one's own"

    # Set by questions about fine-tuning, not by files: what it reaches of the utilisation of pre-training.
    utilisation: tuple[float, float, float] | None = None

    @model_validator(mode="after")
    def _can_be(self) -> "OwnRun":
        if not _ID.fullmatch(self.run):
            raise ValueError(f"the id {self.run!r} may have small letters, digits, dots and hyphens only")
        if self.flop is None and self.tokens is None and self.accelerator_hours is None:
            raise ValueError("it needs tokens, flop, or accelerator and accelerator_hours")
        if self.active_parameters is not None and self.active_parameters > self.parameters:
            raise ValueError("active_parameters are more than parameters")
        if self.accelerator_hours is not None and self.accelerator is None:
            raise ValueError("accelerator_hours without the accelerator they were spent on")
        if (
            self.accelerator_hours
            and (self.accelerator_count or 0) * (self.wall_clock_hours or 0) > 1.05 * self.accelerator_hours
        ):
            raise ValueError("accelerator_count x wall_clock_hours is more than accelerator_hours")
        return self

    @property
    def model_flop(self) -> float | None:
        """FLOP that the model needs; None where only hours are known."""
        if self.flop is not None or self.tokens is None:
            return self.flop
        return 6 * (self.active_parameters or self.parameters) * self.tokens


def file() -> Path | None:
    """Where the runs of one's own stand. Raises OwnRunError when ``GPULEDGER_RUNS`` names no file."""
    told = os.environ.get("GPULEDGER_RUNS")
    path = Path(told or "runs.toml").expanduser()
    if path.is_file():
        return path
    if told:
        raise OwnRunError(f"GPULEDGER_RUNS names {told}, which is not a file")
    return None


def contents() -> bytes:
    """The file as it stands, empty where there is none; part of what a build is made from."""
    path = file()
    try:
        return b"" if path is None else path.read_bytes()
    except OSError as error:
        raise OwnRunError(f"cannot read {path}: {error.strerror}") from None


def read() -> list[OwnRun]:
    """The runs of the file. Raises OwnRunError, with the run and what is wrong."""
    text = contents()
    name = file()
    try:
        tables = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OwnRunError(f"{name} is not TOML: {error}") from None
    found = []
    for run, facts in tables.items():
        if not isinstance(facts, dict):
            raise OwnRunError(f"{name}: {run!r} stands outside of a run; write [name-of-the-run] above it")
        if "utilisation" in facts or "run" in facts:
            raise OwnRunError(f"{name}: a run has no key {'run' if 'run' in facts else 'utilisation'!r}")
        found.append(of(str(name), run=run, **({"source": str(name)} | facts)))
    return found


def of(where: str, **facts: Any) -> OwnRun:
    """One run from what is said of it. Raises OwnRunError, on one line that starts with ``where``."""
    try:
        return OwnRun(**facts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        told = f" is {first['input']!r}" if field and first["type"] != "missing" else ""
        problem = first["msg"].removeprefix("Value error, ")
        raise OwnRunError(f"{where}: run {facts['run']}: {field}{told}{': ' if field else ''}{problem}") from None


def add(connection: Connection, runs: Sequence[OwnRun]) -> None:
    """Put the runs among the reference runs, with the columns that only they fill; one of the same id replaces an own one.

    Raises OwnRunError for an unknown part, and for the id of a reference run.
    """
    for column, kind in _STATED.items():
        connection.execute(f"ALTER TABLE reference.training_runs ADD COLUMN IF NOT EXISTS {column} {kind}")
    if not runs:
        return
    parts = {row[0] for row in connection.execute("SELECT accelerator FROM reference.accelerators").fetchall()}
    taken = {
        row[0]
        for row in connection.execute(
            "SELECT run FROM reference.training_runs WHERE flop_basis IS DISTINCT FROM 'own'"
        ).fetchall()
    }
    for run in runs:
        if run.accelerator is not None and run.accelerator not in parts:
            raise OwnRunError(
                f"{run.source}: run {run.run}: no accelerator {run.accelerator!r}; gpuledger resolve tells its key"
            )
        if run.run in taken:
            raise OwnRunError(f"{run.source}: run {run.run} is one of the ledger's own; choose another name")
    with database.registered(
        connection, {"own_rows": pa.Table.from_pylist([_row(run) for run in runs], schema=_SCHEMA)}
    ):
        connection.execute("DELETE FROM reference.training_runs WHERE run IN (SELECT run FROM own_rows)")
        connection.execute("DELETE FROM reference.stand_ins WHERE run IN (SELECT run FROM own_rows)")
        connection.execute("INSERT INTO reference.training_runs BY NAME FROM own_rows")
        connection.execute(
            "INSERT INTO reference.stand_ins BY NAME"
            " SELECT run, 1 AS rank, accelerator, 'the part it was run on' AS why FROM own_rows WHERE accelerator IS NOT NULL"
        )


_SCHEMA = pa.schema(
    {
        "run": pa.string(), "name": pa.string(), "developer": pa.string(), "published_on": pa.date32(), "parameters": pa.float64(),
        "active_parameters": pa.float64(), "tokens": pa.float64(), "model_flop": pa.float64(), "flop_low": pa.float64(),
        "flop_high": pa.float64(), "flop_basis": pa.string(), "accelerator": pa.string(), "accelerator_count": pa.int64(),
        "wall_clock_hours": pa.float64(), "accelerator_hours": pa.float64(), "precision": pa.string(), "how_known": pa.string(),
        "quality_class": pa.string(), "verified": pa.string(), "source": pa.string(), "stated_mfu": pa.float64(),
        "stated_accelerators": pa.int64(), "memory_setting": pa.string(), "utilisation_low": pa.float64(), "utilisation_mid": pa.float64(),
        "utilisation_high": pa.float64(),
    }
)  # fmt: skip


def _row(run: OwnRun) -> dict[str, object]:
    flop = run.model_flop
    low, mid, high = run.utilisation or (None, None, None)
    return {
        "run": run.run, "name": run.name or run.run, "developer": "own", "published_on": run.published_on, "parameters": run.parameters,
        "active_parameters": run.active_parameters, "tokens": run.tokens, "model_flop": flop, "flop_low": flop, "flop_high": flop,
        "flop_basis": "own", "accelerator": run.accelerator, "accelerator_count": run.accelerator_count,
        "wall_clock_hours": run.wall_clock_hours, "accelerator_hours": run.accelerator_hours, "precision": run.precision,
        "how_known": "flop_only" if run.accelerator_hours is None else "reported", "quality_class": run.quality_class, "verified": "own",
        "source": run.source, "stated_mfu": run.mfu, "stated_accelerators": run.cluster, "memory_setting": run.memory,
        "utilisation_low": low, "utilisation_mid": mid, "utilisation_high": high,
    }  # fmt: skip
