"""A Prefect server of this process's own, on this machine only: Prefect's temporary one runs no schedules.

Run as a module it is the server: it ends when its standard input does, so that none is left behind by a parent that was killed.
"""

import contextlib
import os
import runpy
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from flows import prefect_database, prefect_settings
from warehouse import database

START_SECONDS = 180.0
STOP_SECONDS = 20.0


class ServerError(RuntimeError):
    """The server did not start, or is gone; the message says where it says why."""


@contextlib.contextmanager
def running() -> Iterator[subprocess.Popen[bytes]]:
    """A server, ready, whose address and password are in this process's environment; stopped afterwards.

    Prefect must not be imported before. Raises ServerError when it does not start, PrefectDatabaseError.
    """
    os.environ.update(prefect_settings.chosen())
    prefect_database.check()
    port = _free_port()
    # Anyone on this machine can reach the port; only this process and what it starts know the password.
    password = f"gpuledger:{secrets.token_urlsafe(24)}"
    own = {
        "PREFECT_SERVER_API_AUTH_STRING": password,
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(prefect_settings.KEPT_DAYS * 24 * 3600),
        "PREFECT_SERVER_UI_ENABLED": "false",
        # A day of runs ahead is enough, and the fewer there are the less there is to clear away.
        "PREFECT_SERVER_SERVICES_SCHEDULER_MAX_SCHEDULED_TIME": "P1D",
        "PREFECT_SERVER_SERVICES_SCHEDULER_MAX_RUNS": "25",
    }
    log = database.data_dir() / "prefect-server.log"
    try:
        sink = log.open("wb")
    except OSError as error:
        raise ServerError(f"cannot write {log}: {error.strerror}") from None
    with sink:
        process = subprocess.Popen(  # noqa: S603  # a module of ours
            [sys.executable, "-m", "flows.prefect_server", str(port)], env=os.environ | own, stdin=subprocess.PIPE, stdout=sink,
            stderr=subprocess.STDOUT,
            # A Ctrl-C at the terminal is for the parent, which then stops this in its turn.
            start_new_session=True,
        )  # fmt: skip
    try:
        _wait_until_ready(process, port, f"it says why in {log}")
        os.environ |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_API_AUTH_STRING": password}
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, where: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(f"Prefect's server ended with status {process.returncode} while it started; {where}")
        with contextlib.suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=5).close()
            return
        time.sleep(0.2)
    raise ServerError(f"Prefect's server was not ready within {START_SECONDS:.0f} s; {where}")


def _end_with_the_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Be the server, on the port that is the only argument."""
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    sys.argv = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", sys.argv[1], "--log-level", "WARNING"]
    runpy.run_module("prefect", run_name="__main__")


if __name__ == "__main__":
    main()
