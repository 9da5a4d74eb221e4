"""CoreWeave's price page: GPUs as parts until 2024, whole instances since 2025.

Both are grids of ``div``. In 2023 and 2024 a price is the GPU's alone, and the header prices the vCPUs and the RAM that
are billed on top; only the most of them is said, not what an instance gets. Since 2025 a price is the instance's, on
demand and (later) spot, with one table per region; each row is there again for small screens, where the prices have
labels, and both have to agree. "4^1" is four with a footnote. The price of inference on one GPU is another product and
is not read, nor is the old grid where a page keeps it beside the instances.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Literal

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    each,
    heading_before,
    hourly,
    is_priced,
    label,
    labelled,
    number,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="coreweave",
    url="https://www.coreweave.com/pricing",
    kind="page",
    offers=range(12, 80),
    terms="public price list",
    former_urls=("https://www.coreweave.com/gpu-cloud-pricing",),
)
COMPONENT = "gpu component cost per hour"
HOST = re.compile(r"Max (.+) per GPU \((.+)\)")
HOST_SCOPES = {"vCPUs": "host_vcpu", "RAM (GB)": "host_gib"}
PRICES: dict[str, Literal["on_demand", "spot"]] = {
    "on-demand price (per hour)": "on_demand",
    "instance price (per hour)": "on_demand",
    "instance price per hour": "on_demand",
    "spot price (per hour)": "spot",
}
COPIES = {"on_demand": ".instance-price .item-value", "spot": ".spot-price .item-value"}
FOOTNOTE = re.compile(r"\^\d+(?= |$)")

Row = dict[str, Any]


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the instance tables, or of the older grid of parts where there are none."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for table in soup.select(".table-v2") for row in _instance_rows(table)]
        rows = rows or [row for grid in soup.select(".table-body") for row in _part_rows(grid)]
        if not rows:
            raise PageError("no GPU price table of CoreWeave's on the page")
        yield from dict.fromkeys(each(rows, "name", lambda row: row["read"](row)))


def _instance_rows(table: Tag) -> Iterator[Row]:
    """Rows of a table of GPU instances. Raises PageError for another table that prices GPUs."""
    header = _texts(table.select(".table-v2-header .table-v2-cell"))
    columns = {label(text) for text in header}
    if not {"gpu model", "gpu count", "vram (gb)"} <= columns or not PRICES.keys() & columns:
        if "cpu model" not in columns:
            refuse_unknown_table(table, header)
        return
    region = re.fullmatch("REGION: (.+)", heading_before(table))
    if region is None and table.find_next(string=re.compile("^REGION: ")):
        raise PageError("a table without its region before another with one")
    context = {"read": _instance, "region": region[1] if region else "global", "section": heading_before(table, "h2")}
    for row in table.select(".table-row-v2, .table-row"):
        told = labelled(header, _texts(row.select(".table-grid > .table-v2-cell")))
        refuse_unknown_prices([told], {*PRICES, "inference single gpu price(per hour)"})
        yield told | context | {"name": told["gpu model"], "row": row}


def _instance(row: Row) -> Iterator[Offer]:
    """An instance on demand and on spot. Raises PageError when the row's copy for small screens says something else."""
    count = FOOTNOTE.sub("", row["gpu count"])
    said = {FOOTNOTE.sub("", text_of(copy)) for copy in row["row"].select(".table-model-name, .table-meta-text-right")}
    if row["name"] not in said or any(text.endswith("GPU Count") and text != f"{count} GPU Count" for text in said):
        raise PageError(f"two names or counts for one thing: {row['name']!r}, {count} and {sorted(said)}")
    for column in [column for column in PRICES if column in row]:
        asked = hourly(row[column], header_says_so=True)
        copies = row["row"].select(COPIES[PRICES[column]])
        if any(hourly(text_of(copy), header_says_so=True) != asked for copy in copies):
            raise PageError(f"two copies of one price differ: {row[column]!r} {column}")
        if column.startswith("instance") and "on-demand" not in row["section"].casefold():
            raise PageError(f"nothing says for how long: {column!r} under {row['section']!r}")
        if asked:
            yield Offer(
                sku=row["name"],
                accelerator_name=row["name"],
                accelerator_count=number(count),
                memory_gb=number(row["vram (gb)"]),
                memory_scope="each",
                pricing_model=PRICES[column],
                region=row["region"],
                vcpus=number(row["vcpus"]),
                ram_gb=number(row["system ram (gb)"]),
                **asked,
            )


def _part_rows(grid: Tag) -> Iterator[Row]:
    """The grid of parts: the host's from the header, then a GPU a row. Raises PageError for another with GPUs."""
    before = grid.find_previous_sibling()
    header = _texts(before.select(".w-col") or [before]) if before else []
    if not any(label(text).endswith(COMPONENT) for text in header):
        refuse_unknown_table(grid, header)
        return
    for text in filter(is_priced, header):
        [(name, priced)] = HOST.findall(text)
        yield {"name": name, "scope": HOST_SCOPES[name], COMPONENT: priced, "read": _part}
    for row in grid.select(".table-body-row"):
        cells = _texts(row.find_all(class_="w-col", recursive=False))
        if len(header) > 1:
            told: Row = labelled(header, cells)
            refuse_unknown_prices([told], {COMPONENT})
        else:
            # A page that starts inside its header still says what the only price of a row is.
            [told] = [{COMPONENT: text} for text in cells if is_priced(text)]
        name = text_of(row.select_one(".table-body-left"))
        yield told | {"name": name, "scope": "component", "read": _part}


def _part(row: Row) -> Iterator[Offer]:
    """A GPU without its host, or a part of the host."""
    if asked := hourly(row[COMPONENT], header_says_so=True):
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            accelerator_count=Decimal(1) if row["scope"] == "component" else None,
            memory_gb=number(row["vram (gb)"]) if "vram (gb)" in row else None,
            memory_scope="each" if "vram (gb)" in row else None,
            **asked | {"price_scope": row["scope"]},
        )


def _texts(cells: Iterable[Tag]) -> list[str]:
    """What the cells say, without footnote marks and links to sales."""
    return [text_of(cell, "a:not([data-product]), sup") for cell in cells]
