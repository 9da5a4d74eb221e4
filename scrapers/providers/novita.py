"""Novita AI's API: GPUs by the hour, on demand and spot. Needs a key; written from its documentation.

A price is a string of whole hundred-thousandths of a dollar: "67000" is $0.67 for one RTX 4090 an hour. Each product is
one GPU with its share of a host; a machine may have several. A spot price of zero or nothing means none. What is below a
cent, or has a fraction, is in some other unit and is refused. Where a product names no regions, it is the same in all.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, truth
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="novita",
    url="https://api.novita.ai/gpu-instance/openapi/v1/products",
    kind="api",
    offers=range(3, 400),
    key_env="GPULEDGER_NOVITA_API_KEY",
    terms="API for account holders",
    unproven=True,
)
A_DOLLAR, A_CENT = 100_000, 1_000


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every product, by region and way of buying."""
    for page in pages:
        yield from dict.fromkeys(each(items(page.json["data"], "data"), "id", _product))


def _product(product: dict[str, Any]) -> Iterable[Offer]:
    on_demand, spot = (_dollars(product[field]) for field in ("price", "spotPrice"))
    for region in product["regions"] or ["global"]:
        for amount, is_spot in ((on_demand, False), (spot, True)):
            if amount:
                yield Offer(
                    sku=product["id"],
                    accelerator_name=product["name"],
                    accelerator_count=Decimal(1),
                    price=amount,
                    price_text=product["spotPrice" if is_spot else "price"],
                    currency="USD",
                    pricing_model="spot" if is_spot else "on_demand",
                    region=region,
                    available=truth(product["availableDeploy"]),
                    vcpus=decimal_of(product["cpuPerGpu"]),
                    ram_gb=decimal_of(product["memoryPerGpu"]),
                )


def _dollars(text: object) -> Decimal | None:
    """A price in dollars. Raises PageError when it cannot be in hundred-thousandths."""
    amount = asked(text or None)
    if amount is not None and (not isinstance(text, str) or amount != int(amount) or amount < A_CENT):
        raise PageError(f"not a price in hundred-thousandths of a dollar: {text!r}")
    return amount and amount / A_DOLLAR


def fetch(client: "Client") -> Iterator[Page]:
    """All products in one answer."""
    yield client.get(SOURCE.url, auth_key=client.key("GPULEDGER_NOVITA_API_KEY"), name="products.json")
