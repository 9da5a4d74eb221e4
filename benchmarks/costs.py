"""What one run's nine years on every part and basis cost to ask, beside a bare read of the rows they are made from.

    python -m benchmarks.costs          on the published copy of GPULEDGER_DATA

Prints the least of seven asks of each, and their ratio.
"""

import time

from warehouse import database

ASKED = """
SELECT count(*), count(DISTINCT day), sum(cost_usd_low), sum(cost_usd_mid), sum(cost_usd_high)
FROM training_costs
WHERE run = 'gpt-3-175b'
"""
BARE = "SELECT count(*), sum(usd_per_accelerator_hour_low + usd_per_accelerator_hour_mid) FROM basis_prices_daily"


def main() -> None:
    """Measure and print."""
    with database.connect_published() as connection:
        least = {}
        for name, query in (("nine years of a run", ASKED), ("bare read", BARE)):
            seconds = []
            for _ in range(7):
                clock = time.perf_counter()
                [(rows, *_)] = connection.execute(query).fetchall()
                seconds.append(time.perf_counter() - clock)
            least[name] = min(seconds)
            print(f"{name:20} {rows:>9,} rows {least[name]:8.3f} s")
    print(f"ratio {least['nine years of a run'] / least['bare read']:.1f}")


if __name__ == "__main__":
    main()
