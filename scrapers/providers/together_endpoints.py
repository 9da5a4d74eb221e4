"""Together AI: hardware of its dedicated endpoints, in US cents per minute that the endpoint is up. Needs a key.

Written from its API reference. This is inference on machines that Together runs, not the clusters it rents out. A price
is that of all GPUs of the configuration, of which ``gpu_memory`` is each one's; the id repeats count, part, memory and
form ("2x_nvidia_a100_80gb_sxm"). ``availability`` is told only where a model is asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="together",
    url="https://api.together.xyz/v1/hardware",
    kind="api",
    offers=range(3, 60),
    key_env="GPULEDGER_TOGETHER_ENDPOINTS_API_KEY",
    terms="API for account holders",
    unproven=True,
)
STATUS = {"available": True, "unavailable": False}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per configuration."""
    for page in pages:
        yield from each(items(page.json["data"], "data"), "id", _offers)


def _offers(hardware: dict[str, Any]) -> Iterable[Offer]:
    specs, told = hardware["specs"], hardware.get("availability")
    count, memory = whole(specs["gpu_count"]), decimal_of(specs["gpu_memory"])
    if hardware["object"] != "hardware" or not hardware["id"].startswith(f"{count}x_"):
        raise PageError(f"{count} GPUs in {hardware['object']} {hardware['id']}")
    if cents := asked(hardware["pricing"]["cents_per_minute"]):
        yield Offer(
            sku=hardware["id"],
            accelerator_name=f"{specs['gpu_type']} {specs['gpu_link']}",
            accelerator_count=Decimal(count),
            memory_gb=memory,
            memory_scope="each",
            price=cents.scaleb(-2),
            price_text=str(cents),
            currency="USD",
            per="minute",
            tier="dedicated_inference",
            available=STATUS.get(told["status"]) if told else None,
        )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    key = client.key("GPULEDGER_TOGETHER_ENDPOINTS_API_KEY")
    yield client.get(SOURCE.url, auth_key=key, name="hardware.json")
