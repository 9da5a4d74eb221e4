"""AWS: EC2 Capacity Blocks, accelerators reserved for days to months ahead and paid when they are booked.

Prices are effective hourly rates, of the instance and of each accelerator: in two columns in 2024, later in one cell
("$31.464 USD ($3.933 USD)"), and here both must agree. What the operating system costs is told in tables of its own and
left out. Since April 2026 the tables are JSON inside JSON inside the page, with HTML in the cells; instance types stand
in the groups of their rows. Early in 2026, UltraServers had the price of one accelerator only, which is refused. An
UltraServer's accelerators are called B200 where the instance type says GB200, so the type is the name here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bs4 import BeautifulSoup

from scrapers.offer import Offer
from scrapers.shapes import (
    clean,
    each,
    embedded,
    gigabytes,
    is_priced,
    items,
    label,
    number,
    text_of,
    text_rows,
    whole_html,
)
from scrapers.source import Page, PageError, Rejected, Source

SOURCE = Source(
    provider="aws",
    url="https://aws.amazon.com/ec2/capacityblocks/pricing/",
    kind="page",
    offers=range(5, 300),
    terms="public price page",
)
COLUMNS = {
    "instance type": "name", "ultraserver type": "name", "region": "region",
    "effective hourly rate": "price", "effective instance hourly rate": "price", "effective accelerator hourly rate": "each",
    "gpu": "accelerators", "accelerator": "accelerators", "accelerators": "accelerators",
    "vcpu": "vcpus", "vcpus": "vcpus", "instance memory": "ram", "accelerator memory": "memory",
}  # fmt: skip
NEEDED = {"name", "region", "price", "accelerators"}
TYPE = r"[a-z][a-z0-9-]*\d[a-z0-9-]*(?:\.\d*[a-z]+)?"
PRICE = r"\$\d[\d,]*(?:\.\d+)?"
RATES = re.compile(rf"(?P<price>{PRICE})(?: USD)?(?: \((?P<each>{PRICE}) USD\))?")
ACCELERATORS = re.compile(r"(\d+) x [A-Z][\w -]*")
TEXT_HEADER = (
    "Instance Type Region Effective Instance Hourly Rate Effective Accelerator Hourly Rate GPU vCPU Instance Memory "
    "Accelerator Memory"
)
TEXT_ROW = re.compile(
    rf"(?P<name>{TYPE}) (?P<region>[A-Z][\w .()-]+?) (?P<price>{PRICE} USD) (?P<each>{PRICE} USD)"
    r" (?P<accelerators>\d+ x [A-Z][A-Za-z ]*\d*) (?P<vcpus>\d+) (?P<ram>\d+ GiB) (?P<memory>\d+ GB)\b.*"
)

Row = dict[str, Any]


def parse(pages: Sequence[Page]) -> Iterator[Offer | Rejected]:
    """Offers of every table of instances on the page; equal ones count once."""
    for page in pages:
        rows = list(_rows(page) if "<" in page.text else _text_rows(page))
        if not rows:
            raise PageError("no price table of Capacity Blocks on the page")
        yield from dict.fromkeys(each(rows, "name", _offers))


def _offers(row: Row) -> Iterable[Offer]:
    """One instance in one region. Raises PageError unless the accelerators' prices add up to the instance's."""
    if "line" in row:
        if not (whole := TEXT_ROW.fullmatch(row["line"])):
            raise PageError(f"a line that is not a whole row: {row['line'][:60]!r}")
        row = whole.groupdict()
    rates, accelerators = RATES.fullmatch(row["price"]), ACCELERATORS.fullmatch(row["accelerators"])
    if not rates or not accelerators or not re.fullmatch(TYPE, row["name"]):
        raise PageError(f"not a rate, or not of so many accelerators: {row['price']!r}, {row['accelerators']!r}")
    price, of_each = rates["price"], row.get("each") or rates["each"]
    if not of_each or "USD" not in f"{row['price']} {of_each}":
        raise PageError(f"nothing confirms what the rate is for, or its currency: {row['price']!r}")
    price, one = number(price.strip("$")), number(of_each.removesuffix(" USD").strip("$"))
    count = number(accelerators[1])
    # Rates of one accelerator have three decimals, rounded or cut.
    if not count or abs(price - count * one) > count / 1000:
        raise PageError(f"{count} x {one} is not {price}")
    if price:
        yield Offer(
            sku=row["name"],
            accelerator_name=row["name"],
            accelerator_count=count,
            memory_gb=gigabytes(row["memory"]) if "memory" in row else None,
            memory_scope="total" if "memory" in row else None,
            price=price,
            price_text=row["price"],
            currency="USD",
            pricing_model="flex",
            region=row["region"],
            vcpus=number(row["vcpus"]) if "vcpus" in row else None,
            ram_gb=gigabytes(row["ram"]) if "ram" in row else None,
        )


def _rows(page: Page) -> Iterator[Row]:
    """Rows of every table that prices so many accelerators. Raises PageError when one has a header that is not known."""
    soup = whole_html(page)
    tables = [text_rows(table) for table in soup.find_all("table") if _is_ours(text_of(table))]
    for script in soup.select('script[type="application/json"]'):
        if "itemTableData" in (script.string or ""):
            fields = [item["fields"] for item in items(embedded(script.string or "")["data"]["items"], "items")]
            tables += [_unpacked(one) for one in fields if _is_ours(one.get("itemTableData", ""))]
    for table in tables:
        for told in table:
            row = {COLUMNS.get(key, key): text for key, text in told.items()}
            if not row.keys() >= NEEDED or len(row) != len(told):
                raise PageError(f"a table of accelerators with a header that is not known: {sorted(told)}")
            yield row


def _is_ours(text: str) -> bool:
    return is_priced(text) and re.search(r"\b\d+ x [A-Z]", text) is not None


def _unpacked(fields: Mapping[str, Any]) -> list[dict[str, str]]:
    """The rows of one table in JSON as header to text; a cell that is not there is the label of the row's group."""
    names = ("itemTableRowGroups", "itemTableColumns", "itemTableData")
    groups, columns, rows = (items(embedded(fields[name]), name) for name in names)
    labels = {group["id"]: group["label"] for group in groups}
    headings = [(str(column["accessor"]), label(column["Heading"])) for column in columns]
    return [
        {heading: text_of(BeautifulSoup(row.get(key, labels[row["idProperty"]]), "lxml")) for key, heading in headings}
        for row in rows
    ]


def _text_rows(page: Page) -> Iterator[Row]:
    """Rows of a page that was kept as text, a line each."""
    _, header, after = page.text.partition(TEXT_HEADER)
    if not header:
        raise PageError("a text without the table's header")
    yield from ({"name": line.split(" ")[0], "line": clean(line)} for line in after.splitlines() if is_priced(line))
