"""Voltage Park: bare metal by location and virtual machines by preset, from the keyless lists of its API.

A location has two prices, with Ethernet and with InfiniBand between nodes, in USD for each GPU although a node has
eight. ``gpu_price_…`` is a decimal string, and stands where nothing is free. The presets (marked as deprecated in 2026,
still answered) price the whole machine in ``compute_rate_hourly``; ``storage_rate_hourly`` is billed on top and is left
out. Prices of reserved clusters are not told.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import READING_ERRORS, Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://cloud-api.voltagepark.com/api/v1"
SOURCE = Source(
    provider="voltage_park",
    url=f"{API}/bare-metal/locations",
    kind="api",
    offers=range(2, 40),
    terms="public API, no key needed for locations and presets",
)
LISTS = {"locations": SOURCE.url, "presets": f"{API}/instant-deploy-presets/"}
NETWORKS = ("ethernet", "infiniband")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every location and network, and of every preset."""
    for page in pages:
        if isinstance(page.json, list):
            yield from dict.fromkeys(each(items(page.json, "presets"), "id", _preset))
        else:
            yield from each(_locations(page), "id", _location)


def _locations(page: Page) -> Sequence[dict[str, Any]]:
    """All locations. Raises PageError when the answer has a next page, of which nothing is known."""
    if truth(page.json["has_next"]) or truth(page.json["has_previous"]):
        raise PageError(f"{page.name}: one page of several")
    return items(page.json["results"], "results")


def _location(row: dict[str, Any]) -> Iterable[Offer]:
    unknown = {key for key in row if "price" in key} - {f"gpu_price_{network}" for network in NETWORKS}
    if unknown:
        raise PageError(f"prices that are not known: {sorted(unknown)}")
    node = row["specs_per_node"]
    for network in NETWORKS:
        price, free = asked(row[f"gpu_price_{network}"]), whole(row[f"gpu_count_{network}"])
        if price:
            yield Offer(
                sku=f"bare-metal/{node['gpu_model']}/{network}",
                accelerator_name=node["gpu_model"],
                accelerator_count=decimal_of(node["gpu_count"]),
                price=price,
                currency="USD",
                price_scope="accelerator",
                tier="bare_metal",
                zone=row["id"],
                available=free > 0,
                vcpus=decimal_of(node["cpu_count"]),
                ram_gb=decimal_of(node["ram_gb"]),
                storage_gb=decimal_of(node["storage_gb"]),
                interconnect=network,
            )


def _preset(row: dict[str, Any]) -> Iterable[Offer]:
    unknown = {key for key in row if "price" in key or "rate" in key} - {"compute_rate_hourly", "storage_rate_hourly"}
    if unknown:
        raise PageError(f"prices that are not known: {sorted(unknown)}")
    machine, places = row["resources"], row["location_ids_with_availability"]
    if not isinstance(places, list):
        raise PageError(f"not a list of locations: {places!r}")
    if not (price := asked(row["compute_rate_hourly"])) or not machine["gpus"]:
        return
    [(name, told)] = machine["gpus"].items()
    count = whole(told["count"])
    yield Offer(
        sku=f"virtual-machine/{count}x {name}",
        accelerator_name=name,
        accelerator_count=Decimal(count),
        price=price,
        currency="USD",
        tier="virtual_machine",
        available=bool(places),
        vcpus=decimal_of(machine["vcpu_count"]),
        ram_gb=decimal_of(machine["ram_gb"]),
        storage_gb=decimal_of(machine["storage_gb"]),
    )


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """Both lists; one may fail without the other."""
    for name, url in LISTS.items():
        try:
            yield client.get(url, name=f"{name}.json")
        except (FetchError, *READING_ERRORS) as error:
            yield Missed(name, one_line(error))
