"""AWS: spot prices of EC2 instances with accelerators, from the feed behind its spot pricing page.

The Spot Instance Advisor itself tells savings in percent and how often instances are interrupted; no price can be made
of that, and it gives no offer here. The feed gives USD an hour, by region and instance type, of Linux and of Windows
(left out), refreshed every few minutes; "N/A*" and -1 mean that there is none. It comes as bare JSON, or as the argument
of ``callback(…);`` like the older feed (spot-price.s3.amazonaws.com), which stands still since May 2024. Some types are
listed twice. Old files of on-demand prices have the same shape and more columns.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import asked, each, embedded, items
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="aws",
    url="https://website.spot.ec2.aws.a2z.com/spot.json",
    kind="api",
    offers=range(300, 6_000),
    cadence="hourly",
    terms="public price feed, no key",
)
ACCELERATED = re.compile(r"(p|g|gr|trn|inf|dl)\d[a-z0-9-]*\.[a-z0-9-]+|u-p\d[a-z0-9-]+")
CALLBACK = re.compile(r"\s*callback\((.*)\);?\s*", re.DOTALL)
NO_PRICE = re.compile(r"N/A\*?|-1(\.0+)?")
ADVISOR = {"instance_types", "ranges", "spot_advisor"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Spot offers of every accelerated instance type with Linux, by region."""
    for page in pages:
        wrapped = CALLBACK.fullmatch(page.text)
        body = embedded(wrapped[1]) if wrapped else page.json
        if body.keys() >= ADVISOR:
            continue
        config = body["config"]
        told = (config["rate"], config["currencies"], config["valueColumns"])
        if told != ("perhr", ["USD"], ["linux", "mswin"]):
            raise PageError(f"not spot prices in USD by the hour: {told}")
        for region in items(config["regions"], "regions"):
            sizes = [
                size
                for kind in items(region["instanceTypes"], "instanceTypes")
                for size in items(kind["sizes"], "sizes")
                if ACCELERATED.fullmatch(size["size"])
            ]
            yield from dict.fromkeys(each(sizes, "size", partial(_offers, region=region["region"])))


def _offers(size: dict[str, Any], region: str) -> Iterable[Offer]:
    [linux] = [column["prices"] for column in items(size["valueColumns"], "valueColumns") if column["name"] == "linux"]
    if linux.keys() != {"USD"}:
        raise PageError(f"a price in {sorted(linux)}")
    told = linux["USD"]
    if isinstance(told, str) and NO_PRICE.fullmatch(told):
        return
    if price := asked(told):
        yield Offer(
            sku=size["size"],
            accelerator_name=size["size"],
            price=price,
            currency="USD",
            pricing_model="spot",
            region=region,
        )
