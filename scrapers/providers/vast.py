"""Vast.ai: every machine that can be rented now, from the keyless search of its marketplace.

What is odd: a price is that of the whole offer, all its GPUs and 8 GB of disk; a machine lists overlapping sizes at
once (1x, 2x, 4x and 8x of the same eight GPUs); ids of ads churn, machine ids stay; ``min_bid`` is where bids for
interruptible use start, not what such use costs, and may lie above the on-demand price; no answer holds more than 64
offers (seen since 2026), whatever ``limit`` says; "too many requests" is plain text; ``rented`` is a field of the
answer but not a filter.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="vast",
    url="https://console.vast.ai/api/v0/bundles/",
    kind="api",
    offers=range(800, 12_001),
    cadence="hourly",
    terms="public search API, no key; limits requests per address",
)
MAX_PAGES = 200
SEARCH = {
    "type": "on-demand",
    "rentable": {"eq": True},
    "external": {"eq": False},
    # Prices hold for so much disk; 8 GB is the default, said aloud so that it cannot move them.
    "allocated_storage": 8,
    "order": [["dph_total", "asc"]],
    "limit": 64,
}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An on-demand offer per machine and size, and beside it the floor of its bids."""
    # Consecutive pages share the offers at the price where one ends and the next begins.
    seen = set()
    for page in pages:
        for found in each(_ads(page), "id", _read):
            if found not in seen:
                seen.add(found)
                yield found


def _ads(page: Page) -> Sequence[dict[str, Any]]:
    body = page.json
    if not isinstance(body, dict) or body.get("success") is False or "offers" not in body:
        raise PageError(f"{page.name}: not an answer to a search: {page.text[:80]!r}")
    return items(body["offers"], "offers")


def _read(ad: dict[str, Any]) -> Iterator[Offer]:
    if ad["is_bid"]:
        raise PageError("an answer to a search for bids, whose total is not the on-demand price")
    count, ram = whole(ad["num_gpus"]), ad["cpu_ram"]
    machine: dict[str, Any] = {
        "sku": f"{whole(ad['machine_id'])}/{count}x {ad['gpu_name']}",
        "accelerator_name": ad["gpu_name"],
        "accelerator_count": count,
        "memory_gb": decimal_of(ad["gpu_ram"]) / 1024,
        "memory_scope": "each",
        "currency": "USD",
        "tier": ad["verification"],
        "region": ad["geolocation"] or "global",
        "available": ad["rentable"] and not ad["rented"],
        "vcpus": ad["cpu_cores_effective"],
        "ram_gb": None if ram is None else decimal_of(ram) / 1024,
    }
    yield Offer(**machine, price=decimal_of(ad["dph_total"]))
    if floor := asked(ad["min_bid"]):
        yield Offer(**machine, price=floor, pricing_model="floor")


def fetch(client: "Client") -> Iterator[Page]:
    """Every page, cheapest first: a search starts at the price where the last one ended, until one brings nothing new.

    Raises PageError when the pages do not end, or when more offers share one price than a page holds, so that no search
    gets past them: part of the market is not the market.
    """
    seen: set[int] = set()
    last = 0.0
    for number in range(1, MAX_PAGES + 1):
        # A hair below the last price: offers that tie with it may come next, and doubles may round on the way.
        page = _search(client, {"gte": last * (1 - 1e-9)}, number)
        ads = _ads(page)
        new = {ad["id"] for ad in ads} - seen
        if not new and number > 1:
            beyond = _ads(_search(client, {"gt": last * (1 + 1e-9)}, number))
            if beyond:
                raise PageError(f"more offers at {last} USD than a page holds, and {len(beyond)} or more above it")
            return
        yield page
        if not ads:
            return
        seen |= new
        last = max(float(decimal_of(ad["dph_total"])) for ad in ads)
    raise PageError(f"no end of offers after {MAX_PAGES} pages and {len(seen)} offers")


def _search(client: "Client", price: dict[str, float], number: int) -> Page:
    return client.post(SOURCE.url, json={**SEARCH, "dph_total": price}, name=f"page-{number:03}.json")
