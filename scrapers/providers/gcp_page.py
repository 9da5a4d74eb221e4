"""Google Cloud's page of accelerator-optimized machines: a price per VM in each way of buying, since 2026.

There are two tables; that of G4 has two columns more (Compute Flexible CUDs) before the others, so columns are found by
their header, which also holds a footnote mark and a tooltip. Rows with a family's name only ("A3 Mega") are headings. A
cell may read "$2 .0000/ 1 hour"; "-", "N/A" and nothing mean not sold that way. Small G4 machines hold a part of a GPU
("GPUs: 1/8"). The memory printed is the host's; the GPU's is not told. The prices are those of the region chosen in a
menu, at first Iowa (us-central1); the tables do not name it, so the offers do not either.
"""

import re
from collections.abc import Iterator, Sequence

from bs4 import Tag

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import (
    each,
    fraction,
    gigabytes,
    hourly,
    is_placeholder,
    is_priced,
    number,
    refuse_unknown_prices,
    refuse_unknown_table,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="gcp",
    url="https://cloud.google.com/products/compute/pricing/accelerator-optimized",
    kind="page",
    offers=range(40, 300),
    terms="public price list",
)


PRICES: dict[str, tuple[PricingModel, int, str | None]] = {
    "price (usd)": ("on_demand", 0, None),
    "current spot pricing (usd)": ("spot", 0, None),
    "dws flex-start price (usd)": ("flex", 0, "DWS Flex-start"),
    "dws calendar mode price (usd)": ("flex", 0, "DWS Calendar Mode"),
    "compute resource cuds - 1 year (usd)": ("reserved", 365, "Compute Resource CUDs"),
    "compute resource cuds - 3 year (usd)": ("reserved", 1095, "Compute Resource CUDs"),
    "compute flexible cud - 1 year (usd)": ("reserved", 365, "Compute Flexible CUD"),
    "compute flexible cud - 3 year (usd)": ("reserved", 1095, "Compute Flexible CUD"),
}
AROUND_THE_VALUE = "sup, button, [role=status]"
MACHINE = re.compile(r"[a-z]+\d+[a-z]*-[a-z0-9]+-\d+[a-z]*")
PARTS = re.compile(r"(GPUs|vCPUs|Memory|SSD): ?(\S+(?: ?Gi?B\b)?)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every machine and way of buying it that has a price."""
    for page in pages:
        rows = [row for table in whole_html(page).find_all("table") for row in _rows(table)]
        if not rows:
            raise PageError("no table of accelerator-optimized machines on the page")
        found = list(dict.fromkeys(each(rows, "machine type", _offers)))
        offers = [item for item in found if isinstance(item, Offer)]
        on_demand = {offer.sku: offer.price for offer in offers if offer.pricing_model == "on_demand"}
        if any(offer.price > on_demand.get(offer.sku, offer.price) for offer in offers):
            raise PageError("a discount is above the price on demand: the columns are not what they say")
        yield from found


def _rows(table: Tag) -> list[dict[str, str]]:
    """Rows of a table of machines. Raises PageError for another table that prices GPUs."""
    rows = text_rows(table, AROUND_THE_VALUE)
    columns = set(rows[0]) if rows else set()
    if {"machine type", "gpu", "components", "price (usd)"} <= columns:
        refuse_unknown_prices(rows, PRICES)
        if not any(is_priced(row["price (usd)"]) for row in rows):
            raise PageError("a table without any price on demand: the columns are not what they say")
        return rows
    refuse_unknown_table(table, sorted(columns))
    return []


def _offers(row: dict[str, str]) -> Iterator[Offer]:
    """What one machine costs in each way; nothing for a heading."""
    parts = dict(PARTS.findall(row["components"]))
    if not is_placeholder(row["gpu"]) and not MACHINE.fullmatch(row["machine type"]):
        raise PageError(f"not a machine type: {row['machine type']!r}")
    for column in [column for column in PRICES if column in row]:
        if not (asked := hourly(row[column])):
            continue
        pricing_model, commitment_days, tier = PRICES[column]
        yield Offer(
            sku=row["machine type"],
            accelerator_name=row["gpu"],
            accelerator_count=fraction(parts["GPUs"]),
            vcpus=number(parts["vCPUs"]),
            ram_gb=gigabytes(parts["Memory"]),
            storage_gb=gigabytes(parts["SSD"]) if "SSD" in parts else None,
            pricing_model=pricing_model,
            commitment_days=commitment_days,
            tier=tier,
            **asked,
        )
