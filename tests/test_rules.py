"""Every rule of `docs/rules.md` at work, one small case each, by the rule's name; and the document against the code."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from bs4 import Tag
from pydantic import ValidationError

from flows import steps
from scrapers import shapes, tables
from scrapers.offer import Offer
from scrapers.source import MAX_HTML_BYTES, Page, PageError, load
from tests.conftest import ROOT
from tests.market import Market, offer
from tests.rules import DOCUMENT, Source, rules
from warehouse import database
from warehouse.names import resolve, resolve_text

RULES = rules()

# --- the document against the code ----------------------------------------------------------------------------------------


@cache
def tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


@cache
def places_of(file: str) -> frozenset[str]:
    return frozenset(places(tree(file)))


def places(node: ast.AST, before: str = "") -> Iterator[str]:
    """Functions and classes of a file, those inside others as `outer.inner`."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield before + inner.name
            yield from places(inner, f"{before}{inner.name}.")
        else:
            yield from places(inner, before)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_where_the_document_says(name: str) -> None:
    rule = RULES[name]
    text = (ROOT / rule.file).read_text(encoding="utf-8")
    assert rule.says in text
    if rule.place:
        assert rule.place in places_of(rule.file)
    file, _, function = rule.test.partition("::")
    assert function in places_of(file)


def test_each_rule_at_work_has_its_case() -> None:
    cases = {
        "test_what_keeps_an_offer_out_is_told": SEEN, "test_a_name_that_cannot_be_says_why": NAMES, "test_what_cannot_be_read_says_why": UNREAD,
        "test_what_is_withheld_says_why": WITHHELD, "test_values_are_set_right": VALUES, "test_an_offer_has_to_be_sound": UNSOUND,
    }  # fmt: skip
    for test, known in cases.items():
        assert {rule.name for rule in RULES.values() if rule.test == f"tests/test_rules.py::{test}"} == set(known)


MODELS_WITH_REASONS = (
    "intermediate/asked_offers", "intermediate/priced_offers", "intermediate/odd_offers", "marts/offers", "marts/prices_daily",
)  # fmt: skip
FILES_WITH_REASONS = (
    "warehouse/names.py", "warehouse/verdicts.py", "warehouse/drift.py", "warehouse/load.py", "scrapers/truncation.py", "scrapers/offer.py",
    "scrapers/shapes.py", "scrapers/source.py", "scrapers/tables.py",
)  # fmt: skip
# Texts that name something or belong to the one before them, and do not say why a price is none.
NOT_A_RULE = (
    " within 45 days",
    "a change of unit",
    "no source {name!r}",
    "form factor",
    "maybe truncated",
    "offers must be a range",
    "concat_ws(",
    "CAST(",
    "SELECT",
)


def reasons_of_model(name: str) -> Iterator[str]:
    """Texts of several words that a model has in it."""
    text = (ROOT / f"warehouse/models/{name}.sql").read_text(encoding="utf-8")
    for token in sqlglot.tokenize(text, read="duckdb"):
        if token.token_type is sqlglot.TokenType.STRING and re.search("[a-z]{2,} ", token.text):
            yield token.text


def reasons_of_file(file: str) -> Iterator[str]:
    """Texts of several words that a file of Python says, as they stand there. Of a file of readers, what it raises or reports."""
    source = Source((ROOT / file).read_text(encoding="utf-8"))
    said: list[ast.AST] = [tree(file)]
    if file.startswith("scrapers/") and "truncation" not in file:
        said = [node for node in ast.walk(tree(file)) if isinstance(node, ast.Raise) or _reports(node)]
    nodes = list({id(node): node for part in said for node in ast.walk(part)}.values())
    inside = {
        id(value) for node in nodes if isinstance(node, ast.JoinedStr) for value in ast.walk(node) if value is not node
    }
    documented = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if not isinstance(node, ast.JoinedStr | ast.Constant) or id(node) in inside or id(node) in documented:
            continue
        if isinstance(node, ast.JoinedStr) or isinstance(node.value, str):
            text = source.segment(node)
            if re.search("[a-z]{2,} +([A-Z]+ )?[a-z]{2,}", re.sub(r"\{[^}]*\}", " ", text)):
                yield text


