"""Koyeb: instance types of its serverless platform, in USD per hour of the whole instance. Needs an API token.

Written from its API reference. Amounts are strings, told by the second, the hour and the month; the currency is that
of its price page. ``gpu`` is missing on types without accelerators. What ``gpu.memory`` counts on types of several is
not told. A type has one price in all its ``regions``. Billing is by the second while an instance runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, gigabytes, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="koyeb",
    url="https://app.koyeb.com/v1/catalog/instances",
    kind="api",
    offers=range(4, 80),
    key_env="GPULEDGER_KOYEB_API_KEY",
    terms="API for account holders",
    unproven=True,
)
PER_PAGE = 100
MOST_PAGES = 10


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per instance type with accelerators."""
    for page in pages:
        yield from each(items(page.json["instances"], "instances"), "id", _offers)


def _offers(kind: dict[str, Any]) -> Iterable[Offer]:
    gpu = kind.get("gpu")
    if not gpu:
        if kind["type"] == "gpu":
            raise PageError("a GPU type that does not say which")
        return
    count, hour, second = whole(gpu["count"]), asked(kind["price_hourly"]), asked(kind["price_per_second"])
    if not hour or not second:
        return
    if not Decimal("0.98") < second * 3600 / hour < Decimal("1.02"):
        raise PageError(f"{second} a second does not go with {hour} an hour")
    yield Offer(
        sku=kind["id"],
        accelerator_name=f"{gpu['brand']} {gpu['name']}",
        accelerator_count=Decimal(count),
        memory_gb=gigabytes(gpu["memory"]) if count == 1 else None,
        memory_scope="each" if count == 1 else None,
        price=hour,
        currency="USD",
        tier="serverless",
        available=kind["status"] == "available",
        vcpus=decimal_of(kind["vcpu_shares"]),
        ram_gb=gigabytes(kind["memory"]),
    )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of the list. Raises PageError when it stops short."""
    key, seen = client.key("GPULEDGER_KOYEB_API_KEY"), 0
    for number in range(1, MOST_PAGES + 1):
        asked_for = {"limit": PER_PAGE, "offset": seen}
        page = client.get(SOURCE.url, params=asked_for, auth_key=key, name=f"instances-{number:03}.json")
        found, total = len(items(page.json["instances"], "instances")), whole(page.json["count"])
        yield page
        seen += found
        if seen >= total:
            return
        if not found:
            raise PageError(f"the list ends after {seen} of {total} types")
    raise PageError(f"no end after {MOST_PAGES} pages")
