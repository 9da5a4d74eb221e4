"""Massed Compute's price page: virtual machines by GPU and count, inside what Next.js streams to its scripts.

There is no table in the page's own HTML. Every row stands twice in the stream, as a card for small screens and as a row
of a table, under keys such as ``B300 SXM6-mobile-x 8-0``: GPU, count, place. A price is the machine's. A dollar sign is
doubled there (``$$52.80`` means $52.80), and a single one points to a part that is streamed later, in a line of its own
(``$L7c``). "Request" stands for a price that has to be asked for. Prices are on demand; no others are published.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scrapers.offer import Offer
from scrapers.shapes import clean, each, embedded_at, flight, gigabytes, hourly, is_priced, number, whole_html
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="massed_compute",
    url="https://vm.massedcompute.com/pricing",
    kind="page",
    offers=range(15, 150),
    terms="public price list",
)
KEY = re.compile(r'"(?P<name>[^"]{1,60}?)(?:-mobile)?-x (?P<count>\d+)-\d+",(?=\{)')
LINE = re.compile(r'(?:^|\n)([0-9a-f]+):(?=[\["{])')
POINTER = re.compile(r"\$L?([0-9a-f]+)")
PRICE = re.compile(r"\$ ?[\d.,]+ ?/ ?\w+")
ASKED_FOR = "Request"
MEMORY = re.compile(r"\((\d+)GB\)")


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer for every GPU and count that has a price."""
    for page in pages:
        whole_html(page)
        stream = flight(page)
        parts = {line[1]: line.end() for line in LINE.finditer(stream)}
        rows: dict[tuple[str, str], list[str]] = {}
        for key in KEY.finditer(stream):
            shown = " ".join(_texts(embedded_at(stream, key.end())["children"], stream, parts))
            rows.setdefault((key["name"].strip(), key["count"]), []).append(clean(shown))
        if not rows:
            raise PageError("no row of a machine in the stream")
        records = ({"name": name, "count": count, "copies": copies} for (name, count), copies in rows.items())
        yield from each(records, "name", _machine)


def _texts(node: Any, stream: str, parts: dict[str, int]) -> Iterator[str]:
    """What an element shows, in order, with the parts that are streamed later."""
    if isinstance(node, list) and node[:1] == ["$"]:
        yield from _texts(node[3].get("children"), stream, parts)
    elif isinstance(node, list):
        for child in node:
            yield from _texts(child, stream, parts)
    elif isinstance(node, str) and (pointer := POINTER.fullmatch(node)):
        if place := parts.get(pointer[1]):
            yield from _texts(embedded_at(stream, place), stream, parts)
    elif isinstance(node, str | int) and not isinstance(node, bool):
        yield re.sub(r"^\$\$", "$", str(node))


def _machine(row: dict[str, Any]) -> Iterable[Offer]:
    """The price that all copies of a row agree in; nothing when it has to be asked for."""
    priced = [text for text in row["copies"] if is_priced(text)]
    unpriced = [text for text in row["copies"] if ASKED_FOR in text]
    if unpriced and not priced:
        return
    prices = {price for text in priced for price in PRICE.findall(text)}
    counts = {count for text in priced for count in re.findall(r"× ?(\d+)", text)}
    if unpriced or len(prices) != 1 or counts != {row["count"]} or any(text.count("$") != 1 for text in priced):
        raise PageError(f"not one price and count for {row['count']}x {row['name']}: {row['copies']}"[:200])
    if asked := hourly(prices.pop()):
        memory, shown = MEMORY.search(row["name"]), " ".join(priced)
        vcpus, ram = (re.search(what, shown) for what in (r"vCPU ([\d,]+)", r"RAM ([\d.,]+ ?[GT]B)"))
        yield Offer(
            sku=f"{row['count']}x {row['name']}",
            accelerator_name=row["name"],
            accelerator_count=number(row["count"]),
            memory_gb=number(memory[1]) if memory else None,
            memory_scope="each" if memory else None,
            vcpus=number(vcpus[1]) if vcpus else None,
            ram_gb=gigabytes(ram[1]) if ram else None,
            **asked,
        )
