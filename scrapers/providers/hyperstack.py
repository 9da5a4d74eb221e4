"""Hyperstack: the price book of its API, in USD per GPU-hour with its share of the host, and its flavours. Needs a key.

Written from its documentation. The price book is a bare list of everything that is billed: GPUs, processors and memory
of CPU-only flavours, disks, addresses, models served by the token; nothing but the name tells them apart. ``value``
is what the account pays, ``original_value`` the list price, taken here; rows with a start or end are prices of some
other time and are reported. The name of a spot GPU ends in "-spot". A flavour names its GPU as the price book does,
and says how many, where, and whether there is one now; vCPUs, RAM and local disk cost nothing on flavours with GPUs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://infrahub-api.nexgencloud.com/v1"
SOURCE = Source(
    provider="hyperstack",
    url=f"{API}/pricebook",
    kind="api",
    offers=range(8, 400),
    key_env="GPULEDGER_HYPERSTACK_API_KEY",
    terms="API for account holders, 500 requests a minute",
    unproven=True,
)
NO_GPU = re.compile(
    r"/|\b(v?cpus?|ram|ephemeral|ssd|hdd|nvme|disks?|storage|volumes?|snapshots?|images?|ips?|tokens?)\b", re.IGNORECASE
)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per flavour with GPUs and region; where no flavours are told, one per GPU in the price book."""
    book: dict[str, Decimal] = {}
    flavors: list[dict[str, Any]] = []
    for page in pages:
        if isinstance(page.json, list):
            yield from each(items(page.json, "the price book"), "name", partial(_note, book=book))
        else:
            for group in items(page.json["data"], "data"):
                flavors += items(group["flavors"], "flavors")
    if flavors and not book:
        raise PageError("flavours without a price book")
    if flavors:
        yield from each(flavors, "name", partial(_flavor, book=book))
    else:
        yield from (_offer(name, price) for name, price in book.items())


def _note(row: dict[str, Any], book: dict[str, Decimal]) -> Iterable[Offer]:
    """Puts the price of a GPU into the book."""
    name, price = row["name"], asked(row["original_value"])
    if NO_GPU.search(name):
        return ()
    if row["start_time"] is not None or row["end_time"] is not None:
        raise PageError(f"{name}: a price from {row['start_time']} to {row['end_time']}")
    if not truth(row["discount_applied"]) and asked(row["value"]) != price:
        raise PageError(f"{name}: {row['value']} and {row['original_value']} without a discount")
    if name in book:
        raise PageError(f"{name}: two prices")
    if price:
        book[name] = price
    return ()


def _flavor(flavor: dict[str, Any], book: dict[str, Decimal]) -> Iterable[Offer]:
    if count := whole(flavor["gpu_count"]):
        yield _offer(
            flavor["gpu"],
            book[flavor["gpu"]],
            sku=flavor["name"],
            accelerator_count=Decimal(count),
            region=flavor["region_name"],
            available=truth(flavor["stock_available"]),
            vcpus=decimal_of(flavor["cpu"]),
            ram_gb=decimal_of(flavor["ram"]),
        )


def _offer(name: str, price: Decimal, **told: Any) -> Offer:
    is_spot = name.endswith("-spot")
    return Offer(
        **{"sku": name, **told},
        accelerator_name=name.removesuffix("-spot"),
        price=price,
        currency="USD",
        price_scope="accelerator",
        pricing_model="spot" if is_spot else "on_demand",
    )


def fetch(client: "Client") -> Iterator[Page]:
    """The price book and the flavours of all regions."""
    headers = {"api_key": client.key("GPULEDGER_HYPERSTACK_API_KEY")}
    yield client.get(SOURCE.url, headers=headers, name="pricebook.json")
    yield client.get(f"{API}/core/flavors", headers=headers, name="flavors.json")
