"""TensorDock: GPUs of independent hosts, each part priced apart, in USD per hour. Needs a key.

``price_per_hr`` (v2) is that of one GPU alone; vCPUs, GB of RAM and GB of disk are priced beside it and billed on top
in any amount within limits, so no machine has a price. ``max_count`` is how many GPUs one machine can have there now.
Answers of the first API (``hostnodes``, shut in 2026) tell the same by host: ``amount`` is what is free on it, and a
host that is not listed or not online can't be rented. Voltage Park bought TensorDock in 2025.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer, PriceScope
from scrapers.shapes import asked, each, items, named, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="tensordock",
    url="https://dashboard.tensordock.com/api/v2/locations",
    kind="api",
    offers=range(15, 1_501),
    cadence="hourly",
    key_env="GPULEDGER_TENSORDOCK_API_KEY",
    terms="API for account holders",
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """The GPUs of every location, or host, and beside each the parts of its machine."""
    for page in pages:
        body = page.json
        if "hostnodes" in body:
            if body["success"] is not True:
                raise PageError(f"{page.name}: no success")
            yield from each(named(body["hostnodes"], "hostnodes", "id"), "id", _host)
        else:
            yield from each(items(body["data"]["locations"], "locations"), "id", _location)


def _location(location: dict[str, Any]) -> Iterable[Offer]:
    for gpu in items(location["gpus"], "gpus"):
        extras, most = gpu["pricing"], whole(gpu["max_count"])
        words: dict[str, Any] = {
            "sku": gpu["v0Name"],
            "accelerator_name": gpu["displayName"],
            "tier": f"tier {whole(location['tier'])}",
            "region": ", ".join(filter(None, (location["city"], location["stateprovince"], location["country"]))),
            "zone": location["id"],
            "available": most > 0,
        }
        yield from _parts(words, most, gpu["price_per_hr"], extras["per_vcpu_hr"], extras["per_gb_ram_hr"])


def _host(host: dict[str, Any]) -> Iterable[Offer]:
    place, specs, status = host["location"], host["specs"], host["status"]
    is_rentable = truth(status["listed"]) and truth(status["online"])
    for gpu in named(specs["gpu"], "gpu"):
        free = whole(gpu["amount"])
        words: dict[str, Any] = {
            "sku": gpu["name"],
            "accelerator_name": gpu["name"],
            "region": ", ".join(filter(None, (place["city"], place["region"], place["country"]))),
            "zone": host["id"],
            "available": is_rentable and free > 0,
        }
        yield from _parts(words, free, gpu["price"], specs["cpu"]["price"], specs["ram"]["price"])


def _parts(words: dict[str, Any], free: int, gpu: object, vcpu: object, ram: object) -> Iterator[Offer]:
    if not (price := asked(gpu)):
        return
    yield Offer(**words, price=price, currency="USD", price_scope="component", quantity=free)
    hosts: dict[PriceScope, object] = {"host_vcpu": vcpu, "host_gib": ram}
    for scope, told in hosts.items():
        if part := asked(told):
            yield Offer(**words, price=part, currency="USD", price_scope=scope)


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    yield client.get(SOURCE.url, auth_key=client.key("GPULEDGER_TENSORDOCK_API_KEY"), name="locations.json")
