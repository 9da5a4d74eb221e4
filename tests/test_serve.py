"""``gpuledger serve`` for real: a server, a runner, a process per run; killed, started again, stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows import schedule, serve
from flows.schedule import Turn, Turns
from tests.command import within
from tests.conftest import ROOT
from tests.market import MODULE, at

FETCH = """

def fetch(client):
    import json
    from scrapers.source import Page
    yield Page("https://made-up.example/", json.dumps([dict(sku="a", accelerator_name="H100 SXM 80GB", accelerator_count="1",
                                                            price="2.00", currency="USD")]).encode(), "page.json")
"""
SCHEDULES = """
[marketplaces]
every = "1m"
first = "2026-01-01T00:00:00Z"
jitter = "1s"
[lists]
every = "52w"
[report]
every = "52w"
[digest]
every = "52w"
"""
STARTUP = "from scrapers import providers\nproviders.__path__[:] = [{modules!r}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One made-up hourly source, served every minute."""
    modules, path = tmp_path / "modules", tmp_path / "path"
    modules.mkdir()
    path.mkdir()
    words = {"provider": "vast", "kind": "api", "offers": "range(1, 9)", "is_aggregator": False, "unproven": False}
    text = MODULE.format(**words).replace("terms=", "cadence='hourly', terms=") + FETCH
    (modules / "made_up.py").write_text(text)
    (path / "sitecustomize.py").write_text(STARTUP.format(modules=str(modules)))
    (tmp_path / "schedules.toml").write_text(SCHEDULES)
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(path), str(ROOT)]))
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    return tmp_path


def start(folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "serve.log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-m", "flows.cli", "serve"], cwd=folder, stderr=log, stdout=log)


def wait_for(folder: Path, turns: int, process: subprocess.Popen[bytes]) -> list[Turn]:
    """Until so many runs are done."""
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        found = schedule.turns("marketplaces").turns
        if len([one for one in found if one.ended_at]) >= turns:
            return found
        assert process.poll() is None, (folder / "serve.log").read_text()
        time.sleep(0.5)
    pytest.fail((folder / "serve.log").read_text())


def servers(folder: Path) -> list[int]:
    """Prefect servers that were started from here."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = b"flows.prefect_server" in (one / "cmdline").read_bytes() and (one / "cwd").resolve() == folder
        except OSError:
            continue
        if is_ours:
            found.append(int(one.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes in /proc")
def test_it_serves_is_killed_and_makes_up_for_what_it_missed_once(folder: Path) -> None:
    process = start(folder)
    [first, *_] = wait_for(folder, 1, process)
    assert first.status == "ok", (folder / "serve.log").read_text()
    again = subprocess.run(
        [sys.executable, "-m", "flows.cli", "serve"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert f"process {process.pid} serves {folder / 'data'} already; stop it first" in again.stderr
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while servers(folder) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert servers(folder) == [], "a server that nobody stops"
    # As if it had been dead for an hour.
    long_ago = at("2026-03-01T06:00")
    schedule._write(
        "marketplaces", Turns(turns=[Turn(scheduled_at=long_ago, started_at=long_ago, ended_at=long_ago, status="ok")])
    )
    process = start(folder)
    found = wait_for(folder, 2, process)
    log = (folder / "serve.log").read_text()
    assert log.count("marketplaces: missed its time, made up for now") == 1
    assert found[1].status == "ok", log
    # It was made for the moment, not for one of the many times missed.
    assert (found[1].started_at - found[1].scheduled_at).total_seconds() < 300
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert (folder / "serve.log").read_text().rstrip().endswith("stopped")
    assert "Traceback" not in (folder / "serve.log").read_text()
    assert servers(folder) == []
    assert within("sql", "SELECT count(*) FROM offers", data=folder / "data").returncode == 0


def test_only_one_serves_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    with (
        serve.only_one(),
        pytest.raises(serve.ServeError, match=rf"process {os.getpid()} serves .* already; stop it first"),
        serve.only_one(),
    ):
        pass
    with serve.only_one():
        pass


def test_what_runs_next_is_shown_without_prefect(tmp_path: Path) -> None:
    done = within("serve", "--show", data=tmp_path)
    assert done.returncode == 0
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["marketplaces", "lists", "report", "digest"]
    assert not list(tmp_path.iterdir())
