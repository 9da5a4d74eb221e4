"""Hyperstack's price page: by the GPU-hour, in one table until mid-2025 and in cards since.

The table has "Pricing Per Hour", which is on demand, beside "Reservation Pricing", which "starts from" and is a floor. The
cards are grids of ``div``, each under a heading: on demand, reservation ("Starting from"), spot; the hour stands in the
first one's header only. Their names lose their form: "NVIDIA H100" is a PCIe card, and "NVLink" bridges two, but that is
not printed. The card of CPUs has "GPU Cores". Late in 2023 GPUs were "per GPU", with vCPUs and RAM as add-ons. A row may
name two parts at one price ("RTX A6000/A40").
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag
from bs4.element import NavigableString

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    clean,
    each,
    heading_before,
    label,
    labelled,
    model_name,
    number,
    sold,
    table_texts,
    text_of,
    way_of_buying,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="hyperstack",
    url="https://www.hyperstack.cloud/gpu-pricing",
    kind="page",
    offers=range(8, 80),
    terms="public price list, robots.txt allows it",
)
NAMES = {"gpu model", "gpu"}
SPECS = {*NAMES, "vram (gb)", "max pcpus per gpu", "max vcpus per gpu", "max ram (gb) per gpu", "reserve"}
PRICES = {"pricing per hour", "price per hour", "starting from", "spot vm"}
ADD_ONS = re.compile(r"\bvCPU \$ ?[\d.]+ per GPU", re.IGNORECASE)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the table, or of every card with GPUs."""
    for page in pages:
        soup = whole_html(page)
        lists = [(table, table_texts(table)) for table in soup.find_all("table")]
        lists += [(card, _card_texts(card)) for card in soup.select(".page-price_card_main")]
        rows = [row for tag, lines in lists if lines for row in _rows(tag, lines)]
        if not rows:
            raise PageError("no GPU prices of Hyperstack's on the page")
        scope = "component" if ADD_ONS.search(text_of(soup)) else "accelerator"
        by_the_hour = any("per hour" in title for row in rows for title in row["titles"])
        told = {"price_scope": scope, "by_the_hour": by_the_hour}
        yield from check_discounts(each([row | told for row in rows], "name", _offers))


def _card_texts(card: Tag) -> list[list[str]]:
    rows = [card.select(".page-price_card_head_item")]
    rows += [row.select(".page-price_card_row_item_col") for row in card.select(".page-price_card_row_item")]
    return [[text_of(cell) for cell in row] for row in rows]


def _rows(tag: Tag, lines: list[list[str]]) -> Iterator[dict[str, Any]]:
    """Rows of a list of GPUs, their columns named by how one buys."""
    header = [label(text) for text in lines[0]]
    if NAMES.isdisjoint(header):
        return
    # A page that starts inside its first heading has its words without one.
    before = [text for text in tag.find_all_previous(string=True) if type(text) is NavigableString]
    title = heading_before(tag, "h2", "h3") or clean(" ".join(reversed(before)))
    # "Pricing per hour" is on demand beside reservations; elsewhere the heading says what it is.
    way = "on-demand" if "reservation pricing" in header else title
    if PRICES & {*header} and way_of_buying(way) is None:
        raise PageError(f"nothing says for how long: {header} under {title!r}")
    if any((own := way_of_buying(text)) and own != way_of_buying(way) for text in PRICES & {*header}):
        raise PageError(f"a column that is not what its heading says: {header} under {title!r}")
    titles = [f"{way} per hour" if "per hour" in text else way if text in PRICES else text for text in header]
    for cells in lines[1:]:
        yield {"name": cells[0], "titles": titles, "cells": cells, "is_floor": "starting from" in header}


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one GPU costs in each way."""
    told = labelled(row["titles"], row["cells"])
    [name] = [told[column] for column in NAMES & told.keys()]
    for bought in sold(told, SPECS, by_the_hour=row["by_the_hour"]):
        if row["is_floor"] and bought["pricing_model"] != "floor":
            bought |= {"pricing_model": "floor", "tier": bought["pricing_model"]}
        # What is reserved is a floor, and only that.
        if (bought["pricing_model"] == "floor") != (bought.get("tier", bought["pricing_model"]) == "reserved"):
            raise PageError(f"a floor where there is none, or none where there is one: {row['cells']}")
        yield Offer(
            sku=name,
            accelerator_name=model_name(name),
            memory_gb=number(told["vram (gb)"]) if "vram (gb)" in told else None,
            memory_scope="each" if "vram (gb)" in told else None,
            **(bought | {"price_scope": row["price_scope"]}),
        )
