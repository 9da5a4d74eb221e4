"""GPU.ai: what can be rented on its marketplace, from the keyless list of prices of its API.

Prices are USD for the whole configuration. Hosts are communities' ("community") or data centres' ("secure"): both
``community`` and ``capacity_class`` tell. Offers are listed with how many are left, and go when there are none. Model
names are its own ("a100_40gb"). Pages overlap when the list changes between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import asked, decimal_of, each, items, truth, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="gpu_ai",
    url="https://api.gpu.ai/v1/pricing",
    kind="api",
    offers=range(60, 1_500),
    cadence="hourly",
    terms="public API, documented, no key needed for prices",
)
PER_PAGE = 200
MOST_PAGES = 20
TIERS: dict[str, PricingModel] = {"on_demand": "on_demand", "spot": "spot"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per configuration for rent."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for page in pages:
        for row in items(page.json["data"], "data"):
            rows.setdefault((row["offering_id"], row["tier"]), row)
    yield from each(rows.values(), "offering_id", _offers)


def _offers(row: dict[str, Any]) -> Iterable[Offer]:
    if row.get("currency", "USD") != "USD":
        raise PageError(f"a currency that is not USD: {row['currency']!r}")
    host = "community" if truth(row["community"]) else "secure"
    if row["capacity_class"] not in {host, ""}:
        raise PageError(f"a {row['capacity_class']} host, and community is {row['community']}")
    count, left = whole(row["gpu_count"]), whole(row["available"])
    if price := asked(row["price_per_hour"]):
        yield Offer(
            sku="/".join([row["offering_id"], f"{count}x {row['gpu_type']}"]),
            accelerator_name=row["gpu_type"],
            accelerator_count=Decimal(count),
            price=price,
            currency="USD",
            pricing_model=TIERS[row["tier"]],
            tier=host,
            region=row["region"] or "global",
            available=left > 0,
            quantity=left,
            vcpus=decimal_of(row["cpu_cores"]),
            ram_gb=decimal_of(row["ram_gb"]),
            storage_gb=decimal_of(row["storage_gb"]),
        )


def fetch(client: "Client") -> Iterator[Page]:
    """Every page, by the cursor of the one before. Raises PageError when they do not end: part is not the list."""
    cursor, seen = "", set[str]()
    for number in range(1, MOST_PAGES + 1):
        params = {"limit": str(PER_PAGE)} | ({"cursor": cursor} if cursor else {})
        page = client.get(SOURCE.url, params=params, name=f"pricing-{number:03}.json")
        cursor = page.json["next_cursor"]
        yield page
        if not cursor:
            return
        if cursor in seen:
            raise PageError(f"{page.name}: a cursor that leads back: {cursor[:60]!r}")
        seen.add(cursor)
    raise PageError(f"no end after {MOST_PAGES} pages")
