"""Azure: sizes of the N families (GPU machines) in every region, from the keyless Retail Prices API.

What is odd: a reservation's price is the total of its term although the unit says "1 Hour"; one size comes several
times over, as Linux, Windows (also spelled "Win"), Cloud Services, Dedicated Host, dev/test, Spot and Low Priority
(still listed although retired), and only ``productName``, ``meterName`` and ``type`` tell them apart; prices that
were and that will be are listed beside the one that holds, told apart by ``effectiveStartDate``; a row that is not of
the meter's primary region is a duplicate only where a primary row exists; 0 means "not on sale yet". Nothing says how
many GPUs a size has, so the SKU is the only name.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapers.offer import Offer
from scrapers.shapes import asked, each, items
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="azure",
    url="https://prices.azure.com/api/retail/prices",
    kind="api",
    offers=range(1_500, 20_001),
    terms="public API, documented for anonymous use",
)
MAX_PAGES = 100
PRICE_TYPES = ("Consumption", "Reservation")
# NP machines carry FPGAs and NM machines video cards.
GPU_SIZE = re.compile(r"Standard_N(?![PM]\d)")
# "Srs Win", "CloudServices" and "DedicatedHost" are spellings of the feed.
OTHER_PRODUCT = re.compile(r"\bWin(dows)?\b|\bCloud ?Services\b|\bDedicated ?Host\b", re.IGNORECASE)
TERM_DAYS = {"1 Year": 365, "3 Years": 1095, "5 Years": 1825}
# Trackers save this much of a record. The currency they drop is the one of a request that names none: USD.
EXCERPT = {"armSkuName", "armRegionName", "retailPrice", "unitOfMeasure", "meterName", "productName", "type"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers for a bare (Linux) machine: on demand, Spot, Low Priority, reserved for one, three or five years."""
    rows: dict[Offer, bool] = {}
    unread = set()
    for page in pages:
        for record in items(_body(page, "Items")["Items"], "Items"):
            for found in each([record], "armSkuName", _read):
                if isinstance(found, Rejected):
                    yield found
                    unread.add((record.get("armSkuName"), record.get("armRegionName")))
                else:
                    rows[found] = rows.get(found, False) or record.get("isPrimaryMeterRegion", True)
    primary = {_key(offer) for offer, is_primary in rows.items() if is_primary}
    # Where a row of a size does not read, another that it would have replaced must not stand in for it.
    yield from (
        offer
        for offer, is_primary in rows.items()
        if (is_primary or _key(offer) not in primary) and (offer.sku, offer.region) not in unread
    )


def _body(page: Page, *needed: str) -> dict[str, Any]:
    body = page.json
    if not isinstance(body, dict) or not body.keys() >= set(needed):
        raise PageError(f"{page.name}: not a page of prices: {page.text[:80]!r}")
    return body


def _key(offer: Offer) -> tuple[object, ...]:
    return offer.sku, offer.region, offer.pricing_model, offer.commitment_days, offer.tier, offer.currency


def _read(record: dict[str, Any]) -> Iterator[Offer]:
    if not GPU_SIZE.match(record["armSkuName"]) or record["type"] == "DevTestConsumption":
        return
    if OTHER_PRODUCT.search(_words(record, "productName")):
        return
    if record["unitOfMeasure"] != "1 Hour":
        raise PageError(f"a unit that is not known: {record['unitOfMeasure']!r}")
    told: dict[str, Any] = {"currency": "USD"}
    if record.keys() != EXCERPT:
        if _words(record, "serviceName") != "Virtual Machines":
            return
        if not isinstance(record["isPrimaryMeterRegion"], bool):
            raise PageError(f"isPrimaryMeterRegion is {record['isPrimaryMeterRegion']!r}")
        start = date.fromisoformat(record["effectiveStartDate"][:10])
        told = {"currency": record["currencyCode"], "effective_at": start}
    if price := asked(record["retailPrice"]):
        name = record["armSkuName"]
        told |= {"sku": name, "accelerator_name": name, "region": record["armRegionName"]}
        yield Offer(**told, **_terms(record), price=price)


def _terms(record: dict[str, Any]) -> dict[str, Any]:
    if record["type"] == "Reservation":
        days = TERM_DAYS[record["reservationTerm"]]
        return {"pricing_model": "reserved", "commitment_days": days, "per": "term"}
    if record["type"] != "Consumption":
        raise PageError(f"a type that is not known: {record['type']!r}")
    # Either name is enough: a Spot price must never pass for an on-demand one.
    names = f"{_words(record, 'meterName')} {record.get('skuName', '')}"
    if "Low Priority" in names:
        return {"pricing_model": "spot", "tier": "low_priority"}
    return {"pricing_model": "spot"} if "Spot" in names else {"pricing_model": "on_demand"}


def _words(record: dict[str, Any], name: str) -> str:
    if not isinstance(record[name], str) or not record[name].strip():
        raise PageError(f"{name} is {record[name]!r}")
    return str(record[name])


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of each price type, as the links lead; the API numbers no pages.

    Raises PageError when a link leaves the API or the pages do not end: part of a list is not the list.
    """
    for price_type in PRICE_TYPES:
        params: dict[str, str] | None = {
            "api-version": "2023-01-01-preview",
            "$filter": f"serviceName eq 'Virtual Machines' and priceType eq '{price_type}'"
            " and contains(armSkuName, 'Standard_N') and contains(productName, 'Windows') eq false",
        }
        url, seen = SOURCE.url, set[str]()
        for number in range(1, MAX_PAGES + 1):
            page = client.get(url, params=params, name=f"{price_type.lower()}-{number:03}.json")
            url, params = _body(page, "Items", "NextPageLink")["NextPageLink"], None
            yield page
            if not url:
                break
            if urlsplit(url).hostname != urlsplit(SOURCE.url).hostname or url in seen:
                raise PageError(f"{page.name}: a link to the next page that leads astray: {url[:120]!r}")
            seen.add(url)
        else:
            raise PageError(f"no end of {price_type} prices after {MAX_PAGES} pages")
