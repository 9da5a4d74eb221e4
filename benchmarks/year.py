"""Whether a run costs the same at the end of a year as at its beginning: a simulated market of 40 sources, two runs a day.

    python -m benchmarks.year [--days 365] [--sources 40] [--folder FOLDER]

Prints medians of processor seconds and of resident memory over the first and the last thirty days, and their ratio. The whole takes about
half an hour of one free core. That the ledger is the truth afterwards is shown by ``GPULEDGER_SIMULATED_DAYS=365`` and
``tests/test_simulated_year.py``.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.simulator.play import RunFigures, play

MONTH_DAYS = 30
MEASURES: dict[str, Callable[[RunFigures], float]] = {
    "collect, CPU s": lambda run: run.collect_cpu_seconds,
    "load, CPU s": lambda run: run.load_cpu_seconds,
    "build, CPU s": lambda run: run.build_cpu_seconds,
    "whole run, CPU s": lambda run: run.collect_cpu_seconds + run.load_cpu_seconds + run.build_cpu_seconds,
    "resident MiB": lambda run: run.resident_mib,
}


def medians(figures: Sequence[RunFigures]) -> dict[str, tuple[float, float]]:
    """Of each measure over the first month, its first run aside, and over the last."""
    last_day = figures[-1].day
    first = [run for run in figures[1:] if run.day < MONTH_DAYS]
    last = [run for run in figures if run.day > last_day - MONTH_DAYS]
    return {
        name: (statistics.median(map(measure, first)), statistics.median(map(measure, last)))
        for name, measure in MEASURES.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--sources", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="where the ledger is made and left; else a temporary one")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GPULEDGER_")]:
            patch.delenv(name)
        progress = (lambda line: print(line, file=sys.stderr)) if sys.stderr.isatty() else None
        played = play(told.folder or Path(folder), patch, days=told.days, sources=told.sources, told=progress)
    print(f"{played.runs} runs of {told.sources} sources, {len(played.truth.offers()):,} prices shown")
    for name, (first, last) in medians(played.figures).items():
        print(f"{name}: first month {first:.3g}, last month {last:.3g}, ratio {last / first:.2f}")


if __name__ == "__main__":
    main()
