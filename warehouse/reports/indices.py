"""The price index on demand: its lines, its newest levels, and its levels a quarter apart."""

import contextlib
from collections.abc import Iterator

from warehouse.database import Connection
from warehouse.reports.halving import QUARTER_DAYS
from warehouse.reports.marts import Row, fetch, present
from warehouse.reports.prices import ASKED_ABOUT
from warehouse.reports.series import thinned

_MOST_ROWS = 1000


@contextlib.contextmanager
def index_days(connection: Connection) -> Iterator[None]:
    """While inside, ``index_days`` holds the index on demand of every day: the view chains all of it, whatever is asked of it."""
    if "price_index_daily" not in present(connection):
        yield
        return
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE index_days AS FROM price_index_daily WHERE pricing_model = 'on_demand' ORDER BY day"
    )
    try:
        yield
    finally:
        connection.execute("DROP TABLE index_days")


def by_accelerator(connection: Connection) -> list[Row]:
    """The index of every accelerator in every segment and chain. Inside ``index_days``."""
    days = """
        SELECT
            accelerator, segment, chain_id, day, round(price_index, 4) AS usd, NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high,
            CASE WHEN n_providers < 3 AND change_percent IS NOT NULL THEN 'thin' ELSE 'ok' END AS status, '' AS told, n_providers,
            NULL::VARCHAR[] AS source_kinds
        FROM index_days
    """
    keys = ("accelerator", "segment", "chain_id")
    favoured = f"accelerator IN {ASKED_ABOUT}"
    return fetch(connection, thinned(days, keys, most_rows=_MOST_ROWS, favoured=favoured), needs=["index_days"])


def newest(connection: Connection) -> list[Row]:
    """The newest level over all providers, and its change over a week, a month and a year within its chain. Inside ``index_days``.

    The earlier levels are those of the very days; a day without one leaves a gap.
    """
    return fetch(
        connection,
        """
        WITH everyone AS (SELECT * FROM index_days WHERE segment = 'all')
        SELECT
            n.accelerator, n.day, n.price_index, n.chain_id, n.chain_started_on, n.n_providers, n.n_providers_seen, n.cells_matched,
            n.price_index / week.price_index - 1 AS change_7_days,
            n.price_index / month.price_index - 1 AS change_30_days,
            n.price_index / year.price_index - 1 AS change_365_days,
            n.parameters_version
        FROM everyone AS n
        LEFT JOIN everyone AS week ON week.accelerator = n.accelerator AND week.chain_id = n.chain_id AND week.day = n.day - 7
        LEFT JOIN everyone AS month ON month.accelerator = n.accelerator AND month.chain_id = n.chain_id AND month.day = n.day - 30
        LEFT JOIN everyone AS year ON year.accelerator = n.accelerator AND year.chain_id = n.chain_id AND year.day = n.day - 365
        QUALIFY row_number() OVER (PARTITION BY n.accelerator ORDER BY n.day DESC) = 1
        ORDER BY n.accelerator
        """,
        needs=["index_days"],
    )


def quarters(connection: Connection) -> list[Row]:
    """Levels of each accelerator's longest chain over all providers, a quarter apart back from its last day. Inside ``index_days``.

    A day without a row has the level of the last one before.
    """
    return fetch(
        connection,
        f"""
        WITH everyone AS (
            SELECT accelerator, chain_id, day, price_index
            FROM index_days
            WHERE segment = 'all'
        ),
        longest AS (
            SELECT accelerator, chain_id, min(day) AS first_day, max(day) AS last_day
            FROM everyone
            GROUP BY accelerator, chain_id
            QUALIFY row_number() OVER (PARTITION BY accelerator ORDER BY last_day - first_day DESC, chain_id DESC) = 1
        ),
        steps AS (
            SELECT *, unnest(range(0, datediff('day', first_day, last_day) + 1, {QUARTER_DAYS})) AS back
            FROM longest
        ),
        wanted AS (SELECT accelerator, chain_id, last_day - CAST(back AS INTEGER) AS day FROM steps)
        SELECT w.accelerator, w.day, e.price_index
        FROM wanted AS w
        ASOF JOIN everyone AS e ON e.accelerator = w.accelerator AND e.chain_id = w.chain_id AND w.day >= e.day
        ORDER BY w.accelerator, w.day
        """,
        needs=["index_days"],
    )
