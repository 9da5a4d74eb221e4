"""Civo's price page: a table per GPU, with prices on demand and for four terms, by the hour and by the month.

Each cell holds both units and each term's cell all terms; what is not chosen in a menu is hidden, and ids repeat all over
the page. A price is the instance's. The monthly one is the hourly one times 730 and is not read, but has to agree. The
caption names the form ("H200 SXM"), the row the memory and the count. "N/A" means not sold that way: B200 is sold with a
commitment only. Kubernetes nodes, databases and CPUs have tables of the same class.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    check_month,
    each,
    gigabytes,
    hourly,
    is_placeholder,
    label,
    number,
    price,
    refuse_unknown_table,
    table_rows,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="civo",
    url="https://www.civo.com/pricing",
    kind="page",
    offers=range(20, 200),
    terms="public price list",
)
CAPTION = re.compile(r"(?P<name>NVIDIA .+) GPU pricing")
DETAIL = re.compile(r"(?P<count>\d+) x (?P<name>NVIDIA .+?) - (?P<memory>\d+)GB( HBM\w+)?")
TERM = re.compile(r"(\d+)_months")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every GPU table."""
    for page in pages:
        rows = [row for table in whole_html(page).find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no GPU table of Civo's on the page")
        yield from dict.fromkeys(each(rows, "name", _instance))


def _rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of a table of GPU instances. Raises PageError for another that prices GPUs."""
    rows = table_rows(table, lambda cell: label(text_of(cell)))
    if not rows or not rows[0].keys() >= {"size", "on-demand", "commitment"}:
        refuse_unknown_table(table, sorted(rows[0]) if rows else [])
        return
    caption = CAPTION.fullmatch(text_of(table.caption))
    if caption is None:
        raise PageError(f"a table of another thing: {text_of(table.caption)!r}")
    for row in rows:
        if any(not label(str(cell["data-title"])).startswith(column) for column, cell in row.items()):
            raise PageError(f"cells that are not what the header says: {list(row)}")
        yield row | {"caption": caption["name"], "name": text_of(row["size"])}


def _instance(row: dict[str, Any]) -> Iterable[Offer]:
    detail = DETAIL.fullmatch(text_of(row["size"].select_one(".product-detail")))
    if detail is None or not f"{row['caption']} ".startswith(f"{detail['name']} "):
        raise PageError(f"{row['name']!r} under {row['caption']!r}")
    if any(size != detail["memory"] for size in re.findall(r"(\d+)GB", row["caption"])):
        raise PageError(f"two sizes of memory: {row['name']!r} under {row['caption']!r}")
    on_demand = _asked(row["on-demand"])
    terms = {int(m[1]): tag for tag in row["commitment"].find_all(id=TERM) if (m := TERM.fullmatch(tag["id"]))}
    if not terms or len(row["commitment"].select(".price-value")) != 2 * len(terms):
        raise PageError("prices with a commitment that do not say for how long")
    for months, asked in {0: on_demand, **{months: _asked(tag) for months, tag in terms.items()}}.items():
        if asked and on_demand and asked["price"] > on_demand["price"]:
            raise PageError(f"a commitment of {months} months costs more than none")
        if asked:
            yield Offer(
                sku=f"{detail['count']} x {row['caption']}",
                accelerator_name=row["caption"],
                accelerator_count=number(detail["count"]),
                memory_gb=number(detail["memory"]),
                memory_scope="each",
                pricing_model="reserved" if months else "on_demand",
                commitment_days=months // 12 * 365 + months % 12 * 30,
                vcpus=number(text_of(row["vcpu"], "span").removesuffix(" cores")),
                ram_gb=gigabytes(text_of(row["ram"])),
                storage_gb=gigabytes(text_of(row["storage"])),
                **asked,
            )


def _asked(cell: Tag) -> dict[str, Any] | None:
    """The price by the hour of one term. Raises PageError when the cell has not one price in each unit."""
    [hour], [month] = (cell.select(f'[data-option="{unit}"]') for unit in ("hourly", "monthly"))
    if is_placeholder(text_of(hour, "span")):
        return None
    asked, monthly = hourly(text_of(hour)), None
    if not is_placeholder(text_of(month, "span")):
        monthly = price(text_of(month))
    if monthly and (monthly.per != "month" or asked is None):
        raise PageError(f"not a price by the month: {monthly.text!r}")
    if asked and monthly:
        check_month(asked["price"], monthly.amount)
    return asked
