"""Lambda: instance types of its cloud API, priced in whole US cents per hour of the whole instance. Needs a key.

There is one price for all regions; ``regions_with_capacity_available`` are those that have some now, and where there
are none the price stands. The price per GPU falls with the size, so each size is an offer. The CPU type has 0 GPUs and
the description "N/A". Older answers have neither ``gpu_description`` nor ``gpus``: what they print is
"8x A100 (40 GB SXM4)", and the count is left to that name.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each, named, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="lambda",
    url="https://cloud.lambda.ai/api/v1/instance-types",
    kind="api",
    offers=range(8, 80),
    key_env="GPULEDGER_LAMBDA_API_KEY",
    terms="API for account holders, about one request a second; keys have no read-only scope",
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per instance type with accelerators."""
    for page in pages:
        yield from each(named(page.json["data"], "data"), "name", _offers)


def _offers(entry: dict[str, Any]) -> Iterable[Offer]:
    instance, regions = entry["instance_type"], entry["regions_with_capacity_available"]
    specs, cents = instance["specs"], whole(instance["price_cents_per_hour"])
    if instance["name"] != entry["name"]:
        raise PageError(f"listed under another name: {instance['name']!r}")
    count = whole(specs["gpus"]) if "gpu_description" in instance or "gpus" in specs else None
    if count == 0:
        return
    if not isinstance(regions, list):
        raise PageError(f"regions are no list: {regions!r}")
    if cents:
        yield Offer(
            sku=instance["name"],
            accelerator_name=instance.get("gpu_description") or instance["description"],
            accelerator_count=None if count is None else Decimal(count),
            price=Decimal(cents).scaleb(-2),
            price_text=str(cents),
            currency="USD",
            available=bool(regions),
            vcpus=decimal_of(specs["vcpus"]),
            ram_gb=decimal_of(specs["memory_gib"]),
            storage_gb=decimal_of(specs["storage_gib"]),
        )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    yield client.get(SOURCE.url, auth_key=client.key("GPULEDGER_LAMBDA_API_KEY"))
