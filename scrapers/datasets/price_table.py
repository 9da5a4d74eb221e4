"""Anyone's own table of prices, CSV or Parquet, with a small mapping (TOML) that says which column is what.

The mapping is archived beside the rows, so that they can be read again. Its tables::

    [table]                      # optional
    name = "our quotes"          # tells several tables apart; the file's name otherwise
    url = "https://example.org"  # where the table is from

    [columns]                    # a field of an offer = a column of the table
    observed_at = "date"
    provider = "cloud"
    sku = "instance"
    accelerator_name = "gpu"
    accelerator_count = "gpus"
    price = "usd per hour"

    [constants]                  # a field that is the same in every row
    currency = "USD"

    [words.pricing_model]        # a word of the table = ours
    "On-Demand" = "on_demand"

``observed_at``, ``provider``, ``accelerator_name`` and ``price`` must be told, and ``currency``; ``sku`` is the accelerator's name
where none is. The fields are those of ``scrapers/offer.py``. A row without a price, or with 0, is no offer. All rows of a UTC day
are one snapshot, which is not taken for a whole price list.
"""

import difflib
import io
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import each, is_placeholder
from scrapers.source import Capture, Page, PageError, Rejected, Source
from scrapers.tables import Row, as_csv, csv_rows, moment, read_rows

SOURCE = Source(
    provider="price_table",
    url="https://github.com/gpu-ledger/gpu-ledger",
    kind="dataset",
    offers=range(1, 1_000_000),
    terms="a table of yours",
    is_aggregator=True,
    whole=False,
)
MAPPING, TABLE = "mapping.toml", "table.csv"
FIELDS = {"observed_at", *Offer.model_fields}
REQUIRED = ("observed_at", "provider", "accelerator_name", "price", "currency")


@dataclass(frozen=True)
class Told:
    """What a mapping says."""

    columns: Mapping[str, str]
    constants: Mapping[str, Any]
    words: Mapping[str, Mapping[str, Any]]
    name: str = ""
    url: str = ""

    def value(self, row: Mapping[str, str], field: str) -> Any:
        """A field of a row, in our words; None where the cell is empty or nothing tells it."""
        if field in self.columns:
            text = row[self.columns[field]].strip()
            return self.words.get(field, {}).get(text, text) if text else None
        return self.constants.get(field)


def captures(path: Path, mapping: Path) -> Iterator[Capture]:
    """One capture for each UTC day of the table, oldest first. Raises PageError."""
    try:
        told = mapping.read_bytes()
    except OSError as error:
        raise PageError(f"cannot read {mapping}: {error.strerror}") from None
    read = _mapping(told, mapping.name)
    columns = sorted(set(read.columns.values()))
    days: dict[date, list[tuple[datetime, Row]]] = defaultdict(list)
    for place, row in enumerate(read_rows(path, columns), start=2):
        try:
            seen = moment(str(read.value(row, "observed_at") or ""))
        except ValueError:
            text = read.value(row, "observed_at")
            raise PageError(f"{path.name}, line {place}: observed_at is no ISO 8601 date or time: {text!r}") from None
        days[seen.date()].append((seen, row))
    for _, rows in sorted(days.items()):
        pages = [Page(read.url or f"file:{mapping.name}", told, MAPPING)]
        pages += [Page(read.url or f"file:{path.name}", as_csv(columns, (row for _, row in rows)), TABLE)]
        yield Capture(max(seen for seen, _ in rows), pages, read.name or path.stem)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the pages that ``captures`` yields: a mapping and the tables that it is for."""
    mappings = [page for page in pages if page.name.endswith(".toml")]
    if len(mappings) != 1:
        raise PageError("not a table with its mapping")
    mapping = _mapping(mappings[0].body, mappings[0].name)
    for page in pages:
        if page is not mappings[0]:
            rows = csv_rows(io.StringIO(page.text), page.name, mapping.columns.values())
            yield from each(
                ({"row": f"row {place}", **row} for place, row in enumerate(rows, start=1)),
                "row",
                lambda row: _offer(mapping, row),
            )


def _mapping(told: bytes, name: str) -> Told:
    try:
        read = tomllib.loads(told.decode("utf-8-sig"), parse_float=Decimal)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PageError(f"{name}: not TOML ({error})") from None
    parts = {part: read.pop(part, {}) for part in ("table", "columns", "constants", "words")}
    if read or not all(isinstance(part, dict) for part in parts.values()):
        raise PageError(
            f"{name}: a mapping has the tables table, columns, constants and words, and not {', '.join(read) or 'values'}"
        )
    columns, constants, words = parts["columns"], parts["constants"], parts["words"]
    for field in [*columns, *constants, *words]:
        if field not in FIELDS:
            near = difflib.get_close_matches(field, FIELDS, n=1)
            raise PageError(f"{name}: an offer has no field {field!r}" + (f"; {near[0]!r} is meant?" if near else ""))
    if twice := columns.keys() & constants.keys():
        raise PageError(f"{name}: {', '.join(sorted(twice))} is both a column and a constant")
    if missing := [field for field in REQUIRED if field not in columns and field not in constants]:
        raise PageError(f"{name}: nothing tells {', '.join(missing)}; add it to [columns] or [constants]")
    if not all(isinstance(column, str) for column in columns.values()) or not all(
        isinstance(table, dict) for table in words.values()
    ):
        raise PageError(f"{name}: [columns] names columns, and [words.FIELD] holds words")
    return Told(columns, constants, words, str(parts["table"].get("name", "")), str(parts["table"].get("url", "")))


def _offer(mapping: Told, row: dict[str, Any]) -> Iterator[Offer]:
    told = {field: mapping.value(row, field) for field in FIELDS - {"observed_at"}}
    words = {field: value for field, value in told.items() if value is not None}
    price = words.get("price")
    if price is None or is_placeholder(str(price)) or str(price).strip("0.") == "":
        return
    words.setdefault("sku", words.get("accelerator_name"))
    if "memory_gb" in words:
        words.setdefault("memory_scope", "each")
    yield Offer.model_validate(words)
