"""Google Cloud: SKUs of its Cloud Billing catalogue, each part of a machine priced apart. Needs an API key.

A GPU's SKU is one GPU alone, per hour; the vCPUs and GiB of the machine types made for it (A2, A3, G2 …), and of N1
which T4, P100 and their like are attached to, have SKUs of their own, read as host parts. "(1 gpu slice)" (A4, 2025)
is one GPU with its share of the host, and "1/8 vGPU" (2026) a whole small machine. TPUs from v5 on are one chip with
its host; v2 to v4, in a service of their own, are a device of four chips. What a SKU is stands in its description
only: spot prices of A4 and of old TPUs are filed as ``OnDemand``, and reservations, calendar mode and flex-start
(DWS) always. A description that is not known, or that ``usageType`` contradicts, is reported; what belongs to other
deals (sole tenancy, custom and extended sizes, capacity that a reservation has paid) is left out. Prices are units, a
string, and nanos, of which one alone would be another price; a first tier may be free. ``serviceRegions`` are regions,
the place in a description is none. ``effectiveTime`` is that of the answer. Bundled local SSDs are not among the parts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import each, fraction, items, whole
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SERVICES = {"compute": "6F81-5844-456A", "tpu": "E000-3F24-B8AA"}
SOURCE = Source(
    provider="gcp",
    url="https://cloudbilling.googleapis.com/v1/services/{service}/skus",
    kind="api",
    offers=range(1_000, 20_001),
    cadence="weekly",
    key_env="GPULEDGER_GCP_SKUS_API_KEY",
    terms="public catalogue of list prices, free API key",
)
PER_PAGE = "5000"
MOST_PAGES = 40
HOSTS = {"CPU", "RAM", "N1Standard"}
HOST = re.compile(r"\b(?:A2|A3|A3Plus|A3Ultra|G2|G4|N1(?: Predefined)?) (?:Instance )?(?P<part>Core|Cpu|Ram)\b")
CHIPS_PER_DEVICE = 4
OTHER_DEALS = re.compile(
    r"^Reserved (?!.* in Calendar Mode$)|^Capacity Optimized |Sole Tenancy|Custom|Extended|Premium|[Ss]uspended"
    r"|Subscription|Workstation|Licens"
)
_IN = r" (?:running )?in .+?"
WAYS: Sequence[tuple[str, PricingModel, str | None, set[str]]] = [
    (rf"Commitment v\d+: (?P<name>.+?){_IN} for 1 Years?", "reserved", None, {"Commit1Yr"}),
    (rf"Commitment v\d+: (?P<name>.+?){_IN} for 3 Years?", "reserved", None, {"Commit3Yr"}),
    (rf"Commitment v\d+: (?P<name>.+?){_IN} for 5 Years?", "reserved", None, {"Commit"}),
    (r"Reserved (?P<name>.+?) in .+? in Calendar Mode", "flex", "calendar mode", {"OnDemand"}),
    (rf"DWS Calendar Mode (?P<name>.+?){_IN}", "flex", "calendar mode", {"OnDemand"}),
    (rf"DWS Defined Duration (?P<name>.+?){_IN}", "flex", "defined duration", {"OnDemand"}),
    (rf"(?P<name>.+?) attached to DWS Defined Duration VMs{_IN}", "flex", "defined duration", {"OnDemand"}),
    (rf"Spot Preemptible (?P<name>.+?){_IN}", "spot", None, {"Preemptible", "OnDemand"}),
    (rf"(?P<name>.+?) attached to Spot Preemptible VMs{_IN}", "spot", None, {"Preemptible", "OnDemand"}),
    (r"Preemptible (?P<name>Tpu-v[234](?: Pod)?) Accelerator .+", "spot", None, {"Preemptible", "OnDemand"}),
    (r"(?P<name>Tpu-v[234](?: Pod)?) Accelerator .+", "on_demand", None, {"OnDemand"}),
    (r"(?P<name>(?:(?!Commit|DWS|Spot|Preempt|Reserv|attached).)+?) running in .+", "on_demand", None, {"OnDemand"}),
]


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per region of every SKU of an accelerator, and of the parts of the machines it goes into."""
    for page in pages:
        if '"nanos"' in page.text and '"units"' not in page.text:
            raise PageError(f"{page.name}: no price has units")
        yield from each([sku for sku in items(page.json["skus"], "skus") if _is_wanted(sku)], "skuId", _offers)


