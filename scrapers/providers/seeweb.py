"""Seeweb: plans of its cloud servers, priced per hour of the whole plan. Needs a key, in a header of its own.

The answer names no currency; Seeweb's price list is in EUR. Counts and sizes are strings, RAM in MB. ``available``
says that the plan is sold, and ``available_regions`` where; what is in stock is told elsewhere. Plans without
accelerators have a ``gpu`` of "0" and no label. Labels are odd in case ("L40s 48GB"). Beside NVIDIA there are
Instinct and Tenstorrent cards.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="seeweb",
    url="https://api.seeweb.it/ecs/v2/plans",
    kind="api",
    offers=range(5, 120),
    key_env="GPULEDGER_SEEWEB_API_KEY",
    terms="API for account holders",
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per plan with accelerators."""
    for page in pages:
        if page.json["status"] != "ok":
            raise PageError(f"{page.name}: status {page.json['status']!r}")
        yield from each(items(page.json["plans"], "plans"), "name", _offers)


def _offers(plan: dict[str, Any]) -> Iterable[Offer]:
    count = decimal_of(plan["gpu"])
    if not count and not plan["gpu_label"]:
        return
    places = items(plan["available_regions"], "available_regions")
    if price := asked(plan["hourly_price"]):
        yield Offer(
            sku=plan["name"],
            accelerator_name=plan["gpu_label"],
            accelerator_count=count,
            price=price,
            currency="EUR",
            available=truth(plan["available"]) and bool(places),
            vcpus=decimal_of(plan["cpu"]),
            ram_gb=decimal_of(plan["ram"]) / 1024,
            storage_gb=decimal_of(plan["disk"]),
        )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    key = client.key("GPULEDGER_SEEWEB_API_KEY")
    yield client.get(SOURCE.url, headers={"X-APITOKEN": key}, name="plans.json")
