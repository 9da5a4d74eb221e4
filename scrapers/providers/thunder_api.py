"""Thunder Compute: prices and sizes of its instances, two keyless lists; unproven: from its published OpenAPI document.

A key such as ``h100_x2_production`` says model, number of GPUs and mode, and its price is USD an hour for all of them.
Mode "prototyping" is a GPU that is shared with others by turns. Beside those keys stand parts billed on top (vCPUs,
disk, snapshots) and short names for the same instances, which are left out. What a key's GPU is called and how much
memory it has stands in the list of sizes, under the same key.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, named, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://api.thundercompute.com:8443/v1"
SOURCE = Source(
    provider="thunder_compute",
    url=f"{API}/pricing",
    kind="api",
    offers=range(3, 60),
    terms="public API, its OpenAPI document asks for no key here",
    unproven=True,
)
INSTANCE = re.compile(r"[a-z0-9]+_x(?P<count>\d+)_(?P<mode>production|prototyping)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per size that has a price."""
    lists = [page.json for page in pages]
    [prices] = [one["pricing"] for one in lists if "pricing" in one]
    [sizes] = [named(one["specs"], "specs", "sku") for one in lists if "specs" in one]
    strangers = {key for key in prices if INSTANCE.fullmatch(key)} - {size["sku"] for size in sizes}
    yield from (Rejected(key, "a price of a size that is not listed") for key in sorted(strangers))
    yield from each(sizes, "sku", partial(_offers, prices=prices))


def _offers(size: dict[str, Any], prices: Mapping[str, Any]) -> Iterable[Offer]:
    told = INSTANCE.fullmatch(size["sku"])
    if told is None:
        raise PageError("a size whose name does not say what it is")
    if (whole(size["gpuCount"]), size["mode"]) != (int(told["count"]), told["mode"]):
        raise PageError(f"{size['gpuCount']} GPUs, {size['mode']}: not what the name says")
    # Whether the memory told for several GPUs is each one's is not documented.
    memory = decimal_of(size["vramGB"]) if told["count"] == "1" else None
    if price := asked(prices.get(size["sku"])):
        yield Offer(
            sku=size["sku"],
            accelerator_name=size["displayName"],
            accelerator_count=Decimal(told["count"]),
            memory_gb=memory,
            memory_scope="each" if memory else None,
            price=price,
            currency="USD",
            tier=told["mode"],
        )


def fetch(client: "Client") -> Iterator[Page]:
    """Both lists: neither says anything without the other."""
    for name in ("pricing", "specs"):
        yield client.get(f"{API}/{name}", name=f"{name}.json")
