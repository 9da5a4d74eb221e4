"""OVHcloud: GPU instances of its public cloud, from the order catalogues of Europe (EUR) and the United States (USD).

A price is a whole number of hundred-millionths, without tax, for the instance; ``formattedPrice`` says it once more.
The unit stands in the plan's code: ``.consumption`` is an hour, ``.monthly.postpaid`` a month; ``intervalUnit`` says
"none" on American rows. Only the commercial brick "gpu" is a machine: AI notebooks and jobs (``ai-…``) have the same
GPU with a price by the minute. Left out are Windows (``win-…``, licence included), legacy twins (``…-le-…``) and what is
tagged as coming soon though it has a price. The catalogue does not say in which regions a machine is.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapers.failures import FetchError
from scrapers.offer import Offer
from scrapers.shapes import decimal_of, each, items, money, whole
from scrapers.source import READING_ERRORS, Missed, Page, PageError, Rejected, Source, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="ovh",
    url="https://api.ovh.com/1.0/order/catalog/public/cloud",
    kind="api",
    offers=range(12, 200),
    terms="public API, no key needed for catalogues",
)
CATALOGUES = {"FR": SOURCE.url, "US": "https://api.us.ovhcloud.com/1.0/order/catalog/public/cloud"}
UNIT = Decimal(100_000_000)
HALF_A_CENT = Decimal("0.005")
TERMS: dict[str, tuple[str, dict[str, Any]]] = {
    ".consumption": ("hour", {}),
    ".monthly.postpaid": ("month", {"pricing_model": "reserved", "commitment_days": 30}),
}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every catalogue: instances by the hour, and by the month where they are sold so."""
    for page in pages:
        locale, addons = page.json["locale"], items(page.json["addons"], "addons")
        machines = [addon for addon in addons if _is_machine(addon)]
        if not machines:
            raise PageError(f"{page.name}: no GPU among {len(addons)} addons")
        yield from each(machines, "planCode", partial(_offers, locale=locale))


def _is_machine(addon: dict[str, Any]) -> bool:
    """Whether it is sold as a machine with GPUs; most addons say nothing about themselves."""
    return ((addon.get("blobs") or {}).get("commercial") or {}).get("brick") == "gpu"


def _offers(addon: dict[str, Any], locale: dict[str, Any]) -> Iterable[Offer]:
    code, blobs = addon["planCode"], addon["blobs"]
    technical = blobs["technical"]
    if technical["os"]["family"] == "windows" or code.startswith("win-") or "-le-" in code:
        return
    if not isinstance(blobs["tags"], list) or not all(isinstance(tag, str) for tag in blobs["tags"]):
        raise PageError(f"not a list of tags: {blobs['tags']!r}")
    if "coming_soon" in blobs["tags"]:
        return
    suffix = next((suffix for suffix in TERMS if code.endswith(suffix)), None)
    if suffix is None:
        raise PageError(f"nothing says for how long: {code!r}")
    gpu = technical["gpu"]
    unit, terms = TERMS[suffix]
    price, price_text = _price(addon, unit, locale["currencyCode"])
    if price:
        yield Offer(
            sku=code.removesuffix(suffix),
            accelerator_name=gpu["model"],
            accelerator_count=Decimal(whole(gpu["number"])),
            memory_gb=decimal_of(gpu["memory"]["size"]),
            memory_scope="each",
            price=price,
            price_text=price_text,
            currency=locale["currencyCode"],
            per=unit,
            tax="excluded",
            vcpus=decimal_of(technical["cpu"]["cores"]) if "cpu" in technical else None,
            ram_gb=decimal_of(technical["memory"]["size"]) if "memory" in technical else None,
            **terms,
        )


def _price(addon: dict[str, Any], unit: str, currency: str) -> tuple[Decimal, str]:
    """The one price and how it is shown. Raises PageError when the two differ, or when its unit is another."""
    [pricing] = items(addon["pricings"], "pricings")
    price, shown = Decimal(whole(pricing["price"])) / UNIT, money(pricing["formattedPrice"])
    if pricing["intervalUnit"] not in {"none", unit} or whole(pricing["interval"]) > 1:
        raise PageError(f"a price for {pricing['interval']} {pricing['intervalUnit']}, where the plan says {unit}")
    if shown is None or abs(shown.amount - price) > HALF_A_CENT or shown.currency != currency:
        raise PageError(f"{price} {currency} is shown as {pricing['formattedPrice']!r}")
    return price, f"{pricing['price']} ({pricing['formattedPrice']})"


def fetch(client: "Client") -> Iterator[Page | Missed]:
    """Both catalogues; one may fail without the other."""
    for subsidiary, url in CATALOGUES.items():
        try:
            yield client.get(url, params={"ovhSubsidiary": subsidiary}, name=f"{subsidiary.lower()}.json")
        except (FetchError, *READING_ERRORS) as error:
            yield Missed(subsidiary, one_line(error))