def _reports(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Unpriced", "Rejected"}


def test_every_reason_in_the_code_has_its_row() -> None:
    found = [
        (f"warehouse/models/{name}.sql", reason) for name in MODELS_WITH_REASONS for reason in reasons_of_model(name)
    ]
    found += [(file, reason) for file in FILES_WITH_REASONS for reason in reasons_of_file(file)]
    said = {file: [rule.says for rule in RULES.values() if rule.file == file and rule.says] for file, _ in found}
    missing = [
        (file, reason)
        for file, reason in found
        if not any(one in reason for one in said[file]) and not any(one in reason for one in NOT_A_RULE)
    ]
    assert missing == []
    assert len(found) > 90


def test_each_kind_of_case_has_its_tests() -> None:
    """The seventeen kinds of the public list of mistakes, each with tests that exist."""
    kinds = re.findall(r"^\| ([A-Q]) [^|]+\|([^|]+)\|([^|]+)\|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert [kind for kind, *_ in kinds] == list("ABCDEFGHIJKLMNOPQ")
    for kind, cell in ((kind, cell) for kind, *cells in kinds for cell in cells):
        named = re.findall(r"`(tests/\w+\.py)::(\w+)`", cell)
        assert len(named) == cell.count("`") / 2 > 0, kind
        for file, function in named:
            assert function in places_of(file), (kind, file, function)


# --- offers ---------------------------------------------------------------------------------------------------------------

Day = tuple[str, list[dict[str, Any]]] | tuple[str, list[dict[str, Any]], str]


def both(price: str, spot: str, count: int = 1, **words: Any) -> list[dict[str, Any]]:
    """So many things on demand and as spot."""
    prices = [(offer(f"g{n}", Decimal(price) + n, **words), Decimal(price) + n) for n in range(count)]
    discounted = [one | {"price": str(whole * Decimal(spot)), "pricing_model": "spot"} for one, whole in prices]
    return [*(one for one, _ in prices), *discounted]


MANY = [offer(f"s{n:02}", Decimal("2.00") + Decimal(n) / 100) for n in range(20)]
# What a source says, by the rule that one of its offers has to meet.
SEEN: dict[str, list[Day]] = {
    "unknown-part": [("2026-03-01", [offer(accelerator_name="Quantum Z9")])],
    "not-rented": [("2026-03-01", [offer(accelerator_name="Maia 100")])],
    "count-not-told": [("2026-03-01", [offer(accelerator_count=None, accelerator_name="H100 SXM")])],
    "slice": [("2026-03-01", [offer(accelerator_count="0.5")])],
    "component": [("2026-03-01", [offer(price_scope="component")])],
    "floor": [("2026-03-01", [offer(pricing_model="floor")])],
    "tier": [("2026-03-01", [offer(tier="Serverless")])],
    "term-without-length": [("2026-03-01", [offer(price="20000", pricing_model="reserved", per="term")])],
    "repeated-spot": [("2026-03-01", both("2.00", "1", 3))],
    "discount-in-another-unit": [("2026-03-01", both("2.00", "6"))],
    "spot-at-or-above": [("2026-03-01", both("2.00", "1.05"))],
    "set-discount": [("2026-03-01", both("2.00", "0.5", 5))],
    "placeholder": [
        ("2026-03-01", [offer(name, "0.50", accelerator_name=name) for name in ("H200 SXM", "GTX 1080 Ti", "RTX 4090")])
    ],
    "price-that-does-not-grow": [("2026-03-01", [offer("1x", "2.00"), offer("4x", "2.00", accelerator_count="4")])],
    "impossible-price": [("2026-03-01", [offer(price="999999")])],
    "known-mistake": [("2022-09-15", [offer("a2-ultragpu-1g", "5.00", accelerator_name="A100 SXM 80GB")])],
    "no-rate": [("2026-03-01", [offer(currency="AKT")])],
    "snapshot-withheld": [("2026-03-01", MANY), ("2026-03-02", MANY[:5])],
    "fixture-replaced": [("2026-03-01", [offer()], "fixture"), ("2026-03-02", [offer()])],
    "unproven": [("2026-03-01", [offer()])],
    "duplicate": [("2026-03-01", [offer(price="2.50"), offer(price="2.00")])],
    "holds-later": [("2026-03-01", [offer(effective_at="2026-10-01")])],
    "one-source-counts": [("2026-03-01", [offer()])],
}
COUNTS_NONE_THE_LESS = {"spot-at-or-above", "set-discount"}
NAMED = {"known-mistake": "google_cloud_pricing"}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, bool]]]:
    """What keeps the offers of each case out and whether they count."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("rules"), patch)
        sources = {}
        for place, (name, days) in enumerate(SEEN.items()):
            source = sources[name] = NAMED.get(name, f"source_{place:02}")
            kind = "page" if name == "one-source-counts" else "api"
            market.source(source, f"provider-{place:02}", kind, unproven=name == "unproven")
            if name == "one-source-counts":
                market.says(market.source("other", f"provider-{place:02}"), "2026-03-01", [offer()])
            for day in days:
                market.says(source, day[0], day[1], *day[2:])
        market.update()
        rows = market.sql("SELECT source, why_not, index_eligible FROM offers WHERE why_not IS NOT NULL")
    return {
        name: [(why_not, counts) for told, why_not, counts in rows if told == source]
        for name, source in sources.items()
    }


@pytest.mark.parametrize("name", SEEN)
def test_what_keeps_an_offer_out_is_told(seen: dict[str, list[tuple[str, bool]]], name: str) -> None:
    told = RULES[name].told
    found = [counts for why_not, counts in seen[name] if told in why_not]
    assert found, seen[name]
    assert set(found) == {name in COUNTS_NONE_THE_LESS}


def test_an_old_price_is_none_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(tmp_path, monkeypatch)
    for source, day, part in (("old", "2026-03-01", "L40S"), ("new", "2026-03-30", "H200 SXM")):
        market.source(source, f"provider-{source}")
        market.says(source, day, [offer(accelerator_name=part)])
    market.update()
    rows = market.sql(
        "SELECT usd_per_accelerator_hour_median, reason FROM prices_daily"
        " WHERE accelerator = 'l40s-48gb' AND day = '2026-03-30' AND segment = 'all'"
    )
    assert rows == [(None, RULES["age-limit"].told)]


def test_what_is_sold_out_is_no_minimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(tmp_path, monkeypatch)
    market.source("one", "provider-one")
    market.says(
        "one",
        "2026-03-01",
        [offer("a", "1.00", available=False), offer("b", "2.00"), offer("c", "3.00", available=True)],
    )
    market.update()
    rows = market.sql("SELECT usd_per_accelerator_hour_min, usd_per_accelerator_hour_median FROM provider_prices_daily")
    assert rows == [(Decimal("2.00"), Decimal("2.00"))]


VALUES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "upfront": ([offer(price="1.00", pricing_model="reserved", commitment_days=365, upfront="8760")], "2.00"),
    "per-accelerator": ([offer(price="2.00", accelerator_count="8", price_scope="accelerator")], "2.00"),
    "per-machine": ([offer(price="16.00", accelerator_count="8")], "2.00"),
    "duplicate-order": (
        [offer(price="2.50"), offer(price="2.00"), offer(price="2.00", effective_at="2027-01-01")],
        "2.00",
    ),
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Decimal, Decimal]]]:
    """Price of each accelerator and of the whole of the offers that count."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("values"), patch)
        for place, (offers, _) in enumerate(VALUES.values()):
            market.says(market.source(f"source_{place}", f"provider-{place}"), "2026-03-01", offers)
        market.update()
        rows = market.sql("SELECT source, usd_per_accelerator_hour, usd_per_hour FROM offers WHERE index_eligible")
    return {name: [row[1:] for row in rows if row[0] == f"source_{place}"] for place, name in enumerate(VALUES)}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_set_right(values: dict[str, list[tuple[Decimal, Decimal]]], name: str) -> None:
    offers, usd = VALUES[name]
    count = Decimal(offers[0]["accelerator_count"])
    assert values[name] == [(Decimal(usd), Decimal(usd) * count)]


