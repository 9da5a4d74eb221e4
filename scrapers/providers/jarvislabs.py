"""JarvisLabs: GPU types by region, in USD per GPU-hour although a machine has up to eight. Needs a key.

A type is listed once for containers and once for virtual machines (``workload_type``; null on old rows, which are
virtual machines), at prices of its own. ``vram`` and ``num_gpus`` are strings; the latter may be missing, and is the
most that a machine can have. A type with nothing free stays listed with its price. ``spot_price`` is null where it is
not sold so. ``cpu_meta`` prices machines without accelerators.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, whole
from scrapers.source import Page, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="jarvislabs",
    url="https://backendn.jarvislabs.net/misc/server_meta",
    kind="api",
    offers=range(6, 120),
    key_env="GPULEDGER_JARVISLABS_API_KEY",
    terms="API for account holders",
)
WAYS: Sequence[tuple[Literal["on_demand", "spot"], str, str]] = (
    ("on_demand", "price_per_hour", "num_free_devices"),
    ("spot", "spot_price", "spot_num_free_devices"),
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers per type, region and kind of workload, on demand and spot."""
    for page in pages:
        yield from each(items(page.json["server_meta"], "server_meta"), "gpu_type", _offers)


def _offers(row: dict[str, Any]) -> Iterable[Offer]:
    for way, name, free_name in WAYS:
        free = whole(row[free_name])
        if price := asked(row[name]):
            yield Offer(
                sku=row["gpu_type"],
                accelerator_name=row["gpu_type"],
                memory_gb=decimal_of(row["vram"]),
                memory_scope="each",
                price=price,
                currency="USD",
                price_scope="accelerator",
                pricing_model=way,
                tier=row["workload_type"],
                region=row["region"],
                available=free > 0,
                quantity=free,
            )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    yield client.get(SOURCE.url, auth_key=client.key("GPULEDGER_JARVISLABS_API_KEY"), name="server-meta.json")
