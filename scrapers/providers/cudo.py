"""CUDO Compute: GPUs as parts, by machine type and data centre, from the keyless list of its API.

A price is the GPU's alone; vCPUs and GiB of RAM are priced beside it and billed on top in any amount within limits, so
no instance has a price (disk and addresses are left out). ``prices`` (2026) repeats all three for each commitment;
older answers have the price without one only. Amounts are decimal strings inside ``value``. Machine types without a
GPU are listed with an empty ``gpuModel`` and a price of 0. How many GPUs a machine takes is not told.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scrapers.offer import Offer, PriceScope
from scrapers.shapes import asked, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="cudo",
    url="https://rest.compute.cudo.org/v1/vms/machine-types",
    kind="api",
    offers=range(6, 400),
    terms="public API, no key needed for machine types",
)
PARTS: dict[str, PriceScope] = {
    "gpuPriceHr": "component",
    "vcpuPriceHr": "host_vcpu",
    "memoryGibPriceHr": "host_gib",
}
NO_TERM = "COMMITMENT_TERM_NONE"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """The GPU of every machine type that has one, and beside it the parts of its host, for every commitment."""
    for page in pages:
        yield from each(items(page.json["machineTypes"], "machineTypes"), "machineType", _offers)


def _offers(kind: dict[str, Any]) -> Iterable[Offer]:
    if not kind["gpuModel"]:
        if _value(kind, "gpuPriceHr"):
            raise PageError("a GPU's price without its name")
        return
    free = whole(kind["maxGpuFree"])
    listed = items(kind["prices"], "prices") if "prices" in kind else [kind | {"commitmentTerm": NO_TERM}]
    for prices in listed:
        days = _days(prices["commitmentTerm"])
        if not days and any(_value(prices, part) != _value(kind, part) for part in PARTS):
            raise PageError("two prices without a commitment")
        for part, scope in PARTS.items():
            if price := _value(prices, part):
                yield Offer(
                    sku=kind["machineType"],
                    accelerator_name=kind["gpuModel"],
                    price=price,
                    currency="USD",
                    price_scope=scope,
                    pricing_model="reserved" if days else "on_demand",
                    commitment_days=days,
                    region=kind["dataCenterId"],
                    available=free > 0,
                    quantity=whole(kind["totalGpuFree"]) if scope == "component" else None,
                )


def _value(prices: Mapping[str, Any], part: str) -> Any:
    """An amount in USD, None where it is 0."""
    return asked(prices[part]["value"])


def _days(term: str) -> int:
    """Days of ``COMMITMENT_TERM_NONE``, ``…_1_MONTH``, ``…_12_MONTHS``; twelve months are a year."""
    if term == NO_TERM:
        return 0
    found = re.fullmatch(r"COMMITMENT_TERM_(\d{1,2})_MONTHS?", term)
    if not found:
        raise PageError(f"a commitment that is not known: {term!r}")
    years, months = divmod(int(found[1]), 12)
    return 365 * years + 30 * months
