"""What goes wrong with the machine: each fault is one clear line and the right exit status, nothing is lost, and the next run completes it."""

import ctypes
import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from flows import steps
from tests.command import within
from tests.market import Market, at, offer
from warehouse import database

ENDED = 128 + signal.SIGTERM


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    """One source that has shown something, which is built, and something newer, which is not loaded."""
    market = Market(tmp_path, monkeypatch)
    market.source("made_up")
    market.says("made_up", "2026-03-01T12:00", [offer("a"), offer("b", "3.00"), offer("c", "4.00")])
    market.update()
    market.says("made_up", "2026-03-02T12:00", [offer("a", "2.10"), offer("b", "3.00"), offer("c", "4.00")])
    return market


def gpuledger(*arguments: str) -> subprocess.CompletedProcess[str]:
    return within(*arguments, data=database.data_dir())


def refused(done: subprocess.CompletedProcess[str], *told: str) -> None:
    """It failed, and said so in one line that says what to do."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("gpuledger: ")
    for words in told:
        assert words in line


def completes(market: Market) -> None:
    """Another run has everything."""
    market.update()
    assert market.sql("SELECT day, sku, price FROM offers WHERE sku = 'a' ORDER BY day")[-1][2] * 100 == 210
    assert market.sql("SELECT count(*) FROM offers") == [(6,)]


# --- The warehouse file


@pytest.mark.slow
def test_a_file_of_something_else_is_named_and_left_as_it_is(market: Market) -> None:
    file = database.working_file()
    for made in (
        lambda: sqlite3.connect(file).execute("CREATE TABLE orders (a)"),
        lambda: duckdb.connect(str(file)).execute("CREATE TABLE orders AS SELECT 1"),
    ):
        file.unlink()
        made().close()
        before = file.read_bytes()
        refused(gpuledger("build"), str(file), "move it away")
        assert file.read_bytes() == before
        # Readers have the published copy all the same.
        assert gpuledger("sql", "SELECT count(*) FROM offers").returncode == 0
    file.unlink()
    completes(market)


@pytest.mark.slow
def test_a_newer_schema_is_left_to_newer_programs(market: Market) -> None:
    with duckdb.connect(str(database.working_file())) as connection:
        connection.execute("INSERT INTO schema_version VALUES (999, now(), '0999_later.sql')")
    refused(gpuledger("build"), "has schema 999", "upgrade the program")
    with duckdb.connect(str(database.working_file())) as connection:
        connection.execute("DELETE FROM schema_version WHERE version = 999")
    completes(market)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_file_is_one_line_and_the_archive_makes_it_anew(market: Market, damage: str) -> None:
    file = database.working_file()
    size = file.stat().st_size
    if damage == "cut":
        os.truncate(file, size // 3)
    else:
        with file.open("r+b") as opened:
            opened.seek(12288)
            opened.write(os.urandom(size - 12288))
    refused(gpuledger("build"), "gpuledger: ")
    for one in file.parent.glob("warehouse.duckdb*"):
        one.unlink()
    completes(market)


@pytest.mark.slow
def test_a_damaged_log_costs_nothing(market: Market) -> None:
    """DuckDB leaves a log aside that is none; what it held is loaded from the archive again."""
    file = database.working_file()
    file.with_name(f"{file.name}.wal").write_bytes(os.urandom(4096))
    completes(market)


@pytest.mark.slow
def test_a_folder_in_its_place_is_one_line(market: Market) -> None:
    file = database.working_file()
    file.unlink()
    file.mkdir()
    refused(gpuledger("build"), str(file))
    file.rmdir()
    completes(market)


@pytest.mark.slow
def test_a_writer_that_never_ends_is_named(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = iter([0.0, 0.0, 61.0])
    with database.writer_lock():
        monkeypatch.setattr(database.time, "monotonic", lambda: next(waited))
        refused(gpuledger("build"), f"process {os.getpid()} is writing")
    monkeypatch.undo()


# --- The disk


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_disk_that_takes_no_archive(market: Market, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fsync(_: int) -> None:
        raise OSError(number, os.strerror(number))

    page = market.modules / "page.json"
    page.write_text('[{"sku": "d", "accelerator_name": "L4", "price": "1.00", "currency": "USD"}]', encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        refused(
            gpuledger("load", "made_up", str(page), "--observed-at", "2026-03-03"),
            "cannot write the archive",
            os.strerror(number),
        )
    assert list(database.archive_dir().rglob(".new-*")) == []
    completes(market)


@pytest.mark.slow
def test_a_disk_that_takes_no_published_copy(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    def copyfile(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    market.load()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", copyfile)
        refused(gpuledger("build"), "No space left", "the last good copy stands")
    assert market.sql("SELECT count(*) FROM offers") == [(3,)]
    assert list(database.published_file().parent.glob(".new-*")) == []


def ends_in(arguments: list[str], before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that starts under some restriction."""
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.argv = {['gpuledger', *arguments]!r}; from flows import cli; cli.main()",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=before)


