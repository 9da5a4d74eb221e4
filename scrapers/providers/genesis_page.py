"""Genesis Cloud's price page of 2025: a card per node, with each GPU's price by the hour. Written from public readers.

The price reads "$ 2.19h", without a slash. The node stands in the description ("- 8x NVIDIA H100 GPU 80 GB"), the way of
buying in the title ("NVIDIA HGX H100 On-Demand") or not at all, and "RFQ" means to be asked for. "Starting at" before a
price makes it a floor. The page says somewhere that prices are per GPU; without that nothing is read. In October 2026 it
did not answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import each, is_placeholder, number, one, price, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="genesis",
    url="https://www.genesiscloud.com/pricing",
    kind="page",
    offers=range(1, 20),
    terms="public price list",
    unproven=True,
)
CARD = ".pricing-two-price-item"
PER_GPU = re.compile(r"per GPU|/ ?GPU", re.IGNORECASE)
NODE = re.compile(r"(?P<count>\d+)x (?P<name>NVIDIA [A-Z0-9]+) GPU (?P<memory>\d+) ?GB")
PLACES = re.compile(r"Data center locations?: ?(.+?)(?= - |$)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every card with a price."""
    for page in pages:
        soup = whole_html(page)
        cards = [{"name": text_of(one(card, ".pricing-two-price-title")), "card": card} for card in soup.select(CARD)]
        if not cards or not PER_GPU.search(text_of(soup)):
            raise PageError("no cards of GPUs, or nothing that says that prices are per GPU")
        yield from dict.fromkeys(each(cards, "name", _node))


def _node(row: dict[str, Any]) -> Iterable[Offer]:
    card: Tag = row["card"]
    shown = text_of(one(card, ".pricing-two-price-text"))
    if is_placeholder(shown):
        return
    asked = price(re.sub(r"(?<=\d) ?h$", "/h", shown))
    node = NODE.search(text_of(one(card, ".pricing-two-price-content")))
    if asked is None or asked.currency is None or asked.per != "hour" or node is None:
        raise PageError(f"not a price by the hour of a node that is known: {shown!r}")
    if text_of(card).count("$") != 1:
        raise PageError("more than one price on a card")
    places = PLACES.search(text_of(one(card, ".pricing-two-price-content")))
    yield Offer(
        sku=row["name"],
        accelerator_name=re.sub(r" on-demand$", "", row["name"], flags=re.IGNORECASE),
        accelerator_count=number(node["count"]),
        memory_gb=number(node["memory"]),
        memory_scope="each",
        price=asked.amount,
        currency=asked.currency,
        price_scope="accelerator",
        pricing_model=_way(text_of(card), is_floor=asked.floor),
        region=places[1] if places else "global",
    )


def _way(words: str, *, is_floor: bool) -> PricingModel:
    """How it is bought, from the card's words. Raises PageError when they do not say."""
    if is_floor or re.search("starting at", words, re.IGNORECASE):
        return "floor"
    if re.search("reserved|commit|month|year", words, re.IGNORECASE) or not re.search(
        "on-demand", words, re.IGNORECASE
    ):
        raise PageError(f"nothing says for how long: {words[:80]!r}")
    return "on_demand"
