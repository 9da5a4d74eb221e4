"""DigitalOcean: sizes of Droplets from its API, in USD per hour of the whole Droplet. Needs a key.

A size has one price for all ``regions`` that have it. ``gpu_info`` is missing from sizes without accelerators; its
``vram`` is the total of all. ``price_monthly`` is the same for 744 hours. Sizes whose slug ends in "-contracted"
(since 2025) go to holders of a contract, at prices that are not theirs, and are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, check_month, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="digitalocean",
    url="https://api.digitalocean.com/v2/sizes",
    kind="api",
    offers=range(6, 80),
    key_env="GPULEDGER_DIGITALOCEAN_API_KEY",
    terms="API for account holders, 5,000 requests an hour",
)
PER_PAGE = 200
MOST_PAGES = 20


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per size with accelerators."""
    for page in pages:
        yield from each(items(page.json["sizes"], "sizes"), "slug", _offers)


def _offers(size: dict[str, Any]) -> Iterable[Offer]:
    slug, gpu = size["slug"], size.get("gpu_info")
    if gpu is None:
        if slug.startswith("gpu-"):
            raise PageError("a GPU size without gpu_info")
        return
    if not slug.startswith("gpu-"):
        raise PageError("accelerators in a size of another name")
    if slug.endswith("-contracted"):
        return
    memory, regions = gpu["vram"], size["regions"]
    if memory["unit"] != "gib":
        raise PageError(f"memory in {memory['unit']!r}")
    if not isinstance(regions, list):
        raise PageError(f"regions are no list: {regions!r}")
    if price := asked(size["price_hourly"]):
        check_month(price, decimal_of(size["price_monthly"]))
        yield Offer(
            sku=slug,
            accelerator_name=gpu["model"],
            accelerator_count=decimal_of(gpu["count"]),
            memory_gb=decimal_of(memory["amount"]),
            memory_scope="total",
            price=price,
            currency="USD",
            available=truth(size["available"]) and bool(regions),
            vcpus=decimal_of(size["vcpus"]),
            ram_gb=decimal_of(size["memory"]) / 1024,
            storage_gb=decimal_of(size["disk"]),
        )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of the list. Raises PageError when it stops short."""
    key, seen = client.key("GPULEDGER_DIGITALOCEAN_API_KEY"), 0
    for number in range(1, MOST_PAGES + 1):
        asked_for = {"page": number, "per_page": PER_PAGE}
        page = client.get(SOURCE.url, params=asked_for, auth_key=key, name=f"sizes-{number:03}.json")
        found, total = len(items(page.json["sizes"], "sizes")), whole(page.json["meta"]["total"])
        yield page
        seen += found
        if seen >= total:
            return
        if not found:
            raise PageError(f"the list ends after {seen} of {total} sizes")
    raise PageError(f"no end after {MOST_PAGES} pages")
