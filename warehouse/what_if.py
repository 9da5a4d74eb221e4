"""The published copy with other runs, other constants or other days beside it, reckoned by the same models."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import duckdb

from warehouse import database, own_runs
from warehouse.database import Connection, WarehouseError
from warehouse.model import all_models
from warehouse.own_runs import OwnRun

_RUNS = ("intermediate.run_facts", "intermediate.training_parts", "training_hours", "training_costs")
_CHANGES = ("training_cost_frontier", "cheapest_recipes", "training_cost_changes")


@contextlib.contextmanager
def supposing(runs: Sequence[OwnRun] = (), constants: Mapping[str, float] | None = None) -> Iterator[Connection]:
    """A connection in which the runs are among the others, and the constants are as told. Raises OwnRunError."""
    with database.connect_beside_published() as connection:
        if runs or constants:
            for name in ("training_runs", "stand_ins", "training_constants"):
                _copy(connection, f"reference.{name}")
            own_runs.add(connection, runs)
            for constant, value in (constants or {}).items():
                connection.execute(
                    "UPDATE reference.training_constants SET value = $1 WHERE name = $2", [value, constant]
                )
            for name in _RUNS:
                make(connection, name)
        yield connection


def between(connection: Connection, earlier: date, later: date) -> None:
    """Take apart what happened between two days, in place of the calendar years."""
    _hide(connection, "intermediate.change_periods")
    connection.execute(
        "CREATE TABLE intermediate.change_periods AS SELECT 'asked' AS period, $1::DATE AS from_day, $2::DATE AS to_day",
        [earlier, later],
    )
    of_days(connection, [earlier, later])
    for name in _CHANGES:
        make(connection, name)


def of_days(connection: Connection, days: Sequence[date]) -> None:
    """The days that models of one day at a time are made for."""
    connection.execute("CREATE OR REPLACE TABLE days_to_build (day DATE)")
    connection.executemany("INSERT INTO days_to_build VALUES ($1)", [[day] for day in days])


def make(connection: Connection, name: str) -> None:
    """Make a model anew in place of the published table."""
    [model] = [model for model in all_models() if model.name == name]
    _hide(connection, name)
    with same_version():
        connection.execute(f"CREATE {'VIEW' if model.partition == 'view' else 'TABLE'} {name} AS {model.sql}")


@contextlib.contextmanager
def same_version() -> Iterator[None]:
    """Says so where this program's models don't run on what another version of it has published."""
    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise WarehouseError(
            f"the published copy is of another version of this program; make it anew with: gpuledger build"
            f" ({' '.join(str(error).split())[:120]})"
        ) from None


def _copy(connection: Connection, name: str) -> None:
    _hide(connection, name)
    connection.execute(f"CREATE TABLE {name} AS FROM published.{name}")


def _hide(connection: Connection, name: str) -> None:
    connection.execute(f"DROP VIEW IF EXISTS {name}")
