"""AWS: EC2 instances with accelerators, from the price files behind its pricing pages; on demand and reserved.

There is a file for each region by its long name, with every Linux instance type; a type may be listed twice under keys
that differ, at one price. A price is USD an hour for the whole instance, which the page says and the file does not.
Reserved files are one for each term; the ones read are those without payment up front, where the price is by the hour.
Some answers are compressed without saying so. Neither the accelerator nor (mostly) their number is told, so the
instance type is the only name. Video transcoders (VT1) and FPGAs (F1, F2) are accelerated, too, and left out.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, each, gigabytes, named, number
from scrapers.source import MAX_PAGE_BYTES, READING_ERRORS, Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

FILES = "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current"
SOURCE = Source(
    provider="aws",
    url=f"{FILES}/ec2-ondemand-without-sec-sel/metadata.json",
    kind="api",
    offers=range(600, 20_000),
    terms="public price files, no key",
)
ON_DEMAND, RESERVED = "ec2-ondemand-without-sec-sel", "ec2-reservedinstance"
TERMS = ("1 year", "3 year")
# Where accelerators are, as of 2026; read when the list of files does not say.
REGIONS = [
    *("US East (N. Virginia)", "US East (Ohio)", "US West (N. California)", "US West (Oregon)", "Canada (Central)"),
    *("EU (Frankfurt)", "EU (Ireland)", "EU (London)", "EU (Paris)", "EU (Stockholm)", "Europe (Spain)"),
    *("Asia Pacific (Mumbai)", "Asia Pacific (Seoul)", "Asia Pacific (Singapore)", "Asia Pacific (Sydney)"),
    *("Asia Pacific (Tokyo)", "Asia Pacific (Osaka)", "Asia Pacific (Jakarta)", "South America (Sao Paulo)"),
]
ACCELERATED = re.compile(r"(p|g|gr|trn|inf|dl)\d[a-z0-9-]*\.[a-z0-9-]+|u-p\d[a-z0-9-]+")
RESERVATION = {"LeaseContractLength", "PurchaseOption", "riupfront:PricePerUnit"}
ON_DEMAND_TERM = ".JRTCKXETXF."
NO_ACCELERATOR = re.compile(r"(vt|f)\d")
SYSTEM = {"Operating System": "Linux", "plc:OperatingSystem": "Linux"}
PLAIN = SYSTEM | {"Pre Installed S/W": "NA", "License Model": "No License required", "Tenancy": "Shared"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every accelerated instance type for a bare Linux machine, by region."""
    for page in pages:
        for region in named(_opened(page).json["regions"], "regions"):
            place = region.pop("name")
            yield from dict.fromkeys(each(named(region, place, "key"), "key", partial(_offers, region=place)))


def _offers(record: dict[str, Any], region: str) -> Iterable[Offer]:
    name = record["Instance Type"]
    if not ACCELERATED.fullmatch(name):
        if record.get("plc:InstanceFamily") == "Accelerated Computing" and not NO_ACCELERATOR.match(name):
            raise PageError(f"an accelerated instance type that is not known: {name}")
        return
    if not SYSTEM.keys() & record.keys():
        raise PageError("nothing says that it is Linux")
    if any(record[key] != plain for key, plain in PLAIN.items() if key in record):
        return
    if record.get("Location", region) != region:
        raise PageError(f"in {record['Location']!r}, listed under {region!r}")
    if price := asked(record["price"]):
        yield Offer(
            sku=name,
            accelerator_name=name,
            price=price,
            currency="USD",
            region=region,
            vcpus=number(record["vCPU"]) if "vCPU" in record else None,
            ram_gb=gigabytes(record["Memory"]) if "Memory" in record else None,
            **_terms(record),
        )


def _terms(record: dict[str, Any]) -> dict[str, Any]:
    """How it is paid for. Raises PageError for a term that is paid up front in part: its hours are not its price."""
    is_reserved = bool(RESERVATION & record.keys())
    if "rateCode" in record and (ON_DEMAND_TERM in record["rateCode"]) == is_reserved:
        raise PageError(f"another term than its rate code says: {record['rateCode']!r}")
    if not is_reserved:
        return {}
    years = re.fullmatch(r"([13]) ?y(?:ea)?rs?", record["LeaseContractLength"])
    if years is None or record["PurchaseOption"] != "No Upfront" or asked(record.get("riupfront:PricePerUnit")):
        raise PageError(f"terms that are not known: {record['LeaseContractLength']}, {record['PurchaseOption']}")
    return {"pricing_model": "reserved", "commitment_days": 365 * int(years[1]), "upfront": 0}


def _opened(page: Page) -> Page:
    """The page, decompressed if it came compressed without saying so."""
    if not page.body.startswith(b"\x1f\x8b"):
        return page
    opener, body = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), b""
    with suppress(zlib.error):
        body = opener.decompress(page.body, MAX_PAGE_BYTES)
    if not opener.eof:
        raise PageError(f"{page.name}: compressed, and damaged or too large")
    return Page(page.url, body, page.name)


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """The file of every region, and the reserved ones of regions that have accelerators; any may fail alone.

    Where nothing is reserved there is no file, which is missed only when no region has one.
    """
    places, reserved = REGIONS, 0
    try:
        places = _places(client.get(SOURCE.url, name="metadata.json"))
    except (FetchError, *READING_ERRORS) as error:
        yield Missed("the list of regions", one_line(error))
    for place in places:
        answer = _file(client, ON_DEMAND, place, "Linux")
        yield answer or Missed(place, "no file")
        if not isinstance(answer, Page) or not any(isinstance(found, Offer) for found in parse([answer])):
            continue
        for term in TERMS:
            answer = _file(client, f"{RESERVED}/{term}/No Upfront", place, "Linux/Shared")
            reserved += isinstance(answer, Page)
            if answer:
                yield answer
    if not reserved:
        yield Missed("reserved", "no file of any region")


def _file(client: "Client", before: str, place: str, after: str) -> Page | Missed | None:
    """One file, checked to be one; None where there is none."""
    name = re.sub("[^a-z0-9]+", "-", f"{place} {before.partition('/')[2]}".casefold()).strip("-")
    try:
        page = client.get(f"{FILES}/{quote(f'{before}/{place}/{after}', safe='/()')}/index.json", name=f"{name}.json")
        list(parse([page]))
    except (FetchError, *READING_ERRORS) as error:
        is_absent = isinstance(error, FetchError) and error.status in {403, 404}
        return None if is_absent else Missed(name, one_line(error))
    return page


def _places(page: Page) -> list[str]:
    """Every region of the files, by its long name."""
    places = _opened(page).json["valueAttributes"]["Location"]
    if not isinstance(places, list) or not all(isinstance(place, str) and place for place in places) or not places:
        raise PageError(f"{page.name}: the list of files does not name the regions")
    return sorted(set(places))
