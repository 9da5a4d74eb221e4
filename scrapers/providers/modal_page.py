"""Modal's price page: each GPU by the second, with CPU and memory billed on top, so that a price is a part's.

A switch on the page turns seconds into hours; the unit stands behind every price, and either is read. A container may
have several GPUs, each at this price. CPU cores ("/ core / sec") and memory ("/ GiB / sec") are in the same list under
headings of their own; containers have no fixed size, so that no machine can be completed from them. In 2026 the names
say the form as well ("Nvidia H100 SXM5").
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import each, one, price, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="modal",
    url="https://modal.com/pricing",
    kind="page",
    offers=range(6, 40),
    terms="public price list",
)
SECTION = "GPU Tasks"
MAKERS = ("Nvidia ", "NVIDIA ", "AMD ")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """The price of every GPU, without its host."""
    for page in pages:
        gpus = []
        for line in whole_html(page).select("div.line-item"):
            name = text_of(one(line, "p"))
            if _section(line) == SECTION:
                gpus.append({"name": name, "price": text_of(one(line, "p.price"))})
            elif name.startswith(MAKERS):
                raise PageError(f"a GPU under another heading than {SECTION!r}: {name!r}")
        if not gpus:
            raise PageError("no list of GPUs on the page")
        yield from dict.fromkeys(each(gpus, "name", _gpu))


def _section(line: Tag) -> str:
    """The heading over a line, of those that are known."""
    return next((text for tag in line.find_all_previous("p") if (text := text_of(tag)) in {SECTION, "CPU"}), "")


def _gpu(row: dict[str, Any]) -> Iterable[Offer]:
    if not row["name"].startswith(MAKERS):
        raise PageError(f"not a GPU: {row['name']!r}")
    if asked := price(row["price"]):
        if asked.per not in {"second", "hour"} or asked.each or asked.floor or asked.currency is None:
            raise PageError(f"not a price by the second or hour: {asked.text!r}")
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            accelerator_count=Decimal(1),
            price=asked.amount,
            currency=asked.currency,
            per=asked.per,
            price_scope="component",
            tier="serverless",
        )
