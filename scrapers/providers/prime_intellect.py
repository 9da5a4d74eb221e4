"""Prime Intellect: machines of many clouds, resold beside its own, in USD per hour of the whole machine. Needs a key.

The price of a machine includes the least disk it can be had with, though ``defaultIncludedInPrice`` says false (1.64
and 120 GB at 0.00014 are sent as 1.6567999999999998). ``onDemand`` holds the price of spot machines as well;
``communityPrice`` stands beside it or in its place. ``gpuType`` ("H100_80GB") does without the form, which is in
``socket``. What ``gpuMemory`` counts on machines of several is not told. Machines that are paid ahead for a
``prepaidTime``, in a unit that nobody states, are left out. A replica that is behind answers 200 with an empty
list (seen 2025): the summary by type then tells whether there is really nothing. Summaries and lists of disks repeat
prices of the list, or price nothing that computes, and hold no offers.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://api.primeintellect.ai/api/v1/availability"
SOURCE = Source(
    provider="prime_intellect",
    url=f"{API}/gpus",
    kind="api",
    offers=range(50, 3_001),
    key_env="GPULEDGER_PRIME_INTELLECT_API_KEY",
    terms="API for account holders",
    is_aggregator=True,
)
PER_PAGE = 100
MOST_PAGES = 50
STOCK = {"Available": True, "High": True, "Medium": True, "Low": True, "Unavailable": False}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per machine in the list."""
    bodies = [(page, page.json) for page in pages]
    lists = [items(body["items"], "items") for _, body in bodies if "items" in body]
    summaries = [_is_summary(page, body) for page, body in bodies if "items" not in body]
    if lists and summaries and not any(lists):
        raise PageError("an empty list beside a summary that has prices")
    for listed in lists:
        yield from each([one for one in listed if _is_machine(one)], "cloudId", _offers)


def _is_machine(one: dict[str, Any]) -> bool:
    """Not a disk, and not a machine without accelerators."""
    return "spec" not in one and one.get("gpuType") != "CPU_NODE"


def _is_summary(page: Page, body: Any) -> bool:
    if not body or not all("cheapest" in regions for counts in body.values() for regions in counts.values()):
        raise PageError(f"{page.name}: neither a list of machines nor a summary: {page.text[:80]!r}")
    return True


def _offers(machine: dict[str, Any]) -> Iterable[Offer]:
    if machine["prepaidTime"]:
        return
    prices, count = machine["prices"], decimal_of(machine["gpuCount"])
    is_spot = machine["isSpot"] is not None and truth(machine["isSpot"])
    tiers = {"onDemand": machine["security"], "communityPrice": "community"}
    for name, tier in tiers.items():
        if price := asked(prices[name]):
            yield Offer(
                sku=machine["cloudId"],
                accelerator_name=" ".join(filter(None, (machine["gpuType"], machine["socket"]))),
                accelerator_count=count,
                memory_gb=decimal_of(machine["gpuMemory"]) if count == 1 else None,
                memory_scope="each" if count == 1 else None,
                price=price,
                currency=prices["currency"],
                pricing_model="spot" if is_spot else "on_demand",
                tier=tier,
                provider=machine["provider"],
                region=machine["region"] or machine["country"] or "global",
                zone=machine["dataCenter"],
                available=STOCK.get(machine["stockStatus"]),
                vcpus=asked(machine["vcpu"]["defaultCount"]),
                ram_gb=asked(machine["memory"]["defaultCount"]),
                interconnect=machine["interconnectType"],
            )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of the list; where it is empty, the summary beside it. Raises PageError when the list stops short."""
    key, seen = client.key("GPULEDGER_PRIME_INTELLECT_API_KEY"), 0
    for number in range(1, MOST_PAGES + 1):
        asked_for = {"page": number, "page_size": PER_PAGE}
        page = client.get(SOURCE.url, params=asked_for, auth_key=key, name=f"gpus-{number:03}.json")
        found, total = len(items(page.json["items"], "items")), whole(page.json["totalCount"])
        yield page
        seen += found
        if not total:
            yield client.get(f"{API}/gpu-summary", auth_key=key, name="summary.json")
        if seen >= total:
            return
        if not found:
            raise PageError(f"the list ends after {seen} of {total} machines")
    raise PageError(f"no end after {MOST_PAGES} pages")
