"""gpurentalprices.com: what 34 providers ask for one GPU by the hour, one JSON file for each day since July 2026.

A folder of ``YYYY-MM-DD.json`` (in a clone: ``data/snapshots``), or the archive they come in; ``latest.json`` is one of them
again and is not read. Prices are US dollars for each GPU, all included, under the data set's own names of GPUs.

Odd about it:

* Where a provider did not answer, its rows of an earlier day are carried forward with their ``fetched_at``; they are no sighting
  of this day, and the absence of others means nothing.
* One name may cover several products at different prices (RunPod's 3090 and 3090 Ti until July 2026), and a few rows
  repeat. ``min_gpus``, where told, is the smallest machine that has the price, and tells two rows apart.
* ``community`` and ``serverless`` are classes of on-demand offers, ``spot`` can be taken back, ``secure`` is RunPod's usual cloud.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import asked, decimal_of, each, items
from scrapers.source import MAX_PAGE_BYTES, Capture, Page, PageError, Rejected, Source
from scrapers.tables import moment

HOME = "https://github.com/adriannutiu/gpu-rental-prices"
SOURCE = Source(
    provider="gpurentalprices",
    url=HOME,
    kind="dataset",
    offers=range(1, 10_000),
    terms="files that you download; CC BY 4.0: name gpurentalprices.com with a link",
    is_aggregator=True,
    whole=False,
)
KINDS: dict[str, tuple[PricingModel, str | None]] = {
    "on-demand": ("on_demand", None),
    "secure": ("on_demand", "secure"),
    "community": ("on_demand", "community"),
    "serverless": ("on_demand", "serverless"),
    "spot": ("spot", None),
}
DAY_FILE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].json"


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each day's file, oldest first. Raises PageError where there is none."""
    found = sorted(_files(path))
    if not found:
        raise PageError(f"no YYYY-MM-DD.json in {path}; it is to hold the daily files of {HOME}")
    for name, body in found:
        page = Page(f"{HOME}/blob/main/data/snapshots/{name}", body, name)
        yield Capture(moment(_snapshot(page)["generated_at"]), [page])


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the day's own collection."""
    for page in pages:
        snapshot = _snapshot(page)
        rows = items(snapshot["offers"], "offers")
        yield from dict.fromkeys(each((row for row in rows if _is_of_the_day(row, snapshot)), "gpu", _offers))


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        packed = sorted(path.glob("*.tar.gz"))
        for file in sorted(path.rglob(DAY_FILE)):
            yield file.name, file.read_bytes()
    else:
        packed = [path]
    for archive in packed:
        try:
            with tarfile.open(archive) as members:
                for member in members:
                    name = Path(member.name)
                    if member.isfile() and name.match(DAY_FILE) and member.size <= MAX_PAGE_BYTES:
                        content = members.extractfile(member)
                        yield name.name, content.read() if content else b""
        except (OSError, tarfile.TarError) as error:
            raise PageError(f"{archive}: no archive of daily files ({error})") from None


def _snapshot(page: Page) -> dict[str, Any]:
    if not isinstance(page.json, dict) or not {"date", "generated_at", "offers"} <= page.json.keys():
        raise PageError(f"{page.name}: no snapshot with date, generated_at and offers")
    return page.json


def _is_of_the_day(row: dict[str, Any], snapshot: dict[str, Any]) -> bool:
    return moment(row["fetched_at"]).date() == moment(snapshot["generated_at"]).date()


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    price = asked(row["usd_hr"])
    if price is None:
        return
    model, tier = KINDS[row["kind"]]
    smallest = decimal_of(row["min_gpus"]) if row.get("min_gpus") is not None else None
    memory_gb = decimal_of(row["vram_gb"]) if row["vram_gb"] is not None else None
    yield Offer(
        sku=row["gpu"],
        accelerator_name=row["gpu"],
        accelerator_count=smallest,
        minimum_accelerators=smallest,
        memory_gb=memory_gb,
        memory_scope="each" if memory_gb else None,
        price=price,
        currency="USD",
        price_scope="accelerator",
        pricing_model=model,
        tier=tier,
        provider=row["provider"],
    )
