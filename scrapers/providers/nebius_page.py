"""Nebius's price page: instances in 2024, the GPU-hour since.

In 2024 a row is an instance ("8 × H100 SXM") and so are its price and its memory; the "Reserve" price binds for a term
that is not told. Since then prices are each GPU's, and a column says "Preemptible, GPU-hour" or "On-demand, GPU-hour";
between mid-2025 and March 2026 it said "Price per GPU-hour", which is on demand only where a heading says so. Since
September 2026 preemptible prices have their own table, as floors ("from $0.79"), and a column "GPU-hour (Effective
October 1, 2026)" announces prices that are not asked yet: it is left out. Cards above the table ("As low as") repeat the
reserve prices. Which of the two L40S is Intel's and which AMD's was swapped between July and September 2026.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    each,
    heading_before,
    label,
    labelled,
    model_name,
    number,
    refuse_unknown_table,
    sold,
    text_of,
    way_of_buying,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="nebius",
    url="https://nebius.com/prices",
    kind="page",
    offers=range(6, 60),
    terms="public price list, robots.txt allows it",
)
GRIDS = {
    "[role=table]": ("[role=row]", "[role=cell]"),
    ".pc-highlight-table-block__table": (".pc-highlight-table-block__row", ".pc-highlight-table-block__cell"),
}
SPECS = {"gpu", "item", "vcpus", "ram, gb", "vram, gb"}
ANNOUNCED = re.compile(r".*\beffective [a-z]+ \d+, \d{4}\b.*")
INSTANCE = re.compile(r"(\d+) × (.+)")
UNSAID = "price per gpu-hour"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every table of GPUs."""
    for page in pages:
        soup = whole_html(page)
        by_the_hour = re.search("(/|per) hour", text_of(soup)) is not None
        rows = [row for kind in GRIDS for grid in soup.select(kind) for row in _rows(grid, *GRIDS[kind])]
        if not rows:
            raise PageError("no GPU prices of Nebius's on the page")
        yield from check_discounts(each([row | {"by_the_hour": by_the_hour} for row in rows], "name", _offers))


def _rows(grid: Tag, line: str, cell: str) -> Iterator[dict[str, Any]]:
    """Rows of a table of GPUs without what is only announced. Raises PageError for another table that prices GPUs."""
    lines = [[text_of(text) for text in row.select(cell)] for row in grid.select(line)]
    header = [label(text) for text in lines[0]] if lines else []
    if not any("gpu-hour" in text or text == "gpu" for text in header):
        refuse_unknown_table(grid, header)
        return
    titles = [f"{heading_before(grid)} {UNSAID}" if text == UNSAID else text for text in header]
    if not any(way_of_buying(title) for title in titles):
        raise PageError(f"no price that is asked now, or nothing says for how long: {titles}")
    for cells in lines[1:]:
        yield {"name": cells[0], "titles": titles, "cells": cells}


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one GPU, or one instance, costs in each way."""
    told = {
        column: text for column, text in labelled(row["titles"], row["cells"]).items() if not ANNOUNCED.match(column)
    }
    name = told["gpu"] if "gpu" in told else told["item"]
    instance = INSTANCE.fullmatch(name)
    for bought in sold(told, SPECS, by_the_hour=row["by_the_hour"]):
        if (bought["price_scope"] == "offer") != bool(instance):
            raise PageError(f"nothing says whether the price is each GPU's: {name!r} under {row['titles']}")
        unit: dict[str, Any] = {}
        if instance:
            unit = {
                "accelerator_count": number(instance[1]),
                "vcpus": number(told["vcpus"]),
                "ram_gb": number(told["ram, gb"]),
            }
            unit |= {"memory_gb": number(told["vram, gb"]), "memory_scope": "total"}
        yield Offer(sku=name, accelerator_name=model_name(instance[2] if instance else name), **unit, **bought)
