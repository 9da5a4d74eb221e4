"""Shadeform: instance types of some twenty clouds, resold, in whole US cents per hour of the instance. Needs a key.

Written from its documentation and that of a mirror (inference.sh, which answers with the bare list and an ``id``).
``hourly_price`` is an integer and the currency stands nowhere; accounts are billed in USD. One price holds for all
regions of ``availability``, which says by region whether one can be had. The form ("pcie", "sxm5") is in
``interconnect``, the cloud's own name in ``cloud_instance_type``. Entries that a mirror marks as spot have no price of
their own in what is documented, and are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="shadeform",
    url="https://api.shadeform.ai/v1/instances/types",
    kind="api",
    offers=range(80, 4_001),
    key_env="GPULEDGER_SHADEFORM_API_KEY",
    terms="API for account holders; the terms ask for permission before compiling a database",
    is_aggregator=True,
    unproven=True,
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per instance type with accelerators and region."""
    for page in pages:
        body = page.json
        listed = body if isinstance(body, list) else body["instance_types"]
        yield from each(items(listed, "instance_types"), "shade_instance_type", _offers)


def _offers(kind: dict[str, Any]) -> Iterable[Offer]:
    machine, cents = kind["configuration"], whole(kind["hourly_price"])
    count = whole(machine["num_gpus"])
    if cents < 0 or count < 0:
        raise PageError(f"{count} GPUs for {cents} cents")
    if not count or not cents:
        return
    for place in items(kind["availability"], "availability"):
        if place.get("rental_type", "on_demand") == "on_demand":
            yield Offer(
                sku=kind["cloud_instance_type"],
                accelerator_name=" ".join(filter(None, (machine["gpu_type"], machine["interconnect"]))),
                accelerator_count=Decimal(count),
                memory_gb=decimal_of(machine["vram_per_gpu_in_gb"]),
                memory_scope="each",
                price=Decimal(cents).scaleb(-2),
                price_text=str(cents),
                currency="USD",
                tier=kind["deployment_type"],
                provider=kind["cloud"],
                region=place["region"],
                available=truth(place["available"]),
                vcpus=decimal_of(machine["vcpus"]),
                ram_gb=decimal_of(machine["memory_in_gb"]),
                storage_gb=decimal_of(machine["storage_in_gb"]),
            )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    key = client.key("GPULEDGER_SHADEFORM_API_KEY")
    yield client.get(SOURCE.url, headers={"X-API-KEY": key}, name="instance-types.json")
