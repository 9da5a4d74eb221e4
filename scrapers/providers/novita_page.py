"""Novita AI's price page: a table of GPUs beside tables of models. Written from a public reader of the page.

Tables of models price tokens and are left alone. What is known of the GPU table is its header: a column for the GPU and
columns of prices that name their unit ("$/hr", "Price/hr"); in 2026 prices were shown on demand and spot ("80 GB VRAM",
"3.39/hr/GPU"). On several days the page was served without the table, which is an error here and not an empty list.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    each,
    gigabytes,
    hourly,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="novita",
    url="https://novita.ai/pricing?gpu=1",
    kind="page",
    offers=range(3, 80),
    terms="public price list",
    unproven=True,
)
NAMES = {"gpu": "name", "gpu type": "name", "gpu model": "name", "vram": "memory", "gpu memory": "memory"}
WAYS: dict[str, Literal["on_demand", "spot"]] = {"on-demand": "on_demand", "on demand": "on_demand", "spot": "spot"}
PRICE = re.compile(
    r"(?P<way>on[- ]demand|spot)(?: price)? ?\(?(?:\$ ?)?(?P<unit>/(?:hr|hour)(?:/gpu)?|/gpu/(?:hr|hour))?\)?"
)
MODEL = re.compile(r"\bmodel\b|token|input|output", re.IGNORECASE)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every row of the GPU table."""
    for page in pages:
        rows = [row for table in whole_html(page).find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no table of GPUs on the page")
        yield from check_discounts(each(rows, "name", _gpu))


def _rows(table: Tag) -> list[dict[str, str]]:
    """Rows of a table of GPUs. Raises PageError for another that prices GPUs."""
    rows = [{NAMES.get(column, column): text for column, text in row.items()} for row in text_rows(table)]
    columns = set(rows[0]) if rows else set()
    prices = {column for column in columns if PRICE.fullmatch(column)}
    if "name" in columns and prices:
        refuse_unknown_prices(rows, prices)
        return rows
    if not any(MODEL.search(column) for column in columns):
        refuse_unknown_table(table, sorted(columns))
    return []


def _gpu(row: Mapping[str, str]) -> Iterable[Offer]:
    for column, text in row.items():
        if (told := PRICE.fullmatch(column)) and (asked := hourly(_gpu_first(text), header_says_so=bool(told["unit"]))):
            if asked["price_scope"] != "accelerator" and "gpu" not in (told["unit"] or ""):
                raise PageError(f"nothing says that the price is each GPU's: {column!r} {text!r}")
            yield Offer(
                sku=row["name"],
                accelerator_name=row["name"],
                memory_gb=gigabytes(row["memory"]) if "memory" in row else None,
                memory_scope="each" if "memory" in row else None,
                pricing_model=WAYS[told["way"]],
                **asked | {"price_scope": "accelerator"},
            )


def _gpu_first(text: str) -> str:
    """The text with the unit in the usual order: "$3.39/GPU/hr" for "$3.39/hr/GPU"."""
    return re.sub(r"/ ?(hr|hour) ?/ ?gpu$", r"/GPU/\1", text, flags=re.IGNORECASE)
