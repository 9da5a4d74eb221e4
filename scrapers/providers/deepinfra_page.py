"""DeepInfra's price page: a table of GPUs for one's own models, each GPU's by the hour. Written from a public copy of 2026.

The unit stands behind the price ("$2.20 / GPU-hour"). A deployment has one to eight of them. Other tables on the page
price tokens by the model, tiers as multiples of a base price, and limits on what one may owe; none of them is read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    each,
    gigabytes,
    hourly,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="deepinfra",
    url="https://deepinfra.com/pricing",
    kind="page",
    offers=range(3, 30),
    terms="public price list",
    unproven=True,
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every GPU of the table."""
    for page in pages:
        rows = [row for table in whole_html(page).find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no table of GPUs on the page")
        yield from dict.fromkeys(each(rows, "gpu", _gpu))


def _rows(table: Tag) -> list[dict[str, str]]:
    """Rows of a table of GPUs. Raises PageError for another that prices GPUs."""
    rows = text_rows(table)
    columns = rows[0].keys() if rows else ()
    if {"gpu", "memory", "price"} <= set(columns):
        refuse_unknown_prices(rows, {"price"})
        return rows
    if "model" not in columns:
        refuse_unknown_table(table, sorted(columns))
    return []


def _gpu(row: Mapping[str, Any]) -> Iterable[Offer]:
    if asked := hourly(row["price"]):
        if asked["price_scope"] != "accelerator":
            raise PageError(f"nothing says that the price is each GPU's: {row['price']!r}")
        yield Offer(
            sku=row["gpu"],
            accelerator_name=row["gpu"],
            memory_gb=gigabytes(row["memory"]),
            memory_scope="each",
            tier="dedicated_inference",
            **asked,
        )
