"""Oracle Cloud: the price list behind its pricing page and cost estimator; one price per GPU-hour in all regions.

Without ``currencyCode`` the answer has every currency. "GPU Per Hour" also counts licences (NVIDIA AI Enterprise) and
hardware on the customer's premises (Cloud@Customer), which are no rentals; VMware and Roving Edge rows name GPUs and
count nodes and days. The oldest parts are named by generation only (X7, V2, E3, E4). Spacing in names varies and names
repeat: the part number is stable. Nothing here tells the size of the machine, so the offers have no count. Preemptible
is half the price by a rule told elsewhere, and not in the list.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import asked, each, items
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="oracle",
    url="https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=USD",
    kind="api",
    offers=range(12, 60),
    terms="public price list API, no key",
)
NO_RENTAL = ("Cloud@Customer", "NVIDIA AI Enterprise")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per part that rents accelerators by the hour."""
    for page in pages:
        listed = items(page.json["items"], "items")
        if listed and not any("metricName" in item for item in listed):
            raise PageError("no item has a metricName: not the price list")
        yield from each(listed, "partNumber", _offers)


def _offers(item: dict[str, Any]) -> Iterable[Offer]:
    if item.get("metricName") != "GPU Per Hour":
        return
    name, category = item["displayName"], item["serviceCategory"]
    if any(words in f"{category} {name}" for words in NO_RENTAL):
        return
    if not category.startswith("Compute - GPU") or "Compute" not in name:
        raise PageError(f"a GPU-hour that may be no rental: {name!r} in {category!r}")
    currency, price = _pay_as_you_go(item["currencyCodeLocalizations"])
    if price:
        yield Offer(
            sku=item["partNumber"], accelerator_name=name, price=price, currency=currency, price_scope="accelerator"
        )


def _pay_as_you_go(localizations: object) -> tuple[str, Decimal | None]:
    """Currency and price; USD where there are several currencies. Zero is a free allowance, not a price."""
    listed = items(localizations, "currencyCodeLocalizations")
    entry = next((entry for entry in listed if entry["currencyCode"] == "USD"), listed[0])
    prices = [price for price in items(entry["prices"], "prices") if price["model"] == "PAY_AS_YOU_GO"]
    if not prices:
        raise PageError("no pay-as-you-go price")
    amounts = {amount for price in prices if (amount := asked(price["value"]))}
    if len(amounts) > 1:
        raise PageError(f"several pay-as-you-go prices: {sorted(amounts)}")
    return entry["currencyCode"], amounts.pop() if amounts else None
