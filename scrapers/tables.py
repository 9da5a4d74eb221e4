"""Tables of other people, CSV or Parquet: their rows as text, and rows back as CSV for the archive."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from scrapers.source import PageError

Row = dict[str, str]


def read_rows(path: Path, needed: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a ``.parquet`` file, or of anything else as CSV; null is an empty text.

    Raises PageError for a file that is not that, and for a missing column.
    """
    if path.suffix == ".parquet":
        yield from _parquet_rows(path, needed)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv_rows(file, path.name, needed)
    except UnicodeDecodeError as error:
        raise PageError(f"{path.name}: not UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from None


def csv_rows(lines: Iterable[str], name: str, needed: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a CSV under its header. Raises PageError for a missing column or a row of another length."""
    reader = csv.DictReader(lines, strict=True)
    try:
        _check_columns(reader.fieldnames or [], needed, name)
        for row in reader:
            if None in row or None in row.values():
                raise PageError(f"{name}, line {reader.line_num}: another number of fields than the header")
            yield row
    except csv.Error as error:
        raise PageError(f"{name}, line {reader.line_num}: not CSV ({error})") from None


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    """Those columns of the rows as a CSV with a header."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def moment(text: str) -> datetime:
    """A time or date in ISO 8601, UTC unless it says otherwise. Raises ValueError."""
    told = datetime.fromisoformat(text.strip())
    return told.replace(tzinfo=told.tzinfo or UTC).astimezone(UTC)


def _parquet_rows(path: Path, needed: Iterable[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _check_columns(file.schema_arrow.names, needed, path.name)
            for batch in file.iter_batches():
                yield from ({name: _text(value) for name, value in row.items()} for row in batch.to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise PageError(
            f"{path.name}: not a Parquet file that can be read ({' '.join(str(error).split())[:100]})"
        ) from None


def _check_columns(found: Iterable[str], needed: Iterable[str], name: str) -> None:
    there = list(found)
    if missing := [column for column in needed if column not in there]:
        raise PageError(f"{name}: no column {', '.join(missing)}; there is {', '.join(there[:30]) or 'nothing'}")


def _text(value: Any) -> str:
    """A cell as CSV has it: truth in small letters, times in ISO 8601, numbers at their shortest."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)
