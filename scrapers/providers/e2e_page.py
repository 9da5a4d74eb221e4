"""E2E Networks' price page: rupees in JSON-LD, dollars in a table, both for one GPU.

The JSON-LD catalogue prices cloud instances by the hour, in INR, GPUs and CPUs alike; two A100 share one name and differ
in memory. With ``?region=us`` a table beside it has dollars, by the hour, month and year. It says in a footnote only that
a price is each GPU's, and buttons (1x to 8x) multiply it, so that a row counts only where it goes with the rupees of the
same GPU: in 2026 those were 66 to 96 times the dollars, and the bounds here have no room for the price of two.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from scrapers.offer import Offer, Per
from scrapers.shapes import (
    asked,
    check_month,
    each,
    items,
    json_ld,
    number,
    price,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_of,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="e2e",
    url="https://www.e2enetworks.com/pricing?region=us",
    kind="page",
    offers=range(6, 120),
    terms="public price list; the page points programs at its own price files",
)
GPU, CPU = "GPU Cloud Instance", "CPU Cloud Instance"
SIZE = re.compile(r"(\d+) GB VRAM, (\d+) vCPUs, (\d+) GB RAM")
IN_STOCK = {"InStock": True, "LimitedAvailability": True, "OutOfStock": False, "SoldOut": False, "PreOrder": False}
PRICES: dict[str, tuple[Per, int]] = {
    "hourly/on-demand": ("hour", 0),
    "monthly": ("month", 30),
    "annually": ("year", 365),
}
COLUMNS = {"item", "vram", "vcpus", "ram, gb", "hourly/on-demand"}
PER_GPU = "Prices are per GPU-hour"
RUPEES_A_DOLLAR = (55, 140)

Key = tuple[object, ...]


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers in rupees of the catalogue, and in dollars of the table where the page has it."""
    for page in pages:
        whole_html(page)
        catalogues = [found for found in json_ld(page) if found.get("@type") == "OfferCatalog"]
        if not catalogues:
            raise PageError("no catalogue of offers on the page")
        records = [record for found in catalogues for record in items(found["itemListElement"], "itemListElement")]
        rupees = list(dict.fromkeys(each(records, "name", _instance)))
        yield from rupees
        known = {_key(offer): offer for offer in rupees if isinstance(offer, Offer)}
        yield from dict.fromkeys(each(_table(page), "item", functools.partial(_dollars, known=known)))


def _instance(record: dict[str, Any]) -> Iterable[Offer]:
    """The hourly price of an instance with one GPU; nothing for a CPU."""
    sold, size, unit = record["itemOffered"], record["itemOffered"]["description"], record["priceSpecification"]
    if record["category"] == CPU and "VRAM" not in size:
        return
    if record["category"] != GPU or not (told := SIZE.fullmatch(size)) or not record["name"].endswith(f" {GPU}"):
        raise PageError(f"neither a GPU nor a CPU that is known: {record['category']!r}, {size!r}")
    said = {(one["price"], one["priceCurrency"]) for one in (record, unit)} | {(record["price"], "INR")}
    if len(said) > 1 or unit["unitText"] != "per hour" or sold["name"] != record["name"]:
        raise PageError(f"not one price by the hour in rupees: {sorted(map(str, said))} {unit['unitText']!r}")
    if amount := asked(record["price"]):
        yield Offer(
            sku=record["url"].rsplit("/", 1)[-1],
            accelerator_name=record["name"].removesuffix(f" {GPU}"),
            accelerator_count=Decimal(1),
            memory_gb=number(told[1]),
            memory_scope="each",
            price=amount,
            currency="INR",
            available=IN_STOCK[record["availability"].rsplit("/", 1)[-1]],
            vcpus=number(told[2]),
            ram_gb=number(told[3]),
        )


def _key(offer: Offer) -> Key:
    return offer.accelerator_name, offer.memory_gb, offer.vcpus, offer.ram_gb


def _table(page: Page) -> Iterator[dict[str, str]]:
    """Rows of the table of GPUs. Raises PageError for another that prices GPUs, or without its footnote."""
    for table in page.soup.find_all("table"):
        rows = text_rows(table)
        if not rows or not rows[0].keys() >= COLUMNS:
            refuse_unknown_table(table, sorted(rows[0]) if rows else [])
            continue
        refuse_unknown_prices(rows, PRICES)
        footnote = next((text_of(p) for p in table.find_all_next("p") if PER_GPU in text_of(p)), "")
        if not footnote:
            raise PageError("nothing says that the table's prices are each GPU's")
        yield from (row | {"tax": "excluded" if "do not include taxes" in footnote else "unknown"} for row in rows)


def _dollars(row: dict[str, Any], known: Mapping[Key, Offer]) -> Iterable[Offer]:
    """What one GPU costs by the hour, month and year. Raises PageError when the rupees of the same GPU contradict."""
    sizes = [number(row[column]) for column in ("vram", "vcpus", "ram, gb")]
    instance = known[row["item"], *sizes]
    found = {column: price(row[column]) for column in PRICES if column in row}
    amounts = {column: shown.amount for column, shown in found.items() if shown}
    hour = amounts["hourly/on-demand"]
    if not RUPEES_A_DOLLAR[0] <= instance.price / hour <= RUPEES_A_DOLLAR[1]:
        raise PageError(f"{hour} dollars do not go with {instance.price} rupees")
    check_month(hour, amounts.get("monthly", hour * 730))
    if not 3000 * hour <= amounts.get("annually", hour * 8760) <= 9000 * hour:
        raise PageError(f"{amounts['annually']} a year does not go with {hour} an hour")
    for column, shown in found.items():
        if shown is None:
            continue
        if shown.currency is None or shown.per or shown.floor:
            raise PageError(f"not a plain price under {column!r}: {shown.text!r}")
        per, commitment_days = PRICES[column]
        told = {"price": shown.amount, "currency": shown.currency, "per": per, "tax": row["tax"], "available": None}
        told |= {"pricing_model": "reserved", "commitment_days": commitment_days} if commitment_days else {}
        yield Offer.model_validate(instance.model_dump() | told)