# --- names ----------------------------------------------------------------------------------------------------------------

# A name; or a name with the offer's own words.
NAMES: dict[str, str | dict[str, Any]] = {
    "several-parts": "A100 or H100",
    "several-facts": "8x H100 SXM 4x",
    "several-machines": "2 nodes of 8x H100 SXM",
    "unknown-laptop-part": "RTX A4500 Laptop",
    "sku-against-name": {"accelerator_name": "NVIDIA H100", "sku": "p4d.24xlarge", "provider": "aws"},
    "open-name": "RTX 6000",
    "no-such-size": {"accelerator_name": "RTX 3090", "memory_gb": Decimal(64), "memory_scope": "each"},
    "memory-against-name": {"accelerator_name": "A100 SXM4 80GB", "memory_gb": Decimal(40), "memory_scope": "each"},
    "no-such-form": "L40S SXM",
    "slice-of-open-size": "A100 MIG 1g.10gb",
    "count-against-name": {"accelerator_name": "8x H100 SXM", "accelerator_count": Decimal(1)},
}
OFFER = {"provider": "somewhere", "sku": "sku-1", "accelerator_count": None, "memory_gb": None, "memory_scope": None}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_cannot_be_says_why(name: str) -> None:
    case = NAMES[name]
    part = resolve(case) if isinstance(case, str) else resolve_text(**(OFFER | case))
    assert RULES[name].told in str(part.conflict)


