"""What the command says while it works, as lines on stderr for a person, or as JSON lines for a machine: ``GPULEDGER_LOG=json``.

Standard logging throughout: the logger is ``gpuledger``, and whoever embeds this may send it elsewhere.
"""

import contextlib
import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from scrapers import keys
from scrapers.redaction import Redactor

LOGGER = logging.getLogger("gpuledger")
_KEY_ENDS = ("_KEY", "_TOKEN", "_SECRET", "_WEBHOOK")


class LogError(ValueError):
    """``GPULEDGER_LOG`` names no form of log that there is."""


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to what stderr is at that moment."""

    @property
    def stream(self) -> TextIO:
        """What stderr is now; what it was may be closed."""
        return sys.stderr

    @stream.setter
    def stream(self, value: TextIO) -> None:
        pass


class JsonLines(logging.Formatter):
    """One object a line: ``at`` (UTC), ``level``, ``logger``, ``message``, and the facts of the event under their own names."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of JSON, whatever is in it."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        facts: dict[str, Any] = getattr(record, "facts", {})
        line |= {name: value for name, value in facts.items() if name not in line}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up() -> None:
    """Send the log to stderr in the form that ``GPULEDGER_LOG`` asks for, ``text`` or ``json``. Raises LogError."""
    form = os.environ.get("GPULEDGER_LOG") or "text"
    if form not in {"text", "json"}:
        raise LogError(f"GPULEDGER_LOG is {form!r}; it is text or json")
    handler = _Handler(sys.stderr)
    handler.addFilter(_keys())
    if form == "json":
        handler.setFormatter(JsonLines())
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    _replace(LOGGER, handler)
    # What the libraries warn of is JSON, too, where JSON is wanted.
    _replace(logging.getLogger(), handler if form == "json" else None)
    logging.captureWarnings(form == "json")


def _replace(logger: logging.Logger, handler: _Handler | None) -> None:
    for old in [one for one in logger.handlers if isinstance(one, _Handler)]:
        logger.removeHandler(old)
    if handler is not None:
        logger.addHandler(handler)


def _keys() -> Redactor:
    redactor = Redactor()
    for name, value in os.environ.items():
        if name.startswith("GPULEDGER_") and name.endswith(_KEY_ENDS):
            redactor.add(value)
    # Whoever needs a key is told what is wrong with the file.
    with contextlib.suppress(keys.KeysFileError):
        for value in keys.in_file().values():
            redactor.add(value)
    return redactor
