"""SIGKILL at random instants of collecting, loading, building and publishing: the ledger opens, and the next run completes it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

pytestmark = pytest.mark.slow

# Two hundred when told so; a tenth of it by default.
KILLS = int(os.environ.get("GPULEDGER_KILLS", "20"))
RUN = """
from flows import steps
steps.collect_fixtures()
steps.collect_curated()
steps.load_archive()
steps.build()
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN], env=os.environ | {"GPULEDGER_DATA": str(folder)}, stderr=subprocess.DEVNULL
    )


def content(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """What is in a ledger, but for when it was learnt."""
    tables = (
        "raw.offers",
        "raw.offer_texts",
        "prices_daily",
        "provider_prices_daily",
        "basis_prices_daily",
        "training_cost_frontier",
    )
    with duckdb.connect(str(file), read_only=True) as connection:
        found = {
            name: connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
            for name in tables
            if name != "raw.offer_texts"
        }
        found["raw.offer_texts"] = connection.execute(
            "SELECT * EXCLUDE (load_number) FROM raw.offer_texts ORDER BY ALL"
        ).fetchall()
        return found


def whole_snapshots_only(file: Path) -> bool:
    """Whether each stored collection has as many offers as it says."""
    with duckdb.connect(str(file), read_only=True) as connection:
        tables = connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw' AND table_name = 'offers'"
        ).fetchall()
        if tables == [(0,)]:
            return True
        broken = connection.execute(
            "SELECT count(*) FROM raw.snapshots AS s WHERE s.offers <> (SELECT count(*) FROM raw.offers AS o WHERE o.snapshot_id = s.snapshot_id)"
        ).fetchall()
        return broken == [(0,)]


def test_killed_anywhere_the_next_run_completes_it(tmp_path: Path) -> None:
    started = time.monotonic()
    assert start(tmp_path / "clean").wait(300) == 0
    seconds = time.monotonic() - started
    expected = content(tmp_path / "clean" / "warehouse.duckdb")
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    folder = tmp_path / "killed"
    killed = 0
    for attempt in range(KILLS):
        process = start(folder)
        time.sleep(chance.uniform(0.2, seconds * 1.05))
        process.send_signal(signal.SIGKILL)
        is_done = process.wait() != -signal.SIGKILL
        killed += not is_done
        for file in (folder / "warehouse.duckdb", folder / "published" / "gpuledger.duckdb"):
            assert not file.exists() or whole_snapshots_only(file), f"seed {seed}, attempt {attempt}: {file}"
        if is_done:  # what is left to do there takes no time to be killed in
            folder = tmp_path / f"killed-{attempt}"
    assert killed > KILLS / 3, "nearly every run ended before its kill"
    for folder in [tmp_path / "killed", *tmp_path.glob("killed-*")]:
        assert start(folder).wait(300) == 0, f"seed {seed}"
        assert content(folder / "warehouse.duckdb") == expected, f"seed {seed}"
        assert content(folder / "published" / "gpuledger.duckdb") == expected, f"seed {seed}"


def start_prefect_run(folder: Path) -> subprocess.Popen[bytes]:
    """The whole as a Prefect flow, with the server that it starts, in a process group of their own."""
    own = {"GPULEDGER_DATA": str(folder), "PREFECT_HOME": str(folder / "prefect")}
    return subprocess.Popen(
        [sys.executable, "-m", "flows.cli", "run", "--fixtures"],
        env=os.environ | own,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def test_a_prefect_run_that_was_killed_is_completed_by_the_next(tmp_path: Path) -> None:
    """Five of two hundred kills; its own database is left as it was, and once it is gone."""
    assert start(tmp_path / "clean").wait(300) == 0
    expected = content(tmp_path / "clean" / "warehouse.duckdb")
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    folder = tmp_path / "killed"
    for attempt in range(max(1, KILLS // 40)):
        process = start_prefect_run(folder)
        time.sleep(chance.uniform(8, 40))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for file in (folder / "warehouse.duckdb", folder / "published" / "gpuledger.duckdb"):
            assert not file.exists() or whole_snapshots_only(file), f"seed {seed}, attempt {attempt}: {file}"
    (folder / "prefect" / "prefect.db").unlink(missing_ok=True)
    assert start_prefect_run(folder).wait(600) == 0, f"seed {seed}"
    assert content(folder / "warehouse.duckdb") == expected, f"seed {seed}"
    assert content(folder / "published" / "gpuledger.duckdb") == expected, f"seed {seed}"