# --- pages and records ----------------------------------------------------------------------------------------------------


def page(body: str | bytes, name: str = "page") -> Page:
    return Page("https://made-up.example/", body.encode() if isinstance(body, str) else body, name)


def table(html: str) -> Tag:
    return shapes.one(page(f"<table>{html}</table>").soup, "table")


def asks(price: str, way: str = "on_demand", days: int = 0) -> Offer:
    return Offer.model_validate(offer(price=price, pricing_model=way, commitment_days=days))


def file_of(folder: Path, name: str, body: bytes) -> Path:
    (folder / name).write_bytes(body)
    return folder / name


def records(rows: list[dict[str, Any]]) -> object:
    return load("rules_records").parse([page(json.dumps(rows))])


ROW = "<tr><td>H100</td><td>$2</td></tr>"
UNREAD: dict[str, Callable[[Path], object]] = {
    "discount-dearer": lambda _: shapes.check_discounts([asks("2"), asks("3", "reserved", 365)]),
    "discounts-only": lambda _: shapes.check_discounts([asks("2", "spot")]),
    "one-currency": lambda _: shapes.money("$2.49 EUR"),
    "month-against-hour": lambda _: shapes.check_month(Decimal(2), Decimal(20)),
    "not-by-the-hour": lambda _: list(shapes.sold({"on-demand": "$1,460/month"}, ())),
    "not-hourly": lambda _: shapes.hourly("$1,460/month"),
    "term-in-words": lambda _: shapes.term_days("a while"),
    "size-of-memory": lambda _: shapes.gigabytes("a lot"),
    "plain-number": lambda _: shapes.number("2.2.44"),
    "one-price": lambda _: shapes.money("$2.49 $1.99"),
    "no-number": lambda _: shapes.decimal_of(None),
    "no-number-in-text": lambda _: shapes.decimal_of("two"),
    "not-finite": lambda _: shapes.decimal_of(Decimal("Infinity")),
    "not-whole": lambda _: shapes.whole(Decimal("2.5")),
    "negative": lambda _: shapes.asked(-1),
    "not-true-or-false": lambda _: shapes.truth("yes"),
    "over-zero": lambda _: shapes.fraction("1/0"),
    "memory-and-scope": lambda _: Offer.model_validate(offer(memory_gb="80")),
    "commitment-on-demand": lambda _: Offer.model_validate(offer(commitment_days=365)),
    "header-says-what-for": lambda _: list(shapes.sold({"price from march": "$2.49/hr"}, ())),
    "unknown-price-column": lambda _: shapes.refuse_unknown_prices([{"new": "$2"}], {"price"}),
    "unknown-price-table": lambda _: shapes.refuse_unknown_table(table("<tr><td>GPU</td><td>$2</td></tr>"), ["GPU"]),
    "price-over-columns": lambda _: shapes.table_texts(table('<tr><td colspan="2">$2.49</td></tr>')),
    "cells-under-header": lambda _: shapes.table_rows(table(f"<tr><th>GPU</th></tr>{ROW}")),
    "texts-under-header": lambda _: shapes.labelled(["GPU"], ["H100", "$2"]),
    "columns-of-one-name": lambda _: shapes.table_rows(table(f"<tr><th>GPU</th><th>GPU</th></tr>{ROW}")),
    "no-rows": lambda _: shapes.table_rows(table("")),
    "missing-part": lambda _: shapes.text_of(None),
    "nothing-matches": lambda _: shapes.one(page("<p></p>").soup, "table"),
    "half-a-page": lambda _: shapes.whole_html(page("<html><td>$2.9")),
    "no-name-of-a-part": lambda _: shapes.model_name("80 GB"),
    "no-data-stream": lambda _: shapes.flight(page("<html></html>")),
    "embedded-json": lambda _: shapes.embedded('{"a": '),
    "json-at-a-place": lambda _: shapes.embedded_at('x = {"a": ', 4),
    "list-of-objects": lambda _: shapes.items({"a": 1}, "types"),
    "object-of-objects": lambda _: shapes.named([1], "types"),
    "utf-8": lambda _: page(b"\xff\xfe").text,
    "json": lambda _: page("<html>log in</html>").json,
    "too-much-html": lambda _: page(b" " * (MAX_HTML_BYTES + 1)).soup,
    "no-page": lambda _: load("rules_records").parse([]),
    "unknown-layout": lambda _: load("rules_records").parse([page('{"rows": 1}')]),
    "many-bad-records": lambda _: records([offer("a"), *({"sku": f"bad {n}"} for n in range(5))]),
    "table-columns": lambda _: list(tables.csv_rows(["a,b", "1,2"], "t.csv", ["price"])),
    "table-fields": lambda _: list(tables.csv_rows(["a,b", "1"], "t.csv")),
    "table-csv": lambda _: list(tables.csv_rows(['a,b', '"1', ''], "t.csv")),
    "table-utf-8": lambda folder: list(tables.read_rows(file_of(folder, "t.csv", b"a\n\xff\n"))),
    "table-file": lambda folder: list(tables.read_rows(folder / "none.csv")),
    "table-parquet": lambda folder: list(tables.read_rows(file_of(folder, "t.parquet", b"no parquet"))),
}  # fmt: skip
MODULE = '''"""A made-up source whose rows stand under a name."""
from scrapers.offer import Offer
from scrapers.shapes import asked, each
from scrapers.source import Source

SOURCE = Source(provider="made-up", url="https://made-up.example/", kind="api", offers=range(1, 9), terms="made up")


def parse(pages):
    for page in pages:
        rows = page.json if isinstance(page.json, list) else page.json["types"]
        yield from each(rows, "sku", _offers)


def _offers(row):
    price = asked(row["price"])
    if price is not None:
        yield Offer(**{**row, "price": price})
'''


