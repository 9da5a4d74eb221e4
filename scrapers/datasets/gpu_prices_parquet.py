"""Prices of a dozen clouds twice a day as Parquet, in the layout of a Hugging Face data set: ``prices/dt=YYYY-MM-DD/*.parquet``.

What gpuhunt, a library of collectors, found at the clouds' APIs. A price is that of the whole instance by the hour, in US
dollars; an on-demand and a spot row stand side by side. ``gpu_memory_gb`` is that of each GPU. Instances without a GPU
(``gpu_count`` 0) are no offers, and a ``gpu_type`` that the collector did not know is ``Unknown``.

Of a UTC day each provider's last collection counts; a provider whose collection failed is missing and not sold out, so
that no absence means anything. Archived are the GPU rows of that, as CSV.
"""

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each
from scrapers.source import Capture, Page, PageError, Rejected, Source
from scrapers.tables import Row, as_csv, csv_rows, moment, read_rows

SOURCE = Source(
    provider="gpu_prices_parquet",
    url="https://huggingface.co/datasets",
    kind="dataset",
    offers=range(1, 200_000),
    terms="files that you download, under the licence that their data set states",
    is_aggregator=True,
    whole=False,
)
COLUMNS = [
    "timestamp", "provider", "instance_type", "gpu_type", "gpu_count", "gpu_memory_gb", "vcpus", "ram_gb", "region",
    "price_per_hour", "is_spot", "available", "availability_zone",
]  # fmt: skip
TRUTH = {"true": True, "false": False, "": None}


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each UTC day. ``path`` is a file, or a folder that holds them at any depth. Raises PageError."""
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    if not files:
        raise PageError(f"no .parquet file in {path}; it is to hold prices/dt=YYYY-MM-DD/*.parquet")
    # A day's files stand in one folder.
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        by_folder[file.parent].append(file)
    for folder, day_files in by_folder.items():
        for day, rows in sorted(_by_day(day_files).items()):
            name = f"{folder.name}/" if folder.name.startswith("dt=") else ""
            page = Page(f"{SOURCE.url}#prices/{name}{day}", as_csv(COLUMNS, rows), "prices.csv")
            yield Capture(max(moment(row["timestamp"]) for row in rows), [page])


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the CSV pages that ``captures`` yields."""
    for page in pages:
        yield from each(csv_rows(io.StringIO(page.text), page.name, COLUMNS), "instance_type", _offers)


def _by_day(files: list[Path]) -> dict[date, list[Row]]:
    last: dict[tuple[date, str], tuple[datetime, list[Row]]] = {}
    for file in files:
        for row in read_rows(file, COLUMNS):
            if not row["gpu_count"] or not float(row["gpu_count"]):
                continue
            seen = moment(row["timestamp"])
            key = seen.date(), row["provider"]
            known = last.get(key)
            if known is None or seen > known[0]:
                last[key] = seen, [row]
            elif seen == known[0]:
                known[1].append(row)
    days: dict[date, list[Row]] = defaultdict(list)
    for (day, _), (_, rows) in sorted(last.items()):
        days[day] += rows
    return days


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    price = decimal_of(row["price_per_hour"])
    if not price:
        return
    memory_gb = decimal_of(row["gpu_memory_gb"]) if row["gpu_memory_gb"] else None
    yield Offer(
        sku=row["instance_type"],
        accelerator_name=row["gpu_type"],
        accelerator_count=decimal_of(row["gpu_count"]),
        memory_gb=memory_gb or None,
        memory_scope="each" if memory_gb else None,
        price=price,
        currency="USD",
        pricing_model="spot" if TRUTH[row["is_spot"]] else "on_demand",
        provider=row["provider"],
        region=row["region"] or "global",
        zone=row["availability_zone"] or None,
        available=TRUTH[row["available"]],
        vcpus=decimal_of(row["vcpus"]) if row["vcpus"] else None,
        ram_gb=decimal_of(row["ram_gb"]) if row["ram_gb"] else None,
    )
