"""The maintainer's loop: a live answer becomes a fixture that is short, names nobody, and parses to what the answer said."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows import steps
from scrapers.record import RecordError, record
from scrapers.source import Page, load
from tests.record import FIXTURES, as_json, fixture_pages


def vultr_answer(plans: int) -> Page:
    folder = next((FIXTURES / "vultr").iterdir())
    page = next(page for page in fixture_pages(folder) if b'"plans"' in page.body)
    answer = page.json
    few = [plan for plan in answer["plans"] if plan.get("hourly_cost")]
    many = [
        plan | {"id": f"{plan['id']}-{place}", "note": "10.20.30.40 ann@corp.io"}
        for place in range(plans)
        for plan in few
    ]
    return Page(
        "https://api.vultr.com/v2/plans", json.dumps(answer | {"plans": many}, default=float).encode(), "plans.json"
    )


def test_a_fixture_is_short_names_nobody_and_parses_to_its_offers(tmp_path: Path) -> None:
    adapter = load("vultr")
    page = vultr_answer(40)
    folder = record(adapter, [page], datetime(2026, 10, 1, 6, tzinfo=UTC), tmp_path)
    assert folder == tmp_path / "vultr" / "2026-10-01T060000Z"
    kept = fixture_pages(folder)
    assert len(kept[0].json["plans"]) == 12
    assert b"10.20.30.40" not in kept[0].body
    assert b"ann@corp.io" not in kept[0].body
    offers = adapter.parse(kept).offers
    assert as_json(offers) == json.loads((folder / "offers.json").read_text())
    assert set(offers) <= set(adapter.parse([page]).offers)


def test_a_page_keeps_its_table_and_loses_the_rest(tmp_path: Path) -> None:
    [page] = fixture_pages(min((FIXTURES / "lambda_page").iterdir()))
    dressed = Page(page.url, page.body.replace(b"<body", b"<style>x{}</style><svg><path/></svg><body", 1), page.name)
    folder = record(load("lambda_page"), [dressed], datetime(2026, 10, 1, tzinfo=UTC), tmp_path)
    [kept] = fixture_pages(folder)
    assert "<svg" not in kept.text
    assert load("lambda_page").parse([kept]).offers == load("lambda_page").parse([page]).offers


def test_an_answer_without_offers_makes_no_fixture(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="lists no offer"):
        record(
            load("vultr"), [Page("https://x", b'{"plans": [], "meta": {}}', "plans.json")], datetime.now(UTC), tmp_path
        )
    assert list(tmp_path.iterdir()) == []


def test_trying_a_source_says_what_it_answers_now(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = load("vultr")
    monkeypatch.setattr(type(adapter), "fetch", lambda self, client: iter([vultr_answer(3)]))
    monkeypatch.setenv("GPULEDGER_NOW", "2026-12-31")
    tried = steps.try_live(adapter)
    assert (tried.source, tried.status) == ("vultr", "ok" if tried.offers in adapter.source.offers else "odd")
    assert tried.offers > 0
    assert tried.fixture_age_days is not None
    assert tried.fixture_age_days > 60
