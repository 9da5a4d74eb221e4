"""Paperspace's price page: a card a GPU, by the hour of a machine with one; several of them cost as many times as much.

Under "On-Demand Compute" some prices are not on demand: an asterisk leads to a footnote with a commitment of years, and
only that footnote tells the price on demand ("On-demand pricing for H100 is …"; the one in brackets is the list price of
a promotion). Hidden things look like the visible ones: the H100's card held a copy of the A100's price in 2023 and 2024,
and a block of older cards stands behind the new ones. Machines without a GPU have the same cards.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import check_discounts, each, gigabytes, hourly, model_name, number, term_days, text_of, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="paperspace",
    url="https://www.paperspace.com/pricing",
    kind="page",
    offers=range(6, 60),
    cadence="weekly",
    terms="public price list",
)
PRICE = re.compile(r"(\$ ?[\d.,]+)(\**)( ?/ ?hour)")
COMMITTED = re.compile(r"(?<!\*)(\*+) ?(\$[\d.,]+/hour) pricing is for an? ([\w-]+) commitment")
ON_DEMAND = re.compile(r"On-demand pricing for (\S+) is (\$[\d.,]+/hour)")
NAMED = re.compile(r"NVIDIA (?:HGX )?(\S+) GPU")
MEMORY = re.compile(r"(\d+ ?GB) GPU")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every visible card, and those on demand that only a footnote tells."""
    for page in pages:
        soup = whole_html(page)
        cards = [card for card in soup.select(".instance-type-holder-flex") if card.find_parent(class_="hide") is None]
        if not cards:
            raise PageError("no cards of Paperspace's machines on the page")
        notes = text_of(soup)
        rows = [{"name": text_of(card.select_one(".instance-names")), "card": card, "notes": notes} for card in cards]
        yield from check_discounts(each(rows, "name", _offers))


def _offers(row: dict[str, Any]) -> Iterator[Offer]:
    """What one card and its footnotes ask; nothing for a machine without a GPU."""
    card, name = row["card"], row["name"]
    specs = [text_of(line) for line in card.select("li") if line.find_parent(class_="hide") is None]
    gpus = [spec for spec in specs if spec.endswith("GPU")]
    if not gpus:
        return
    [gpu] = gpus
    [block] = [wrap for wrap in card.select(".instance-price-wrap") if "hide" not in wrap.get_attribute_list("class")]
    asked = PRICE.fullmatch(text_of(block, ".hide"))
    named, memory = NAMED.fullmatch(gpu), MEMORY.fullmatch(gpu)
    if asked is None or not (named or memory) or (named and named[1] not in name):
        raise PageError(f"a price of something else: {text_of(block)!r} for {name!r}, {gpu!r}")
    told = {
        "sku": name,
        "accelerator_name": model_name(gpu.removesuffix(" GPU") if named else name),
        "accelerator_count": Decimal(1),
        "memory_gb": gigabytes(memory[1]) if memory else None,
        "memory_scope": "each" if memory else None,
        "vcpus": next((number(spec.removesuffix(" vCPU")) for spec in specs if spec.endswith(" vCPU")), None),
        "ram_gb": next((gigabytes(spec) for spec in specs if spec.endswith("RAM")), None),
    }
    yield Offer(**told, **_commitment(row, asked[2], f"{asked[1]}{asked[3]}"))
    for model, text in ON_DEMAND.findall(row["notes"]):
        if model == name and (priced := hourly(text)):
            yield Offer(**told, **priced)


def _commitment(row: dict[str, Any], stars: str, text: str) -> dict[str, Any]:
    """How long a price binds, with the price. Raises PageError when neither heading nor footnote says it."""
    if not (priced := hourly(text)):
        raise PageError(f"no price: {text!r}")
    if stars:
        terms = {
            term for mark, note, term in COMMITTED.findall(row["notes"]) if (mark, hourly(note)) == (stars, priced)
        }
        [term] = terms
        return priced | {"pricing_model": "reserved", "commitment_days": term_days(term)}
    headings: list[Tag] = row["card"].find_all_previous(re.compile("^h[1-6]$"))
    if not any(text_of(heading).casefold().startswith("on-demand") for heading in headings):
        raise PageError("no heading says that the prices are on demand")
    return priced
