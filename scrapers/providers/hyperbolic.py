"""Hyperbolic: what can be rented now in its on-demand cloud, a bare JSON list that needs no key.

Prices are cents for the whole option, all its nodes together. Beside them stands ``providerCostPerHourCents``, what
Hyperbolic pays its own supplier, which nobody can rent for. An option that is not ``enabled`` keeps its price. Options
have no id, so kind, size and network name them; some say how many there are (``totalAvailable``). Virtual machines have
``vcpuCount``, bare metal ``cpuCount``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="hyperbolic",
    url="https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options",
    kind="api",
    offers=range(4, 80),
    cadence="hourly",
    terms="public API, no key; behind its own rental page",
)
PRICES = {"costPerHourCents", "providerCostPerHourCents"}
SIZES = {"vcpus": ("vcpuCount", "cpuCount"), "ram_gb": ("ramGb",), "storage_gb": ("storageGb",)}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per option that is on sale; equal ones count once."""
    for page in pages:
        yield from dict.fromkeys(each(items(page.json, "the answer"), "region", _offers))


def _offers(option: dict[str, Any]) -> Iterable[Offer]:
    if not truth(option["enabled"]):
        return
    unknown = {key for key in option if re.search("cents|price|usd", key, re.IGNORECASE)} - PRICES
    if unknown:
        raise PageError(f"prices that are not known: {sorted(unknown)}")
    nodes = items(option["nodes"], "nodes")
    count = whole(option["gpuCount"])
    if count != sum(whole(node["gpuCount"]) for node in nodes):
        raise PageError(f"{count} GPUs, and other numbers in the nodes")
    network = [option["connectionType"]]
    if network == ["ethernet"]:
        network.append(option["ethernetVariant"])
    name = " ".join([option["gpuType"], option["gpuFormFactor"]])
    left = option.get("totalAvailable")
    if price := asked(option["costPerHourCents"]):
        yield Offer(
            sku="/".join([option["machineType"], f"{count}x {name}", *network]),
            accelerator_name=name,
            accelerator_count=Decimal(count),
            price=price / 100,
            price_text=f"{price} cents",
            currency="USD",
            tier=option["machineType"],
            region=option["region"],
            available=None if left is None else whole(left) > 0,
            quantity=None if left is None else whole(left),
            interconnect=" ".join(network),
            **{field: _sum(nodes, keys) for field, keys in SIZES.items()},
        )


def _sum(nodes: Sequence[dict[str, Any]], keys: Sequence[str]) -> Decimal | None:
    """What all nodes have together; None where one does not tell."""
    told = [next((node[key] for key in keys if node.get(key) is not None), None) for node in nodes]
    return None if None in told else sum(map(decimal_of, told), Decimal(0))
