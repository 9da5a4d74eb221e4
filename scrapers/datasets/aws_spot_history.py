"""AWS's own spot price history: what ``aws ec2 describe-spot-price-history`` prints, as far back as 90 days.

One JSON document or several, one after the other or one a line, each with ``SpotPriceHistory``; a file, or a folder of them. A record
is a change: the price of an instance type in a zone from its ``Timestamp`` on, which may be long before what was asked for. So a price
holds on every UTC day until the next change, up to the newest change of anything in its file; what comes after that file tells nothing
of. Of Linux and the types with an accelerator a day's last change counts. An absence means nothing.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
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
FIELDS = {"AvailabilityZone", "InstanceType", "ProductDescription", "SpotPrice", "Timestamp"}
LINUX = {"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}
ACCELERATED = re.compile(r"(p|g|gr|trn|inf|dl)\d[a-z0-9-]*\.[a-z0-9-]+|u-p\d[a-z0-9-]+")
REGION = re.compile(r"[a-z]+(?:-[a-z]+)+-\d+")

Record = dict[str, Any]
Key = tuple[str, str]


def captures(path: Path) -> Iterator[Capture]:
    """One capture for each UTC day, oldest first: the prices that held at its end. Raises PageError."""
    changes: dict[Key, list[_Change]] = defaultdict(list)
    for file in [path] if path.is_file() else sorted(path.glob("*.json*")):
        found = [(_at(record), record) for record in _records(file)]
        newest = max((at for at, _ in found), default=datetime.min.replace(tzinfo=UTC))
        for at, record in found:
            changes[_key(record)].append(_Change(at, newest, record))
    days = _held(changes)
    if not days:
        raise PageError(f"{path}: no Linux spot price of an instance type with an accelerator")
    for day, held in sorted(days.items()):
        records = [change.record for _, change in sorted(held.items())]
        body = json.dumps({HISTORY: records}, indent=1, sort_keys=True).encode()
        of_the_day = [change.at for change in held.values() if change.at.date() == day]
        end = datetime.combine(day, time(23, 59, 59), UTC)
        yield Capture(max(of_the_day, default=end), [Page(f"{SOURCE.url}#{day}", body, f"{day}.json")])


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the JSON pages that ``captures`` yields, or of the command's own: of each type and zone the latest change."""
    records = [record for page in pages for record in items(page.json[HISTORY], HISTORY)]
    whole = [record for record in records if record.keys() >= FIELDS]
    latest = {_key(record): record for record in sorted(filter(_is_wanted, whole), key=_at)}
    yield from each(
        [*latest.values(), *(record for record in records if not record.keys() >= FIELDS)], "InstanceType", _offers
    )


@dataclass(frozen=True)
class _Change:
    at: datetime
    file_until: datetime
    """The newest change in its file, of anything: until then the file tells."""
    record: Record


def _held(changes: dict[Key, list[_Change]]) -> dict[date, dict[Key, _Change]]:
    """The change that holds at the end of each day, by type and zone."""
    days: dict[date, dict[Key, _Change]] = defaultdict(dict)
    for key, found in changes.items():
        found.sort(key=lambda change: (change.at, change.file_until))
        for change, behind in zip(found, [*found[1:], None], strict=True):
            last = change.file_until.date()
            if behind is not None:
                last = min(last, behind.at.date() - timedelta(days=1))
            for ahead in range((last - change.at.date()).days + 1):
                days[change.at.date() + timedelta(days=ahead)][key] = change
    return days


def _key(record: Record) -> Key:
    return record["InstanceType"], record["AvailabilityZone"]


def _at(record: Record) -> datetime:
    return moment(record["Timestamp"])


def _is_wanted(record: Record) -> bool:
    return record["ProductDescription"] in LINUX and ACCELERATED.fullmatch(record["InstanceType"]) is not None


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
                if _is_wanted(record):
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
        effective_at=_at(record).date(),
    )
