"""Spheron: machines of many clouds, resold, in USD per hour of the whole machine; GPU types with the offers of each.

Written from clients that use it, its own catalogue script among them, which sends a key though the list seems to answer
without one (2026). Where ``instanceType`` is "SPOT" the price is the spot price, and ``spot_price`` repeats it; else
``spot_price``, where there is one, is another way to have the same machine. ``gpu_memory`` is that of each GPU. The
regions of an offer are its ``clusters``. A machine under maintenance can't be had. The group says what the GPU is
("H100 SXM5"), and prices of the group (lowest, average) are of offers of any size.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="spheron",
    url="https://app.spheron.ai/api/gpu-offers",
    kind="api",
    offers=range(20, 3_001),
    key_env="GPULEDGER_SPHERON_API_KEY",
    terms="API for account holders",
    is_aggregator=True,
    unproven=True,
)
PER_PAGE = 100
MOST_PAGES = 50


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers per machine and region, on demand and spot."""
    for page in pages:
        for group in items(page.json["data"], "data"):
            machines = [{**one, "displayName": group["displayName"]} for one in items(group["offers"], "offers")]
            yield from each(machines, "offerId", _offers)


def _offers(machine: dict[str, Any]) -> Iterable[Offer]:
    price, spot, kind = asked(machine["price"]), asked(machine.get("spot_price")), machine["instanceType"]
    if kind == "SPOT":
        if spot not in (None, price):
            raise PageError(f"two spot prices: {price} and {spot}")
        ways = {"spot": price}
    elif kind == "DEDICATED":
        if price and spot and spot > price:
            raise PageError(f"a spot price of {spot} above {price} on demand")
        ways = {"on_demand": price, "spot": spot}
    else:
        raise PageError(f"an instanceType that is not known: {kind!r}")
    regions = machine["clusters"]
    if not isinstance(regions, list) or not regions:
        raise PageError(f"no regions: {regions!r}")
    for region in regions:
        for way, amount in ways.items():
            if amount:
                yield Offer(
                    sku=machine["offerId"],
                    accelerator_name=machine["displayName"],
                    accelerator_count=decimal_of(machine["gpuCount"]),
                    memory_gb=decimal_of(machine["gpu_memory"]),
                    memory_scope="each",
                    price=amount,
                    currency="USD",
                    pricing_model="spot" if way == "spot" else "on_demand",
                    provider=machine["provider"],
                    region=region,
                    available=truth(machine["available"]) and not truth(machine["maintenance"]),
                    vcpus=decimal_of(machine["vcpus"]),
                    ram_gb=decimal_of(machine["memory"]),
                    storage_gb=decimal_of(machine["storage"]),
                    interconnect=machine.get("interconnectType") or None,
                )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of the list."""
    key = client.key("GPULEDGER_SPHERON_API_KEY")
    for number in range(1, MOST_PAGES + 1):
        asked_for = {"page": number, "limit": PER_PAGE}
        page = client.get(SOURCE.url, params=asked_for, auth_key=key, name=f"offers-{number:03}.json")
        last = whole(page.json["totalPages"])
        yield page
        if number >= last:
            return
    raise PageError(f"no end after {MOST_PAGES} pages")
