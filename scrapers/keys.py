"""Providers' keys: from the environment, or from one file that nobody else can read. Never from an argument, never from the project.

The file is ``GPULEDGER_KEYS``: a line ``GPULEDGER_LAMBDA_API_KEY=...`` for each key, as in systemd's EnvironmentFile.
"""

import os
import stat
from pathlib import Path

FILE_ENV = "GPULEDGER_KEYS"
_MOST_BYTES = 64 * 1024


class KeysFileError(RuntimeError):
    """The file of keys can't be used; the message says why and what to do, and holds nothing of the file."""


def find(env_name: str) -> str:
    """The key of that name, empty where there is none; the environment goes before the file. Raises KeysFileError."""
    return os.environ.get(env_name, "").strip() or in_file().get(env_name, "")


def in_file() -> dict[str, str]:
    """Every key of the file by its name; none where no file is named. Raises KeysFileError."""
    told = os.environ.get(FILE_ENV)
    if not told:
        return {}
    path = Path(told).expanduser()
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            # Of the open file: what a name leads to may change in between.
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise KeysFileError(f"{FILE_ENV}: {path} is no ordinary file")
            if found.st_mode & 0o077:
                raise KeysFileError(f"{FILE_ENV}: others may read or change {path}; run: chmod 600 {path}")
            if found.st_uid not in {os.geteuid(), 0}:
                raise KeysFileError(f"{FILE_ENV}: {path} belongs to someone else; make one of your own")
            text = file.read(_MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise KeysFileError(f"{FILE_ENV}: cannot read {path}: {why}") from None
    return dict(
        _line(line, number, path) for number, line in enumerate(text.splitlines(), start=1) if _says_something(line)
    )


def _without_waiting(path: str, flags: int) -> int:
    """A pipe's other end may never be opened."""
    return os.open(path, flags | os.O_NONBLOCK)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _line(line: str, number: int, path: Path) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    name = name.strip().removeprefix("export ").strip()
    if not equals or not name.isidentifier():
        raise KeysFileError(f"{FILE_ENV}: line {number} of {path} is not NAME=key")
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return name, value[1:-1] if is_quoted else value
