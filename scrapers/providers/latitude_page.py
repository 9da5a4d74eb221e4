"""Latitude.sh's price page: bare-metal plans by country, in what Next.js streams to its scripts (``plansData``).

Every plan has a price by the hour, month and year in each country, once in USD and once in BRL; the latter is a list of
its own and not a conversion. A price is the server's. A month costs half of its hours, and is what one commits to. CPU
plans have an empty ``gpu``. Null and zero mean not sold there; a country without stock keeps its price.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapers.offer import Offer, Per
from scrapers.shapes import asked, decimal_of, each, embedded_at, flight, items, named, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="latitude",
    url="https://www.latitude.sh/pricing",
    kind="page",
    offers=range(12, 600),
    terms="public price list",
)
PLANS = re.compile(r'"plansData":(?=\{)')
TERMS: dict[str, tuple[Per, int]] = {"hour": ("hour", 0), "month": ("month", 30), "year": ("year", 365)}
STOCK = {"unavailable": False, "low": True, "medium": True, "high": True}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every plan with accelerators, by country, currency and term."""
    for page in pages:
        whole_html(page)
        stream = flight(page)
        plans = [
            plan["attributes"]
            for found in PLANS.finditer(stream)
            for plan in items(embedded_at(stream, found.end())["servers"], "servers")
        ]
        if not plans:
            raise PageError("no plans in the stream")
        yield from dict.fromkeys(each(plans, "slug", _plan))


def _plan(plan: dict[str, Any]) -> Iterable[Offer]:
    specs = plan["specs"]
    gpu = specs["gpu"]
    if gpu == {} or gpu is None:
        return
    for region in items(plan["regions"], "regions"):
        for prices in named(region["pricing"], "pricing", "currency"):
            amounts = {term: asked(prices[term]) for term in TERMS}
            _check(amounts)
            for term, amount in amounts.items():
                if amount:
                    per, commitment_days = TERMS[term]
                    yield Offer(
                        sku=plan["slug"],
                        accelerator_name=gpu["type"],
                        accelerator_count=decimal_of(gpu["count"]),
                        memory_gb=decimal_of(gpu["vram_per_gpu"]),
                        memory_scope="each",
                        price=amount,
                        currency=prices["currency"],
                        per=per,
                        pricing_model="reserved" if commitment_days else "on_demand",
                        commitment_days=commitment_days,
                        region=region["name"],
                        available=STOCK[region["stock_level"]],
                        ram_gb=decimal_of(specs["memory"]["total"]),
                        interconnect=gpu["interconnect"],
                    )


def _check(amounts: dict[str, Any]) -> None:
    """Raises PageError when the three prices cannot be of one server."""
    hour, month, year = (amounts[term] for term in TERMS)
    if not (hour and month and year):
        if hour or month or year:
            raise PageError(f"only some of the prices: {amounts}")
    elif not (300 * hour <= month <= 750 * hour and 6 * month <= year <= 12 * month):
        raise PageError(f"prices that do not go together: {amounts}")
