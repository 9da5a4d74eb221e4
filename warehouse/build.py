"""Runs the models in order of dependency, only the days that something new reaches, then the checks; all of it or nothing.

An incremental build equals a full one, row for row: whatever could change an older day puts that day among the days to build.
"""

import hashlib
import importlib.metadata
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import cast

from warehouse import database, gates, macro, names, parts, rates, reference
from warehouse.comments import comment
from warehouse.database import Connection
from warehouse.gates import CheckError, Result
from warehouse.model import Model, all_checks, all_models, of_references_only, upstream_of

Progress = Callable[[int, int], None]


# What stands on the days that are built at once is held in memory; more than this gains little time, and so do fewer days.
OFFER_DAYS_AT_ONCE = 1_000_000
LEAST_DAYS_AT_ONCE = 30


class NothingLoadedError(RuntimeError):
    """There is nothing to build from; the message says what to do."""


@dataclass(frozen=True)
class Built:
    """What one build did."""

    build_id: str
    first_day: date | None
    last_day: date | None
    days_built: int
    is_full: bool
    unknown_names: tuple[str, ...]
    results: tuple[Result, ...] = ()
    """What the checks found that keeps nothing from being published."""


UNKNOWN_NAMES = """
SELECT DISTINCT provider || ': ' || accelerator_name
FROM staging.offer_texts
WHERE accelerator IS NULL AND price_scope NOT IN ('host_vcpu', 'host_gib')
ORDER BY 1
"""

_BUILDS = """
CREATE TABLE IF NOT EXISTS builds (
    build_id VARCHAR NOT NULL, built_at TIMESTAMPTZ NOT NULL, code_version VARCHAR NOT NULL, models_hash VARCHAR NOT NULL,
    reference_hash VARCHAR NOT NULL, load_number BIGINT NOT NULL, is_full BOOLEAN NOT NULL, first_day DATE, last_day DATE,
    days_built INTEGER NOT NULL, rows_changed BIGINT NOT NULL
)
"""
_BUILD_COMMENTS = {
    "": "One row per build: what someone cites.",
    "build_id": "Identity of the build, printed by reports and exports.",
    "built_at": "When, UTC.",
    "code_version": "Version of the program.",
    "models_hash": "Hash over the models and the reading of names.",
    "reference_hash": "Hash over the reference rows.",
    "load_number": "Newest load that it saw.",
    "is_full": "Everything was made anew.",
    "first_day": "First day in the ledger.",
    "last_day": "Last day in the ledger: that of the newest good snapshot.",
    "days_built": "Days made anew.",
    "rows_changed": "Rows written to the stored tables.",
}


def refuse_nothing(connection: Connection) -> None:
    """Raises NothingLoadedError before anything was ever collected."""
    if connection.execute("SELECT 1 FROM raw.snapshots LIMIT 1").fetchone() is None:
        raise NothingLoadedError(
            "nothing is loaded yet, so there is nothing to build; collect prices with: gpuledger run"
        )


def build(connection: Connection, *, full: bool = False, progress: Progress | None = None) -> Built | None:
    """Bring the models up to what is loaded; None when nothing is new.

    Raises CheckError, with nothing changed but the record of it, when a check of this build that is an error finds rows.
    """
    rates.load_history(connection)
    connection.execute(_BUILDS)
    gates.make_table(connection)
    build_id = uuid.uuid4().hex[:12]
    try:
        return _build(connection, build_id, full=full, progress=progress)
    except CheckError as failed:
        with database.transaction(connection):
            gates.record(connection, build_id, failed.results, is_published=False)
        raise