@pytest.mark.slow
def test_a_disk_that_fills_up_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file may grow beyond a limit that grows itself: so writing fails in the archive, in loading, in building, in the checkpoint."""
    failed: set[str] = set()
    for limit_bytes in (2_000, 60_000, 800_000, 1_600_000, 2_500_000, 4_000_000, 8_000_000):

        def limit(limit_bytes: int = limit_bytes) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))

        for arguments in (["collect", "vultr", "runpod", "lambda_page", "--fixtures"], ["build"]):
            done = ends_in(arguments, limit)
            if done.returncode:
                is_empty = arguments == ["build"] and "nothing is loaded yet" in done.stderr
                refused(done, "" if is_empty else "File too large")
                failed |= set() if is_empty else {arguments[0]}
    assert failed == {"collect", "build"}
    steps.load_archive()
    steps.build()
    with database.connect_published() as connection:
        found = connection.execute("SELECT * EXCLUDE (observed_at) FROM offers ORDER BY ALL").fetchall()
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "clean"))
    steps.collect_fixtures(["vultr", "runpod", "lambda_page"])
    steps.load_archive()
    steps.build()
    with database.connect_published() as connection:
        assert connection.execute("SELECT * EXCLUDE (observed_at) FROM offers ORDER BY ALL").fetchall() == found


def without_privileges() -> None:
    """Permissions hold for root too: the capabilities that pass over them are dropped for what is started now."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                os._exit(99)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_folder_that_may_only_be_read(market: Market) -> None:
    data = database.data_dir()
    folders = [data, *(path for path in data.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        for arguments in (["build"], ["collect", "vultr", "--fixtures"]):
            done = ends_in(arguments, without_privileges)
            if done.returncode == 99:
                pytest.skip("this machine does not let go of privileges")
            refused(done, "Permission denied")
        # Reading needs no more than to read.
        done = ends_in(["sql", "SELECT count(*) AS offers FROM offers", "--format", "csv"], without_privileges)
        assert (done.returncode, done.stdout) == (0, "offers\n3\n"), done.stderr
    finally:
        for folder in folders:
            folder.chmod(0o755)
    completes(market)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_file_that_may_not_be_opened(market: Market) -> None:
    database.working_file().chmod(0)
    done = ends_in(["build"], without_privileges)
    database.working_file().chmod(0o644)
    refused(done, "may not be opened by you")
    completes(market)


# --- Others at the same time, and the end


@pytest.mark.slow
def test_two_writers_at_once_both_end_well() -> None:
    for folder in (["vultr"], ["runpod"]):
        steps.collect_fixtures(folder)
    steps.load_archive()
    commands = [["collect", "vultr", "--fixtures"], ["collect", "runpod", "--fixtures"], ["build"], ["build"]]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.argv = {['gpuledger', *one]!r}; from flows import cli; cli.main()"]
        )
        for one in commands
    ]
    assert [process.wait(240) for process in running] == [0, 0, 0, 0]
    steps.build()
    with database.connect_published() as connection:
        assert connection.execute("SELECT count(DISTINCT source) FROM offers").fetchall() == [(2,)]
        assert connection.execute(
            "SELECT count(*) - count(DISTINCT (snapshot_id, ordinal)) FROM raw.offers"
        ).fetchall() == [(0,)]


@pytest.mark.slow
def test_told_to_end_it_ends_soon_and_cleanly() -> None:
    """SIGTERM at random instants, as a machine sends it that shuts down."""
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    program = "import sys; sys.argv = ['gpuledger', *sys.argv[1:]]; from flows import cli; cli.main()"
    statuses = []
    for attempt in range(12):
        arguments = ["build", "--full"] if attempt % 2 else ["collect", "--fixtures"]
        process = subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(1.5, 7))
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
        statuses.append(process.returncode)
        # Before the program listens, the signal ends it as any other; what came of an ended one may be nothing to build.
        is_empty = process.returncode == 1 and "nothing is loaded yet" in told
        assert is_empty or process.returncode in {0, ENDED, -signal.SIGTERM}, f"seed {seed}, attempt {attempt}: {told}"
        assert "Traceback" not in told, f"seed {seed}, attempt {attempt}: {told}"
        if process.returncode == ENDED:
            assert (
                told.splitlines()[-1] == "gpuledger: ended by SIGTERM; nothing is half done, the next run completes it"
            )
    assert ENDED in statuses
    steps.collect_fixtures()
    steps.load_archive()
    steps.build()
    with database.connect_published() as connection:
        counts = "(SELECT count(*) FROM raw.offers AS o WHERE o.snapshot_id = s.snapshot_id)"
        broken = f"SELECT count(*) FROM raw.snapshots AS s WHERE s.offers <> {counts}"
        assert connection.execute(broken).fetchall() == [(0,)]
    assert list(database.data_dir().rglob(".new-*")) == []


# --- Clocks


@pytest.mark.slow
def test_days_are_utc_days_whatever_the_machine_takes_for_local_time(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.source("hours", provider="vultr")
    # A leap day to its end, the hour that New York has twice and the one that it lacks.
    for moment in ("2024-02-29T23:59:59", "2025-11-02T05:30:00", "2025-11-02T06:30:00", "2026-03-08T07:30:00"):
        market.says("hours", moment, [offer("a"), offer("b")])
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        market.update()
    time.tzset()
    rows = market.sql("SELECT DISTINCT day, observed_at FROM offers WHERE source = 'hours' ORDER BY 2")
    assert [f"{day}" for day, _ in rows] == ["2024-02-29", "2025-11-02", "2025-11-02", "2026-03-08"]
    assert [moment for _, moment in rows] == [
        at(f"{m}") for m in ("2024-02-29T23:59:59", "2025-11-02T05:30", "2025-11-02T06:30", "2026-03-08T07:30")
    ]


@pytest.mark.slow
def test_a_clock_that_was_ahead_once_makes_later_builds_no_dearer(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was built last is told by what it saw, not by when it says it was."""
    market.source("other", provider="vultr")
    monkeypatch.setenv("GPULEDGER_NOW", "2038-01-01T00:00:00Z")
    market.update()
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-04T00:00:00Z")
    for day in (3, 4, 5, 6):
        market.says("other", f"2026-03-0{day}T12:00", [offer("x"), offer("y")])
        market.load()
        built = market.build()
        assert built is not None
        assert not built.is_full
        assert built.days_built <= 2  # the day, and back to the sighting before it
    assert market.build() is None
