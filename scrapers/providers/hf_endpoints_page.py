"""Hugging Face: instances of its Inference Endpoints, in USD per hour of the whole instance, from its documentation.

The page is Markdown with a table each for CPUs, GPUs and other accelerators; the header says that rates are by the hour
and which column counts what. Memory is the total of all accelerators. The clouds named are where an instance runs; the
price is Hugging Face's own. Rows to be given up are in italics, the date in the cell of the part's name. This is
inference on machines that Hugging Face runs. TPU sizes are grids of chips ("2x4").
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from scrapers.offer import Offer
from scrapers.shapes import clean, decimal_of, each, gigabytes, hourly, label, labelled, refuse_unknown_prices
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="huggingface",
    url="https://huggingface.co/docs/inference-endpoints/en/support/pricing.md",
    kind="page",
    offers=range(15, 120),
    terms="public documentation",
    unproven=True,
)
COUNTS = ("gpus", "accelerators")
MEMORIES = ("memory", "gpu memory", "accelerator memory")
RATE = "hourly rate"


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """An offer per row of every table that counts accelerators."""
    for page in pages:
        tables = [rows for rows in _tables(page.text) if any(name in rows[0] for name in COUNTS)]
        if not tables:
            raise PageError(f"{page.name}: no table of accelerators by the hour")
        for rows in tables:
            refuse_unknown_prices(rows, {RATE})
            yield from each(rows, "instance type", _offers)


def _tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Every table with an hourly rate, its rows by header; words after the last bar of a row are a note."""
    for block in re.split(r"\n(?!\s*\|)", text):
        lines = [line.strip() for line in block.splitlines() if line.lstrip().startswith("|")]
        if len(lines) < 3 or RATE not in label(lines[0]):
            continue
        if not all(re.fullmatch(r"\|.*\|[^|]*", line) for line in lines):
            raise PageError(f"a row that is cut: {lines[-1][-40:]!r}")
        header, _, *rows = [[clean(cell.replace("*", "")) for cell in line.split("|")[1:-1]] for line in lines]
        yield [labelled(header, row) for row in rows]


def _offers(row: Mapping[str, str]) -> Iterable[Offer]:
    (counted,) = [row[name] for name in COUNTS if name in row]
    (memory,) = [row[name] for name in MEMORIES if name in row]
    size = row["instance size"]
    if not re.fullmatch(r"x?\d+(x\d+)?", size) or math.prod(map(int, re.findall(r"\d+", size))) != decimal_of(counted):
        raise PageError(f"{counted} accelerators in size {size!r}")
    if price := hourly(row[RATE], header_says_so=True):
        yield Offer(
            sku=f"{row['provider']}/{row['instance type']}/{size}",
            accelerator_name=row["architecture"].split(" - ")[0],
            accelerator_count=decimal_of(counted),
            memory_gb=gigabytes(memory),
            memory_scope="total",
            **price,
            tier="dedicated_inference",
        )
