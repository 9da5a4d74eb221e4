"""Epoch AI's table of hardware prices: what a chip cost by the hour at clouds, 2017 to 2025, read by hand off pages of the time.

``Hardware prices.csv``, each row with its source; prices to buy, a fifth of the rows, are no offers. Prices are US dollars for each
chip and hour: on demand, and with a commitment of one and of three years (CUD, whatever the cloud calls it).

Odd about it:

* 236 rows repeat another hand-kept list (The Full Stack's). A capture is one day and one source, so that its address says so.
* The chip is Epoch's name for it and may be finer than what the page says (``V100 DGXS 16 GB`` for an AWS P3). Where the notes name
  an instance type, that is the SKU and decides.
* Google's GPU prices are those of the accelerator without its machine, but for the A2 and A3 machines that the notes or the
  description name; its TPU prices are whole.
* FluidStack billed vCPUs and memory on top until 2024.
"""

import io
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from scrapers.offer import Offer, PriceScope, PricingModel
from scrapers.shapes import clean, decimal_of, each, several_places
from scrapers.source import Capture, Page, PageError, Rejected, Source
from scrapers.tables import Row, as_csv, csv_rows, read_rows

FILE = "Hardware prices.csv"
SOURCE = Source(
    provider="epoch",
    url="https://epoch.ai/data",
    kind="dataset",
    offers=range(1, 1000),
    cadence="weekly",
    terms="a file that you download; CC BY 4.0: name Epoch AI",
    is_aggregator=True,
    whole=False,
)
SEEN_ON, SOURCE_OF, CHIP, VENDOR, PLACE = "Price date", "Price source", "Hardware model", "Vendor", "Location"
NOTES, WORDS, COUNT = "Notes", "Cloud GPU description", "Number of GPUs"
WAYS: dict[str, tuple[PricingModel, int]] = {
    "Price per chip-hour (on-demand)": ("on_demand", 0),
    "Price per chip-hour (1-year CUD)": ("reserved", 365),
    "Price per chip-hour (3-year CUD)": ("reserved", 1095),
}
COLUMNS = [SOURCE_OF, SEEN_ON, CHIP, VENDOR, PLACE, *WAYS, NOTES, WORDS, COUNT]
INSTANCE = {
    "Amazon Web Services": re.compile(r"\b([pg]\d[a-z]*\.\d*xlarge)(?=$|[\s,;.)])"),
    "Google Cloud": re.compile(r"\b(a[23]-[a-z]+gpu-\d+g)(?=$|[\s,;.)])"),
    "Microsoft Azure": re.compile(r"\b(N[CDV]\d+[a-z]*(?: ?[A-Z]\d+)? ?(?:v\d)?)(?=$|[\s,;.)])"),
}


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each day and source, oldest first. ``path`` is the file or its folder. Raises PageError."""
    file = path / FILE if path.is_dir() else path
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read_rows(file, COLUMNS):
        if any(row[way] for way in WAYS):
            found[row[SEEN_ON], row[SOURCE_OF]].append(row)
    if not found:
        raise PageError(f"{file.name}: no price by the hour")
    for (seen_on, source), rows in sorted(found.items()):
        observed_at = datetime.combine(date.fromisoformat(seen_on), time(), UTC)
        yield Capture(observed_at, [Page(source, as_csv(COLUMNS, rows), "hardware_prices.csv")], source[:300])


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the CSV pages that ``captures`` yields."""
    for page in pages:
        yield from dict.fromkeys(each(csv_rows(io.StringIO(page.text), page.name, COLUMNS), CHIP, _offers))


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    chip = clean(row[CHIP])
    instance = _instance(row)
    places = several_places(row[PLACE]) or ["global"]
    for place, (way, (model, days)) in itertools.product(places, WAYS.items()):
        if row[way]:
            yield Offer(
                sku=instance or chip,
                accelerator_name=chip,
                accelerator_count=decimal_of(row[COUNT]) if row[COUNT] else None,
                price=decimal_of(row[way]),
                currency="USD",
                price_scope=_scope(row, instance),
                pricing_model=model,
                commitment_days=days,
                provider=row[VENDOR],
                region=place,
            )


def _instance(row: dict[str, Any]) -> str:
    """The instance type that the notes or the description name, of clouds whose types are known; else nothing."""
    pattern = INSTANCE.get(row[VENDOR])
    found = pattern.search(f"{clean(row[NOTES])} ; {clean(row[WORDS])}") if pattern else None
    return found[1] if found else ""


def _scope(row: dict[str, Any], instance: str) -> PriceScope:
    if row[VENDOR] == "Google Cloud" and "TPU" not in row[CHIP] and not instance.startswith(("a2-", "a3-")):
        return "component"
    return "component" if row[VENDOR] == "FluidStack" and row[SEEN_ON] < "2024" else "accelerator"
