"""Akash: what its providers ask for each GPU, per model, from the price list behind its pricing page.

Akash is an auction without list prices: the answer sums up recent bids for one GPU by the hour, in USD. The median
stands for the going price, the lowest is kept as a floor. ``price`` is null where nobody has bid. A model comes once
for each memory size and interface, in short small letters ("rtx4090", "pro6000se").
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapers.offer import Offer, PricingModel
from scrapers.shapes import asked, decimal_of, each, gigabytes, items, whole
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="akash",
    url="https://console-api.akash.network/v1/gpu-prices",
    kind="api",
    offers=range(12, 200),
    cadence="hourly",
    terms="public API, documented, no key",
)
BIDS: dict[str, PricingModel] = {"med": "on_demand", "min": "floor"}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """The median and the lowest bid for every model that has bids."""
    for page in pages:
        yield from each(items(page.json["models"], "models"), "model", _offers)


def _offers(model: dict[str, Any]) -> Iterable[Offer]:
    bids = model["price"]
    if bids is None:
        return
    lowest, median, highest = (decimal_of(bids[name]) for name in ("min", "med", "max"))
    if not lowest <= median <= highest:
        raise PageError(f"bids out of order: {lowest}, {median}, {highest}")
    free = whole(model["availability"]["available"])
    for name, pricing_model in BIDS.items():
        if price := asked(bids[name]):
            yield Offer(
                sku="/".join([model["vendor"], model["model"], model["ram"], model["interface"]]),
                accelerator_name=f"{model['model']} {model['interface']}",
                memory_gb=gigabytes(f"{model['ram']}B"),
                memory_scope="each",
                price=price,
                currency=bids["currency"],
                price_scope="accelerator",
                pricing_model=pricing_model,
                available=free > 0,
                quantity=free,
            )
