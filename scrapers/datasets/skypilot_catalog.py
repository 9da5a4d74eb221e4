"""The SkyPilot catalogue: a git clone with a CSV for each cloud, of which bots commit a new version every few hours.

Kept since 2022, as ``catalogs/aws/instances.csv``, ``catalogs/v1/aws.csv``, ``catalogs/v4/aws/instances.csv`` and since v4
``catalogs/v8/aws/vms.csv``. Two schema versions are renewed side by side, so that for a cloud and UTC day the highest one
counts, and of it the last commit. A day without a commit says nothing: no change, or a broken job.

Archived of a version are its lines that have an accelerator (of GCP also the machines that accelerators are built into),
as they stand, under its header; the page's address names the commit, where the rest can be read.

Odd about it:

* A file lists on-demand and spot prices for each zone. On-demand prices are a region's: where all zones agree it is one
  offer without a zone. Spot prices are kept by zone.
* GCP's accelerators are priced without their machine, and the machines without their accelerators. Where the part is
  built into a machine type (A2, A3, A4, G2) the two are added up, as printed in ``price_text``. P4, P100, T4, V100 and
  K80 go with any N1 machine and are components, priced each.
* A TPU slice (``tpu-v4-8``) has the count 1; how many chips it has, its name tells.
* ``GpuInfo`` (once ``GPUInfo``) is a Python dict printed as text, or a bare word. Its memory is that of each accelerator,
  at Vast since v7 that of all. Counts are numbers or quoted strings; FluidStack's instance types are opaque ids.
* AWS's F1 (FPGAs) and VT1 (video transcoders) stand among the accelerators and are left out.
* No currency is printed. Prices are US dollars, but Scaleway's are its list's euros.
"""

import ast
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from scrapers.clone import CloneError, Version, opened
from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each
from scrapers.source import Capture, Page, PageError, Rejected, Source

