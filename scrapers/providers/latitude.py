"""Latitude.sh: bare metal by country, in USD for the whole server by the hour, month and year. Needs a key.

A JSON:API answer; ``specs.gpu`` is an empty object on servers without accelerators. Prices stand by country, and repeat
in BRL; a country where a server can't be had has null for its prices (2026). Month and year are what a term costs, at a
discount: half of what its hours would cost on servers of 2026. A country lists the sites that sell the server and,
among them, those that have one in stock; where none has, the price stands.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="latitude",
    url="https://api.latitude.sh/plans",
    kind="api",
    offers=range(3, 400),
    key_env="GPULEDGER_LATITUDE_API_KEY",
    terms="API for account holders",
)
TERMS: Sequence[tuple[str, dict[str, Any]]] = (
    ("hour", {"per": "hour"}),
    ("month", {"per": "month", "pricing_model": "reserved", "commitment_days": 30}),
    ("year", {"per": "year", "pricing_model": "reserved", "commitment_days": 365}),
)
PER_PAGE = 100
MOST_PAGES = 20


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers per server with accelerators, country and term."""
    for page in pages:
        yield from each(items(page.json["data"], "data"), "id", _offers)


def _offers(plan: dict[str, Any]) -> Iterable[Offer]:
    server = plan["attributes"]
    specs = server["specs"]
    gpu = specs["gpu"]
    if not isinstance(gpu, dict):
        raise PageError(f"gpu is no object: {gpu!r}")
    if not gpu:
        return
    memory = asked(gpu.get("vram_per_gpu"))
    for country in items(server["regions"], "regions"):
        told = country["pricing"]["USD"]
        prices = {name: None if told is None else asked(told[name]) for name, _ in TERMS}
        _check(prices)
        for name, terms in TERMS:
            if price := prices[name]:
                yield Offer(
                    sku=server["slug"],
                    accelerator_name=gpu["type"],
                    accelerator_count=decimal_of(gpu["count"]),
                    memory_gb=memory,
                    memory_scope="each" if memory else None,
                    price=price,
                    currency="USD",
                    **terms,
                    region=country["name"],
                    available=_in_stock(country["locations"]),
                    vcpus=decimal_of(specs["cpu"]["cores"]) * decimal_of(specs["cpu"]["count"]),
                    ram_gb=decimal_of(specs["memory"]["total"]),
                    interconnect=gpu.get("interconnect"),
                )


def _check(prices: dict[str, Decimal | None]) -> None:
    hour, month, year = (prices[name] for name, _ in TERMS)
    if hour and month and not 300 * hour <= month <= 800 * hour:
        raise PageError(f"{month} a month does not go with {hour} an hour")
    if month and year and not 4 * month <= year <= 13 * month:
        raise PageError(f"{year} a year does not go with {month} a month")


def _in_stock(sites: dict[str, Any]) -> bool:
    stocked = sites["in_stock"]
    if not isinstance(stocked, list):
        raise PageError(f"in_stock is no list: {stocked!r}")
    return bool(stocked)


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of servers with accelerators; a page that is not full is the last."""
    key = client.key("GPULEDGER_LATITUDE_API_KEY")
    for number in range(1, MOST_PAGES + 1):
        asked_for = {"filter[gpu]": "true", "page[size]": str(PER_PAGE), "page[number]": str(number)}
        page = client.get(SOURCE.url, params=asked_for, auth_key=key, name=f"plans-{number:03}.json")
        yield page
        if len(items(page.json["data"], "data")) < PER_PAGE:
            return
    raise PageError(f"no end after {MOST_PAGES} pages")
