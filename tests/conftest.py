"""What every test runs in: no network, no settings, keys or data of the person who runs it, and a clock far from UTC."""

import fcntl
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from flows import logs

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1|0\.0\.0\.0|::|")
KEY = re.compile(r"(_KEY|_TOKEN|_SECRET)$")
PREFECT_HOME = Path(tempfile.mkdtemp(prefix="gpu-ledger-prefect-"))

# Prefect reads its settings once, when it is imported.
for name in [name for name in os.environ if name.startswith(("GPULEDGER_", "PREFECT_"))]:
    if name not in {"GPULEDGER_KILLS", "GPULEDGER_FUZZ", "GPULEDGER_SIMULATED_DAYS"}:
        del os.environ[name]
os.environ.update(
    DO_NOT_TRACK="1",
    PREFECT_HOME=str(PREFECT_HOME),
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="180",
    TZ="America/St_Johns",
)
time.tzset()

# What a step says is read from stderr, also where no command was given.
logs.set_up()

# The machine's speed is no property of the code; a failure in CI is one that anybody can repeat.
hypothesis.settings.register_profile("steady", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("steady")


class NetworkError(RuntimeError):
    """A test reached for the network. Not an OSError, so that no code under test takes it for a host that is down."""


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: only this machine is spoken to. Names are not even looked up."""
    if event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    text = host.decode() if isinstance(host, bytes) else str(host or "")
    if not LOOPBACK.fullmatch(text):
        raise NetworkError(f"a test reached for {text}")


sys.addaudithook(refuse_network)


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(PREFECT_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the test's own, and no provider's key."""
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "data"))
    for name in os.environ:
        if KEY.search(name):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def prefect_harness() -> Iterator[None]:
    """A Prefect server of the session's own, for tests that run flows. It takes about twenty seconds to start."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with every fixture and the curated prices, built and published. Not to be written to."""
    from flows import steps

    # One for all workers of a session; whoever comes first makes it.
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "ledger"
    with folder.with_suffix(".lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "published" / "gpuledger.duckdb").exists():
            patch.setenv("GPULEDGER_DATA", str(folder))
            steps.collect_fixtures()
            steps.collect_curated()
            steps.load_archive()
            steps.build()
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real samples and right answers that some machines have beside the project."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared on this machine: the real samples are not checked")
    return SHARED
