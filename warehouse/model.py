"""Reads the models: one SELECT per file, with a header that says what the table is, and finds the order to run them in."""

import graphlib
import importlib.resources
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal, get_args

import sqlglot
from sqlglot import exp

Partition = Literal["day", "read", "none", "view", "transient"]
_HEADER = re.compile(r"((?:--.*\n)+)")
# Models of these folders live in a schema of that name; marts live in main.
_SCHEMAS = {"staging": "staging.", "intermediate": "intermediate.", "marts": ""}


class ModelError(ValueError):
    """A model file that breaks the rules for models; the message names it."""


@dataclass(frozen=True)
class Model:
    """One table or view of the warehouse.

    ``partition``: ``view``; ``none`` (made anew by every build that may change it); ``day`` (only the days to build
    are); ``read`` (likewise, for every day of which anything was read, whether it counts or not: no verdict changes
    it); ``transient`` (lives for one build, in no schema).
    """

    name: str
    sql: str
    comment: str
    grain: tuple[str, ...]
    partition: Partition
    inputs: frozenset[str]
    columns: dict[str, str]
    """Column to its COMMENT, in order."""


@cache
def all_models() -> tuple[Model, ...]:
    """Every model, inputs before users. Raises ModelError for a broken header, an undeclared input or a circle."""
    models = {}
    for folder, schema in _SCHEMAS.items():
        for file in _sql_files("models", folder):
            model = _read(file, schema)
            models[model.name] = model
    graph = {name: model.inputs & models.keys() for name, model in models.items()}
    try:
        return tuple(models[name] for name in graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise ModelError(f"models in a circle: {' -> '.join(error.args[1])}") from None


def all_checks() -> dict[str, str]:
    """Name of each check and its SELECT, which must return no rows."""
    return {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in _sql_files("checks")}


def upstream_of(targets: Iterable[str]) -> list[Model]:
    """The models named and all they need, in order."""
    models = {model.name: model for model in all_models()}
    wanted: set[str] = set()
    queue = list(targets)
    while queue:
        name = queue.pop()
        if name in models and name not in wanted:
            wanted.add(name)
            queue += models[name].inputs
    return [model for model in all_models() if model.name in wanted]


@cache
def of_references_only() -> frozenset[str]:
    """Models that no price enters: they change with the references and themselves only."""
    found: set[str] = set()
    for model in all_models():
        if model.partition in {"none", "view"} and all(
            name.startswith("reference.") or name in found for name in model.inputs
        ):
            found.add(model.name)
    return frozenset(found)


def _sql_files(*folders: str) -> list[Traversable]:
    root = importlib.resources.files("warehouse").joinpath(*folders)
    return sorted((file for file in root.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)


def _read(file: Traversable, schema: str) -> Model:
    text = file.read_text(encoding="utf-8")
    stem = file.name.removesuffix(".sql")
    header = _HEADER.match(text)
    if not header:
        raise ModelError(f"{file.name}: no header")
    lines = [line.removeprefix("--").removeprefix(" ") for line in header[1].splitlines()]
    comment = " ".join(line.strip() for line in lines[: _line_of(lines, "grain:", file.name)])
    fields = {
        key: lines[_line_of(lines, f"{key}:", file.name)].partition(":")[2].strip()
        for key in ("grain", "partition", "inputs")
    }
    columns: dict[str, str] = {}
    for line in lines[_line_of(lines, "columns:", file.name) + 1 :]:
        column, _, told = line.partition(":")
        columns[column.strip()] = told.strip()
    inputs = frozenset(name.removeprefix("main.") for name in re.split(r",\s*", fields["inputs"]) if name)
    sql = text[header.end() :].strip()
    if (used := _tables(sql)) != inputs:
        raise ModelError(f"{file.name}: the header says inputs {sorted(inputs)}, the SQL uses {sorted(used)}")
    if fields["partition"] not in get_args(Partition):
        raise ModelError(f"{file.name}: no such partition {fields['partition']!r}")
    partition: Partition = fields["partition"]  # type: ignore[assignment]  # checked above
    name = stem if partition == "transient" else f"{schema}{stem}"
    return Model(name, sql, comment, tuple(re.split(r",\s*", fields["grain"])), partition, inputs, columns)


def _line_of(lines: list[str], start: str, file: str) -> int:
    for place, line in enumerate(lines):
        if line.startswith(start):
            return place
    raise ModelError(f"{file}: the header has no line {start!r}")


def _tables(sql: str) -> frozenset[str]:
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    names = {f"{table.db}.{table.name}" if table.db else table.name for table in tree.find_all(exp.Table)}
    return frozenset(name.removeprefix("main.") for name in names - own - {"days_to_build", ""})
