"""What one more day costs on a ledger that is already large, beside the same day on a small one and a bare read of its rows.

    python -m benchmarks.daily [--days 1000] [--offers 10000]

A made-up marketplace-like source shows OFFERS offers a day. Prints, for a ledger of ten days and one of DAYS days, the seconds that loading
and building one further day take, their ratio, and the seconds of a bare DuckDB read of the new day's rows.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flows import steps
from scrapers import providers
from scrapers.source import Page
from warehouse import database

MODULE = '''"""A made-up source."""
from scrapers.offer import Offer
from scrapers.shapes import each
from scrapers.source import Source

SOURCE = Source(provider="lambda", url="https://made-up.example/", kind="api", offers=range(1, 1000000), terms="made up")


def parse(pages):
    for page in pages:
        yield from each(page.json, "sku", lambda row: [Offer(**row)])
'''
PARTS = [
    "H100 SXM 80GB",
    "A100 SXM4 80GB",
    "RTX 4090",
    "L40S",
    "H200 SXM 141GB",
    "B200 SXM 180GB",
    "A100 PCIe 40GB",
    "MI300X",
]
START = datetime(2023, 1, 1, tzinfo=UTC)


def offers(count: int, day: int) -> bytes:
    """A day's page: one offer in twenty has another price than the day before."""
    rows = []
    for place in range(count):
        changes = random.Random(place).randrange(20)
        price = 1 + (place % 97) / 50 + ((day + changes) // 20) / 1000
        rows.append(
            {"sku": f"m{place}", "accelerator_name": PARTS[place % len(PARTS)], "accelerator_count": "1", "price": f"{price:.6f}",
             "currency": "USD", "region": f"r{place % 40}"}
        )  # fmt: skip
    return json.dumps(rows).encode()


def ledger(days: int, count: int) -> None:
    """A ledger with so many days: the first by the real road, the others copied from it in bulk with moved prices."""
    archive_day(0, count)
    steps.load_archive()
    with database.connect_working() as connection:
        connection.execute(
            """
            INSERT INTO raw.snapshots BY NAME
            SELECT s.* REPLACE (
                md5(s.snapshot_id || d) AS snapshot_id, s.observed_at + d * INTERVAL 1 DAY AS observed_at,
                s.observed_day + CAST(d AS INTEGER) AS observed_day, s.load_number + d AS load_number
            )
            FROM raw.snapshots AS s, range(1, ?) AS r(d)
            """,
            [days],
        )
        connection.execute(
            """
            INSERT INTO raw.verdicts
            SELECT snapshot_id, 'accepted', '', loaded_at, 'rule', load_number
            FROM raw.snapshots
            WHERE snapshot_id NOT IN (SELECT snapshot_id FROM raw.verdicts)
            """
        )
        connection.execute(
            """
            INSERT INTO raw.offers BY NAME
            SELECT o.* REPLACE (
                s.snapshot_id AS snapshot_id, s.observed_day AS observed_day,
                CAST(o.price + ((s.observed_day - o.observed_day) // 20) / 1000 AS DECIMAL(18, 9)) AS price
            )
            FROM (SELECT * FROM raw.snapshots ORDER BY observed_at OFFSET 1) AS s, raw.offers AS o
            ORDER BY s.observed_day, o.ordinal
            """
        )
        for _ in range(days):
            database.next_load_number(connection)


def archive_day(day: int, count: int) -> None:
    """Archive one day's page."""
    page = Page("https://made-up.example/", offers(count, day), "page.json")
    steps.archive().write("made_up", [page], observed_at=START + timedelta(days=day), source_kind="live")


def one_more_day(days: int, count: int) -> dict[str, float]:
    """Seconds of the first build, and of loading and building one day more."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPULEDGER_DATA"] = folder
        ledger(days, count)
        found = {}
        clock = time.perf_counter()
        steps.build()
        found["first build"] = time.perf_counter() - clock
        archive_day(days, count)
        clock = time.perf_counter()
        steps.load_archive()
        found["load a day"] = time.perf_counter() - clock
        clock = time.perf_counter()
        built = steps.build()
        found["build a day"] = time.perf_counter() - clock
        assert built is not None
        assert built.days_built <= 2, built
        clock = time.perf_counter()
        with database.connect_published() as connection:
            [(rows,)] = connection.execute(
                "SELECT count(price + 1) FROM raw.offers WHERE observed_day = (SELECT max(observed_day) FROM raw.offers)"
            ).fetchall()
        found["bare read of the day"] = time.perf_counter() - clock
        assert rows == count
        found["megabytes"] = database.working_file().stat().st_size / 1e6
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=1000)
    parser.add_argument("--offers", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as modules:
        (Path(modules) / "made_up.py").write_text(MODULE, encoding="utf-8")
        providers.__path__.append(modules)
        small, large = one_more_day(10, options.offers), one_more_day(options.days, options.offers)
    print(f"{'':24}{10 * options.offers:>14,}{options.days * options.offers:>14,} old rows   ratio")
    for name, seconds in small.items():
        print(f"{name:24}{seconds:14.2f}{large[name]:14.2f}{large[name] / seconds:17.1f}")


if __name__ == "__main__":
    sys.exit(main())
