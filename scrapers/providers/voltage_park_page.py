"""Voltage Park's price page: a card for each commitment and fabric, by the GPU-hour although it says "/hr" only.

A card's heading says on demand or reserved, and the fabric; the GPU and the fewest that one can have stand in one of its
lines ("8-1016 HGX H100 GPUs"). Long terms have no price, and since July 2026 nothing has.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import each, model_name, number, sold, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="voltage_park",
    url="https://www.voltagepark.com/pricing",
    kind="page",
    offers=range(1, 20),
    cadence="weekly",
    terms="public price list, no robots rule",
)
CARD = ".pricing11_plan"
HEADING = re.compile("(On-Demand|Reserved), (.+)", re.IGNORECASE)
GPUS = re.compile(r"(\d+)-[\d,]+ (.+) GPUs\b")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for each card with a price."""
    for page in pages:
        cards = whole_html(page).select(CARD)
        if not cards:
            raise PageError("no cards of Voltage Park's on the page")
        rows = [{"name": text_of(card.select_one(".text-eyebrow")), "card": card} for card in cards]
        yield from dict.fromkeys(each(rows, "name", _offers))


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one card asks; nothing for one that asks to be called."""
    prices = [text_of(tag) for tag in row["card"].select(".heading-style-h3")]
    heading = HEADING.fullmatch(row["name"])
    if not any("$" in price for price in prices):
        return
    [price], [(least, gpu)] = prices, GPUS.findall(text_of(row["card"]))
    if heading is None:
        raise PageError(f"nothing says for how long: {row['name']!r}")
    for bought in sold({heading[1]: price}, ()):
        yield Offer(
            sku=f"{gpu}, {heading[2]}",
            accelerator_name=model_name(gpu),
            minimum_accelerators=number(least),
            interconnect=heading[2],
            **(bought | {"price_scope": "accelerator"}),
        )
