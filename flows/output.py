"""What the command prints: data on stdout as a table, CSV or JSON lines; everything else on stderr."""

import csv
import json
import logging
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from flows.logs import LOGGER
from flows.table import table


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def say(text: str, level: int = logging.INFO, **facts: Any) -> None:
    """A line for the person watching, on stderr, and its facts for whoever reads the log as JSON."""
    LOGGER.log(level, "%s", text, extra={"facts": plain(facts)})


def tell(text: str) -> None:
    """A line that was asked for."""
    print(text, flush=True)


def plain(value: Any) -> Any:
    """A value as JSON knows it: numbers as numbers, times in ISO 8601 UTC."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date | time | timedelta | UUID | bytes):
        return value.hex() if isinstance(value, bytes) else str(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def print_json(rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line. NaN and infinities, which JSON has not, become null."""
    for row in rows:
        print(json.dumps(_finite(plain(row)), ensure_ascii=False))


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {key: None if isinstance(value, float) and value - value != 0 else value for key, value in row.items()}


def print_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], form: Format, keep: Collection[str] = ()) -> None:
    """Rows in the form asked for; in a table that has to be narrow, the columns to ``keep`` go last."""
    if form is Format.JSON:
        print_json(dict(zip(names, row, strict=True)) for row in rows)
    elif form is Format.CSV:
        _print_csv(names, rows)
    else:
        _print_table(names, rows, keep)


def _print_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    """A CSV cell that no spreadsheet takes for a formula."""
    told = plain(value)
    if isinstance(told, list | dict):
        told = json.dumps(told, ensure_ascii=False)
    if isinstance(told, str) and told[:1] in "=+-@\t\r" and told:
        return f"'{told}"
    return told


def _print_table(names: Sequence[str], rows: Sequence[Sequence[Any]], keep: Collection[str]) -> None:
    """As wide as it takes; at a terminal no wider than that, and what has no room is said."""
    numbers = [
        bool(rows) and all(isinstance(row[place], int | float | Decimal | None) for row in rows)
        for place in range(len(names))
    ]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    laid_out = table(names, [[_text(value) for value in row] for row in rows], numbers, width, keep)
    for line in laid_out.lines:
        print(line if is_unicode() else line.replace("…", "~"))
    if laid_out.left_out:
        say(f"no room at this width for {', '.join(laid_out.left_out)}; --format csv and json have all")


def is_unicode() -> bool:
    """Whether stdout can show more than ASCII."""
    try:
        "…▁".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _text(value: Any) -> str:
    """A table cell without control characters, so that nothing from outside steers the terminal."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return printable(str(plain(value)))


def printable(text: str) -> str:
    """A text without control characters, so that nothing from outside steers the terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _number(value: float) -> str:
    if abs(value) < 1000:
        return f"{value:,.4f}"
    return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
