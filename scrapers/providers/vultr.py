"""Vultr: plans of virtual machines (``/plans``) and bare metal (``/plans-metal``), USD per hour of the whole plan.

A plan has one price for all locations; ``location_cost`` (2026) replaces it in some, which become offers of their own
beside the global one. ``locations`` are those with stock (asked without a key, some have been seen missing); where
there are none the plan is sold out and its price stands. A plan whose ``deploy_ondemand`` or ``deploy_preemptible``
is false is not sold that way, though it carries a price; older answers lack both. ``gpu_brand`` is "none" on plans
without accelerators. ``gpu_count`` is a number, or a text that may be a fraction ("1/4"); ``gpu_vram_gb`` is what the
whole plan gets. Plans of type ``vdm`` and older bare metal name the accelerator in their id only, and older slices
tell nothing but their memory: these have no count. ``monthly_cost`` is a cap on the bill (672 hours on bare metal,
about 730 else), not a commitment.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import asked, check_month, decimal_of, each, fraction, items, truth
from scrapers.source import READING_ERRORS, Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

API = "https://api.vultr.com/v2"
SOURCE = Source(
    provider="vultr",
    url=f"{API}/plans",
    kind="api",
    offers=range(20, 600),
    terms="public API, no key needed for plans",
)
LISTS = ("plans", "plans-metal")
PER_PAGE = 500
MOST_PAGES = 20
WAYS: dict[Literal["on_demand", "spot"], tuple[str, str]] = {
    "on_demand": ("deploy_ondemand", ""),
    "spot": ("deploy_preemptible", "_preemptible"),
}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every plan with accelerators, on demand and preemptible."""
    for page in pages:
        key = "plans_metal" if "plans_metal" in page.json else "plans"
        yield from each(items(page.json[key], key), "id", _offers)


def _offers(plan: dict[str, Any]) -> Iterable[Offer]:
    if not _has_accelerators(plan):
        return
    stocked = plan["locations"]
    if not isinstance(stocked, list):
        raise PageError(f"locations are no list: {stocked!r}")
    # An empty object is sent as an empty list.
    own_prices: dict[str, dict[str, Any]] = plan.get("location_cost") or {}
    yield from _priced(plan, plan, "global", available=any(location not in own_prices for location in stocked))
    for location, costs in own_prices.items():
        yield from _priced(plan, costs, location, available=location in stocked)


def _has_accelerators(plan: dict[str, Any]) -> bool:
    if plan.get("gpu_type") or (plan.get("gpu_brand") or "none").casefold() != "none":
        return True
    name: str = plan["id"]
    return name.startswith("vcg-") or name.endswith("-gpu")


def _priced(plan: dict[str, Any], costs: Mapping[str, Any], region: str, *, available: bool) -> Iterator[Offer]:
    count, memory_gb = plan.get("gpu_count"), plan.get("gpu_vram_gb")
    for way, (flag, suffix) in WAYS.items():
        price = _price(costs, suffix)
        if not price or not _sold(plan, flag):
            continue
        yield Offer(
            sku=plan["id"],
            accelerator_name=plan.get("gpu_type") or plan["id"],
            accelerator_count=fraction(str(count)) if count is not None else None,
            memory_gb=decimal_of(memory_gb) if memory_gb else None,
            memory_scope="total" if memory_gb else None,
            price=price,
            currency="USD",
            pricing_model=way,
            region=region,
            available=available,
            vcpus=decimal_of(plan["vcpu_count"]) if "vcpu_count" in plan else None,
            ram_gb=decimal_of(plan["ram"]) / 1024,
        )


def _price(costs: Mapping[str, Any], suffix: str) -> Decimal | None:
    """USD per hour, None where there is none. Every plan has the on-demand one, not every one a preemptible."""
    price = asked(costs.get(f"hourly_cost{suffix}") if suffix else costs["hourly_cost"])
    monthly = costs.get(f"monthly_cost{suffix}")
    if price and monthly is not None:
        check_month(price, decimal_of(monthly))
    return price


def _sold(plan: dict[str, Any], flag: str) -> bool:
    """Whether the plan is sold that way: told for both ways or, in older answers, for none."""
    return truth(plan[flag]) if any(key in plan for key, _ in WAYS.values()) else True


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """Both lists, following the cursor of each to its end; one may fail without the other."""
    for path in LISTS:
        params: dict[str, str | int] = {"per_page": PER_PAGE}
        try:
            for number in range(1, MOST_PAGES + 1):
                page = client.get(f"{API}/{path}", params=params, name=f"{path}-{number:03}.json")
                cursor = page.json["meta"]["links"]["next"]
                yield page
                if not cursor:
                    break
                params["cursor"] = cursor
            else:
                raise PageError(f"no end after {MOST_PAGES} pages")
        except (FetchError, *READING_ERRORS) as error:
            yield Missed(path, one_line(error))
