"""JarvisLabs' price page: GPUs by the hour, in a table to the middle of 2026 and on cards since. Written from readers.

The tables had a column for the unit ("$/hour"), and a second one repeated part of the first. The cards read "H100 SXM
Hopper · 80 GB $2.69 /hr": GPU, generation, memory, price. Visitors from India may be shown rupees. Spot and terms are
loaded by a script and are not on the page. A price is one GPU's; a machine may have eight at eight times the price.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    each,
    gigabytes,
    hourly,
    number,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_of,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="jarvislabs",
    url="https://jarvislabs.ai/pricing",
    kind="page",
    offers=range(4, 40),
    terms="public price list",
    unproven=True,
)
NAMES = {"gpu": "name", "gpu type": "name", "vram": "memory", "ram": "ram", "vcpu": "vcpus", "vcpus": "vcpus"}
PRICE = re.compile(r"(?:price ?)?\(?[$₹]? ?/ ?(?:hour|hr)\)?")
GENERATION = r"(?:Ada|Ampere|Blackwell|Hopper|Turing|Volta)"
CARD = re.compile(
    rf"(?P<name>[A-Z][\w -]{{0,30}}?) {GENERATION} · (?P<memory>\d+ ?GB) (?P<price>[$₹] ?[\d.,]+ ?/ ?(?:GPU ?/ ?)?(?:hr|hour))\b(?P<rest>[^$₹]*)"
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every GPU, of the tables or of the cards."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for table in soup.find_all("table") for row in _rows(table)] or _cards(soup)
        if not rows:
            raise PageError("no table of GPUs and no card of one on the page")
        yield from dict.fromkeys(each(rows, "name", _gpu))


def _rows(table: Tag) -> Iterator[dict[str, str]]:
    """Rows of a table of GPUs. Raises PageError for another that prices GPUs."""
    rows = [{NAMES.get(column, column): text for column, text in row.items()} for row in text_rows(table)]
    priced = {column for column in rows[0] if PRICE.fullmatch(column)} if rows else set()
    if len(priced) != 1 or not rows[0].keys() >= {"name", "memory"}:
        refuse_unknown_table(table, sorted(rows[0]) if rows else [])
        return
    refuse_unknown_prices(rows, priced)
    [column] = priced
    yield from (row | {"price": f"{row[column]}/hour" if "/" not in row[column] else row[column]} for row in rows)


def _cards(soup: BeautifulSoup) -> list[dict[str, str]]:
    """The cards, once each: boxes that hold the words of one and no more."""
    texts = dict.fromkeys(text_of(tag) for tag in soup.select("body *"))
    return [card.groupdict() for text in texts if (card := CARD.fullmatch(text))]


def _gpu(row: Mapping[str, Any]) -> Iterable[Offer]:
    if not re.search(r"\d", row["name"]):
        raise PageError(f"not a GPU: {row['name']!r}")
    if asked := hourly(row["price"]):
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            accelerator_count=Decimal(1),
            memory_gb=gigabytes(row["memory"]),
            memory_scope="each",
            vcpus=number(row["vcpus"]) if "vcpus" in row else None,
            ram_gb=gigabytes(row["ram"]) if "ram" in row else None,
            **asked,
        )
