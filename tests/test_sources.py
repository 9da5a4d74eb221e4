"""One test for all sources: each has a fixture, and its pages parse to the offers written beside them."""

import json
from pathlib import Path

import pytest

from scrapers import providers
from scrapers.offer import Offer
from scrapers.source import Adapter, Page, PageError, load, load_all, source_names
from tests.market import forget_afterwards
from tests.record import FIXTURES, as_json, fixture_pages

SOURCES = load_all()
CASES = [(one, folder) for one in SOURCES for folder in sorted((FIXTURES / one.name).glob("*T*Z"))]


@pytest.mark.parametrize("adapter", SOURCES, ids=lambda one: one.name)
def test_every_source_has_a_fixture(adapter: Adapter) -> None:
    assert [folder for one, folder in CASES if one is adapter], f"record one: tests/fixtures/{adapter.name}/<UTC time>/"


@pytest.mark.parametrize(("adapter", "folder"), CASES, ids=lambda value: value.name)
def test_fixture_parses_to_its_offers(adapter: Adapter, folder: Path) -> None:
    parsed = adapter.parse(fixture_pages(folder))
    assert as_json(parsed.offers) == json.loads((folder / "offers.json").read_text(encoding="utf-8"))
    assert parsed.offers


@pytest.mark.parametrize(("adapter", "folder"), CASES, ids=lambda value: value.name)
def test_prices_are_positive_and_in_a_known_unit(adapter: Adapter, folder: Path) -> None:
    for offer in adapter.parse(fixture_pages(folder)).offers:
        assert offer.price > 0
        assert len(offer.currency) == 3
        assert offer.pricing_model == "reserved" or offer.per != "term" or offer.commitment_days


NO_PAGES = {
    "nothing": b"",
    "challenge": b"<html><title>Just a moment...</title><body>Checking your browser</body></html>",
    "empty object": b"{}",
    "empty list": b"[]",
    "null": b"null",
    "error": b'{"error": "unauthorised"}',
    "not text": b"\xff\xfe\x00bad",
}


@pytest.mark.parametrize("adapter", SOURCES, ids=lambda one: one.name)
@pytest.mark.parametrize("body", NO_PAGES.values(), ids=NO_PAGES)
def test_what_is_no_page_of_the_source_is_refused_or_empty(adapter: Adapter, body: bytes) -> None:
    told = ""
    offers: list[Offer] = []
    try:
        offers = adapter.parse([Page("test:page", body, "page.json")]).offers
    except PageError as error:
        told = str(error)
    assert offers == []
    assert "\n" not in told


@pytest.mark.parametrize("adapter", SOURCES, ids=lambda one: one.name)
def test_a_source_says_what_it_is(adapter: Adapter) -> None:
    assert adapter.module.__doc__
    assert adapter.source.terms
    assert adapter.source.url.startswith("https://")
    if adapter.source.key_env:
        assert adapter.source.key_env.startswith("GPULEDGER_")


def test_a_new_source_is_a_module_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "__path__", list(providers.__path__))
    forget_afterwards(monkeypatch, "made_up_cloud")
    (tmp_path / "made_up_cloud.py").write_text(
        '"""A made-up cloud."""\n'
        "from scrapers.offer import Offer\n"
        "from scrapers.source import Source\n"
        'SOURCE = Source(provider="made_up", url="https://made-up.example/prices", kind="api", offers=range(1, 9), terms="none")\n'
        "def parse(pages):\n"
        '    for row in pages[0].json["plans"]:\n'
        '        yield Offer(sku=row["id"], accelerator_name=row["gpu"], accelerator_count=1, price=row["usd"], currency="USD")\n'
    )
    adapter = load("made_up_cloud", tmp_path)
    assert "made_up_cloud" in source_names(tmp_path)
    [offer] = adapter.parse([Page("test:page", b'{"plans": [{"id": "a", "gpu": "H100", "usd": 2.5}]}')]).offers
    assert offer == Offer(sku="a", accelerator_name="H100", accelerator_count="1", price="2.5", currency="USD")


def test_an_unknown_source_names_near_ones() -> None:
    with pytest.raises(LookupError, match="no source 'vultur'; there is vultr"):
        load("vultur")
