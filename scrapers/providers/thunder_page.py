"""Thunder Compute's price page: cards of GPUs, each GPU's price by the hour. Written from a public reader of its text.

A card says the GPU, "VRAM 80 GB", what a virtual machine gets, and "GPU/hr (*) $3.20"; the mark stands for vCPUs above
the first four, which cost extra. No page is at hand, so a card is known by these words in this order and not by its
markup. Prices of other clouds stand on the page for comparison, without those words. To the middle of 2026 each GPU had
two prices, for prototyping and production; a card with two is refused.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import each, hourly, number, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="thunder_compute",
    url="https://www.thundercompute.com/pricing",
    kind="page",
    offers=range(2, 20),
    terms="public price list",
    unproven=True,
)
UNIT = re.compile(r"GPU\s*/\s*hr")
CARD = re.compile(
    r"(?P<name>[A-Z][\w -]{1,30}?) VRAM (?P<memory>\d+) ?GB (?P<host>[^$€£₹¥]*)GPU ?/ ?hr ?\(\*\) (?P<price>\$[\d.]+)(?P<rest>[^$€£₹¥]*)"
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every card."""
    for page in pages:
        units = whole_html(page).find_all(string=UNIT)
        cards = [{"name": text, "card": CARD.fullmatch(text)} for text in map(_card, units) if text]
        if not cards:
            raise PageError("no card of a GPU on the page")
        yield from dict.fromkeys(each(cards, "name", _gpu))


def _card(unit: Any) -> str:
    """The text of the largest box around a unit that holds no other; empty in scripts."""
    boxes = [box for box in unit.parents if isinstance(box, Tag) and len(box.find_all(string=UNIT)) == 1]
    return text_of(boxes[-1]) if boxes else ""


def _gpu(row: dict[str, Any]) -> Iterable[Offer]:
    if (card := row["card"]) is None:
        raise PageError("not the words of a card")
    if asked := hourly(f"{card['price']}/GPU/hr"):
        yield Offer(
            sku=card["name"],
            accelerator_name=card["name"],
            memory_gb=number(card["memory"]),
            memory_scope="each",
            **asked,
        )
