"""Every command's help ends with an example, and every example runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer

from flows import cli  # noqa: F401  # its commands register themselves
from flows.app import app
from tests.command import gpuledger, within
from tests.conftest import ROOT
from tests.record import FIXTURES
from tests.test_datasets import MAPPING, Repository, catalogue, row

# Examples that write, take long, or wait for a network that is not there: on a copy of the ledger.
WRITES = (
    "collect", "load", "build", "run", "report", "accept", "reject", "backfill", "verify", "export", "backup", "archive", "doctor --backup",
)  # fmt: skip
# Without a network these say so, a line for each source.
NEEDS_NETWORK = ("collect vast runpod", "backfill wayback")
# The ledger of the tests has no live data, which is what this finds.
FINDS_FAULT = ("status --check",)
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
SNAPSHOT = re.compile(r"\b[0-9a-f]{10,}\b")


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its name."""
    if hasattr(group, "commands"):
        for name, command in group.commands.items():
            yield from commands(command, f"{path} {name}".strip())
    else:
        yield path, group


COMMANDS = dict(commands(typer.main.get_command(app)))
EXAMPLES = [
    example
    for command in COMMANDS.values()
    for example in re.findall(r"^ *(?:Examples?: )?gpuledger (.+)$", command.help or "", re.MULTILINE)
]
ASKS = [example for example in EXAMPLES if not example.startswith(WRITES)]
CHANGES = [example for example in EXAMPLES if example.startswith(WRITES)]


def test_every_command_has_an_example_of_itself() -> None:
    without = [
        name for name, command in COMMANDS.items() if f"gpuledger {name}" not in " ".join((command.help or "").split())
    ]
    assert without == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name."""
    here = tmp_path_factory.mktemp("examples")
    shutil.copyfile(next(FIXTURES.glob("vultr/*/plans-001.json")), here / "plans.json")
    shutil.copyfile(next(FIXTURES.glob("lambda_page/2023-09-09*/*.html")), here / "lambda.html")
    (here / "quotes.csv").write_text("when,cloud,gpu,usd,kind\n2026-03-02,Lambda,H100 SXM 80GB,20,OD\n")
    (here / "quotes.toml").write_text(MAPPING)
    repository = Repository(here / "skypilot-catalog")
    repository.commit("2023-01-05T00:00:00Z", {"catalogs/v5/aws.csv": catalogue(row("p4d.24xlarge", "A100", "32.77"))})
    return here


def run(example: str, folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with duckdb.connect(str(data / "published" / "gpuledger.duckdb"), read_only=True) as ledger:
        [(snapshot, ordinal)] = ledger.execute(
            "SELECT snapshot_id, ordinal FROM offers WHERE index_eligible ORDER BY snapshot_id, ordinal LIMIT 1"
        ).fetchall()
    words = shlex.split(SNAPSHOT.sub(snapshot, example.replace("3f6c0e51a2b4 17", f"3f6c0e51a2b4 {ordinal}")))
    done = within(*words, data=data, **NO_NETWORK)
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if example.startswith(NEEDS_NETWORK + FINDS_FAULT) else 0), done.stderr
    if example.startswith(NEEDS_NETWORK):
        assert len(done.stderr.splitlines()) >= 1
    else:
        assert done.stdout or done.stderr


@pytest.mark.parametrize("example", ASKS)
def test_every_example_that_asks_runs(
    ledger: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    run(example, folder, ledger, monkeypatch)


@pytest.fixture(scope="module")
def own(ledger: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the ledger to write to, and a back-up of it."""
    copy = tmp_path_factory.mktemp("own") / "data"
    shutil.copytree(ledger, copy, symlinks=True)
    assert gpuledger("backup", str(folder / "ledger-backup"), data=copy).returncode == 0
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("example", CHANGES)
def test_every_example_that_changes_something_runs(
    own: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    run(example, folder, own, monkeypatch)


@pytest.mark.slow
def test_a_build_tells_and_a_bad_file_makes_it_done_in_part(ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "published").mkdir()
    for name in ("warehouse.duckdb", "published/gpuledger.duckdb"):
        shutil.copyfile(ledger / name, tmp_path / name)
    wanted = tmp_path / "wanted.toml"
    wanted.write_text(
        "[[alert]]\nkind = 'price_below'\naccelerator = 'h100-sxm-80gb'\nusd_per_accelerator_hour = 30.0\n"
    )
    done = gpuledger("build", data=tmp_path, GPULEDGER_ALERTS=str(wanted))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("alert: h100-sxm-80gb is at ")
    wanted.write_text("[[alert]]\nkind = 'price_below'\n")
    done = gpuledger("build", data=tmp_path, GPULEDGER_ALERTS=str(wanted))
    assert (done.returncode, done.stdout) == (3, "")
    assert "nothing new to build" in done.stderr
    assert done.stderr.count("alerts: ") == 1
    assert (tmp_path / "published" / "parquet").exists()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("gpuledger pri", "prices"), ("gpuledger prices h100-sx", "h100-sxm-80gb"), ("gpuledger collect vult", "vultr"),
     ("gpuledger explain cost llama-6", "llama-65b"), ("gpuledger parse lambda_p", "lambda_page")],
)  # fmt: skip
def test_a_shell_completes_commands_and_names(tmp_path: Path, typed: str, offered: str) -> None:
    words = typed.split()
    program = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1), "_CLI_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv = ['cli']; from flows.app import app; from flows import cli; app(prog_name='cli')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | program, capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert offered in done.stdout.split()
