"""CloudRift: its instance types, from the keyless list of its API; unproven: written from published answers of others.

Requests and answers are wrapped with a version, which need not be the same. A price is US cents an hour for the whole
variant and may have fractions ("139.36"). Each data centre of ``available_nodes_per_dc`` (and of ``nodes_per_dc``,
which names those with nothing free) is an offer. ``vram`` is in bytes, and nothing says whether of one GPU or all of
them, so it is read where there is one. Variants without GPUs are machines with CPUs only.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="cloudrift",
    url="https://api.cloudrift.ai/api/v1/instance-types/list",
    kind="api",
    offers=range(4, 200),
    terms="public API, documented, no key needed for instance types",
    unproven=True,
)
ASK = {
    "version": "2025-03-21",
    "data": {"selector": {"ByServiceAndLocation": {"services": ["vm"]}}},
}
GIB = 2**30


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every variant with GPUs in every data centre that has it."""
    for page in pages:
        for kind in items(page.json["data"]["instance_types"], "instance_types"):
            brand = kind["brand_short"]
            yield from each(items(kind["variants"], "variants"), "name", partial(_offers, brand=brand))


def _offers(variant: dict[str, Any], brand: str) -> Iterable[Offer]:
    count = whole(variant["gpu_count"])
    if not count or not (price := asked(variant["cost_per_hour"])):
        return
    unknown = {key for key in variant if "cost" in key or "price" in key} - {"cost_per_hour"}
    if unknown:
        raise PageError(f"prices that are not known: {sorted(unknown)}")
    memory = asked(variant["vram"]) if count == 1 else None
    free = variant["available_nodes_per_dc"]
    for centre in dict.fromkeys([*variant.get("nodes_per_dc", {}), *free]):
        left = whole(free.get(centre, 0))
        yield Offer(
            sku=variant["name"],
            accelerator_name=brand,
            accelerator_count=Decimal(count),
            memory_gb=memory / GIB if memory else None,
            memory_scope="each" if memory else None,
            price=price / 100,
            price_text=f"{price} cents",
            currency="USD",
            region=centre,
            available=left > 0,
            quantity=left,
            vcpus=decimal_of(variant["logical_cpu_count"]),
            ram_gb=decimal_of(variant["dram"]) / GIB,
            storage_gb=decimal_of(variant["disk"]) / GIB,
        )


def fetch(client: "Client") -> Iterator[Page]:
    """The one answer there is."""
    yield client.post(SOURCE.url, json=ASK, name="instance-types.json")
