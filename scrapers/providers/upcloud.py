"""UpCloud: server plans by zone, in hundredths of the account's currency per hour of the whole plan. Needs an API token.

Written from its documentation and from answers that others print. Prices and plans are two lists: ``price`` has an
object per zone whose keys are products, ``server_plan_`` and the plan's name among them, and ``plan`` says what a plan
is. The currency stands beside the zones since 2026. Plans called "GPU-SPOT-…" may be taken away. Disks are billed on
top of plans with accelerators, whose ``storage_size`` is 0. Plans that are no ``current_offering`` keep a price.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://api.upcloud.com/1.3"
SOURCE = Source(
    provider="upcloud",
    url=f"{API}/price",
    kind="api",
    offers=range(4, 400),
    key_env="GPULEDGER_UPCLOUD_API_KEY",
    terms="API for account holders",
    unproven=True,
)
PRODUCT = "server_plan_"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per plan with accelerators and zone."""
    plans: dict[str, dict[str, Any]] = {}
    prices = []
    for page in pages:
        if "plans" in page.json:
            plans |= {plan["name"]: plan for plan in items(page.json["plans"]["plan"], "plan")}
        else:
            prices.append(page.json["prices"])
    if not plans or not prices:
        raise PageError("one of two lists, of plans and of prices, is missing or empty")
    for listed in prices:
        yield from each(
            items(listed["zone"], "zone"), "name", partial(_offers, plans=plans, currency=listed["currency"])
        )


def _offers(zone: dict[str, Any], plans: Mapping[str, dict[str, Any]], currency: str) -> Iterable[Offer]:
    for name, plan in plans.items():
        count = whole(plan.get("gpu_amount") or 0)
        if not count or plan["current_offering"] != "yes" or PRODUCT + name not in zone:
            continue
        told = zone[PRODUCT + name]
        if whole(told["amount"]) != 1:
            raise PageError(f"{name}: the price of {told['amount']}")
        if cents := asked(told["price"]):
            yield Offer(
                sku=name,
                accelerator_name=plan["gpu_model"],
                accelerator_count=Decimal(count),
                price=cents.scaleb(-2),
                price_text=str(cents),
                currency=currency,
                pricing_model="spot" if "-SPOT-" in name else "on_demand",
                region=zone["name"],
                vcpus=decimal_of(plan["core_number"]),
                ram_gb=decimal_of(plan["memory_amount"]) / 1024,
            )


def fetch(client: "Client") -> Iterator[Page]:
    """Both lists."""
    key = client.key("GPULEDGER_UPCLOUD_API_KEY")
    yield client.get(f"{API}/plan", auth_key=key, name="plan.json")
    yield client.get(SOURCE.url, auth_key=key, name="price.json")
