"""What a unit of compute and of memory costs to rent over time: on the part that sells it cheapest, nominal and deflated."""

from warehouse.database import Connection
from warehouse.reports.halving import QUARTER_DAYS
from warehouse.reports.marts import Row, fetch
from warehouse.reports.series import thinned

SEGMENTS = ("hyperscaler", "neocloud", "marketplace")
UNITS = {"pflop": "usd_per_dense_bf16_pflop_hour", "gb": "usd_per_gb_hour"}
_MOST_ROWS = 1200
# The cheapest part of each segment and day. Without a fabric no cluster, but a price of compute all the same.
_CHEAPEST = " UNION ALL ".join(
    f"""
    SELECT
        '{unit}' AS unit, segment, day, min({column}) AS usd, arg_min(accelerator, {column}) AS told,
        arg_min(status, {column}) AS status, arg_min(n_providers, {column}) AS n_providers, arg_min(source_kinds, {column}) AS source_kinds
    FROM prices_daily
    WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND segment IN {SEGMENTS} AND status <> 'withheld' AND {column} IS NOT NULL
    GROUP BY segment, day
    """
    for unit, column in UNITS.items()
)
_MONEYS = f"""
    WITH cheapest AS ({_CHEAPEST}),
    base AS (
        SELECT max(year(month)) AS year
        FROM (SELECT * FROM reference.producer_prices QUALIFY count(*) OVER (PARTITION BY year(month)) = 12)
    ),
    level AS (SELECT avg(index_value) AS index_value FROM reference.producer_prices WHERE year(month) = (SELECT year FROM base))
    SELECT *, 'nominal' AS money FROM cheapest
    UNION ALL BY NAME
    SELECT c.* REPLACE (c.usd * (SELECT index_value FROM level) / p.index_value AS usd), 'deflated' AS money
    FROM cheapest AS c
    JOIN reference.producer_prices AS p ON p.month = date_trunc('month', c.day)
"""
_NEEDS = ["prices_daily", "reference.producer_prices"]


def by_unit(connection: Connection) -> list[Row]:
    """The cheapest price of a PFLOP/s-hour and of a GB-hour in each segment, nominal and deflated, and the part that has it."""
    days = f"""
        SELECT
            unit, money, segment, day, round(usd, 7) AS usd, NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high, status, told, n_providers,
            source_kinds
        FROM ({_MONEYS})
    """
    return fetch(connection, thinned(days, ("unit", "money", "segment"), most_rows=_MOST_ROWS), needs=_NEEDS)


def quarters(connection: Connection) -> list[Row]:
    """The same a quarter apart, back from the last day of each line; a day without a price has the last one before, up to a year old."""
    return fetch(
        connection,
        f"""
        WITH lines AS ({_MONEYS}),
        steps AS (
            SELECT unit, money, segment, unnest(range(0, datediff('day', min(day), max(day)) + 1, {QUARTER_DAYS})) AS back, max(day) AS last_day
            FROM lines
            GROUP BY unit, money, segment
        ),
        wanted AS (SELECT unit, money, segment, last_day - CAST(back AS INTEGER) AS day FROM steps)
        SELECT w.unit, w.money, w.segment, w.day, l.usd
        FROM wanted AS w
        ASOF JOIN lines AS l ON l.unit = w.unit AND l.money = w.money AND l.segment = w.segment AND w.day >= l.day
        WHERE w.day - l.day < 366
        ORDER BY ALL
        """,
        needs=_NEEDS,
    )


def deflator(connection: Connection) -> Row | None:
    """The series that deflates, the year whose dollars it tells, and its last month."""
    rows = fetch(
        connection,
        """
        WITH whole AS (SELECT * FROM reference.producer_prices QUALIFY count(*) OVER (PARTITION BY year(month)) = 12)
        SELECT max(year(w.month)) AS year, max(p.month) AS last_month, any_value(p.series) AS series, any_value(p.source) AS source
        FROM whole AS w, (SELECT max(month) AS month, any_value(series) AS series, any_value(source) AS source FROM reference.producer_prices) AS p
        """,
        needs=["reference.producer_prices"],
    )
    return rows[0] if rows and rows[0]["year"] is not None else None
