"""Crusoe's price page: one price a GPU-hour, a table until autumn 2025 and a grid of ``div`` since December 2025.

The table has columns for spot and for three terms, says "/hr" under "GPU Pricing", and is there again for small screens.
The grid says "/GPU-hr" and has no terms any more. Memory and form are tags under the name; "HGX" and "NVL72" are forms
here. Dedicated endpoints for inference ("Self-Serve Deployments", 2026) list the same GPUs without saying what the price
is for, and are not read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    each,
    gigabytes,
    heading_before,
    label,
    labelled,
    model_name,
    refuse_unknown_table,
    sold,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="crusoe",
    url="https://www.crusoe.ai/cloud/pricing",
    kind="page",
    offers=range(4, 60),
    terms="public price list, robots.txt allows it",
)
NAMES = {"gpu pricing", "gpu model"}
MEMORY = re.compile(r"\d+ ?GB")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the GPU table or grid; other products are left out."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for table in soup.find_all("table") for row in _table_rows(table)]
        rows += [row for item in soup.select(".pricing_gpu-item") for row in _grid_row(item)]
        if not rows:
            raise PageError("no GPU prices of Crusoe's on the page")
        yield from check_discounts(each(rows, "name", _offers))


def _table_rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of the table of GPUs. Raises PageError for another that prices GPUs, unless it is a copy for small screens."""
    lines = [line.select(":scope > th, :scope > td") for line in table.find_all("tr")]
    titles = [label(text_of(cell)) for cell in lines[0]] if lines else []
    if NAMES & {*titles}:
        yield from (_row(titles, cells) for cells in lines[1:] if cells)
    elif table.find_parent(class_="lg:hidden") is None:
        refuse_unknown_table(table, titles)


def _grid_row(item: Tag) -> Iterator[dict[str, Any]]:
    """A row of the grid of GPUs. Raises PageError for one of another grid of GPUs that is not known."""
    heading = item.find_previous(class_="pricing-table-heading")
    titles = [label(text_of(cell)) for cell in heading.select(".pricing-heading")] if heading else []
    is_endpoint = "gpu type" in titles and "Self-Serve" in heading_before(item, "h3")
    if NAMES & {*titles}:
        yield _row(titles, item.select(":scope > *"))
    elif not titles or (not is_endpoint and "gpu" in " ".join(titles)):
        raise PageError(f"a grid of GPUs with a header that is not known: {titles}")


def _row(titles: list[str], cells: Sequence[Tag]) -> dict[str, Any]:
    return {"name": text_of(cells[0]), "titles": titles, "cells": cells}


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one GPU costs in each way."""
    told = labelled(row["titles"], [text_of(cell) for cell in row["cells"]])
    [place] = [place for place, title in enumerate(row["titles"]) if title in NAMES]
    name, *tags = row["cells"][place].stripped_strings
    memory = [tag for tag in tags if MEMORY.fullmatch(tag)]
    for bought in sold(told, NAMES):
        yield Offer(
            sku=" ".join([name, *tags]),
            accelerator_name=model_name(name),
            memory_gb=gigabytes(memory[0]) if memory else None,
            memory_scope="each" if memory else None,
            **(bought | {"price_scope": "accelerator"}),
        )
