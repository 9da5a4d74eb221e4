"""Versions of the files in a git clone, oldest first, read with ``git`` itself.

A published price history is often the history of a repository: each commit shows what its file said at that moment.
A day without a commit says nothing: the prices were the same, or the job behind it was broken.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, cast

from scrapers.source import MAX_PAGE_BYTES

_NO_FILE = "0" * 40


class CloneError(RuntimeError):
    """A clone that can't be read; the message is one line that says what to do."""


@dataclass(frozen=True)
class Version:
    """A file as one commit left it."""

    observed_at: datetime
    """When the commit was written (its author's time), UTC. Squashing and copying a history leave it as it is."""
    commit: str
    path: str
    blob: str

    @property
    def day(self) -> date:
        """UTC date."""
        return self.observed_at.date()


@dataclass(frozen=True)
class Clone:
    """A git repository on this machine, of which only the history of HEAD counts."""

    path: Path

    def versions(self, folder_or_file: str, pattern: re.Pattern[str]) -> list[Version]:
        """Every version of the files below ``folder_or_file`` whose whole path matches, in order of the history.

        Deletions are no versions. A merge counts for what it changed in the branch that it was merged into.
        """
        log = _ask(
            self.path, "-C", str(self.path), "log", "--first-parent", "-m", "--reverse", "--raw", "--no-renames", "--abbrev=40",
            "--format=commit %H %at", "HEAD", "--", folder_or_file,
        )  # fmt: skip
        found: list[Version] = []
        commit, observed_at = "", datetime.min.replace(tzinfo=UTC)
        for line in log.splitlines():
            if line.startswith("commit "):
                _, commit, seconds = line.split()
                observed_at = datetime.fromtimestamp(int(seconds), UTC)
            elif line.startswith(":"):
                facts, _, path = line.partition("\t")
                blob = facts.split()[3]
                if blob != _NO_FILE and pattern.fullmatch(path):
                    found.append(Version(observed_at, commit, path, blob))
        return found

    def contents(self, versions: Iterable[Version]) -> Iterator[bytes]:
        """The content of each version, in the order given, through one process."""
        with subprocess.Popen(  # noqa: S603  # git, on a folder that the person named
            [_git(), *_SAFE, "-C", str(self.path), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        ) as process:
            asked, answered = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            try:
                for version in versions:
                    asked.write(f"{version.blob}\n".encode())
                    asked.flush()
                    told = answered.readline().split()
                    if len(told) != 3 or int(told[2]) > MAX_PAGE_BYTES:
                        raise CloneError(f"{self.path}: {version.path} of commit {version.commit[:12]} can't be read")
                    body = answered.read(int(told[2]) + 1)
                    if len(body) != int(told[2]) + 1:
                        raise CloneError(f"{self.path}: git ended in the middle of {version.path}")
                    yield body[:-1]
            finally:
                process.kill()


@contextmanager
def opened(path: Path) -> Iterator[Clone]:
    """The clone at a path; a bundle (one file that holds a clone) is unpacked into a temporary folder for as long.

    Raises CloneError when git is not there, or the path is neither.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="gpu-ledger-") as folder:
            _ask(path, "clone", "--quiet", "--bare", str(path.absolute()), folder)
            yield Clone(Path(folder))
        return
    if not path.is_dir():
        raise CloneError(f"there is no folder {path}; make a clone with: git clone URL {path}")
    _ask(path, "-C", str(path), "rev-parse", "--git-dir")
    yield Clone(path)


def _git() -> str:
    found = shutil.which("git")
    if found is None:
        raise CloneError("this needs git, and there is none on the PATH; install git and run this again")
    return found


def _ask(path: Path, *arguments: str) -> str:
    command = [_git(), *_SAFE, *arguments]
    done = subprocess.run(command, capture_output=True, env=_environment(), check=False)  # noqa: S603  # git, as above
    if done.returncode:
        raise CloneError(f"{path} is no git clone, nor a bundle of one ({_reason(done.stderr)})")
    return done.stdout.decode("utf-8", errors="replace")


# A clone may belong to another user of this machine, and its own settings must not change what is printed.
_SAFE = ("-c", "safe.directory=*", "-c", "core.quotePath=true", "-c", "log.showSignature=false", "--no-replace-objects")


def _environment() -> dict[str, str]:
    """The caller's, without what points git elsewhere, and with git's messages in English."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


def _reason(text: bytes) -> str:
    lines = text.decode("utf-8", errors="replace").strip().splitlines() or ["no reason given"]
    return next((line for line in lines if line.startswith("fatal:")), lines[-1]).removeprefix("fatal: ")
