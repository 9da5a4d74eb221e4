"""Prefect's own database locked, damaged or away: one clear line, the ledger as it was; a lock that passes is waited for."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from flows import prefect_database
from flows.prefect_database import PrefectDatabaseError
from tests.command import gpuledger, json_lines, within


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(prefect_database, "WAIT_SECONDS", 0.1)
    return tmp_path / "prefect.db"


def made(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, timeout=60, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE IF NOT EXISTS held (a)")
    return connection


def test_one_that_is_fine_or_not_there_yet_is_left_as_it_is(file: Path) -> None:
    prefect_database.check()
    assert not file.exists()
    with closing(made(file)):
        prefect_database.check()


def test_one_that_another_process_holds_is_named(file: Path) -> None:
    with closing(made(file)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(PrefectDatabaseError, match=rf"{file} .*locked.*: another process holds it; end that one"):
            prefect_database.check()
        connection.execute("ROLLBACK")
        prefect_database.check()


def test_one_that_is_damaged_is_named(file: Path) -> None:
    file.write_bytes(b"no database at all" * 400)
    with pytest.raises(PrefectDatabaseError, match=rf"{file} .*move it away, a new one is made"):
        prefect_database.check()


def test_a_folder_in_its_place_is_named(file: Path) -> None:
    file.mkdir()
    with pytest.raises(PrefectDatabaseError, match=rf"{file} .*set PREFECT_HOME"):
        prefect_database.check()


def test_a_database_elsewhere_is_not_looked_at(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"no database at all" * 400)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    prefect_database.check()


@pytest.mark.slow
def test_run_and_serve_say_so_in_one_line(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"no database at all" * 400)
    for command in (["run", "--fixtures"], ["serve", "--fixtures"]):
        done = gpuledger(*command, data=tmp_path / "data")
        [line] = [line for line in done.stderr.splitlines() if "every" not in line]
        assert (done.returncode, str(file) in line, "move it away" in line) == (1, True, True)
    assert not (tmp_path / "data" / "warehouse.duckdb").exists()


@pytest.mark.slow
def test_a_lock_that_passes_is_waited_for(file: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", "run", "--fixtures"], env=os.environ | {"GPULEDGER_DATA": str(tmp_path / "data")},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        while not (tmp_path / "data" / "archive").exists():  # it is under way
            assert process.poll() is None
            time.sleep(0.1)
        with closing(made(file)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            time.sleep(10)
            connection.execute("ROLLBACK")
        _, told = process.communicate(timeout=400)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, told.decode()
    [found] = json_lines(
        within("sql", "SELECT count(*) > 1000 AS enough FROM offers", "--format", "json", data=tmp_path / "data")
    )
    assert found == {"enough": True}
