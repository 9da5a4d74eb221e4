"""How far the daily chained price index drifts from one chained by weeks, on the ledger in GPULEDGER_DATA.

    python -m benchmarks.index_drift

Both hold like against like by the same rules; the weekly one takes each cell's last price of a week. An index that drifts with the frequency
of its links would end elsewhere. Prints both levels at the end of the longest chain of each series that moved and has one of half a year.
"""

import statistics

from warehouse import build, database
from warehouse.model import all_models

CHAIN_DAYS = 180
CELLS = ("days_asked", "whole_days", "snapshots_in_force", "parts_in_force", "offer_days", "index_cells")
WEEKLY = """
CREATE TEMP TABLE weekly_cells AS
WITH weeks AS (
    SELECT
        CAST(date_trunc('week', day) AS DATE) + 6 AS day, accelerator, cell, any_value(provider) AS provider, any_value(segment) AS segment,
        any_value(pricing_model) AS pricing_model, any_value(commitment_days) AS commitment_days, arg_max(price, index_cells.day) AS price,
        bool_or(is_seen) AS is_seen
    FROM index_cells
    GROUP BY date_trunc('week', index_cells.day), accelerator, cell
)
SELECT *, lag(day) OVER followed AS previous_day, lag(price) OVER followed AS previous_price, lead(day) OVER followed AS next_day
FROM weeks
WINDOW followed AS (PARTITION BY accelerator, cell ORDER BY day)
"""
COMPARED = """
WITH chains AS (
    SELECT accelerator, pricing_model, segment, chain_id, chain_started_on, max(day) AS last_day, max(n_providers) AS n_providers,
        count(*) FILTER (abs(change_percent) > 1e-9) AS moves, arg_max(price_index, day) AS daily
    FROM price_index_daily
    GROUP BY accelerator, pricing_model, segment, chain_id, chain_started_on
    QUALIFY row_number() OVER (PARTITION BY accelerator, pricing_model, segment ORDER BY max(day) - chain_started_on DESC, chain_id) = 1
),
weeks AS (
    SELECT c.accelerator, c.pricing_model, c.segment, 100 * arg_max(w.price_index, w.day) / arg_min(w.price_index, w.day) AS weekly,
        count(DISTINCT w.chain_id) AS chains
    FROM chains AS c
    JOIN weekly_index AS w USING (accelerator, pricing_model, segment)
    WHERE w.day BETWEEN c.chain_started_on AND c.last_day + 6
    GROUP BY ALL
)
SELECT accelerator, pricing_model, segment, n_providers, chain_started_on, last_day, daily, weekly
FROM chains
JOIN weeks USING (accelerator, pricing_model, segment)
WHERE last_day - chain_started_on >= $days AND moves > 0 AND chains = 1
ORDER BY ALL
"""


def main() -> None:
    """Build the ledger's published rows again, index its weeks, and print both."""
    models = {model.name: model for model in all_models()}
    with database.scratch() as connection:
        build.build(connection, full=True)
        connection.execute(
            "CREATE TEMP TABLE days_to_build AS SELECT CAST(unnest(range(min(day), max(day) + 1, INTERVAL 1 DAY)) AS DATE) AS day"
            " FROM provider_prices_daily"
        )
        build.run_views(connection, [models[name] for name in CELLS])
        connection.execute(WEEKLY)
        connection.execute("CREATE OR REPLACE TEMP TABLE days_to_build AS SELECT DISTINCT day FROM weekly_cells")
        pairs = models["intermediate.matched_pairs"].sql.replace("index_cells", "weekly_cells")
        connection.execute(f"CREATE TEMP TABLE weekly_pairs AS {pairs}")
        index = models["price_index_daily"].sql.replace("intermediate.matched_pairs", "weekly_pairs")
        connection.execute(f"CREATE TEMP TABLE weekly_index AS {index}")
        rows = connection.execute(COMPARED, {"days": CHAIN_DAYS}).fetchall()
    print(f"{'accelerator':28}{'model':11}{'segment':13}providers  from        to            daily   weekly  drift %")
    drifts = []
    for accelerator, model, segment, providers, first, last, daily, weekly in rows:
        drifts.append(100 * (daily / weekly - 1))
        print(
            f"{accelerator:28}{model:11}{segment:13}{providers:9}  {first}  {last}{daily:9.2f}{weekly:9.2f}{drifts[-1]:9.2f}"
        )
    sizes = [abs(drift) for drift in drifts]
    print(f"{len(rows)} series: drift median {statistics.median(sizes):.2f} %, largest {max(sizes):.2f} %")


if __name__ == "__main__":
    main()
