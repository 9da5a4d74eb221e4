"""Google Cloud's machines with accelerators, from the price file of Cyclenerd's cost calculator: a git clone.

Its ``pricing.yml`` has been renewed about weekly since February 2022, and was taken out of the repository in August 2026.
A machine lists for each region the price of an hour, of an hour of spot (since May 2023), and of a month with a
commitment of one or three years; ``month`` and ``month_spot`` are 730 of those hours and are not read. Since May 2024
the hour includes the local disks of machines that come with them.

Archived of a version are the blocks of the machines that name an accelerator (``a100: 8``), as they stand; the file has 2 MB,
they a tenth of it.

Odd about it:

* A machine is listed in every region that its parts have a price for, not only where it is to be had.
* Where Google has no commitment, ``month_1y`` and ``month_3y`` repeat ``month``; that is no price of a commitment.
* In September 2022 the A2 Ultra machines, which have 80 GB parts, say ``a100`` and have the price of the 40 GB part.
  That and other known mistakes are told in ``warehouse/reference/known_errors.csv``; they load, and enter no mart.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from scrapers.clone import CloneError, Version, opened
from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each
from scrapers.source import Capture, Page, PageError, Rejected, Source

HOME = "https://github.com/Cyclenerd/google-cloud-pricing-cost-calculator"
SOURCE = Source(
    provider="cyclenerd",
    url=HOME,
    kind="dataset",
    offers=range(1, 100_000),
    cadence="weekly",
    terms="a clone that you make; Apache-2.0, prices are facts of Google Cloud",
    is_aggregator=True,
)
FILE = re.compile(r"pricing\.yml")
HEAD = "compute:\n  instance:\n"
WAYS: dict[str, dict[str, Any]] = {
    "hour": {"pricing_model": "on_demand", "per": "hour"},
    "hour_spot": {"pricing_model": "spot", "per": "hour"},
    "month_1y": {"pricing_model": "reserved", "per": "month", "commitment_days": 365},
    "month_3y": {"pricing_model": "reserved", "per": "month", "commitment_days": 1095},
}
DERIVED = {"month", "month_spot"}
# What a machine has beside accelerators. Anything else is taken for one, and must then read as one.
HOST_PARTS = {"cpu", "ram", "cost", "type", "bandwidth", "tier1", "local-ssd", "local"}
_MACHINES = re.compile(rb"^compute:\n  instance:\n((?:    .*\n)*)", re.MULTILINE)
_MACHINE = re.compile(rb"^    \S.*\n(?:      .*\n)*", re.MULTILINE)
_PART = re.compile(rb"^      ([\w.-]+):", re.MULTILINE)
_LINE = re.compile(r"(?P<indent> *)(?P<name>[\w.-]+):(?: +(?P<value>\S+))?")


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each UTC day with a new version of the file, of the day's last, in order of the history.

    ``path`` is a clone, or a bundle of one. Raises CloneError.
    """
    with opened(path) as clone:
        last: dict[date, Version] = {version.day: version for version in clone.versions("pricing.yml", FILE)}
        if not last:
            raise CloneError(f"{path} is a clone without pricing.yml; is it one of {HOME}?")
        for version, body in zip(last.values(), clone.contents(last.values()), strict=True):
            if machines := _accelerator_machines(body):
                yield Capture(
                    version.observed_at, [Page(f"{HOME}/blob/{version.commit}/pricing.yml", machines, "pricing.yml")]
                )


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the pages that ``captures`` yields."""
    for page in pages:
        yield from each(_places(page), "sku", _offers)


def _accelerator_machines(body: bytes) -> bytes:
    """The machines with an accelerator; the whole body where no machine is found, which ``parse`` refuses; nothing without any."""
    found = _MACHINES.search(body)
    if not found:
        return body
    blocks = _MACHINE.findall(found[1])
    kept = [block for block in blocks if {name.decode() for name in _PART.findall(block)} - HOST_PARTS]
    return HEAD.encode() + b"".join(kept) if kept else b""


def _places(page: Page) -> Iterator[dict[str, Any]]:
    """One record for each machine and region. The file is made by a program: its indents are always the same."""
    if not page.text.startswith(HEAD):
        raise PageError(f"{page.name}: does not start with compute.instance")
    machine: dict[str, Any] = {}
    places: list[dict[str, Any]] = []
    for line in page.text.removeprefix(HEAD).splitlines():
        found = _LINE.fullmatch(line)
        match (len(found["indent"]), found["name"], found["value"]) if found else None:
            case (4, sku, None):
                yield from _complete(places, machine)
                machine, places = {"sku": sku, "parts": {}}, []
            case (6, name, value):
                machine["parts"][name] = value
            case (8, region, None):
                places.append({"region": region})
            case (10, name, str(value)):
                places[-1][name] = value
            case _:
                raise PageError(f"{page.name}: not a line that is known: {line[:60]!r}")
    yield from _complete(places, machine)


def _complete(places: list[dict[str, Any]], machine: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**machine, "prices": place} for place in places]


def _offers(place: dict[str, Any]) -> Iterator[Offer]:
    parts, prices = place["parts"], place["prices"]
    [(name, count)] = [(name, value) for name, value in parts.items() if name not in HOST_PARTS]
    if unknown := prices.keys() - WAYS.keys() - DERIVED - {"region"}:
        raise PageError(f"a price that is not known: {', '.join(sorted(unknown))}")
    for way, words in WAYS.items():
        if way not in prices or (way.startswith("month_") and prices[way] == prices["month"]):
            continue
        if not (price := decimal_of(prices[way])):
            continue
        yield Offer(
            sku=place["sku"],
            accelerator_name=name,
            accelerator_count=decimal_of(count),
            price=price,
            currency="USD",
            provider="gcp",
            region=prices["region"],
            vcpus=Decimal(parts["cpu"]),
            ram_gb=Decimal(parts["ram"]),
            **words,
        )