def _build(connection: Connection, build_id: str, *, full: bool, progress: Progress | None) -> Built | None:
    models_hash, reference_hash, load_number = _models_hash(), reference.reference_hash(), _newest_load(connection)
    last = connection.execute(
        "SELECT models_hash, reference_hash, load_number, first_day, last_day FROM builds ORDER BY load_number DESC, built_at DESC LIMIT 1"
    ).fetchone()
    full = full or last is None or tuple(last[:2]) != (models_hash, reference_hash)
    if not full and last is not None and last[2] == load_number:
        return None
    with database.transaction(connection):
        if full:
            reference.load(connection)
        parts.name_texts(connection, again=full)
        first_day, last_day = _ledger_days(connection)
        touched = None if full or last is None else _first_touched(connection, last[2], last[4])
        rows_changed = _run_read(connection, touched)
        from_day = first_day
        if (
            last is None
            or first_day is None
            or last_day is None
            or last[3] is None
            or first_day > last[3]
            or last_day < last[4]
        ):
            full = True  # a first or newest day that was rejected since takes its rows with it
        elif touched is not None:
            from_day = min(max(touched, first_day), last_day)
        rows_changed += _run_models(connection, from_day, last_day, full=full, progress=progress)
        _fill_days_to_build(connection, from_day, last_day)
        [(days_built,)] = connection.execute("SELECT count(*) FROM days_to_build").fetchall()
        connection.execute(
            "INSERT INTO builds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                build_id, database.now(), importlib.metadata.version("gpu-ledger"), models_hash, reference_hash, load_number, full,
                first_day, last_day, days_built, rows_changed,
            ],
        )  # fmt: skip
        comment(connection, "TABLE", "builds", _BUILD_COMMENTS[""], {k: v for k, v in _BUILD_COMMENTS.items() if k})
        if full:
            macro.create(connection)
        results = gates.run(connection, all_checks() | _grain_checks())
        gates.record(connection, build_id, results, is_published=True)
        unknown = connection.execute(UNKNOWN_NAMES).fetchall()
        for model in all_models():
            if model.partition == "transient":
                connection.execute(f"DROP TABLE {model.name}")
        connection.execute("DROP TABLE days_to_build")
    return Built(build_id, first_day, last_day, days_built, full, tuple(row[0] for row in unknown), tuple(results))


def run_views(connection: Connection, models: list[Model]) -> None:
    """Make the models given, for the days in ``days_to_build``; stored tables are made whole. For a warehouse in memory."""
    for model in models:
        _run_model(connection, model, full=True)


def _run_read(connection: Connection, touched: date | None) -> int:
    """Make what no verdict changes, for every day read since ``touched``; all of it for None. Returns the rows written."""
    [(first_day, last_day)] = connection.execute(
        "SELECT min(observed_day), max(observed_day) FROM raw.snapshots"
    ).fetchall()
    from_day = first_day if touched is None else touched
    rows_changed = 0
    for place, (first, last) in enumerate(_chunks(connection, from_day, last_day)):
        _fill_days_to_build(connection, first, last)
        for model in _read_models():
            rows_changed += _run_model(connection, model, full=touched is None and place == 0)
    return rows_changed


def _read_models() -> list[Model]:
    """What no verdict changes, and what it needs."""
    return upstream_of(model.name for model in all_models() if model.partition == "read")


def _run_models(
    connection: Connection, from_day: date | None, last_day: date | None, *, full: bool, progress: Progress | None
) -> int:
    """Make all other models for the days from ``from_day`` to ``last_day``, so many days at once that memory holds them; returns the rows written.

    What is not kept by day is made with the first days, for those that need it, and again with the last, from all of them.
    """
    chunks = _chunks(connection, from_day, last_day)
    made = _read_models()
    unchanged = set() if full else of_references_only()
    models_left = [model for model in all_models() if model not in made and model.name not in unchanged]
    by_day = [model for model in models_left if model.partition in {"day", "transient"}]
    plan = [models_left if place in {0, len(chunks) - 1} else by_day for place in range(len(chunks))]
    done, rows_changed = 0, 0
    for place, ((first, last), models) in enumerate(zip(chunks, plan, strict=True)):
        _fill_days_to_build(connection, first, last)
        for model in models:
            rows_changed += _run_model(connection, model, full=full and place == 0)
            done += 1
            if progress:
                progress(done, sum(map(len, plan)))
    return rows_changed


