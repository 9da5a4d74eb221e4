"""RunPod's price page: prices by the GPU-hour, never where one sees them.

2023 to early 2024 the page carries its API's records (``__NEXT_DATA__``), where a price of 0 or 0.5, or one of years ago,
stands for a cloud that does not have the type: only the flags ``secureCloud`` and ``communityCloud`` tell. Then cards
name a cloud behind each price; "Starting from" above them repeats the cheaper. Since mid-2025 prices are attributes of
each row, by the hour, while the visible text is "$ 0 /s" until a script has run. Since mid-2026 JSON-LD has them too, as
of its own ``dateModified``, so it is read only where there are no attributes. Clusters and serverless workers are listed
apart, at other prices, and are not read.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    asked,
    clean,
    decimal_of,
    each,
    hourly,
    items,
    json_ld,
    model_name,
    next_data,
    number,
    text_of,
    truth,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="runpod",
    url="https://www.runpod.io/pricing",
    kind="page",
    offers=range(20, 120),
    terms="public price list",
    former_urls=("https://www.runpod.io/gpu-instance/pricing",),
)
CLOUDS = {"Secure Cloud": "secure", "Community Cloud": "community"}
TERMS = {"oneMonthPrice": 30, "threeMonthPrice": 90, "sixMonthPrice": 180}
ATTRIBUTES = {
    "data-secure-cloud-price": "secure", "data-community-cloud-price": "community",
    "data-secure": "secure", "data-community": "community",
}  # fmt: skip
ROWS = ["gpu-pricing-row", "gpu_table-row"]
# The cheapest costs five times as much by the hour, the dearest a tenth by the second.
LEAST_USD_PER_HOUR = Decimal("0.02")
MEMORY = re.compile(r"(\d+) ?GB (?:VRAM|HBM\w*)")
PRODUCT = re.compile("(.+) GPU on Runpod", re.IGNORECASE)


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers from the best of what the page has: records, attributes, JSON-LD, cards."""
    for page in pages:
        soup = whole_html(page)
        priced = soup.select(", ".join(f"[{name}]" for name in ATTRIBUTES))
        products = [item for item in json_ld(page) if PRODUCT.fullmatch(str(item.get("name")))]
        if soup.select_one("script#__NEXT_DATA__"):
            records = items(next_data(page)["props"]["pageProps"]["data"], "data")
            found = list(each(records, "id", _record))
        elif priced:
            found = list(each([{"priced": tag, "name": text_of(tag.parent)} for tag in priced], "name", _row))
        elif products:
            found = list(each(products, "name", _product))
        else:
            found = list(each(_cards([clean(text) for text in soup.stripped_strings]), "name", _card))
        if not found:
            raise PageError("no GPU prices of RunPod's on the page")
        yield from dict.fromkeys(found)


def _record(gpu: dict[str, Any]) -> Iterator[Offer]:
    """A GPU type as the API of its time told it."""
    told = _unit(gpu["displayName"], decimal_of(gpu["memoryInGb"])) | {"sku": gpu["id"]}
    for cloud in CLOUDS.values():
        if truth(gpu[f"{cloud}Cloud"]) and (price := asked(gpu[f"{cloud}Price"])):
            yield Offer(**told, tier=cloud, price=price)
            if (spot := asked(gpu[f"{cloud}SpotPrice"])) and spot != price:
                yield Offer(**told, tier=cloud, price=spot, pricing_model="spot")
    for name, days in TERMS.items():
        if truth(gpu["secureCloud"]) and (price := asked(gpu[name])):
            yield Offer(**told, tier="secure", price=price, pricing_model="reserved", commitment_days=days)


def _row(record: dict[str, Any]) -> Iterator[Offer]:
    """A row with prices in its attributes."""
    tag: Tag = record["priced"]
    row = tag.find_parent(class_=ROWS)
    if row:
        names = [text_of(row.select_one(".gpu-pricing-row__model-wrapper, .gpu_name"))]
    else:
        # A page that starts inside a row has only its name before the price.
        names = [text_of(clamp) for clamp in tag.find_all_previous(attrs={"data-line-clamp": True})]
    prices = {cloud: asked(str(tag[name])) for name, cloud in ATTRIBUTES.items() if tag.get(name)}
    if not any(prices.values()):
        return
    specs = {text_of(spec) for spec in row.select(".gpu-pricing-row__tag, .gpu_table-tag")} if row else set()
    memory = next((number(found[1]) for spec in specs if (found := MEMORY.fullmatch(spec))), None)
    name, *_ = [name for name in names if re.search("[A-Z] ?[0-9]", name)]
    told = _unit(name, memory)
    for cloud, price in prices.items():
        if price:
            if price < LEAST_USD_PER_HOUR or "$" not in text_of(row or tag.parent):
                raise PageError(f"not a price in dollars by the hour: {price}")
            yield Offer(**told, tier=cloud, price=price)


def _product(product: dict[str, Any]) -> Iterator[Offer]:
    """A GPU as JSON-LD tells it."""
    [name] = PRODUCT.findall(product["name"])
    for offer in items(product["offers"]["offers"], "offers"):
        if offer["description"] != f"{name} per-hour on-demand rate on Runpod {offer['name']}":
            raise PageError(f"not a price on demand by the hour: {offer['description']!r}")
        if price := asked(offer["price"]):
            told = _unit(name, None) | {"currency": offer["priceCurrency"]}
            yield Offer(**told, tier=CLOUDS[offer["name"]], price=price)


def _cards(texts: list[str]) -> list[dict[str, Any]]:
    """Cards as texts: a name, its memory, and then a price with its cloud behind it."""
    cards: list[dict[str, Any]] = []
    for before, text, behind in zip(["", *texts], texts, [*texts[1:], ""], strict=False):
        if memory := MEMORY.fullmatch(text):
            cards.append({"name": before, "memory": number(memory[1]), "prices": []})
        elif cards and behind in CLOUDS:
            cards[-1]["prices"].append((behind, text))
    return [card for card in cards if card["prices"]]


def _card(card: dict[str, Any]) -> Iterator[Offer]:
    for cloud, text in card["prices"]:
        if priced := hourly(text):
            told = _unit(card["name"], card["memory"]) | priced | {"price_scope": "accelerator"}
            yield Offer(**told, tier=CLOUDS[cloud])


def _unit(name: str, memory: Decimal | None) -> dict[str, Any]:
    return {
        "sku": name,
        "accelerator_name": model_name(name),
        "memory_gb": memory,
        "memory_scope": "each" if memory else None,
        "currency": "USD",
        "price_scope": "accelerator",
    }
