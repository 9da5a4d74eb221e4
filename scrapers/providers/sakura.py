"""SAKURA's cloud: yen by the hour for plans with GPUs, from the public part of its API. No key; written from its documentation.

The price list of a zone names plans by path ("plan/24core-240gb-1gpu-nvidia_h100_80gbvram-g2") and does not say which have
GPUs but there. Rows are an object by number, earlier a list. A plan costs by the hour until the price of its month is
reached; that and the price by the day are caps of the same bill and not commitments, so that only the hour is taken.
It is not told whether tax is in the price. An answer without a header that tells scripts apart is a web page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, each, items, truth
from scrapers.source import Missed, Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://secure.sakura.ad.jp/cloud/zone/{zone}/api/cloud/1.1/public/price.json"
ZONES = ("is1a", "is1b")
SOURCE = Source(
    provider="sakura",
    url=API.format(zone=ZONES[0]),
    kind="api",
    offers=range(1, 40),
    terms="public part of the API, no account needed",
    unproven=True,
)
PLAN = re.compile(r"plan/(?P<vcpus>\d+)core-(?P<ram>\d+)gb-(?P<count>\d+)gpu(?P<rest>.*)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """The price by the hour of every public plan with GPUs, by zone."""
    for page in pages:
        rows = page.json["ServiceClasses"]
        rows = items(list(rows.values()) if isinstance(rows, dict) else rows, "ServiceClasses")
        yield from each((row for row in rows if "gpu" in row["ServiceClassPath"]), "ServiceClassPath", _plan)


def _plan(row: dict[str, Any]) -> Iterable[Offer]:
    plan, prices = PLAN.fullmatch(row["ServiceClassPath"]), row["Price"]
    if not truth(row["IsPublic"]):
        return
    if plan is None:
        raise PageError(f"not a plan that is known: {row['ServiceClassPath']!r}")
    hour, month = asked(prices["Hourly"]), asked(prices["Monthly"])
    if hour and month and not 200 * hour <= month <= 750 * hour:
        raise PageError(f"{month} a month does not go with {hour} an hour")
    if asked(prices["Base"]):
        raise PageError(f"a basic charge of {prices['Base']} beside the price by the hour")
    if hour:
        yield Offer(
            sku=row["ServiceClassPath"],
            accelerator_name=row["DisplayName"],
            accelerator_count=Decimal(plan["count"]),
            price=hour,
            currency="JPY",
            region=prices["Zone"],
            vcpus=Decimal(plan["vcpus"]),
            ram_gb=Decimal(plan["ram"]),
        )


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """The price list of every zone that has had GPUs."""
    for zone in ZONES:
        url = API.format(zone=zone)
        try:
            yield client.get(url, headers={"X-Requested-With": "XMLHttpRequest"}, name=f"{zone}.json")
        except FetchError as error:
            yield Missed(zone, str(error))
