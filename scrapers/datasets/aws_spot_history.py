"""AWS's own spot price history: what ``aws ec2 describe-spot-price-history`` prints, as far back as 90 days.

One JSON document or several, one after the other or one a line, each with ``SpotPriceHistory``; a file, or a folder of them. A record
is a change: the price of an instance type in a zone from its ``Timestamp`` on. Of Linux and the types with an accelerator a UTC
day's last change counts; a day without one says nothing, so that no absence means anything.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each, items
from scrapers.source import Capture, Page, PageError, Rejected, Source
from scrapers.tables import moment

SOURCE = Source(
    provider="aws",
    url="https://docs.aws.amazon.com/cli/latest/reference/ec2/describe-spot-price-history.html",
    kind="dataset",
    offers=range(1, 50_000),
    terms="what you ask for with an account of yours",
    whole=False,
)
HISTORY = "SpotPriceHistory"
LINUX = {"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}
ACCELERATED = re.compile(r"(p|g|gr|trn|inf|dl)\d[a-z0-9-]*\.[a-z0-9-]+|u-p\d[a-z0-9-]+")
REGION = re.compile(r"[a-z]+(?:-[a-z]+)+-\d+")

Record = dict[str, Any]


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each UTC day, oldest first. Raises PageError."""
    files = [path] if path.is_file() else sorted(path.glob("*.json*"))
    days: dict[date, dict[tuple[str, str], Record]] = defaultdict(dict)
    for file in files:
        for record in _records(file):
            key = record["InstanceType"], record["AvailabilityZone"]
            known = days[moment(record["Timestamp"]).date()]
            if key not in known or moment(known[key]["Timestamp"]) < moment(record["Timestamp"]):
                known[key] = record
    if not days:
        raise PageError(f"{path}: no Linux spot price of an instance type with an accelerator")
    for day, last in sorted(days.items()):
        records = [record for _, record in sorted(last.items())]
        body = json.dumps({HISTORY: records}, indent=1, sort_keys=True).encode()
        yield Capture(
            max(moment(record["Timestamp"]) for record in records), [Page(f"{SOURCE.url}#{day}", body, f"{day}.json")]
        )


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the JSON pages that ``captures`` yields."""
    for page in pages:
        yield from each(items(page.json[HISTORY], HISTORY), "InstanceType", _offers)


def _records(file: Path) -> Iterator[Record]:
    decoder, place = json.JSONDecoder(), 0
    try:
        text = file.read_text(encoding="utf-8-sig")
        while place < len(text):
            if text[place].isspace():
                place += 1
                continue
            document, place = decoder.raw_decode(text, place)
            for record in items(document[HISTORY], HISTORY):
                if record["ProductDescription"] in LINUX and ACCELERATED.fullmatch(record["InstanceType"]):
                    yield record
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise PageError(
            f"{file.name}: not what describe-spot-price-history prints ({' '.join(str(error).split())[:100]})"
        ) from None


def _offers(record: Record) -> Iterator[Offer]:
    region = REGION.match(record["AvailabilityZone"])
    if not region:
        raise PageError(f"not a zone: {record['AvailabilityZone']!r}")
    yield Offer(
        sku=record["InstanceType"],
        accelerator_name=record["InstanceType"],
        price=decimal_of(record["SpotPrice"]),
        currency="USD",
        pricing_model="spot",
        region=region[0],
        zone=record["AvailabilityZone"],
    )
