"""RunPod: GPU types with one price per cloud, from its keyless GraphQL.

What is odd: prices are per GPU, worldwide, and stand even where a cloud does not offer the type: then they are a dummy
(0.5, or 1 on slices) or years old, and only the flags ``secureCloud`` and ``communityCloud`` tell. Answers to queries
that did not ask for the flags are read with what is known without them: 0 and 0.5 are no prices. Zero and null mean
"not offered". Spot prices repeat the on-demand ones (since 2026 at the latest), which says nothing, and are left out
unless they differ. ``lowestPrice`` is the price of a pod of however many GPUs the query asked for, so never a unit
price; ``maxGpuCount`` is what fits in a pod, not what an offer holds. Prices for one, three and six months go with the
secure cloud. Clusters are sold in whole nodes.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items
from scrapers.source import Page, PageError, Rejected, Source

if TYPE_CHECKING:
    from scrapers.fetch import Client

SOURCE = Source(
    provider="runpod",
    url="https://api.runpod.io/graphql",
    kind="api",
    offers=range(40, 251),
    cadence="hourly",
    terms="public GraphQL API, no key for GPU types",
)
QUERY = """{
  gpuTypes {
    id displayName memoryInGb secureCloud communityCloud securePrice communityPrice secureSpotPrice communitySpotPrice
    oneMonthPrice threeMonthPrice sixMonthPrice
    secureStock: lowestPrice(input: {gpuCount: 1, secureCloud: true}) { stockStatus }
    communityStock: lowestPrice(input: {gpuCount: 1, secureCloud: false}) { stockStatus }
  }
  clusters: gpuTypes(input: {cluster: true}) { id displayName memoryInGb clusterPrice maxGpuCount }
}"""
CLOUDS = ("secure", "community")
TERMS = {"oneMonthPrice": 30, "threeMonthPrice": 90, "sixMonthPrice": 180}
DUMMY = Decimal("0.5")
IN_STOCK = {None: False, "Low": True, "Medium": True, "High": True}


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers per type and cloud; per type and term; per type sold as clusters."""
    for page in pages:
        body = page.json
        if body.get("errors"):
            raise PageError(f"{page.name}: GraphQL answers with errors: {str(body['errors'])[:120]}")
        data = body["data"]
        yield from each(items(data["gpuTypes"], "gpuTypes"), "id", _pods)
        if "clusters" in data:
            yield from each(items(data["clusters"], "clusters"), "id", _clusters)


def _pods(gpu: dict[str, Any]) -> Iterator[Offer]:
    if gpu["id"] == "unknown":
        return
    on_offer = _clouds(gpu)
    for cloud in CLOUDS:
        price = _price(gpu, f"{cloud}Price", on_offer) if on_offer.get(cloud, True) else None
        if not price:
            continue
        yield Offer(**_unit(gpu), tier=cloud, price=price, available=_stock(gpu, f"{cloud}Stock"))
        spot = _price(gpu, f"{cloud}SpotPrice", on_offer) if f"{cloud}SpotPrice" in gpu else None
        if spot and spot != price:
            yield Offer(**_unit(gpu), tier=cloud, price=spot, pricing_model="spot")
    for name, days in TERMS.items():
        told = name in gpu and on_offer.get("secure", True)
        if told and (price := _price(gpu, name, on_offer)):
            yield Offer(**_unit(gpu), tier="secure", price=price, pricing_model="reserved", commitment_days=days)


def _clusters(gpu: dict[str, Any]) -> Iterator[Offer]:
    if price := asked(gpu["clusterPrice"]):
        yield Offer(**_unit(gpu), tier="cluster", price=price, minimum_accelerators=decimal_of(gpu["maxGpuCount"]))


def _unit(gpu: dict[str, Any]) -> dict[str, Any]:
    memory = asked(gpu["memoryInGb"]) if "memoryInGb" in gpu else None
    return {
        "sku": gpu["id"],
        "accelerator_name": gpu["displayName"] or gpu["id"],
        "memory_gb": memory,
        "memory_scope": "each" if memory else None,
        "currency": "USD",
        "price_scope": "accelerator",
    }


def _clouds(gpu: dict[str, Any]) -> dict[str, bool]:
    """Which clouds offer the type; empty where the answer does not tell."""
    flags = {cloud: gpu[f"{cloud}Cloud"] for cloud in CLOUDS if f"{cloud}Cloud" in gpu}
    if len(flags) == 1 or not all(isinstance(flag, bool) for flag in flags.values()):
        raise PageError(f"cloud flags that do not read: {flags}")
    return flags


def _price(gpu: dict[str, Any], name: str, on_offer: dict[str, bool]) -> Decimal | None:
    price = asked(gpu[name])
    return None if price == DUMMY and not on_offer else price


def _stock(gpu: dict[str, Any], name: str) -> bool | None:
    """Whether one GPU can be had now; None where the query did not ask or the word is new."""
    return IN_STOCK.get(gpu[name]["stockStatus"]) if gpu.get(name) else None


def fetch(client: "Client") -> Iterator[Page]:
    """The one answer there is."""
    yield client.post(SOURCE.url, json={"query": QUERY}, name="gpu-types.json")
