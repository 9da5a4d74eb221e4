"""DigitalOcean's prices of GPU Droplets: tables of its documentation since 2026, cards of its price page before.

The tables price the whole Droplet ("(8x)" has eight GPUs) under a heading that says on demand or spot; prices by contract
are not told. The cards price each GPU ("/GPU/hour") above a label, "On-Demand Price" or "Reserved Price", the latter for
the months that a sentence says. Of two prices in a card the struck one is the list's: both price and struck price have
the class "StyledStrikeThrough", which only counts where a second price has it not. Memory in a card is the Droplet's.
"RTX 4000" and "RTX 6000" are the Ada cards.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bs4 import Tag

from scrapers.offer import Offer
from scrapers.shapes import (
    check_discounts,
    each,
    gigabytes,
    heading_before,
    is_priced,
    label,
    model_name,
    number,
    refuse_unknown_table,
    sold,
    table_texts,
    term_days,
    text_of,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="digitalocean",
    url="https://docs.digitalocean.com/products/droplets/details/pricing/",
    kind="page",
    offers=range(6, 80),
    terms="public documentation",
)
SECTION = re.compile("(On-Demand|Spot|Contract) GPU Droplet Pricing")
DROPLET = re.compile(r"^(.+?)(?: \((\d+)x\))?$")
CARD = re.compile(r"(.+?)(?:x(\d))?")
COMMITMENT = re.compile("commitment of ([0-9]+ months)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of the tables, or of the cards."""
    for page in pages:
        soup = whole_html(page)
        rows = [row for table in soup.find_all("table") for row in _table_rows(table)]
        rows += [_card_row(box) for box in soup.select("[class*=StyledPriceContainer]")]
        if not rows:
            raise PageError("no prices of GPU Droplets on the page")
        yield from check_discounts(each(rows, "name", lambda row: row["read"](row)))


def _table_rows(table: Tag) -> Iterator[dict[str, Any]]:
    """Rows of a table of GPU Droplets. Raises PageError for another that prices GPUs."""
    texts = table_texts(table)
    header, section = [label(text) for text in texts[0]], SECTION.match(heading_before(table, "h2"))
    if {*header} != {"gpu", "price"} or section is None:
        refuse_unknown_table(table, header)
        return
    for cells in texts[1:]:
        told = dict(zip(header, cells, strict=True))
        yield {"name": told["gpu"], "price": told["price"], "way": section[1], "read": _droplet}


def _droplet(row: dict[str, Any]) -> Iterator[Offer]:
    """A whole Droplet; nothing where the price is by contract."""
    if row["price"].startswith("Per contract") and not is_priced(row["price"]):
        return
    [(name, count)] = DROPLET.findall(row["name"])
    for bought in sold({row["way"]: row["price"]}, ()):
        yield Offer(
            sku=row["name"], accelerator_name=model_name(name), accelerator_count=number(count or "1"), **bought
        )


def _card_row(box: Tag) -> dict[str, Any]:
    name = box.parent.select_one("h2, h3, h4") if box.parent else None
    return {"name": text_of(name), "box": box, "read": _card}


def _card(row: dict[str, Any]) -> Iterator[Offer]:
    """A Droplet whose card prices each GPU."""
    box: Tag = row["box"]
    prices = box.find_all("span", recursive=False)
    charged = [span for span in prices if "StyledStrikeThrough" not in str(span.get("class"))] if prices[1:] else prices
    [price], [way] = charged, [text_of(tag) for tag in box.find_all("p", recursive=False)]
    specs = [text_of(line) for line in box.parent.select("li")] if box.parent else []
    told = {name: value for spec in specs for name, value in [_spec(spec)]}
    name, count = CARD.fullmatch(row["name"]), told.get("GPUs per Droplet")
    if name is None or (count and name[2] and count != name[2]):
        raise PageError(f"two counts for {row['name']!r}: {count}")
    for bought in sold({label(way): text_of(price)}, ()):
        if bought["price_scope"] != "accelerator":
            raise PageError(f"nothing says that the price is each GPU's: {text_of(price)!r}")
        if bought["pricing_model"] == "reserved":
            [term] = {term for spec in specs for term in COMMITMENT.findall(spec)}
            bought["commitment_days"] = term_days(term)
        yield Offer(
            sku=row["name"],
            accelerator_name=model_name(name[1]),
            accelerator_count=number(count or name[2] or "1"),
            memory_gb=gigabytes(told["GPU Memory"]) if "GPU Memory" in told else None,
            memory_scope="total" if "GPU Memory" in told else None,
            vcpus=number(told["Droplet vCPUs"]) if "Droplet vCPUs" in told else None,
            ram_gb=gigabytes(told["Droplet Memory"]) if "Droplet Memory" in told else None,
            **bought,
        )


def _spec(text: str) -> tuple[str, str]:
    """A specification cut into its name and its value."""
    found = re.fullmatch("(GPUs per Droplet|GPU Memory|Droplet Memory|Droplet vCPUs) (.+)", text)
    return (found[1], found[2]) if found else (text, "")
