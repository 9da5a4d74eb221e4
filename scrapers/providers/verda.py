"""Verda, until 2025 DataCrunch: its instance types, a bare JSON list that needs no key.

What is odd: prices are decimal strings for the whole instance, memory is the total of its GPUs, one record prices the
instance four or five ways (on-demand, spot, dynamic, serverless, serverless spot; null or "0" where it is not sold
so), and ``max_dynamic_price`` is a ceiling, not a price. CPU instances carry AMD as the maker, which is the CPU's.
``.CC`` types are confidential-computing twins at their own price. Regions and stock are told elsewhere, to those with
a key.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="verda",
    url="https://api.datacrunch.io/v1/instance-types",
    kind="api",
    offers=range(60, 401),
    terms="public API, no key for instance types",
)
# Answers of earlier years lack these.
YOUNGER: dict[str, dict[str, Any]] = {
    "dynamic_price": {"tier": "dynamic"},
    "serverless_price": {"tier": "serverless"},
    "serverless_spot_price": {"tier": "serverless", "pricing_model": "spot"},
}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers per instance type with GPUs and per way to pay for it."""
    for page in pages:
        yield from each(items(page.json, "the answer"), "instance_type", _read)


def _read(record: dict[str, Any]) -> Iterator[Offer]:
    count = decimal_of(record["gpu"]["number_of_gpus"])
    memory = asked(record["gpu_memory"]["size_in_gigabytes"])
    if not count and not memory:
        return
    if not count or not memory:
        raise PageError(f"{count} GPUs with {memory} GB of memory")
    instance: dict[str, Any] = {
        "sku": record["instance_type"],
        "accelerator_name": record["name"],
        "accelerator_count": count,
        "memory_gb": memory,
        "memory_scope": "total",
        "currency": record["currency"].upper(),
        "vcpus": decimal_of(record["cpu"]["number_of_cores"]),
        "ram_gb": decimal_of(record["memory"]["size_in_gigabytes"]),
    }
    if price := asked(record["price_per_hour"]):
        yield Offer(**instance, price=price)
    if spot := asked(record["spot_price"]):
        yield Offer(**instance, price=spot, pricing_model="spot")
    for name, terms in YOUNGER.items():
        if name in record and (price := asked(record[name])):
            yield Offer(**instance, **terms, price=price)
