"""FluidStack's price page: GPUs as parts in 2023, by the GPU-hour with their host in 2024 and 2025.

In 2023 it is a grid of ``div`` whose header prices the vCPUs and the RAM that are billed on top, so that the price of a
row is the GPU's alone; only the most of them is said, not what one gets. Later grids and the table of 2024 and 2025
price no host. "n/a" holds the column of an H200 on demand. The cards of mid-2025 ("/ GPU / H") say no commitment and are
refused; since 2026 there is no such page.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import BeautifulSoup

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    each,
    hourly,
    is_priced,
    label,
    labelled,
    model_name,
    number,
    sold,
    table_texts,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="fluidstack",
    url="https://www.fluidstack.io/pricing",
    kind="page",
    offers=range(6, 60),
    cadence="weekly",
    terms="public price list until 2025",
)
HOST = re.compile(r"Max (vCPUs|RAM \(GB\)) per GPU(?: \((.+)\))?")
HOST_SCOPES = {"vCPUs": "host_vcpu", "RAM (GB)": "host_gib"}
NAMES = {"model", "gpu model"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the table or grid, and of the parts of the host where those are priced."""
    for page in pages:
        soup = whole_html(page)
        tables = [[*map(list, table_texts(table))] for table in soup.find_all("table")]
        rows = [row for lines in (*tables, *_grids(soup)) if lines for row in _rows(lines)]
        if not rows:
            raise PageError("no GPU prices of FluidStack's with a commitment on the page")
        yield from check_discounts(each(rows, "name", lambda row: row["read"](row)))


def _grids(soup: BeautifulSoup) -> Iterator[list[list[str]]]:
    """Grids of ``div`` as texts, the header first: every run of headlines begins one."""
    lines: list[list[str]] = []
    for tag in soup.select(".pricing__top-headline, .pricing-row:has(.pricing__headline)"):
        if "pricing-row" in tag.get_attribute_list("class"):
            lines.append([text_of(cell) for cell in tag.select(".pricing__col")])
        elif len(lines) == 1:
            lines[0].append(text_of(tag))
        else:
            yield lines
            lines = [[text_of(tag)]]
    yield lines


def _rows(lines: list[list[str]]) -> Iterator[dict[str, Any]]:
    """Rows of a table of GPUs, after the priced parts of its host."""
    header = lines[0]
    if NAMES.isdisjoint(label(text) for text in header):
        return
    host = {text: found for text in header if (found := HOST.fullmatch(text))}
    # A host that is billed on top makes another price of the same number: it must not be overlooked.
    if {found[1] for found in host.values()} != {*HOST_SCOPES} or any(is_priced(text) for text in {*header} - {*host}):
        raise PageError(f"a header that does not say what the host costs: {header}")
    for part in host.values():
        if part[2]:
            yield {"name": part[1], "price": part[2], "read": _part}
    scope = "component" if any(part[2] for part in host.values()) else "accelerator"
    specs = {*NAMES, "vram (gb)", *(label(text) for text in host)}
    for cells in lines[1:]:
        yield {"name": cells[0], "titles": header, "cells": cells, "specs": specs, "scope": scope, "read": _gpu}


def _part(row: dict[str, Any]) -> Iterator[Offer]:
    """A vCPU or a gigabyte of RAM of the host."""
    if asked := hourly(row["price"]):
        scope = {"price_scope": HOST_SCOPES[row["name"]]}
        yield Offer(sku=row["name"], accelerator_name=row["name"], **(asked | scope))


def _gpu(row: dict[str, Any]) -> Iterator[Offer]:
    """What one GPU costs in each way, with or without its host."""
    told = labelled(row["titles"], row["cells"])
    [name] = [told[column] for column in NAMES & told.keys()]
    for bought in sold(told, row["specs"]):
        yield Offer(
            sku=name,
            accelerator_name=model_name(name),
            memory_gb=number(told["vram (gb)"]),
            memory_scope="each",
            **(bought | {"price_scope": row["scope"]}),
        )
