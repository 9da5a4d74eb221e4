"""Lium: machines of independent hosts, in USD per GPU-hour although a machine may have eight.

The list of machines for rent (``/executors``) answers without a key though its documentation asks for one. ``tier`` is
"secure" or "spot" and ``specs.is_spot`` repeats it; ``pending_price_per_hour`` is a price to come. Prices carry the
residue of binary fractions (8.000300000000001). Where the list is refused, the public one of models (``/machines``)
stands in: the going price of each, and of models that nobody has (``total_gpu_count`` 0), which is no offer.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://lium.io/api"
SOURCE = Source(
    provider="lium",
    url=f"{API}/executors",
    kind="api",
    offers=range(10, 1_001),
    cadence="hourly",
    terms="public API; the list of models is documented as public",
)
TIERS = {"secure": False, "spot": True}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per machine, or per model on the public list."""
    for page in pages:
        listed = items(page.json, "the answer")
        yield from each([one for one in listed if "machine_name" in one], "id", _machine)
        yield from each([one for one in listed if "machine_name" not in one], "name", _model)


def _machine(row: dict[str, Any]) -> Iterable[Offer]:
    is_spot, place = TIERS[row["tier"]], row["location"]
    if truth(row["specs"]["is_spot"]) != is_spot:
        raise PageError(f"{row['tier']}, and is_spot is {not is_spot}")
    count, free = whole(row["gpu_count"]), whole(row["available_gpu_count"])
    if not 0 <= free <= count:
        raise PageError(f"{free} of {count} GPUs free")
    if price := asked(row["price_per_gpu"]):
        least = row.get("min_gpu_count_for_rental")
        yield Offer(
            sku="/".join([row["id"], f"{count}x {row['machine_name']}"]),
            accelerator_name=row["machine_name"],
            accelerator_count=Decimal(count),
            price=price,
            currency="USD",
            price_scope="accelerator",
            pricing_model="spot" if is_spot else "on_demand",
            tier=row["tier"],
            region=place["country_code"] or "global",
            zone=place["city"] or None,
            available=free > 0,
            minimum_accelerators=None if least is None else whole(least),
        )


def _model(row: dict[str, Any]) -> Iterable[Offer]:
    if asked(row["total_gpu_count"]) and (price := asked(row["price"])):
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            price=price,
            currency="USD",
            price_scope="accelerator",
            available=decimal_of(row["rental_rate"]) < 1,
        )


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """The machines for rent, or the public list of models in their place."""
    try:
        yield client.get(SOURCE.url, name="executors.json")
    except FetchError as error:
        yield Missed("executors", one_line(error))
        yield client.get(f"{API}/machines", name="machines.json")
