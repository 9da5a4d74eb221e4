"""Hot Aisle's price page: a card per size of machine, priced by the GPU although a machine has up to eight.

Virtual machines are billed by the minute; bare metal is sold by the month at least, which stands behind its price. One
card may hold two sizes ("2x & 4x"), whose memory is then told as "384GB or 768GB". The rate of customers from before the
rise of 2026 ($1.99) and the summary above the cards are no offers and stand in no card. GPUs in the menu have no price.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import each, gigabytes, hourly, is_priced, number, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="hot_aisle",
    url="https://hotaisle.xyz/pricing",
    kind="page",
    offers=range(2, 20),
    terms="public price list",
)
SIZES = re.compile(r"\d+x(?: & \d+x)*")
TERMS: dict[tuple[str, str], dict[str, Any]] = {
    ("VM", ""): {},
    ("Bare metal", "bare metal, one-month minimum"): {
        "pricing_model": "reserved",
        "commitment_days": 30,
        "minimum_days": 30,
    },
}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every size of machine on a card."""
    for page in pages:
        headings = [tag for tag in whole_html(page).find_all("h2") if _sizes(tag)]
        if not headings:
            raise PageError("no card of a machine's size on the page")
        yield from each(({"name": text_of(tag), "heading": tag} for tag in headings), "name", _card)


def _sizes(heading: Tag) -> Tag | None:
    """The "1x" beside a heading of a card."""
    spans = heading.parent.find_all("span") if heading.parent else []
    return next((span for span in spans if SIZES.fullmatch(text_of(span))), None)


def _card(card: dict[str, Any]) -> Iterable[Offer]:
    heading: Tag = card["heading"]
    sizes = _sizes(heading)
    if heading.parent is None or heading.parent.parent is None or sizes is None:
        raise PageError("a card without its parts")
    kind = text_of(heading.find_previous_sibling("p"))
    [asked] = [tag for tag in heading.parent.find_all("p") if is_priced(text_of(tag))]
    price = hourly(text_of(asked, "span"))
    if price is None or price["price_scope"] != "accelerator":
        raise PageError(f"not a price by the GPU-hour: {text_of(asked)!r}")
    counts = [number(size) for size in re.findall(r"\d+", text_of(sizes))]
    lines = [text_of(line) for line in heading.parent.parent.find_all("li")]
    memory, ram = (_values(lines, what, len(counts)) for what in (r"HBM\w*", "RAM"))
    if len({size / count for size, count in zip(memory, counts, strict=True)}) > 1:
        raise PageError(f"sizes of memory in another order than sizes of machine: {memory} {counts}")
    for place, count in enumerate(counts):
        yield Offer(
            sku=f"{count}x {kind}",
            accelerator_name=text_of(sizes.find_next_sibling("span")),
            accelerator_count=count,
            memory_gb=memory[place],
            memory_scope="total",
            tier=kind,
            ram_gb=ram[place],
            **price,
            **TERMS[kind, " ".join(text_of(span) for span in asked.find_all("span"))],
        )


def _values(lines: Sequence[str], what: str, count: int) -> list[Decimal]:
    """Gigabytes of the line that ends in those words, one for each size."""
    [found] = {
        m[1] for line in lines if (m := re.match(rf"([\d.]+ ?[GT]B(?: or [\d.]+ ?[GT]B)*)[\w ]* {what}\b", line))
    }
    values = [gigabytes(value) for value in found.split(" or ")]
    if len(values) != count:
        raise PageError(f"{len(values)} sizes of memory for {count} sizes of machine: {found!r}")
    return values