def _chunks(
    connection: Connection, from_day: date | None, last_day: date | None
) -> list[tuple[date | None, date | None]]:
    """First and last days of what is built at once: about OFFER_DAYS_AT_ONCE rows each."""
    if from_day is None or last_day is None:
        return [(None, None)]
    days = (last_day - from_day).days + 1
    standing: dict[date, int] = {}
    if days > LEAST_DAYS_AT_ONCE:
        standing = dict(connection.execute(_STANDING).fetchall())
    offers = standing.get(max((day for day in standing if day <= from_day), default=from_day), 0)
    starts, held = [from_day], 0
    for day in (from_day + timedelta(days=place) for place in range(days)):
        offers = standing.get(day, offers)
        if held + offers > OFFER_DAYS_AT_ONCE and (day - starts[-1]).days >= LEAST_DAYS_AT_ONCE:
            starts, held = [*starts, day], 0
        held += offers
    ends = [start - timedelta(days=1) for start in starts[1:]] + [last_day]
    return list(zip(starts, ends, strict=True))


# About how many offers stand from each day on on which that changes; what is not whole may stand for longer than its next sighting.
_STANDING = """
WITH sightings AS (
    SELECT source, series, observed_day, max(offers) AS offers
    FROM staging.snapshots
    WHERE is_good
    GROUP BY source, series, observed_day
),

spans AS (
    SELECT
        observed_day, offers,
        lead(observed_day, 1, DATE '9999-12-31') OVER (PARTITION BY source, series ORDER BY observed_day) AS next_day,
        observed_day + (SELECT CAST(max(value) AS INTEGER) + 1 FROM reference.index_parameters WHERE starts_with(name, 'carry_days_')) AS end_day
    FROM sightings
)

SELECT day, CAST(sum(sum(change)) OVER (ORDER BY day) AS BIGINT)
FROM (
    SELECT observed_day AS day, offers AS change FROM spans
    UNION ALL
    SELECT least(next_day, end_day) AS day, -offers AS change FROM spans
)
GROUP BY day
"""


def _run_model(connection: Connection, model: Model, *, full: bool) -> int:
    """Make or refresh one model; returns the rows written to it."""
    if model.partition == "view":
        if not full:
            return 0  # it stands since the build that was full
        _make_way(connection, model.name, "VIEW")
        connection.execute(f"CREATE OR REPLACE VIEW {model.name} AS {model.sql}")
        comment(connection, "VIEW", model.name, model.comment, model.columns)
        return 0
    if model.partition == "transient":
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {model.name} AS {model.sql}")
        return 0
    if full or model.partition == "none":
        if full:
            _make_way(connection, model.name, "TABLE")
        connection.execute(f"CREATE OR REPLACE TABLE {model.name} AS {model.sql}")
        comment(connection, "TABLE", model.name, model.comment, model.columns)
        [(written,)] = connection.execute(f"SELECT count(*) FROM {model.name}").fetchall()
        return int(written)
    connection.execute(f"DELETE FROM {model.name} WHERE day IN (SELECT day FROM days_to_build)")
    [(written,)] = connection.execute(f"INSERT INTO {model.name} BY NAME {model.sql}").fetchall()
    return int(written)


def _make_way(connection: Connection, name: str, kind: str) -> None:
    """Drop what an older version of the program made of this model, where it was of the other kind: a view or a table."""
    schema, _, table = name.rpartition(".")
    for other, listed in (("VIEW", "duckdb_views() WHERE view_name"), ("TABLE", "duckdb_tables() WHERE table_name")):
        found = connection.execute(
            f"SELECT count(*) FROM {listed} = ? AND schema_name = ? AND database_name = current_database() AND NOT temporary",
            [table, schema or "main"],
        ).fetchall()
        if other != kind and found != [(0,)]:
            connection.execute(f"DROP {other} {name}")


def _grain_checks() -> dict[str, str]:
    """For every stored model, that its grain is one: a SELECT of what stands twice among the days built."""
    checks = {}
    for model in all_models():
        if model.partition in {"day", "read", "none"}:
            grain = ", ".join(model.grain)
            days = "SEMI JOIN days_to_build USING (day)" if model.partition != "none" else ""
            checks[f"grain of {model.name}"] = (
                f"SELECT {grain}, count(*) FROM {model.name} {days} GROUP BY {grain} HAVING count(*) > 1"
            )
    return checks


def _newest_load(connection: Connection) -> int:
    [(number,)] = connection.execute(
        """
        SELECT coalesce(max(load_number), 0)
        FROM (
            SELECT load_number FROM raw.snapshots
            UNION ALL SELECT load_number FROM raw.verdicts
            UNION ALL SELECT load_number FROM raw.exchange_rates
        )
        """
    ).fetchall()
    return int(number)


