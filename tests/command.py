"""The command as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def gpuledger(*arguments: str, data: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a data folder, with further environment variables."""
    command = [sys.executable, "-m", "flows.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"GPULEDGER_DATA": str(data)} | more, check=False
    )


def json_lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What it printed, an object a line; it has to have succeeded."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
