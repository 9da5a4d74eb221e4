"""What each training run would cost over time: on the part it was run on, on the cheapest part, and as others published it."""

import contextlib
from collections.abc import Iterator

from warehouse.database import Connection
from warehouse.reports.marts import Row, fetch, present
from warehouse.reports.series import thinned

# The runs that the overview shows; every run has a page.
REFERENCE_RUNS = ("gpt-3-175b", "palm-540b", "llama-65b", "llama-2-70b", "mosaicml-gpt-30b", "llama-3.1-405b")
AS_RUN_BASES = ("hyperscaler_median", "neocloud_median", "reserved_3y_median")
FRONTIER_BASIS = "on_demand_median"
MOST_PARTS = 10
# Points that all lines of a kind may take together; the overview's are not among them.
_MOST_ROWS = 800
_FAVOURED = f"run IN {REFERENCE_RUNS}"


def facts(connection: Connection) -> list[Row]:
    """What is known of each run that has hours."""
    return fetch(
        connection,
        """
        SELECT
            r.run, r.name, r.developer, r.published_on, r.parameters, r.tokens, r.model_flop, r.accelerator, r.accelerator_count,
            r.wall_clock_hours, r.accelerator_hours, r.how_known, r.source_url, r.source, r.note, h.accelerator_hours_mid, h.mfu_mid
        FROM reference.training_runs AS r
        LEFT JOIN training_hours AS h ON h.run = r.run AND h.as_run
        WHERE r.run IN (SELECT run FROM training_hours)
        ORDER BY r.published_on, r.run
        """,
        needs=["training_hours", "reference.training_runs"],
    )


@contextlib.contextmanager
def costs_as_run(connection: Connection) -> Iterator[None]:
    """While inside, ``costs_as_run`` holds every run on its own part: the view works them out whole, whatever is asked of it."""
    if not {"training_costs", "basis_prices_daily"} <= present(connection):
        yield
        return
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE costs_as_run AS
        SELECT * FROM training_costs WHERE as_run AND NOT starts_with(basis, 'provider:') AND NOT coalesce(before_release, false)
        """
    )
    try:
        yield
    finally:
        connection.execute("DROP TABLE costs_as_run")


def as_run(connection: Connection) -> list[Row]:
    """Cost of every run on its own part, on the named bases. Inside ``costs_as_run``."""
    days = f"""
        SELECT
            run, basis, day, round(cost_usd_mid, 2) AS usd, round(cost_usd_low, 2) AS usd_low, round(cost_usd_high, 2) AS usd_high,
            price_status AS status, coalesce(priced_on, '') AS told, n_providers, NULL::VARCHAR[] AS source_kinds
        FROM costs_as_run
        WHERE basis IN {AS_RUN_BASES}
    """
    return fetch(
        connection, thinned(days, ("run", "basis"), most_rows=_MOST_ROWS, favoured=_FAVOURED), needs=["costs_as_run"]
    )


def frontier(connection: Connection) -> list[Row]:
    """Cost of every run on the cheapest part that could do it: on firm evidence, and where weaker evidence has a cheaper one."""
    days = f"""
        SELECT
            run, is_relaxed, day, round(cost_usd_mid, 2) AS usd, round(cost_usd_low, 2) AS usd_low, round(cost_usd_high, 2) AS usd_high,
            price_status AS status, accelerator AS told, n_providers, NULL::VARCHAR[] AS source_kinds
        FROM training_cost_frontier
        WHERE basis = '{FRONTIER_BASIS}'
    """
    return fetch(
        connection,
        thinned(days, ("run", "is_relaxed"), most_rows=_MOST_ROWS, favoured=_FAVOURED),
        needs=["training_cost_frontier"],
    )


def today(connection: Connection) -> list[Row]:
    """Cost of every run on the newest day: on its own part on every named basis, and on the parts that do it cheapest on demand.

    Inside ``costs_as_run``.
    """
    [(day,)] = (
        connection.execute("SELECT max(day) FROM basis_prices_daily").fetchall()
        if "costs_as_run" in present(connection)
        else [(None,)]
    )
    return fetch(
        connection,
        f"""
        WITH costs AS (
            SELECT * FROM costs_as_run WHERE day = $day
            UNION ALL BY NAME
            SELECT * FROM training_costs
            WHERE day = $day AND NOT as_run AND basis = '{FRONTIER_BASIS}' AND NOT coalesce(before_release, false)
        )
        SELECT
            day, run, basis, accelerator, precision, as_run, priced_on, round(accelerator_hours_mid, 1) AS accelerator_hours_mid,
            round(usd_per_accelerator_hour_mid, 6) AS usd_per_accelerator_hour_mid, round(cost_usd_low, 2) AS cost_usd_low,
            round(cost_usd_mid, 2) AS cost_usd_mid, round(cost_usd_high, 2) AS cost_usd_high, round(committed_usd, 2) AS committed_usd,
            n_providers, price_status, mfu_evidence, age_days, dominant_uncertainty
        FROM costs
        WHERE cost_usd_mid IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY run, as_run, basis ORDER BY cost_usd_mid, accelerator, precision) <= {MOST_PARTS}
        ORDER BY run, NOT as_run, cost_usd_mid, accelerator, precision, basis
        """,
        {"day": day},
        needs=["costs_as_run"],
    )