HOME = "https://github.com/skypilot-org/skypilot-catalog"
SOURCE = Source(
    provider="skypilot_catalog",
    url=HOME,
    kind="dataset",
    offers=range(1, 100_000),
    terms="a clone that you make; Apache-2.0 licence of SkyPilot, prices are facts of each cloud",
    is_aggregator=True,
)
FILE = re.compile(
    r"catalogs/(?:v(?P<version>\d+)/(?P<flat>\w+)|(?:v(?P<newer>\d+)/)?(?P<cloud>\w+)/(?:vms|instances))\.csv"
)
NEEDED = {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region"}
CURRENCIES = {"scaleway": "EUR"}
NO_ACCELERATOR = re.compile(r"(vt|f)\d")
RUNPOD_TIER = re.compile(r"_(SECURE|COMMUNITY)$")

# Which machine types GCP builds which accelerators into, by their number.
HOSTS: dict[str, dict[int, tuple[str, ...]]] = {
    "A100": {**{n: (f"a2-highgpu-{n}g",) for n in (1, 2, 4, 8)}, 16: ("a2-megagpu-16g",)},
    "A100-80GB": {n: (f"a2-ultragpu-{n}g",) for n in (1, 2, 4, 8)},
    "H100": {n: (f"a3-highgpu-{n}g",) for n in (1, 2, 4, 8)},
    "H100-MEGA": {8: ("a3-megagpu-8g",)},
    "H200": {8: ("a3-ultragpu-8g",)},
    "B200": {8: ("a4-highgpu-8g",)},
    "L4": {
        1: tuple(f"g2-standard-{vcpus}" for vcpus in (4, 8, 12, 16, 32)),
        2: ("g2-standard-24",), 4: ("g2-standard-48",), 8: ("g2-standard-96",),
    },
}  # fmt: skip
_HOST = re.compile(rb"(?:a\d+x?|g\d+)-[^,\n]*,")

Row = dict[str, str]


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each cloud and UTC day, of the highest schema version's last commit, in order of the history.

    ``path`` is a clone, or a bundle of one. Raises CloneError.
    """
    with opened(path) as clone:
        chosen = _last_of_each_day(clone.versions("catalogs", FILE))
        if not chosen:
            raise CloneError(f"{path} is a clone without catalogs/*/vms.csv; is it one of {HOME}?")
        for version, body in zip(chosen, clone.contents(chosen), strict=True):
            cloud = _cloud(version)
            if lines := _accelerator_lines(body, cloud):
                page = Page(f"{HOME}/blob/{version.commit}/{version.path}", lines, f"{cloud}.csv")
                yield Capture(version.observed_at, [page], cloud)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the CSV pages that ``captures`` yields; a page is named by its cloud."""
    for page in pages:
        cloud = page.name.removesuffix(".csv")
        rows = _rows(page)
        yield from each(_asks(_with_hosts(rows) if cloud == "gcp" else rows), "InstanceType", _reader(cloud))


def _last_of_each_day(versions: Iterable[Version]) -> list[Version]:
    best: dict[tuple[str, date], tuple[int, int, Version]] = {}
    for place, version in enumerate(versions):
        key = _cloud(version), version.day
        rank = _schema(version), place, version
        if key not in best or rank > best[key]:
            best[key] = rank
    return [version for _, _, version in sorted(best.values(), key=lambda rank: rank[1])]


def _cloud(version: Version) -> str:
    found = FILE.fullmatch(version.path)
    return found["flat"] or found["cloud"] if found else ""


def _schema(version: Version) -> int:
    found = FILE.fullmatch(version.path)
    return int(found["version"] or found["newer"] or 0) if found else 0


def _accelerator_lines(body: bytes, cloud: str) -> bytes:
    """The header and the lines with an accelerator; the whole body where the header is not known; nothing without any."""
    header, _, rest = body.partition(b"\n")
    columns = header.decode("utf-8-sig", errors="replace").strip().split(",")
    if "AcceleratorName" not in columns:
        return body
    before = columns.index("AcceleratorName")
    if re.search(rb'^(?:[^,"\n]*,){0,%d}"' % (before - 1), rest, re.MULTILINE) if before else rest.startswith(b'"'):
        return body  # A quoted field before it may hold commas.
    lines = re.findall(rb"^(?:[^,\n]*,){%d}[^,\r\n].*\n?" % before, rest, re.MULTILINE)
    if not lines:
        return b""
    if cloud == "gcp" and columns[0] == "InstanceType":
        lines += [line for line in rest.splitlines(keepends=True) if _HOST.match(line) and line not in set(lines)]
    return header + b"\n" + b"".join(lines)


def _rows(page: Page) -> list[Row]:
    reader = csv.DictReader(io.StringIO(page.text), strict=True)
    if missing := NEEDED - set(reader.fieldnames or []):
        raise PageError(f"{page.name}: no column {', '.join(sorted(missing))}")
    rows = list(reader)
    if any(None in row or None in row.values() for row in rows):
        raise PageError(f"{page.name}: a row with another number of fields than the header")
    return rows


def _asks(rows: list[Row]) -> Iterator[dict[str, Any]]:
    """One record for each price: on demand for a region, spot for a zone."""
    rows = [row for row in rows if row["AcceleratorName"]]
    on_demand: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        on_demand[_place(row)].add(row["Price"])
    seen = set()
    for row in rows:
        agree = len(on_demand[_place(row)]) == 1
        zone = row.get("AvailabilityZone") or None
        for model, column, where in (("on_demand", "Price", None if agree else zone), ("spot", "SpotPrice", zone)):
            key = (model, where, row[column], *_place(row))
            if row[column] and key not in seen:
                seen.add(key)
                yield {**row, "model": model, "zone": where, "price": row[column], "text": row.get(f"{column} text")}


def _place(row: Row) -> tuple[str, ...]:
    return row["InstanceType"], row["AcceleratorName"], row["AcceleratorCount"], row["Region"]


def _reader(cloud: str) -> Any:
    currency = CURRENCIES.get(cloud, "USD")

    def read(ask: dict[str, Any]) -> Iterator[Offer]:
        price = decimal_of(ask["price"])
        name, sku = ask["AcceleratorName"], ask["InstanceType"]
        if not price or (cloud == "aws" and NO_ACCELERATOR.match(sku)):  # 0 is what Vast's spot column says of none
            return
        count = None if name.startswith("tpu-") else decimal_of(ask["AcceleratorCount"])
        memory_gb = _memory_gb(ask.get("GpuInfo") or ask.get("GPUInfo") or "")
        is_component = cloud == "gcp" and not sku and count is not None
        tier = RUNPOD_TIER.search(sku) if cloud == "runpod" else None
        yield Offer(
            sku=sku or name,
            accelerator_name=name,
            accelerator_count=count,
            memory_gb=memory_gb,
            memory_scope=("total" if cloud == "vast" else "each") if memory_gb else None,
            price=price / count if is_component and count else price,
            price_text=ask["price"] if is_component and count != 1 else ask["text"],
            currency=currency,
            price_scope="component" if is_component else "offer",
            pricing_model=ask["model"],
            tier=tier[1].lower() if tier else None,
            provider=cloud,
            region=ask["Region"],
            zone=ask["zone"],
            vcpus=decimal_of(ask["vCPUs"]) if ask.get("vCPUs") else None,
            ram_gb=decimal_of(ask["MemoryGiB"]) if ask["MemoryGiB"] else None,
        )

    return read


def _with_hosts(rows: list[Row]) -> list[Row]:
    """GCP's accelerators with the machines that they are built into, where those are listed in the same zone."""
    machines = {
        (row["InstanceType"], row["AvailabilityZone"]): row
        for row in rows
        if row["InstanceType"] and not row["AcceleratorName"]
    }
    found: list[Row] = []
    for row in rows:
        if not row["AcceleratorName"]:
            continue
        names = () if row["InstanceType"] else _host_names(row)
        hosts = [machines[key] for name in names if (key := (name, row["AvailabilityZone"])) in machines]
        found += [_on_host(row, host) for host in hosts] or [row]
    return found


def _host_names(row: Row) -> tuple[str, ...]:
    count = row["AcceleratorCount"].removesuffix(".0")
    return HOSTS.get(row["AcceleratorName"], {}).get(int(count), ()) if count.isdecimal() else ()


def _on_host(row: Row, host: Row) -> Row:
    both = row | {name: host[name] for name in ("InstanceType", "vCPUs", "MemoryGiB") if name in host}
    for column in ("Price", "SpotPrice"):
        part, rest = row[column], host[column]
        both[column] = str(decimal_of(part) + decimal_of(rest)) if part and rest else ""
        both[f"{column} text"] = f"{part} + {rest}"
    return both


@lru_cache(maxsize=1000)
def _memory_gb(info: str) -> Decimal | None:
    """Memory of the first accelerator in a printed Python dict, in GiB; None for a bare word, which tells none."""
    if not info.startswith("{"):
        return None
    memory = ast.literal_eval(info)["Gpus"][0].get("MemoryInfo")
    return Decimal(memory["SizeInMiB"]) / 1024 if memory else None
