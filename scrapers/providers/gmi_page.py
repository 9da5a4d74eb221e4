"""GMI Cloud's price page: a card per GPU with a price "from", each GPU's by the hour.

The page says that capacity on demand and reserved cost differently and prints one floor for both, so every offer is a
floor. "Pre order" stands where a price will be, with the unit still behind it. The same dollars stand many times in
descriptions and scripts; only a price with its unit under the heading of a GPU is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import each, heading_before, is_placeholder, price, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="gmi",
    url="https://www.gmicloud.ai/en/pricing",
    kind="page",
    offers=range(2, 30),
    terms="public price list",
)
UNIT = "/GPU-hour"
MAKERS = ("NVIDIA ", "AMD ")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """A floor for every card that has a price."""
    for page in pages:
        soup = whole_html(page)
        units = [tag for tag in soup.find_all("span") if text_of(tag) == UNIT]
        cards = [{"name": heading_before(unit), "text": text_of(unit.parent)} for unit in units]
        names = [card["name"] for card in cards]
        if not cards or len(set(names)) != len(names) or not all(name.startswith(MAKERS) for name in names):
            raise PageError(f"prices without a GPU of their own above them: {names}")
        yield from each(cards, "name", _floor)


def _floor(card: dict[str, Any]) -> Iterable[Offer]:
    if is_placeholder(card["text"].removesuffix(UNIT)):
        return
    asked = price(card["text"])
    if asked is None or not (asked.floor and asked.each and asked.per == "hour" and asked.currency):
        raise PageError(f"not a floor by the GPU-hour: {card['text']!r}")
    yield Offer(
        sku=card["name"],
        accelerator_name=card["name"],
        price=asked.amount,
        currency=asked.currency,
        price_scope="accelerator",
        pricing_model="floor",
    )
