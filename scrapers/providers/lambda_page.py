"""Lambda's price page: tables whose unit and count moved from the cell to the header, and to a tab.

Until mid-2024 a price is the instance's ("$20.72 / hr", count in the name), and a second table sells reserved clusters
by the GPU for three years or three months. Since late 2024 it is each GPU's ("$2.99 / GPU / hr"), names start with
"On-demand" or "Reserved", and the header is made of ``td``. Since mid-2025 the unit stands in the header only. Since
December 2025 the count stands in the tab's label only, and 1-Click Clusters come first under the same price header:
another product, committed from two weeks up. Scripts repeat the tables as text, which is not read.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    each,
    gigabytes,
    heading_before,
    hourly,
    is_priced,
    number,
    refuse_unknown_prices,
    refuse_unknown_table,
    term_days,
    text_of,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="lambda",
    url="https://lambda.ai/pricing",
    kind="page",
    offers=range(12, 80),
    terms="public price list",
    former_urls=("https://lambdalabs.com/service/gpu-cloud",),
)
BADGE = ".tag"
PER_GPU = "price/gpu/hr"
COLUMNS = {
    "": "name", "gpus": "name", "type": "name", "plan": "name", "vram per gpu": "memory", "vram/gpu": "memory",
    "per hour price": "price", "instance type": "instance", "# of gpus": "gpu count", "duration": "term",
}  # fmt: skip
INSTANCE = re.compile(r"(?:(?P<term>on-demand|reserved) )?(?P<count>\d+)x (?P<name>.+)", re.IGNORECASE)
ON_DEMAND = re.compile("on-demand|^instances pricing$", re.IGNORECASE)
MODEL = re.compile(r"[A-Za-z] ?\d")
AT_LEAST = re.compile(r"([\d,]+)(?:\+| ?[-–] ?[\d,]+)?")

Row = dict[str, Any]


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every known table on the page; one that is there twice, for another screen, counts once."""
    for page in pages:
        if not (rows := list(_rows(page))):
            raise PageError("no price table of Lambda's on the page")
        yield from dict.fromkeys(each(rows, "name", lambda row: row["read"](row)))


def _rows(page: Page) -> Iterator[Row]:
    """Every row of every known table, with how to read it. Raises PageError for a price table that is not known."""
    soup = whole_html(page)
    tax = "excluded" if "plus applicable sales tax" in text_of(soup) else "unknown"
    for table in soup.find_all("table"):
        rows: list[Row] = [{COLUMNS.get(k, k): v for k, v in row.items()} for row in text_rows(table, BADGE)]
        columns = set(rows[0]) if rows else set()
        if read := next((reader for needed, reader in READERS if needed <= columns), None):
            refuse_unknown_prices(rows, {"price", PER_GPU})
            context = {"read": read, "heading": heading_before(table, "h1", "h2"), "tab": _tab(table), "tax": tax}
            yield from (row | context for row in rows)
        else:
            refuse_unknown_table(table, sorted(columns))
    for row in soup.find_all("tr"):
        if row.find_parent("table") is None and is_priced(text_of(row)):
            yield _told_by_itself(row) | {"read": _instance, "heading": "", "tab": "", "tax": tax}


def _told_by_itself(row: Tag) -> Row:
    """A row whose table's start is cut off, where each cell's own words say what it is. Raises PageError otherwise."""
    cells = [text_of(cell, BADGE) for cell in row.find_all(["th", "td"])]
    [name] = [cell for cell in cells if INSTANCE.fullmatch(cell)]
    [memory] = [cell for cell in cells if re.fullmatch(r"\d+ GB", cell)]
    [priced] = [cell for cell in cells if is_priced(cell)]
    return {"name": name, "memory": memory, "price": priced}


def _tab(table: Tag) -> str:
    """The label of the tab that shows the table; empty where there are no tabs."""
    if (panel := table.find_parent(attrs={"role": "tabpanel"})) is None:
        return ""
    # Each island has its own "tabpanel-0", so the tab is looked for in the nearest box that has tabs.
    tabs = next((tabs for box in panel.parents if (tabs := box.select("[role=tab]"))), ())
    [shown] = [text_of(tab) for tab in tabs if tab["aria-controls"] == panel["id"]]
    return shown


def _asked(row: Row) -> dict[str, Any] | None:
    """The price with its scope, from the words of the cell and the header; None for a placeholder."""
    if PER_GPU not in row:
        return hourly(row["price"])
    asked = hourly(row[PER_GPU], header_says_so=True)
    return asked and asked | {"price_scope": "accelerator"}


def _instance(row: Row) -> Iterator[Offer]:
    """An instance on demand, priced by the whole or by the GPU."""
    if not (asked := _asked(row)):
        return
    found = INSTANCE.fullmatch(row["name"]) or INSTANCE.fullmatch(f"{row['tab']} {row['name']}")
    if found is None or not ON_DEMAND.search(found["term"] or row["heading"]):
        raise PageError(f"nothing says how many, or for how long: {row['name']!r}, {row['tab']!r}, {row['heading']!r}")
    yield Offer(
        sku=f"{found['count']}x {found['name']} {row['memory']}",
        accelerator_name=found["name"],
        accelerator_count=number(found["count"]),
        memory_gb=gigabytes(row["memory"]),
        memory_scope="each",
        vcpus=number(row["vcpus"]) if "vcpus" in row else None,
        ram_gb=gigabytes(row["ram"]) if "ram" in row else None,
        storage_gb=gigabytes(row["storage"]) if "storage" in row else None,
        tax=row["tax"],
        **asked,
    )


def _cluster(row: Row) -> Iterator[Offer]:
    """A reserved cluster, by the GPU: nodes of eight in 2023, 1-Click Clusters of so many GPUs now."""
    if not (asked := _asked(row)):
        return
    name = row["gpu"] if "instance" in row else row.get("name") or row["tab"]
    least = AT_LEAST.fullmatch(row["gpu count"])
    if least is None or asked["price_scope"] != "accelerator" or not MODEL.search(name):
        raise PageError(f"nothing says that the price is each GPU's, of which, or of how many: {name!r}")
    told = {"accelerator_name": name, "commitment_days": term_days(row["term"]), "tax": row["tax"]}
    told |= {"minimum_accelerators": number(least[1])}
    if "instance" in row:
        [(_, count, _)] = INSTANCE.findall(row["instance"])
        told |= {"sku": row["instance"], "accelerator_count": number(count), "vcpus": number(row["vcpus"])}
        [told["tier"]] = re.findall("^[A-Za-z]+$", row["name"])
        told |= {"memory_gb": gigabytes(row["gpu memory"]), "memory_scope": "each"}
        told |= {"interconnect": f"{row['network bandwidth (gbps)']} Gbps"}
    else:
        told |= {"sku": f"{least[1]}x {name}", "accelerator_count": number(least[1]), "tier": "1-Click Clusters"}
    yield Offer(pricing_model="reserved", **told, **asked)


READERS = (({"term", "gpu count"}, _cluster), ({"name", "memory"}, _instance))
