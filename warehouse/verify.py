"""Makes everything that is published again from what was collected, in a warehouse of its own, and says what differs."""

from dataclasses import dataclass

from warehouse import build, database
from warehouse.build import Progress
from warehouse.database import Connection, WarehouseError
from warehouse.model import Model, all_models

# Sums of floating-point numbers differ in their last digits with the order of adding.
RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """One published table beside the same one made anew."""

    table: str
    published: int
    """Rows."""
    recomputed: int
    only_published: int
    only_recomputed: int
    differing: int
    """Rows that are in both, with other values."""
    example: str
    """The first that differs, by its key; empty where none does."""

    @property
    def agrees(self) -> bool:
        """Nothing differs."""
        return not self.example


@dataclass(frozen=True)
class Verified:
    """What came out."""

    build_id: str
    note: str
    """Why a difference need not be a fault; empty where nothing excuses one."""
    comparisons: tuple[Comparison, ...]

    @property
    def agrees(self) -> bool:
        """Everything published is what the collected rows give."""
        return all(one.agrees for one in self.comparisons)


def verify(progress: Progress | None = None) -> Verified:
    """Build all from the published copy's raw rows and compare. Raises CheckError, NothingPublishedError and WarehouseError."""
    with database.scratch() as connection:
        build_id, models_hash, reference_hash = _last_build(connection)
        build.build(connection, full=True, progress=progress)
        made = connection.execute("SELECT models_hash, reference_hash FROM builds").fetchall()
        changed = [
            what
            for what, was, now in zip(("models", "reference rows"), (models_hash, reference_hash), made[0], strict=True)
            if was != now
        ]
        note = f"the {' and '.join(changed)} are others than those of build {build_id}; gpuledger build brings it up to them"
        compared = [_compare(connection, model) for model in all_models() if model.partition != "transient"]
        return Verified(build_id, note if changed else "", tuple(sorted(compared, key=lambda one: one.table)))


def _last_build(connection: Connection) -> tuple[str, str, str]:
    found = connection.execute(
        "SELECT build_id, models_hash, reference_hash FROM published.main.builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
    ).fetchone()
    if found is None:
        raise WarehouseError("the published copy holds no build; make one with: gpuledger build")
    return str(found[0]), str(found[1]), str(found[2])


def _compare(connection: Connection, model: Model) -> Comparison:
    name = model.name if "." in model.name else f"main.{model.name}"
    published, recomputed = _columns(connection, "published", name), _columns(connection, "scratch", name)
    if published != recomputed:
        lost = ", ".join(sorted(published.keys() ^ recomputed.keys())) or "their types"
        return Comparison(name, 0, 0, 0, 0, 0, f"has other columns: {lost}" if published else "is not published")
    if model.partition == "view":
        return _compare_totals(connection, name, published)
    return _compare_rows(connection, model, name, published)


def _columns(connection: Connection, catalog: str, name: str) -> dict[str, str]:
    """Column to type."""
    schema, _, table = name.partition(".")
    found = connection.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = ? AND schema_name = ? AND table_name = ? ORDER BY column_name",
        [catalog, schema, table],
    )
    return dict(found.fetchall())


def _compare_rows(connection: Connection, model: Model, name: str, columns: dict[str, str]) -> Comparison:
    """Row by row, by the table's grain."""
    keys = " AND ".join(f"p.{key} IS NOT DISTINCT FROM r.{key}" for key in model.grain)
    differs = " OR ".join(_differs(column, kind) for column, kind in columns.items() if column not in model.grain)
    key = ", ".join(f"coalesce(p.{key}, r.{key})" for key in model.grain)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE compared AS
        SELECT
            p.is_published, r.is_recomputed, p.is_published AND r.is_recomputed AND ({differs or "FALSE"}) AS differs,
            concat_ws(' ', {key}) AS key
        FROM (SELECT *, TRUE AS is_published FROM published.{name}) AS p
        FULL JOIN (SELECT *, TRUE AS is_recomputed FROM {name}) AS r ON {keys}
        """
    )
    [counts] = connection.execute(
        """
        SELECT
            count(is_published), count(is_recomputed), count(*) FILTER (is_recomputed IS NULL),
            count(*) FILTER (is_published IS NULL), count(*) FILTER (differs),
            coalesce(min(key) FILTER (differs OR is_recomputed IS NULL OR is_published IS NULL), '')
        FROM compared
        """
    ).fetchall()
    return Comparison(name, *counts)


def _differs(column: str, kind: str) -> str:
    """SQL that is true where two rows differ in a column."""
    if kind not in {"DOUBLE", "FLOAT"}:
        return f"p.{column} IS DISTINCT FROM r.{column}"
    near = f"abs(p.{column} - r.{column}) <= {RELATIVE_TOLERANCE} * greatest(abs(p.{column}), abs(r.{column}))"
    return f"(p.{column} IS DISTINCT FROM r.{column} AND NOT coalesce({near}, FALSE))"


def _compare_totals(connection: Connection, name: str, columns: dict[str, str]) -> Comparison:
    """A view, which may have many more rows than the tables it is made of: by its number of rows and each column's total."""
    totals = ", ".join(
        f"coalesce(sum({column}), 0)"
        if kind in {"DOUBLE", "FLOAT"}
        else f"CAST(bit_xor(hash({column}, {position})) AS VARCHAR)"
        for position, (column, kind) in enumerate(columns.items())
    )
    published, recomputed = (
        connection.execute(f"SELECT count(*), {totals} FROM {catalog}.{name}").fetchall()[0]
        for catalog in ("published", "scratch")
    )
    differing = [
        column
        for column, one, other in zip(columns, published[1:], recomputed[1:], strict=True)
        if (
            abs(one - other) > RELATIVE_TOLERANCE * max(abs(one), abs(other))
            if isinstance(one, float)
            else one != other
        )
    ]
    if published[0] != recomputed[0]:
        differing.insert(0, "rows")
    told = f"differs in the totals of {', '.join(differing)}" if differing else ""
    return Comparison(name, published[0], recomputed[0], 0, 0, 0, told)