def _ledger_days(connection: Connection) -> tuple[date | None, date | None]:
    """First and last day with a good snapshot."""
    snapshots = next(model for model in all_models() if model.name == "staging.snapshots")
    _run_model(connection, snapshots, full=True)
    [(first_day, last_day)] = connection.execute(
        "SELECT min(observed_day), max(observed_day) FROM staging.snapshots WHERE is_good AND offers > 0"
    ).fetchall()
    return first_day, last_day


def _fill_days_to_build(connection: Connection, from_day: date | None, last_day: date | None) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE days_to_build (day DATE NOT NULL)")
    if from_day is not None and last_day is not None:
        connection.execute(
            "INSERT INTO days_to_build"
            " SELECT CAST(day AS DATE) FROM generate_series(?::TIMESTAMP, ?::TIMESTAMP, INTERVAL 1 DAY) AS s(day)",
            [from_day, last_day],
        )
    connection.execute("SET VARIABLE first_day_to_build = (SELECT min(day) FROM days_to_build)")


def _first_touched(connection: Connection, load_number: int, last_day: date) -> date:
    """The first day that anything after ``load_number`` reaches.

    A snapshot reaches from its own day on, and back to the sighting before it, since an equal price fills a hyperscaler's gap; a source's
    first good live snapshot reaches from its first fixture, which leaves then. A rate reaches from its own day on.
    """
    [(first,)] = connection.execute(
        """
        WITH changed AS (
            SELECT
                r.source, CASE WHEN r.source_kind = 'dataset' THEN r.scope ELSE 'whole' END AS series, r.observed_day, r.source_kind, r.is_whole,
                -- What came in vain has a part in no day before its own: a source that is broken for a year would have each build make that year.
                coalesce(bool_or(s.is_good), false)
                OR bool_or(r.snapshot_id IN (SELECT snapshot_id FROM raw.snapshots WHERE load_number <= $load_number)) AS is_felt
            FROM raw.snapshots AS r
            LEFT JOIN staging.snapshots AS s USING (snapshot_id)
            WHERE r.load_number > $load_number
                OR r.snapshot_id IN (SELECT snapshot_id FROM raw.verdicts WHERE load_number > $load_number)
            GROUP BY ALL
        ),
        -- Sources whose fixtures left before.
        long_live AS (
            SELECT source
            FROM staging.snapshots
            WHERE source_kind = 'live' AND is_good
                AND snapshot_id NOT IN (SELECT snapshot_id FROM raw.snapshots WHERE load_number > $load_number)
                AND snapshot_id NOT IN (SELECT snapshot_id FROM raw.verdicts WHERE load_number > $load_number)
        ),
        reach AS (
            SELECT observed_day AS day FROM changed
            UNION ALL
            SELECT coalesce(
                max(s.observed_day) FILTER (WHERE s.is_whole AND s.series = c.series AND s.observed_day < c.observed_day),
                CASE WHEN NOT c.is_whole THEN min(s.observed_day) END
            )
            FROM changed AS c
            JOIN staging.snapshots AS s ON s.source = c.source AND s.is_good
            WHERE c.is_felt
            GROUP BY c.source, c.series, c.observed_day, c.is_whole
            UNION ALL
            SELECT min(s.observed_day)
            FROM changed AS c
            JOIN raw.snapshots AS s ON s.source = c.source AND s.source_kind = 'fixture'
            WHERE c.is_felt AND c.source_kind = 'live' AND c.source NOT IN (FROM long_live)
            UNION ALL
            SELECT min(day) FROM raw.exchange_rates WHERE load_number > $load_number
            UNION ALL
            SELECT $last_day + 1
        )
        SELECT min(day) FROM reach
        """,
        {"load_number": load_number, "last_day": last_day},
    ).fetchall()
    return cast("date", first)


def _models_hash() -> str:
    digest = hashlib.sha256()
    for model in all_models():
        digest.update(f"{model.name} {model.partition} {model.sql}".encode())
    for one in macro.all_macros():
        digest.update(repr(one).encode())
    for path in sorted(Path(names.__file__).parent.glob("*.py")):
        if path.stem in {"names", "instance_types", "parts"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
