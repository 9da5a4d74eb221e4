"""Sesterce's home page: a table of its market's lowest prices, one per GPU model, each GPU's by the hour.

The column says "From / GPU / hr" and covers all sizes, regions and forms of a model ("SXM5 / PCIe"), so that every offer
is a floor. The line under the table names the currency and the way of buying. Tiles above it (a picture of a command
line) show other, older prices, and a ticker repeats the table; neither is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import each, is_priced, label, one, price, refuse_unknown_table, table_rows, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="sesterce",
    url="https://www.sesterce.com/",
    kind="page",
    offers=range(3, 40),
    terms="public price list",
)
PRICE = "from/gpu/hr"
MARK = "USD · ON-DEMAND"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """A floor for every model of the table."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for table in soup.find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no table of live offers on the page")
        yield from dict.fromkeys(each(rows, "name", _floor))


def _rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of the table of live offers. Raises PageError for another that prices GPUs, or without its currency."""
    rows = table_rows(table, lambda cell: label(text_of(cell)))
    if not rows or not rows[0].keys() >= {"model", PRICE}:
        refuse_unknown_table(table, sorted(rows[0]) if rows else [])
        return
    if MARK not in text_of(table.parent):
        raise PageError(f"nothing under the table says {MARK!r}")
    for row in rows:
        if any(is_priced(text_of(cell)) for column, cell in row.items() if column != PRICE):
            raise PageError("a column of prices with a header that is not known")
        yield {"name": text_of(one(row["model"], ".bbg-model")), "price": text_of(row[PRICE])}


def _floor(row: dict[str, Any]) -> Iterable[Offer]:
    if asked := price(row["price"]):
        if asked.currency != "USD" or asked.per not in {None, "hour"}:
            raise PageError(f"not dollars by the hour: {asked.text!r}")
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            price=asked.amount,
            currency=asked.currency,
            price_scope="accelerator",
            pricing_model="floor",
        )
