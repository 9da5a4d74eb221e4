"""How fast a git history of CSVs is taken in, beside git-history on the same clone and file, and DuckDB on the same CSVs on disk.

    python -m benchmarks.backfill [CLONE FILE]

CLONE is a clone of the SkyPilot catalogue or a bundle of one, FILE a file in it; without them, the two of ../shared are taken: a large
file, most of whose rows have no accelerator, and a small one, all of whose rows have. Each is first copied into a repository of its own, and
all three read that. git-history (simonw's, from PyPI) is installed into a temporary environment; it needs a package index.

Unequal work: git-history stores every row of every version as it is; DuckDB reads files that somebody has taken out of the clone for it;
we archive, drop rows without an accelerator, check every offer, name its words once, and store it with its verdict.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from flows import steps
from scrapers import clone
from warehouse import database

HISTORY = Path(__file__).parents[2] / "shared" / "history" / "skypilot-catalog"
DEFAULTS = [
    (HISTORY / "skypilot-catalog-weekly.bundle", "catalogs/v5/gcp/vms.csv"),
    (HISTORY / "skypilot-catalog-smallclouds-all.bundle", "catalogs/v5/fluidstack/vms.csv"),
]


@dataclass(frozen=True)
class Measured:
    """What one way took."""

    way: str
    rows: int
    wall_seconds: float
    cpu_seconds: float

    def line(self, others: "list[Measured]") -> str:
        """Seconds, rows per second, and how many times as fast as git-history, by CPU time: other work on the machine disturbs it less."""
        ratio = f"{others[0].cpu_seconds / self.cpu_seconds:8.1f}x" if others else "       1x"
        return f"{self.way:58} {self.rows:9,} {self.wall_seconds:8.2f} {self.cpu_seconds:8.2f} {self.rows / self.wall_seconds:12,.0f} {ratio}"


def measured(way: str, work: Callable[[], int]) -> Measured:
    """Time some work, with that of the processes it starts."""
    clock, cpu = time.perf_counter(), _cpu()
    rows = work()
    return Measured(way, rows, time.perf_counter() - clock, _cpu() - cpu)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def copy_history(source: Path, file: str, target: Path) -> int:
    """The history of one file as a repository of its own, and each version as a file beside it; returns how many versions."""
    on_disk = target.with_name("csv")
    on_disk.mkdir()
    stream = [b"feature done\n"]
    with clone.opened(source) as opened:
        versions = opened.versions(file, re.compile(re.escape(file)))
        for place, (version, body) in enumerate(zip(versions, opened.contents(versions), strict=True)):
            (on_disk / f"{place:05}.csv").write_bytes(body)
            when = f"bot <bot@made-up.example> {int(version.observed_at.timestamp())} +0000"
            stream.append(
                f"commit refs/heads/main\ncommitter {when}\ndata 0\nM 100644 inline {file}\ndata {len(body)}\n".encode()
                + body
                + b"\n"
            )
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(target)], check=True)
    subprocess.run(["git", "-C", str(target), "fast-import", "--quiet"], input=b"".join(stream) + b"done\n", check=True)
    subprocess.run(["git", "-C", str(target), "reset", "--quiet", "--hard", "main"], check=True)
    return len(versions)


def git_history(tool: Path, repository: Path, file: str, folder: Path) -> int:
    """simonw's git-history; returns the rows it stored."""
    store = folder / "git-history.db"
    command = [str(tool), "file", str(store), file, "--repo", str(repository), "--branch", "main", "--csv", "--silent"]
    subprocess.run(command, check=True)
    import sqlite3

    with sqlite3.connect(store) as connection:
        [(rows,)] = connection.execute("SELECT count(*) FROM item").fetchall()
    return int(rows)


def ours(repository: Path, rows: int) -> int:
    """The clone into archive and warehouse; returns the rows of the file that it went through."""
    adapter = steps.dataset("skypilot_catalog")
    steps.backfill_dataset(adapter, steps.dataset_captures(adapter, repository))
    steps.load_archive()
    return rows


def duckdb_alone(folder: Path) -> int:
    """The same CSVs, on disk, into a DuckDB table; returns its rows."""
    with duckdb.connect(str(folder / "plain.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE rows AS FROM read_csv(?, filename = TRUE, all_varchar = TRUE)",
            [str(folder / "csv" / "*.csv")],
        )
        [(rows,)] = connection.execute("SELECT count(*) FROM rows").fetchall()
    return int(rows)


def compare(source: Path, file: str, tool: Path) -> None:
    """All three on one file, printed."""
    with tempfile.TemporaryDirectory(prefix="gpu-ledger-") as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setenv("GPULEDGER_DATA", str(folder / "data"))
        versions = copy_history(source, file, folder / "repository")
        with database.writer_lock(), database.connect_working():
            pass  # the schema, and the first import of everything, are no part of it
        found = [
            measured(
                "git-history, every row into SQLite", lambda: git_history(tool, folder / "repository", file, folder)
            )
        ]
        found.append(measured("GPU Ledger, archive and warehouse", lambda: ours(folder / "repository", found[0].rows)))
        found.append(measured("DuckDB, of CSVs on disk", lambda: duckdb_alone(folder)))
        with database.connect_working(read_only=True) as connection:
            [(offers,)] = connection.execute("SELECT count(*) FROM raw.offers").fetchall()
    print(f"\n{file}: {versions} versions, {found[0].rows:,} rows, of which {offers:,} offers were stored")
    print(f"{'':58} {'rows':>9} {'seconds':>8} {'CPU s':>8} {'rows a second':>12} {'faster':>9}")
    for place, one in enumerate(found):
        print(one.line(found[:1] if place else []))


def main() -> None:
    """Install git-history for the time being, and compare."""
    pairs = (
        [(Path(sys.argv[1]), sys.argv[2])] if len(sys.argv) == 3 else [pair for pair in DEFAULTS if pair[0].exists()]
    )
    if not pairs:
        sys.exit("no ../shared here; say: python -m benchmarks.backfill CLONE FILE")
    with tempfile.TemporaryDirectory(prefix="gpu-ledger-") as name:
        venv.create(name, with_pip=True)
        subprocess.run([f"{name}/bin/python", "-m", "pip", "install", "--quiet", "git-history==0.8"], check=True)
        for source, file in pairs:
            compare(source, file, Path(name) / "bin" / "git-history")


if __name__ == "__main__":
    main()
