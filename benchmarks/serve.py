"""``gpuledger serve`` on a schedule of minutes: whether runs overlap or drift, and whether memory, open files or disk grow.

    .venv/bin/python -m benchmarks.serve --minutes 60

Made-up sources stand in for the network. Nothing is mocked besides: a server, a runner, a process per run, a ledger. Samples are taken
from /proc, so this needs Linux.
"""

import argparse
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# Two that fall together now and then, so that one has to wait for the other.
SCHEDULES = """
[marketplaces]
every = "2m"
first = "2026-01-01T00:00:00Z"
jitter = "10s"
[lists]
every = "5m"
first = "2026-01-01T00:00:00Z"
jitter = "20s"
[report]
every = "6m"
first = "2026-01-01T00:01:00Z"
[digest]
every = "10m"
first = "2026-01-01T00:01:30Z"
"""
MODULE = '''"""A made-up source whose prices move with the time."""
import json, time
from scrapers.offer import Offer
from scrapers.shapes import each
from scrapers.source import Page, Source

SOURCE = Source(provider="{provider}", url="https://made-up.example/", kind="api", offers=range(1, 1000), cadence="{cadence}", terms="made up")

def fetch(client):
    beat = int(time.time() // 60)
    same = dict(accelerator_name="H100 SXM 80GB", accelerator_count="1", currency="USD")
    rows = [same | dict(sku=f"{{n}}", price=f"{{2 + (beat * 7 + n) % 50 / 100:.2f}}") for n in range({offers})]
    yield Page("https://made-up.example/", json.dumps(rows).encode(), "page.json")

def parse(pages):
    for page in pages:
        yield from each(page.json, "sku", lambda row: [Offer(**row)])
'''
STARTUP = """
import pathlib
from scrapers import exchange_rates, providers
from scrapers.source import Page
providers.__path__[:] = [{modules!r}]
rates = sorted(pathlib.Path({rates!r}).glob("*"))[-1]
exchange_rates.fetch = lambda client: [Page("https://made-up.example/" + one.name, one.read_bytes(), one.name)
                                       for one in sorted(rates.iterdir()) if one.name != "offers.json"]
"""


def market(folder: Path) -> Path:
    """Made-up sources, and what makes every process of the benchmark use them; returns the folder for PYTHONPATH."""
    modules = folder / "modules"
    modules.mkdir()
    for number in range(10):
        cadence, provider = ("hourly", "vast") if number < 4 else ("daily", "lambda")
        text = MODULE.format(provider=provider, cadence=cadence, offers=49)
        (modules / f"made_up_{number}.py").write_text(text)
    path = folder / "path"
    path.mkdir()
    rates = ROOT / "tests" / "fixtures" / "exchange_rates"
    (path / "sitecustomize.py").write_text(STARTUP.format(modules=str(modules), rates=str(rates)))
    return path


def children(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [deeper for child in one.read_text().split() for deeper in children(int(child))]
        except OSError:
            continue
    return found


def sample(pid: int) -> dict[str, tuple[float, int]]:
    """By kind of process: resident memory in MiB and open files, summed."""
    found: dict[str, tuple[float, int]] = {}
    for one in children(pid):
        try:
            command = Path(f"/proc/{one}/cmdline").read_text()
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
            files = len(list(Path(f"/proc/{one}/fd").iterdir()))
        except OSError:
            continue
        kind = "server" if "prefect_server" in command else "run" if "prefect.engine" in command else "serve"
        memory, open_files = found.get(kind, (0.0, 0))
        found[kind] = (memory + pages * os.sysconf("SC_PAGE_SIZE") / 2**20, open_files + files)
    return found


def turns(data: Path) -> list[dict[str, Any]]:
    """Every run that was recorded, oldest first."""
    found = []
    for path in (data / "schedules").glob("*.json"):
        for one in json.loads(path.read_text())["turns"]:
            times = {
                name: one[name] and datetime.fromisoformat(one[name])
                for name in ("scheduled_at", "started_at", "ended_at")
            }
            found.append({**one, **times, "name": path.stem})
    return sorted(found, key=lambda one: one["started_at"])


def figures(data: Path, samples: list[tuple[float, dict[str, tuple[float, int]]]]) -> dict[str, Any]:
    """What is to be said of it."""
    found = turns(data)
    done = [one for one in found if one["ended_at"]]
    overlaps = sum(b["started_at"] < a["ended_at"] for a, b in itertools.pairwise(done))
    late = [(one["started_at"] - one["scheduled_at"]) / timedelta(seconds=1) for one in found]
    half = len(late) // 2
    quarter = max(1, len(samples) // 4)
    growth = {}
    # The first quarter is warming up; what leaks still grows between the second and the last.
    for kind in ("serve", "server"):
        early = [one[kind] for _, one in samples[quarter : 2 * quarter] if kind in one]
        last = [one[kind] for _, one in samples[-quarter:] if kind in one]
        for place, name in enumerate(("memory_mib", "open_files")):
            growth[f"{kind} {name}"] = [round(statistics.median(x[place] for x in part), 1) for part in (early, last)]
    runs = [one["run"] for _, one in samples if "run" in one]
    return {
        "runs": {name: sum(one["name"] == name for one in found) for name in sorted({one["name"] for one in found})},
        "statuses": {
            status: sum(one["status"] == status for one in found) for status in sorted({one["status"] for one in found})
        },
        "overlaps": overlaps,
        "seconds_late_median_first_half_and_second": [
            round(statistics.median(part), 1) for part in (late[:half], late[half:])
        ],
        "seconds_late_highest": round(max(late), 1),
        "seconds_a_run_median": round(
            statistics.median((one["ended_at"] - one["started_at"]) / timedelta(seconds=1) for one in done), 1
        ),
        "second_quarter_and_last": growth,
        "a_run_memory_mib_highest": round(max((memory for memory, _ in runs), default=0.0)),
        "prefect_database_mib": round(
            sum(one.stat().st_size for one in (data / "prefect").glob("prefect.db*")) / 2**20, 1
        ),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=float, default=60)
    arguments.add_argument("--every", type=float, default=10, help="seconds between samples")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schedules.toml").write_text(SCHEDULES)
        path = os.pathsep.join([str(market(folder)), str(ROOT)])
        environment = os.environ | {"GPULEDGER_DATA": str(folder / "data"), "PYTHONPATH": path}
        log = folder / "serve.log"
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows.cli", "serve", "--schedules", "schedules.toml"],
                cwd=folder,
                env=environment,
                stderr=sink,
                stdout=sink,
            )
        samples, started = [], time.monotonic()
        while (passed := time.monotonic() - started) < chosen.minutes * 60 and process.poll() is None:
            samples.append((passed, sample(process.pid)))
            time.sleep(chosen.every)
        below = children(process.pid)
        process.send_signal(signal.SIGTERM)
        status = process.wait(120)
        time.sleep(5)
        left = [pid for pid in below if Path(f"/proc/{pid}").exists()]
        print(
            json.dumps(
                {"minutes": round(passed / 60, 1), "exit_status": status, "processes_left": len(left)}
                | figures(folder / "data", samples),
                indent=1,
            )
        )
        print(log.read_text()[-3000:], file=sys.stderr)


if __name__ == "__main__":
    main()
