"""What it costs to ask what was known at a time, beside a bare read of the raw rows.

    python -m benchmarks.as_of [--days 1000] [--offers 10000]

On a made-up ledger of DAYS x OFFERS rows, in the published copy, as anyone opens it: one accelerator and five days, out of each of the tables
that can be asked for as of a time. Prints the least of five asks of each, and its ratio to a bare read of all raw prices in the same run.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks.daily import MODULE, START, ledger
from flows import steps
from scrapers import providers
from warehouse import database

ASKS = 5
WHERE = "accelerator = 'h100-sxm-80gb' AND day BETWEEN DATE '{day}' AND DATE '{day}' + 4"
QUERIES = {
    "bare read of all raw prices": "SELECT count(*), sum(price) FROM raw.offers",
    "offers_as_of": f"SELECT count(*), sum(usd_per_accelerator_hour) FROM offers_as_of('infinity') WHERE {WHERE}",
    "prices_daily_as_of": f"SELECT count(*), sum(usd_per_accelerator_hour_median) FROM prices_daily_as_of('infinity') WHERE {WHERE}",
    "training_costs_as_of": f"SELECT count(*), sum(cost_usd_mid) FROM training_costs_as_of('infinity') WHERE run = 'llama-65b' AND {WHERE}",
}


def least_seconds(connection: duckdb.DuckDBPyConnection, query: str) -> float:
    """The least of several asks."""
    seconds = []
    for _ in range(ASKS):
        clock = time.perf_counter()
        [(rows, *_)] = connection.execute(query).fetchall()
        seconds.append(time.perf_counter() - clock)
        assert rows
    return min(seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=1000)
    parser.add_argument("--offers", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as modules, tempfile.TemporaryDirectory() as folder:
        (Path(modules) / "made_up.py").write_text(MODULE, encoding="utf-8")
        providers.__path__.append(modules)
        os.environ["GPULEDGER_DATA"] = folder
        ledger(options.days, options.offers)
        steps.build()
        day = START.date().replace(year=START.year + options.days // 730)
        # No settings of ours: as anyone opens the published copy.
        with duckdb.connect(str(database.published_file()), read_only=True) as connection:
            seconds = {name: least_seconds(connection, query.format(day=day)) for name, query in QUERIES.items()}
    bare = seconds["bare read of all raw prices"]
    print(f"{options.days * options.offers:,} raw rows, DuckDB {duckdb.__version__}")
    for name, found in seconds.items():
        print(f"{name:32}{found:8.3f} s{found / bare:9.1f}")


if __name__ == "__main__":
    sys.exit(main())
