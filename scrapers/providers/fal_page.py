"""fal's price page: a table of GPUs beside tables of models. Written from a public copy of the page of 2026.

A GPU has a list price by the hour ("$4.50/h") and one "as low as", for customers who commit to an amount they agree on:
a floor. Both are one GPU's, with its machine, and billed by the second. Tables of models ("Model", "Unit", "Price") price
pictures, seconds of video and megapixels, and are left alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    each,
    gigabytes,
    price,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="fal",
    url="https://fal.ai/pricing",
    kind="page",
    offers=range(4, 40),
    terms="public price list",
    unproven=True,
)
LIST, FLOOR = "list price", "as low as"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """A list price and a floor for every GPU."""
    for page in pages:
        rows = [row for table in whole_html(page).find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no table of GPUs on the page")
        yield from dict.fromkeys(each(rows, "gpu", _gpu))


def _rows(table: Tag) -> list[dict[str, str]]:
    """Rows of a table of GPUs. Raises PageError for another that prices GPUs."""
    rows = text_rows(table)
    columns = rows[0].keys() if rows else ()
    if {"gpu", "vram", LIST} <= set(columns):
        refuse_unknown_prices(rows, {LIST, FLOOR})
        return rows
    if "model" not in columns:
        refuse_unknown_table(table, sorted(columns))
    return []


def _gpu(row: Mapping[str, Any]) -> Iterable[Offer]:
    told = {column: price(row[column]) for column in (LIST, FLOOR) if column in row}
    asked = {column: shown for column, shown in told.items() if shown}
    if LIST in asked and FLOOR in asked and asked[FLOOR].amount > asked[LIST].amount:
        raise PageError("the least price is above the list price: the columns are not what they say")
    for column, shown in asked.items():
        if shown.currency is None or shown.per != "hour" or (shown.floor and column == LIST):
            raise PageError(f"not a price by the hour under {column!r}: {shown.text!r}")
        yield Offer(
            sku=row["gpu"],
            accelerator_name=row["gpu"],
            accelerator_count=Decimal(1),
            memory_gb=gigabytes(row["vram"]),
            memory_scope="each",
            price=shown.amount,
            currency=shown.currency,
            pricing_model="on_demand" if column == LIST else "floor",
            tier="serverless",
        )