def _is_wanted(sku: dict[str, Any]) -> bool:
    group, description = sku["category"]["resourceGroup"], sku["description"]
    is_ours = group in {"GPU", "TPU"} or (group in HOSTS and HOST.search(description))
    return bool(is_ours) and not OTHER_DEALS.search(description)


def deal(description: str, usage_type: str) -> tuple[str, dict[str, Any]]:
    """What is sold, and the terms as an Offer has them. Raises PageError where words or ``usage_type`` are not known."""
    for words, pricing_model, tier, filed_as in WAYS:
        if found := re.fullmatch(words, description):
            if usage_type not in filed_as:
                raise PageError(f"{description!r} is filed as {usage_type!r}")
            days = 365 * int(description.split()[-2]) if pricing_model == "reserved" else 0
            return found["name"], {"pricing_model": pricing_model, "commitment_days": days, "tier": tier}
    raise PageError(f"a description that is not known: {description!r}")


def _offers(sku: dict[str, Any]) -> Iterable[Offer]:
    category, regions = sku["category"], sku["serviceRegions"]
    name, terms = deal(sku["description"], category["usageType"])
    group = category["resourceGroup"]
    covers = _host(name) if group in HOSTS else _accelerator(name, is_tpu=group == "TPU")
    price, currency = _price(sku, "GiBy.h" if covers["price_scope"] == "host_gib" else "h")
    if not isinstance(regions, list) or not regions:
        raise PageError(f"no regions: {regions!r}")
    for region in regions if price else []:
        words = {"sku": sku["skuId"], "accelerator_name": name, "region": region}
        yield Offer(**words, **covers, **terms, price=price, currency=currency)


def _host(name: str) -> dict[str, Any]:
    if not (part := HOST.fullmatch(name)):
        raise PageError(f"not a part of a machine: {name!r}")
    return {"price_scope": "host_gib" if part["part"] == "Ram" else "host_vcpu"}


def _accelerator(name: str, *, is_tpu: bool) -> dict[str, Any]:
    """What one unit of the price is."""
    if name.startswith("Tpu-v"):
        return {"price_scope": "offer", "accelerator_count": CHIPS_PER_DEVICE}
    if share := re.match(r"(\d+/\d+|\d+) vGPU\b", name):
        return {"price_scope": "offer", "accelerator_count": fraction(share[1])}
    return {"price_scope": "accelerator" if is_tpu or "(1 gpu slice)" in name else "component"}


def _price(sku: dict[str, Any], unit: str) -> tuple[Decimal, str]:
    """The price of one ``unit``, 0 where nothing is asked, and its currency. Raises PageError for another unit."""
    (now,) = sku["pricingInfo"]
    told = now["pricingExpression"]
    if told["usageUnit"] != unit:
        raise PageError(f"priced by {told['usageUnit']!r}, not {unit!r}")
    prices = [_amount(rate["unitPrice"]) for rate in items(told["tieredRates"], "tieredRates")]
    paid = [price for price in prices if price[0]] or prices[:1]
    if len(paid) > 1 or prices[-1:] != paid:
        raise PageError(f"prices by quantity: {[str(amount) for amount, _ in prices]}")
    return paid[0]


def _amount(money: dict[str, Any]) -> tuple[Decimal, str]:
    """Units and nanos together; Google's JSON may leave out units that are zero."""
    units, nanos = money.get("units", "0"), whole(money["nanos"])
    known = money.keys() <= {"currencyCode", "units", "nanos"} and isinstance(units, str) and units.isdecimal()
    if not known or not 0 <= nanos < 10**9:
        raise PageError(f"not an amount: {units!r} and {nanos} nanos")
    return Decimal(units) + Decimal(nanos).scaleb(-9), money["currencyCode"]


def fetch(client: "Client") -> Iterator[Page]:
    """Every page of both services, to the end of each."""
    secret = {"key": client.key("GPULEDGER_GCP_SKUS_API_KEY")}
    for name, service in SERVICES.items():
        url, asked_for = SOURCE.url.format(service=service), {"pageSize": PER_PAGE, "currencyCode": "USD"}
        for number in range(1, MOST_PAGES + 1):
            page = client.get(url, params=asked_for, secret_params=secret, name=f"{name}-{number:03}.json")
            yield page
            if not (token := page.json.get("nextPageToken")):
                break
            asked_for["pageToken"] = token
        else:
            raise PageError(f"no end of {name} after {MOST_PAGES} pages")
