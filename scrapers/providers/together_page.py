"""Together's price page: GPU clusters and dedicated inference, by the GPU-hour, in tables that look alike.

Only the heading tells them apart; the same H100 costs half as much again as an inference endpoint. "All prices are per
GPU per hour" stands above the clusters' table or in the endpoints' header, and never in a cell. A copy of the clusters'
prices on demand is hidden. The clusters' header takes two rows: days of reservation stand under "Reserved", and a column
of preemptible prices came in front of the others in September 2026. Prices per token and the lists of 2025 and before,
of which nothing real is left, are not read.
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
    is_priced,
    labelled,
    model_name,
    sold,
    table_texts,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="together",
    url="https://www.together.ai/pricing",
    kind="page",
    offers=range(4, 60),
    terms="public price list",
)
TIERS = {"GPU Clusters": None, "Dedicated Inference": "dedicated_inference"}
HARDWARE = re.compile("HGX|NVL[0-9]")
UNIT = re.compile("all prices (?:are )?per gpu per hour", re.IGNORECASE)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of both products."""
    for page in pages:
        tables = [table for table in whole_html(page).find_all("table") if table.find_parent(class_="hide") is None]
        rows = [row for table in tables for row in _rows(table)]
        if not rows:
            raise PageError("no GPU prices of Together's on the page")
        yield from check_discounts(each(rows, "name", _offers))


def _rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of a table of hardware. Raises PageError for one that is not known, or that does not say its unit."""
    texts = table_texts(table)
    heads = [row for row in texts if any(text.startswith("Hardware") for text in row)]
    section = heading_before(table, "h2")
    # Each section has an anchor of the same name: a heading that went missing must not lend it the one before.
    anchor = table.find_previous(class_="section-anchor")
    if anchor and anchor["id"] != section.casefold().replace(" ", "-"):
        section = ""
    if not heads or section not in TIERS:
        if is_priced(text_of(table)) and HARDWARE.search(text_of(table)):
            raise PageError(f"a price table of GPUs that is not known: {texts[:1]} under {section!r}")
        return
    # Above the table, or in its header, where the text is no part of the column's name.
    before = [text_of(tag) for tag in table.find_all_previous("p", limit=3)]
    if not any(UNIT.search(text) for text in (*before, *heads[0])):
        raise PageError(f"nothing says what the prices under {section!r} are for")
    titles = [UNIT.sub("", " ".join(dict.fromkeys(column))) for column in zip(*heads, strict=True)]
    for row in texts:
        if row not in heads:
            yield {"name": row[0], "titles": titles, "cells": row, "tier": TIERS[section]}


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one GPU costs in each way."""
    told = labelled(row["titles"], row["cells"])
    for bought in sold(told, {"hardware"}, by_the_hour=True):
        if bought["pricing_model"] == "reserved" and not bought["commitment_days"]:
            raise PageError("reserved, and nothing says for how long")
        product = {"tier": row["tier"], "price_scope": "accelerator"}
        yield Offer(sku=told["hardware"], accelerator_name=model_name(told["hardware"]), **(bought | product))
