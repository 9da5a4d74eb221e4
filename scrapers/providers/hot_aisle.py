"""Hot Aisle: virtual machines with AMD accelerators that a team can have, in whole US cents per hour. Needs a key.

Written from a client that uses it. The list is a team's: its handle is in the address, so that a second variable,
GPULEDGER_HOT_AISLE_TEAM, is needed. Field names mix two styles. A price is that of the whole machine; sizes are in
bytes. There is one site, and nothing names it. A kind of machine that is sold out is not listed.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="hot_aisle",
    url="https://admin.hotaisle.app/api/teams/{team}/virtual_machines/available/",
    kind="api",
    offers=range(1, 40),
    key_env="GPULEDGER_HOT_AISLE_API_KEY",
    terms="API for account holders",
    unproven=True,
)
GIB = 2**30


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per kind of machine."""
    for page in pages:
        yield from each(items(page.json, "the answer"), "OnDemandPrice", _offers)


def _offers(machine: dict[str, Any]) -> Iterable[Offer]:
    cents, specs = whole(machine["OnDemandPrice"]), machine["Specs"]
    kinds = items(specs["gpus"], "gpus")
    if not kinds:
        return
    if len(kinds) != 1 or cents <= 0:
        raise PageError(f"{len(kinds)} kinds of accelerator for {cents} cents")
    (gpu,) = kinds
    count, cores = whole(gpu["count"]), whole(specs["cpu_cores"])
    yield Offer(
        sku=f"{count}x {gpu['model']}, {cores} cores",
        accelerator_name=gpu["model"],
        accelerator_count=Decimal(count),
        price=Decimal(cents).scaleb(-2),
        price_text=str(cents),
        currency="USD",
        available=True,
        vcpus=Decimal(cores),
        ram_gb=decimal_of(specs["ram_capacity"]) / GIB,
        storage_gb=decimal_of(specs["disk_capacity"]) / GIB,
    )


def fetch(client: "Client") -> Iterator[Page]:
    """The one list."""
    headers = {"Authorization": f"Token {client.key('GPULEDGER_HOT_AISLE_API_KEY')}"}
    team = client.key("GPULEDGER_HOT_AISLE_TEAM")
    yield client.get(SOURCE.url.format(team=team), headers=headers, name="virtual-machines.json")
