"""The command, as a process of its own or within this one, which starts a second sooner."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def gpuledger(*arguments: str, data: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a data folder, with further environment variables."""
    command = [sys.executable, "-m", "flows.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"GPULEDGER_DATA": str(data)} | more, check=False
    )


def within(*arguments: str, data: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own."""
    from flows import cli

    printed, said = io.StringIO(), io.StringIO()
    status: int | str | None = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["gpuledger", *arguments])
        for name, value in {"GPULEDGER_DATA": str(data), **more}.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                cli.main()
            except SystemExit as end:
                status = end.code
    return subprocess.CompletedProcess(arguments, int(status or 0), printed.getvalue(), said.getvalue())


def json_lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What it printed, an object a line; it has to have succeeded."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
