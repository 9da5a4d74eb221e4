"""Scaleway: instance types by zone, with what is in stock.

Prices are EUR without VAT per hour of the whole instance; the API's reference says so, not the answer. ``servers`` is
an object keyed by type, and the zone stands in the address only. ``monthly_price`` is the same price for 730 hours and
no commitment. Retired types keep a price, and the stock list calls them available: ``end_of_service`` tells. A
``mig_profile`` makes the type a slice, of a size that nothing states. The stock list leaves some types out. The oldest
answers lack ``gpu_info``, so that the type is the only name. Sizes are in bytes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, check_month, decimal_of, each, named, truth, whole
from scrapers.source import READING_ERRORS, Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="scaleway",
    url="https://api.scaleway.com/instance/v1/zones/{zone}/products/servers",
    kind="api",
    offers=range(12, 150),
    terms="public API, no key needed for the product lists",
)
# Those that sell instances, as of 2026-07; the API has no list of them.
ZONES = [
    *("fr-par-1", "fr-par-2", "fr-par-3"),
    *("nl-ams-1", "nl-ams-2", "nl-ams-3"),
    *("pl-waw-1", "pl-waw-2", "pl-waw-3"),
    "it-mil-1",
]
PER_PAGE = 100
SHORT_PAGE = 50
"""Pages were 50 types long where 100 were asked for; a shorter one is the last."""
MOST_PAGES = 20
GIB = 2**30
RENTABLE = {"available": True, "scarce": True, "shortage": False}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every zone on the pages; the stock lists among them tell what is available."""
    lists = [(_zone(page), _servers(page)) for page in pages]
    stock = {
        (zone, server["name"]): server["availability"]
        for zone, servers in lists
        for server in servers
        if "availability" in server
    }
    for zone, servers in lists:
        sold = [server for server in servers if "availability" not in server]
        yield from each(sold, "name", partial(_offers, zone=zone, stock=stock))


def _offers(server: dict[str, Any], zone: str | None, stock: Mapping[tuple[str | None, str], str]) -> Iterable[Offer]:
    count = 0 if server["gpu"] is None else whole(server["gpu"])
    if not count or truth(server.get("end_of_service", False)) or not (price := asked(server["hourly_price"])):
        return
    if "monthly_price" in server:
        check_month(price, decimal_of(server["monthly_price"]))
    info = server.get("gpu_info")
    name = server["name"] if info is None else info["gpu_name"]
    slice_of = server.get("mig_profile") if info is None else server["mig_profile"]
    is_whole = slice_of is None
    if not is_whole and not isinstance(slice_of, str):
        raise PageError(f"not the name of a slice: {slice_of!r}")
    state = stock.get((zone, server["name"]))
    yield Offer(
        sku=server["name"],
        accelerator_name=name if is_whole else f"{name} {slice_of}",
        accelerator_count=Decimal(count) if is_whole else None,
        memory_gb=decimal_of(info["gpu_memory"]) / GIB if info and is_whole else None,
        memory_scope="each" if info and is_whole else None,
        price=price,
        currency="EUR",
        tax="excluded",
        region=zone.rpartition("-")[0] if zone else "global",
        zone=zone,
        available=RENTABLE[state] if state else None,
        vcpus=decimal_of(server["ncpus"]),
        ram_gb=decimal_of(server["ram"]) / GIB,
    )


def _zone(page: Page) -> str | None:
    zone = r"[a-z]{2}-[a-z]{3}-\d(?!\d)"
    found = re.search(rf"(?<=zones[/_])({zone})", page.url) or re.search(rf"(?<![a-z])({zone})", page.name)
    return found[1] if found else None


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """Price lists of every zone, then the stock of those that have accelerators; a zone may fail without the others."""
    selling = []
    for zone in ZONES:
        for answer in _answers(client, zone):
            yield answer
            if isinstance(answer, Page) and any(server.get("gpu") for server in _servers(answer)):
                selling.append(zone)
    for zone in dict.fromkeys(selling):
        yield from _answers(client, zone, "/availability")


def _answers(client: "Client", zone: str, path: str = "") -> Iterator[Page | Missed]:
    """Every page of one list, and what went wrong if there was no end to it."""
    url, name = SOURCE.url.format(zone=zone) + path, f"{zone}-{path.strip('/') or 'servers'}"
    try:
        for number in range(1, MOST_PAGES + 1):
            page = client.get(url, params={"page": number, "per_page": PER_PAGE}, name=f"{name}-{number:03}.json")
            is_last = len(_servers(page)) < SHORT_PAGE
            yield page
            if is_last:
                return
        raise PageError(f"no end after {MOST_PAGES} pages")
    except (FetchError, *READING_ERRORS) as error:
        yield Missed(name, one_line(error))


def _servers(page: Page) -> Sequence[dict[str, Any]]:
    return named(page.json["servers"], "servers")