@pytest.fixture
def rules_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of its own that reads records."""
    market = Market(tmp_path / "market", monkeypatch)
    (market.modules / "rules_records.py").write_text(MODULE, encoding="utf-8")


@pytest.mark.usefixtures("rules_records")
@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_says_why(name: str, tmp_path: Path) -> None:
    with pytest.raises((PageError, ValidationError), match=re.escape(RULES[name].told)):
        UNREAD[name](tmp_path)


@pytest.mark.usefixtures("rules_records")
@pytest.mark.parametrize("nothing", [0, None, "0.00"])
def test_records_without_a_price_are_told(nothing: object) -> None:
    parsed = load("rules_records").parse([page(json.dumps([offer("a"), offer("free") | {"price": nothing}]))])
    assert ([one.sku for one in parsed.offers], parsed.rejected) == (["a"], [])
    assert [(one.record, one.reason) for one in parsed.unpriced] == [("free", f"{RULES['no-price'].told}{nothing}")]


UNSOUND: dict[str, list[dict[str, Any]]] = {
    "price-of-an-offer": [{"price": price} for price in ("0", "-0.01", "NaN", "Infinity", "1e9", "1e-10")],
    "count-of-an-offer": [{"accelerator_count": count} for count in ("0", "-8", "NaN", "Infinity")],
    "currency-of-an-offer": [{"currency": currency} for currency in ("usd", "$", "", "USDC")],
    "below-zero-available": [],
}


@pytest.mark.parametrize("name", UNSOUND)
def test_an_offer_has_to_be_sound(name: str) -> None:
    for words in UNSOUND[name]:
        with pytest.raises(ValidationError):
            Offer.model_validate(offer(**words))
    if name == "below-zero-available":
        assert Offer.model_validate(offer(quantity=4 - 6)).quantity == 0


# --- collections ----------------------------------------------------------------------------------------------------------

WAYS = [*MANY, *(one | {"pricing_model": "spot", "price": "1.00"} for one in MANY[:8])]
NODES = [
    offer(f"{n}x-{place}", (Decimal("2.10") + place) * n, accelerator_count=str(n))
    for n in (2, 4, 8)
    for place in range(3)
]
BAD = {"sku": "bad"}


def moved(offers: list[dict[str, Any]], factor: object) -> list[dict[str, Any]]:
    return [one | {"price": str(round(Decimal(one["price"]) * Decimal(str(factor)), 9))} for one in offers]


# What a source says on days that follow each other; the last one has to meet the rule.
WITHHELD: dict[str, list[list[dict[str, Any]]]] = {
    "few-bad-records": [[*MANY, BAD]],
    "page-of-several": [[offer(f"s{n}", Decimal("2.00") + Decimal(n) / 100) for n in range(64)]],
    "lists-no-offer": [[]],
    "empty-is-not-sold-out": [MANY, []],
    "fewer-than-normal": [MANY[:2]],
    "more-than-normal": [[offer(f"s{n}", "2.00") for n in range(101)]],
    "count-moved": [MANY, MANY[:9]],
    "page-in-place-of-the-list": [
        [offer(f"s{n}", "2.00") for n in range(90)],
        [offer(f"s{n}", "2.00") for n in range(64)],
    ],
    "way-gone": [WAYS, [*MANY, *(offer(f"more {n}", "2.00") for n in range(6))]],
    "one-factor": [MANY, moved(MANY, 8)],
    "by-counts": [
        NODES,
        [one | {"price": str(Decimal(one["price"]) / int(one["accelerator_count"]))} for one in NODES],
    ],
    "by-a-rate": [MANY, [one | {"currency": "EUR"} for one in MANY]],
    # From day to day most stay, until few are eight times what they were.
    "unit-stays": [
        MANY,
        moved(MANY, 8),
        [*moved(MANY[:4], 4), *moved(MANY[4:8], 13.6), *moved(MANY[8:], 8)],
        [
            *moved(MANY[:4], 4),
            *moved(MANY[4:8], 13.6),
            *moved(MANY[8:12], 4),
            *moved(MANY[12:16], 13.6),
            *moved(MANY[16:], 8),
        ],
    ],
}


@pytest.fixture(scope="module")
def withheld(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of the last collection of each case."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("withheld"), patch)
        for place, days in enumerate(WITHHELD.values()):
            market.source(f"source_{place:02}", "made-up", offers=range(3, 101))
            for day, offers in enumerate(days, start=1):
                market.says(f"source_{place:02}", f"2026-03-0{day}", offers)
        market.load()
        with database.connect_working(read_only=True) as connection:
            rows = connection.execute(
                "SELECT source, arg_max(concat_ws('; ', s.reason, v.reason), observed_at)"
                " FROM raw.snapshots AS s LEFT JOIN raw.verdicts AS v USING (snapshot_id) GROUP BY source"
            ).fetchall()
    return {name: dict(rows)[f"source_{place:02}"] for place, name in enumerate(WITHHELD)}


@pytest.mark.parametrize("name", WITHHELD)
def test_what_is_withheld_says_why(withheld: dict[str, str], name: str) -> None:
    assert RULES[name].told in withheld[name]


@pytest.mark.slow
def test_what_a_person_accepts_counts_and_is_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(tmp_path, monkeypatch)
    market.source("one", "made-up")
    market.says("one", "2026-03-01", MANY)
    told = market.says("one", "2026-03-02", moved(MANY, 8))
    market.load()
    steps.decide(told.snapshot_id, "accepted", "they sell nodes now")
    market.build()
    counted = market.sql("SELECT count(*) FROM offers WHERE index_eligible GROUP BY snapshot_id")
    assert list(chain.from_iterable(counted)) == [20, 20]
    with database.connect_working(read_only=True) as connection:
        kept = connection.execute("SELECT verdict, reason FROM raw.verdicts WHERE decided_by <> 'rule'").fetchall()
    assert kept == [("accepted", "they sell nodes now")]
