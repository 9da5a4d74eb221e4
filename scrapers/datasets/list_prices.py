"""Dated list prices, kept by hand in ``warehouse/reference/list_prices.csv``: hyperscalers and neoclouds since 2017.

Odd about it: a row is one fact on one page, most of them archived pages that others read before us. Where their lists
print a price for each accelerator, so does the row, though the page may price a machine: the same machine can stand
with ``price_scope`` accelerator in one row and offer in the next. Google's accelerators before 2026 are priced without
their host (``component``). A SKU is the provider's instance type where the row's evidence decides it, else our key.

``verified``: yes, the price stands in a saved copy of the page; partly, one list says so and links the page; memory,
nobody read the provider's page.

What is archived of a row are the words of the page, not our reading of it (key, verdict, note), so that a better note
makes no new snapshot.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each
from scrapers.source import Capture, Page, PageError, Rejected, Source

SOURCE = Source(
    provider="list_prices",
    url="https://web.archive.org/",
    kind="curated",
    offers=range(1, 100),
    cadence="weekly",
    terms="facts entered by hand, each with its page; nothing is fetched",
    is_aggregator=True,
    whole=False,
)
COLUMNS = [
    "provider", "sku", "accelerator_name", "accelerator_count", "memory_gb", "price", "currency", "per", "price_scope",
    "pricing_model", "commitment_days", "tier", "region", "interconnect",
]  # fmt: skip
_ARCHIVED = re.compile(r"^https://web\.archive\.org/web/(\d{14})(?:[a-z]{2}_)?/(.+)$")


def captures(path: Path) -> Iterator[Capture]:
    """One capture for every page and day of the file, oldest first.

    It is observed at the archive's own timestamp where the address carries one of that day, else at the day's midnight.
    Its scope is the page: a later capture of one page follows an earlier one, and two copies of one page that are named
    for one day are its two pages. Raises PageError for a missing column.
    """
    copies: dict[tuple[str, str], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(path.read_text(encoding="utf-8"), [*COLUMNS, "observed_on", "source_url"], path.name):
        copies[row["observed_on"], _scope(row["source_url"])][row["source_url"]].append(row)
    for (observed_on, scope), rows_of in sorted(copies.items()):
        names = ["list_prices.csv", *(f"list_prices-{place}.csv" for place in range(2, len(rows_of) + 1))]
        pages = [
            Page(url, _as_csv(rows), name) for name, (url, rows) in zip(names, sorted(rows_of.items()), strict=True)
        ]
        yield Capture(max(_observed_at(date.fromisoformat(observed_on), page.url) for page in pages), pages, scope)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the CSV pages that ``captures`` yields."""
    for page in pages:
        yield from each(_rows(page.text, COLUMNS, page.name), "sku", _offers)


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    yield Offer(
        sku=row["sku"],
        accelerator_name=row["accelerator_name"],
        accelerator_count=decimal_of(row["accelerator_count"]) if row["accelerator_count"] else None,
        memory_gb=decimal_of(row["memory_gb"]) if row["memory_gb"] else None,
        memory_scope="each" if row["memory_gb"] else None,
        price=decimal_of(row["price"]),
        currency=row["currency"],
        per=row["per"],
        price_scope=row["price_scope"],
        pricing_model=row["pricing_model"],
        commitment_days=int(row["commitment_days"]),
        tier=row["tier"] or None,
        provider=row["provider"],
        region=row["region"],
        interconnect=row["interconnect"] or None,
    )


def _rows(text: str, columns: list[str], name: str) -> Iterator[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    if missing := [column for column in columns if column not in (reader.fieldnames or [])]:
        raise PageError(f"{name}: no column {', '.join(missing)}")
    for row in reader:
        if None in row or None in row.values():
            raise PageError(f"{name}, line {reader.line_num}: another number of fields than the header")
        yield row


def _as_csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _observed_at(observed_on: date, url: str) -> datetime:
    if found := _ARCHIVED.match(url):
        archived_at = datetime.strptime(found[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        if archived_at.date() == observed_on:
            return archived_at
    return datetime.combine(observed_on, time(), UTC)


def _scope(url: str) -> str:
    """The page without the archive's prefix, query and fragment: one name for all captures of a page."""
    found = _ARCHIVED.match(url)
    parts = urlsplit(found[2] if found else url)
    return f"{parts.netloc.removeprefix('www.')}{parts.path}".rstrip("/")
