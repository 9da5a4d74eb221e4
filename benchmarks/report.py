"""What writing the report costs, beside a bare read of the daily prices that it draws, how large it is, and how soon a page of it is of use.

    python -m benchmarks.report [ACCELERATOR]

Of the published copy in GPULEDGER_DATA. The site goes into a temporary folder. With Chromium there, the page of one accelerator is opened from
its file five times, as a phone of 390 px: the milliseconds until it can be used, and until every chart is drawn.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from flows import steps
from tests import browser
from warehouse import database

DRAWN = """
new Promise(done => { const look = () => document.documentElement?.dataset.charts ? done(performance.now()) : setTimeout(look, 5); look(); })
"""


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("accelerator", nargs="?", default="h100-sxm-80gb")
    accelerator = parser.parse_args().accelerator
    with database.connect_published() as connection:
        read = _cpu_seconds(lambda: connection.execute("SELECT * FROM prices_daily").fetchall())
        [(days, first, last)] = connection.execute(
            "SELECT count(*), min(day), max(day) FROM prices_daily WHERE status <> 'withheld'"
        ).fetchall()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        began = time.perf_counter()
        written = _cpu_seconds(lambda: steps.report(folder=site))
        took = time.perf_counter() - began
        files = [path for path in site.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        print(f"{days:,} daily prices, {first} to {last}")
        print(
            f"written in {written:.1f} s of CPU, {took:.1f} s by the clock; {written / read:.1f} times reading the daily prices"
        )
        print(f"{len(files):,} files, {size / 1e6:.2f} MB")
        if browser.PROGRAM is None:
            print("no Chromium on this machine: no page was opened")
            return
        _open(site / "accelerators" / f"{accelerator}.html")


def _open(page: Path) -> None:
    opened = browser.Browser()
    try:
        opened.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        interactive, drawn = [], []
        for _ in range(5):
            opened.call("Page.navigate", url=page.as_uri())
            drawn.append(opened.evaluate(DRAWN))
            interactive.append(opened.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))
    finally:
        opened.close()
    print(
        f"{page.stem}: can be used after {statistics.median(interactive):,.0f} ms, all charts drawn after {statistics.median(drawn):,.0f} ms"
    )


def _cpu_seconds(work: object) -> float:
    assert callable(work)
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
