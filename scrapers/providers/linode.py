"""Linode (Akamai): its instance types, USD per hour of the whole type.

A type has one price for all regions; ``region_prices`` (since 2023) replaces it in some, which become offers of their
own beside the global one. ``monthly`` is a cap on the bill and no commitment; since July 2026 types with GPUs have
none. The model stands in the id and the label only. Types of class "accelerated" carry video cards that are not GPUs
and have 0 of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, check_month, decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="linode",
    url="https://api.linode.com/v4/linode/types",
    kind="api",
    offers=range(4, 80),
    terms="public API, no key needed for types",
)
PER_PAGE = 500
MOST_PAGES = 10


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every type with GPUs: the price of all regions, and those of regions with another."""
    for page in pages:
        yield from each(items(page.json["data"], "data"), "id", _offers)


def _offers(plan: dict[str, Any]) -> Iterable[Offer]:
    count = whole(plan["gpus"])
    if not count:
        if plan["class"] == "gpu":
            raise PageError("a type of class gpu without GPUs")
        return
    prices: list[tuple[str, Mapping[str, Any]]] = [("global", plan["price"])]
    prices += [(own["id"], own) for own in items(plan.get("region_prices", []), "region_prices")]
    for region, told in prices:
        price = asked(told["hourly"])
        if price and (month := asked(told["monthly"])):
            check_month(price, month)
        if price:
            yield Offer(
                sku=plan["id"],
                accelerator_name=plan["id"],
                accelerator_count=Decimal(count),
                price=price,
                currency="USD",
                region=region,
                vcpus=decimal_of(plan["vcpus"]),
                ram_gb=decimal_of(plan["memory"]) / 1024,
                storage_gb=decimal_of(plan["disk"]) / 1024,
            )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page. Raises PageError when they do not end or disagree about how many there are: part is not the list."""
    expected = None
    for number in range(1, MOST_PAGES + 1):
        page = client.get(SOURCE.url, params={"page": number, "page_size": PER_PAGE}, name=f"types-{number:03}.json")
        told = (whole(page.json["page"]), whole(page.json["pages"]))
        expected = expected or told[1]
        if told != (number, expected):
            raise PageError(f"{page.name}: page {number} of {expected} asked, {told[0]} of {told[1]} answered")
        yield page
        if number >= expected:
            return
    raise PageError(f"no end after {MOST_PAGES} pages")
