"""Sesterce's console, open to anyone: every instance of its market, in what Next.js streams to its scripts.

Written from a public reader. Sesterce resells clouds under codes ("AZ_22"), which are kept as the zone; who they are, it
does not tell. A price is the instance's by the hour, with all its GPUs, in dollars as the console shows it. ``vRamGB``
counts all GPUs together. An instance without a spot offer has a spot price of zero. An instance may be offered in many
regions, free or not in each. ``gpuCount`` 0 is a CPU.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, embedded_at, flight, items, truth, whole, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="sesterce",
    url="https://cloud.sesterce.com/compute",
    kind="page",
    offers=range(20, 2000),
    terms="open without an account",
    unproven=True,
)
OFFERS = re.compile(r'"filteredOffers":(?=\[)')
KINDS = {"vm", "baremetal"}
FORM = re.compile(r"sxm\d?|pcie|nvl")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every instance with GPUs, by region."""
    for page in pages:
        whole_html(page)
        stream = flight(page)
        places = [found.end() for found in OFFERS.finditer(stream)]
        records = [record for place in places for record in items(embedded_at(stream, place), "filteredOffers")]
        if not records:
            raise PageError("no instances in the stream")
        yield from dict.fromkeys(each(records, "instanceId", _instance))


def _instance(record: dict[str, Any]) -> Iterable[Offer]:
    count, size = whole(record["gpuCount"]), record["configuration"]
    if count == 0:
        return
    form = size["interconnect"]
    if record["deploymentType"] not in KINDS or not FORM.fullmatch(form) or not record["gpuName"]:
        raise PageError(f"not a machine that is known: {record['deploymentType']!r} with {form!r}")
    on_demand, spot = asked(record["hourlyPrice"]), asked(record["hourlySpotPrice"])
    if not truth(record["spotOfferAvailable"]):
        spot = None
    for region in items(record["availability"], "availability"):
        for amount, is_spot in ((on_demand, False), (spot, True)):
            if amount:
                yield Offer(
                    sku=record["instanceId"],
                    accelerator_name=" ".join((record["gpuName"], form)),
                    accelerator_count=Decimal(count),
                    memory_gb=decimal_of(size["vRamGB"]),
                    memory_scope="total",
                    price=round(amount, 6),
                    price_text=str(amount),
                    currency="USD",
                    pricing_model="spot" if is_spot else "on_demand",
                    tier=record["deploymentType"],
                    region=region["name"],
                    zone=record["cloud"]["name"],
                    available=truth(region["available"]),
                    vcpus=decimal_of(size["vCpu"]),
                    ram_gb=decimal_of(size["ramGB"]),
                    storage_gb=decimal_of(size["storageGB"]),
                    interconnect=form,
                )
