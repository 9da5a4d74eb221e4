"""How the sources print their lists, and the modules that read them: a JSON list, a paged one, an HTML table, a CSV; each in two layouts."""

import csv
import html
import io
import json
from collections.abc import Sequence
from decimal import Decimal

from tests.simulator.market import Item, Shape, SimulatedSource

PER_PAGE = 8

_HEAD = '''"""A simulated source: {shape}."""
import csv
import io
from scrapers.offer import Offer
from scrapers.shapes import asked, decimal_of, each, items, money, one, text_rows, whole_html
from scrapers.tables import csv_rows
from scrapers.source import PageError, Source

SOURCE = Source(provider={provider!r}, url={url!r}, kind={kind!r}, offers=range(4, 80), terms="made up")
'''
_OFFERS = """

def _offers(row):
    price = row["price"]
    if price:
        days = int(row["days"])
        yield Offer(
            sku=row["sku"], accelerator_name=row["gpu"], accelerator_count=decimal_of(row["count"]), price=price,
            currency=row["currency"], pricing_model=row["way"], commitment_days=days, available=row.get("available"),
        )
"""
_READERS = {
    "json": """

def parse(pages):
    for page in pages:
        rows = page.json if isinstance(page.json, list) else page.json["plans"]
        yield from each(items(rows, "plans"), "sku", lambda row: _offers(row | {"price": asked(_price(row))}))


def _price(row):
    return row["price"] if "price" in row else row["usd"]["amount"]
""",
    "paged": """

def parse(pages):
    for page in pages:
        key = "data" if "data" in page.json else "result"
        yield from each(items(page.json[key], key), "sku", lambda row: _offers(row | {"price": _price(row)}))


def _price(row):
    cents = asked(row["cents"])
    return cents and cents / 100


def fetch(client):
    number, pages = 1, 1
    while number <= pages:
        page = client.get(SOURCE.url, params={"page": number}, name=f"list-{number:03}.json")
        pages = page.json["pages"]
        yield page
        number += 1
""",
    "table": """

def parse(pages):
    for page in pages:
        rows = text_rows(one(whole_html(page), "table"))
        if not rows or not {"plan", "gpu", "gpus"} <= rows[0].keys():
            raise PageError(f"no price table: {sorted(rows[0]) if rows else []}")
        yield from each(rows, "plan", lambda row: _offers(_cells(row)))


def _cells(row):
    told = row["price/hr"] if "price/hr" in row else row["hourly"]
    found = money(told)
    if found is None:
        raise PageError(f"not a price: {told}")
    way, _, days = row["way"].partition("/")
    price = {"price": found.amount, "currency": found.currency}
    return {"sku": row["plan"], "gpu": row["gpu"], "count": row["gpus"], "way": way, "days": days or 0} | price
""",
    "csv": """

def parse(pages):
    for page in pages:
        rows = list(csv_rows(io.StringIO(page.text), page.name, ["sku", "gpu", "count", "currency", "way", "days"]))
        yield from each(rows, "sku", lambda row: _offers(row | {"price": asked(row["price"] if "price" in row else row["rate"]), "available": None}))
""",
}


def module(source: SimulatedSource, url: str) -> str:
    """The text of the module that reads a source."""
    head = _HEAD.format(shape=source.shape, provider=source.provider, url=url, kind=source.kind)
    return head + _OFFERS + _READERS[source.shape]


def pages_of(
    source: SimulatedSource, items: Sequence[Item], factor: Decimal = Decimal(1), bad: int | None = None
) -> list[bytes]:
    """The answers that list these items; ``factor`` is on every price, and the record in place ``bad`` does not read."""
    rows = [_row(source, item, item.price * factor, is_bad=place == bad) for place, item in enumerate(items)]
    if source.shape == "json":
        return [json.dumps(rows if source.layout == 1 else {"plans": [_nested(row) for row in rows]}).encode()]
    if source.shape == "paged":
        parts = [rows[start : start + PER_PAGE] for start in range(0, len(rows), PER_PAGE)] or [[]]
        key = "data" if source.layout == 1 else "result"
        return [json.dumps({key: [_in_cents(row) for row in part], "pages": len(parts)}).encode() for part in parts]
    if source.shape == "csv":
        return [_csv(rows, "price" if source.layout == 1 else "rate")]
    return [_table(source, rows)]


def _row(source: SimulatedSource, item: Item, price: Decimal, *, is_bad: bool) -> dict[str, object]:
    told = {
        "sku": item.sku,
        "gpu": item.part,
        "count": "many" if is_bad else item.accelerators,
        "price": f"{price:f}",
        "currency": source.currency,
    }
    return told | {"way": item.way, "days": item.commitment_days, "available": item.available}


def _nested(row: dict[str, object]) -> dict[str, object]:
    return {"usd": {"amount": row["price"]}} | {name: value for name, value in row.items() if name != "price"}


def _in_cents(row: dict[str, object]) -> dict[str, object]:
    cents = Decimal(str(row["price"])) * 100
    return {"cents": f"{cents:f}"} | {name: value for name, value in row.items() if name != "price"}


def _csv(rows: Sequence[dict[str, object]], price: str) -> bytes:
    text = io.StringIO(newline="")
    names = ["sku", "gpu", "count", price, "currency", "way", "days"]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**row, price: row["price"]} for row in rows)
    return text.getvalue().encode()


def _table(source: SimulatedSource, rows: Sequence[dict[str, object]]) -> bytes:
    header = (
        ["Plan", "GPU", "GPUs", "Price/hr", "Way"] if source.layout == 1 else ["GPU", "Plan", "Way", "GPUs", "Hourly"]
    )
    sign = "€" if source.currency == "EUR" else "$"
    lines = []
    for row in rows:
        way = f"{row['way']}/{row['days']}" if row["days"] else row["way"]
        told = {"Plan": row["sku"], "GPU": row["gpu"], "GPUs": row["count"], "Way": way} | dict.fromkeys(
            ["Price/hr", "Hourly"], f"{sign}{row['price']}"
        )
        lines.append("".join(f"<td>{html.escape(str(told[name]))}</td>" for name in header))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    heads = "".join(f"<th>{name}</th>" for name in header)
    return f"<html><body><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></body></html>".encode()


def strange(shape: Shape) -> bytes:
    """A page of a layout that nobody has read yet."""
    if shape == "table":
        return b"<html><body><div class='cards'><div>H100 from $2.49</div></div></body></html>"
    if shape == "csv":
        return b"name;accelerator;eur_hour\nx;H100;2,49\n"
    return json.dumps({"catalog": {"gpu": [{"id": "x", "hourly": 2.49}]}, "pages": 1}).encode()
