"""Verda's price page, until 2025 DataCrunch's: tables of instances to August 2025, JSON-LD offers since 2026.

A table prices the instance, its VRAM is the total, and its columns changed: terms of 6 months and 2 years, later dynamic
and spot. The dynamic price may rise above the one on demand. Since 2026 nothing in the visible page can be read, but
JSON-LD lists every way of buying as an offer of its own: "8x H100 SXM5 80GB serverless spot". Two machines with one H100
have one name there; offers without a name are CPUs'. Clusters and containers are priced as a whole, to four digits.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    asked,
    check_discounts,
    each,
    json_ld,
    label,
    labelled,
    model_name,
    number,
    sold,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="verda",
    url="https://verda.com/pricing",
    kind="page",
    offers=range(20, 300),
    terms="public price list",
)
SPECS = {"instance name", "gpu model", "gpu", "cpu", "ram", "vram", "p2p"}
DYNAMIC = "dynamic price"
INSTANCE = re.compile(r"(\d+)[A-Z]")
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "serverless continuous": ("Hourly serverless container price", {"tier": "serverless"}),
    "serverless spot": ("Hourly serverless spot container price", {"tier": "serverless", "pricing_model": "spot"}),
    "instant cluster": ("Hourly instant cluster price", {"tier": "cluster"}),
    "on-demand": ("Hourly on-demand instance price", {}),
    "spot": ("Hourly spot instance price", {"pricing_model": "spot"}),
}
NAMED = re.compile(rf"(?:(\d+)x (.+?) )?({'|'.join(WAYS)})")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the tables, or of the JSON-LD."""
    for page in pages:
        soup = whole_html(page)
        # A page that starts inside its first table has rows without one.
        rows = [row for table in soup.find_all("table") or [soup] for row in _table_rows(table)]
        offers = [item | {"read": _offer} for item in json_ld(page) if item.get("@type") == "Offer"]
        if not (rows or offers):
            raise PageError("no GPU prices of Verda's on the page")
        yield from check_discounts(each(rows or offers, "name", lambda row: row["read"](row)))


def _table_rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of a table of GPU instances; nothing of another."""
    titles = [label(text_of(cell)) for cell in table.find_all("th")]
    if {"instance name", "gpu model"} <= {*titles}:
        for row in table.find_all("tr"):
            if cells := [text_of(cell) for cell in row.find_all("td")]:
                yield {"name": cells[0], "titles": titles, "cells": cells, "read": _instance}


def _instance(row: dict[str, Any]) -> Iterator[Offer]:
    """What one instance costs in each way."""
    told = labelled(row["titles"], row["cells"])
    count = INSTANCE.match(told["instance name"])
    if count is None or count[1] != told["gpu"]:
        raise PageError(f"two counts: {told['instance name']!r} with {told['gpu']!r}")
    instance = {
        "sku": told["instance name"],
        "accelerator_name": model_name(told["gpu model"]),
        "accelerator_count": number(told["gpu"]),
        "memory_gb": number(told["vram"]),
        "memory_scope": "total",
        "vcpus": number(told["cpu"]),
        "ram_gb": number(told["ram"]),
    }
    for bought in sold({"on-demand": told.pop(DYNAMIC, "")}, ()):
        yield Offer(**instance, **(bought | {"tier": "dynamic"}))
    for bought in sold(told, SPECS):
        yield Offer(**instance, **bought)


def _offer(item: dict[str, Any]) -> Iterator[Offer]:
    """One JSON-LD offer; nothing for CPUs and storage."""
    if item["description"] == "Monthly storage price per GiB":
        return
    found, unit = NAMED.fullmatch(item["name"].strip()), item["priceSpecification"]
    if found is None or WAYS[found[3]][0] != item["description"] or unit["unitText"] != "hour":
        raise PageError(f"nothing known: {item['name']!r}, {item['description']!r} per {unit['unitText']!r}")
    if (unit["price"], unit["priceCurrency"]) != (item["price"], item["priceCurrency"]):
        raise PageError(f"two prices of {item['name']!r}: {item['price']} and {unit['price']}")
    if found[1] and (price := asked(item["price"])):
        yield Offer(
            sku=f"{found[1]}x {found[2]}",
            accelerator_name=model_name(found[2]),
            accelerator_count=Decimal(found[1]),
            price=price,
            currency=item["priceCurrency"],
            **WAYS[found[3]][1],
        )
