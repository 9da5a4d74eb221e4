"""TensorPool's price page: a grid that compares it with other clouds. Written from a public copy of the page of 2026.

The column named TensorPool is its own; those of others are what it says of them and are never read. The grid says
"$4.99/hr" and cards for small screens repeat the prices under "GPU costs / hr": both have to agree, or nothing is read.
A category stands in the first row of its group only. The row "CPU" is no GPU.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer
from scrapers.shapes import each, heading_before, hourly, label, labelled, number, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="tensorpool",
    url="https://tensorpool.dev/pricing",
    kind="page",
    offers=range(3, 30),
    terms="public price list",
    unproven=True,
)
COLUMNS = re.compile(r"grid-cols-\[([\w.]+)\]")
CARD = re.compile(r"(?P<name>[\w ]+?) - \$(?P<price>[\d.]+)")
NAME, OWN, CATEGORY = "gpu type", "tensorpool", "category"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every GPU of the grid."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for grid in soup.find_all("div", class_=COLUMNS) for row in _rows(grid)]
        if not rows:
            raise PageError("no grid of GPUs on the page")
        cards = _cards(soup)
        found = dict.fromkeys(each(rows, NAME, _gpu))
        shown = {offer.sku: offer.price for offer in found if isinstance(offer, Offer)}
        if shown != {name: cards.get(name) for name in shown}:
            raise PageError(f"the grid says {shown} and the cards {cards}"[:200])
        yield from found


def _rows(grid: Tag) -> Iterator[dict[str, str]]:
    """Rows of a grid with TensorPool's own prices, each with its category."""
    texts = [text_of(cell) for cell in grid.find_all("div", recursive=False)]
    told = COLUMNS.search(" ".join(grid.get_attribute_list("class")))
    width = len(told[1].split("_")) if told else 0
    header = texts[:width]
    if not {CATEGORY, NAME, OWN} <= set(map(label, header)):
        return
    if len(texts) % width:
        raise PageError(f"{len(texts)} cells in rows of {width}")
    category = ""
    for start in range(width, len(texts), width):
        row = labelled(header, texts[start : start + width])
        category = row[CATEGORY] or category
        yield row | {CATEGORY: category}


def _cards(soup: BeautifulSoup) -> dict[str, Decimal]:
    """Prices by GPU on TensorPool's own cards."""
    return {
        card["name"]: number(card["price"])
        for tag in soup.find_all("div")
        if (card := CARD.fullmatch(text_of(tag)))
        and heading_before(tag, "h3") == "TensorPool"
        and label(heading_before(tag, "h4")) == "gpu costs/hr"
    }


def _gpu(row: Mapping[str, str]) -> Iterable[Offer]:
    if label(row[NAME]) == "cpu":
        return
    if label(row[CATEGORY]) != "on-demand":
        raise PageError(f"not a category that is known: {row[CATEGORY]!r}")
    if asked := hourly(row[OWN]):
        yield Offer(
            sku=row[NAME],
            accelerator_name=row[NAME],
            **asked | {"price_scope": "accelerator"},
        )
