"""Histories of prices, what changed, and where two series overlap, on made-up markets whose truth is known."""

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tests.market import Market, offer
from tests.test_as_of import with_parts

HISTORY = ("offer_price_history", "price_changes", "source_overlaps", "source_disagreements")


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def runs(market: Market, sku: str = "a") -> list[tuple[Any, ...]]:
    """Each run of an offer: price, from, to and last seen as day and hour, how it ended."""
    return market.sql(
        """
        SELECT
            CAST(price AS DOUBLE), strftime(valid_from, '%d %H'), strftime(valid_to, '%d %H'), strftime(last_seen_at, '%d %H'), ended_as
        FROM offer_price_history WHERE sku = ? ORDER BY valid_from
        """,
        sku,
    )


def changes(market: Market) -> list[tuple[Any, ...]]:
    return market.sql(
        """
        SELECT sku, change, strftime(changed_at, '%d'), CAST(price_before AS DOUBLE), CAST(price_after AS DOUBLE), change_percent
        FROM price_changes ORDER BY changed_at, sku, change
        """
    )


def says(market: Market, source: str, days: dict[str, list[dict[str, Any]] | bytes], **more: Any) -> None:
    for day, offers in days.items():
        market.says(source, f"2026-03-{day}", offers, **more)


@pytest.mark.slow
def test_an_unchanged_price_is_one_run_whatever_is_missing_between(market: Market) -> None:
    """M01 and M03; a gap in collection, a login page and one absence end nothing."""
    market.source("one")
    rest = [offer(f"r{i}", "5.00") for i in range(4)]
    a = offer("a", "2.49")
    says(market, "one", {
        "01": [a, *rest], "02": [offer("a", "2.490"), *rest], "03": b"<html>log in</html>", "09": rest, "10": [a, *rest],
        "11T10": [offer("a", "2.60"), *rest],
    })  # fmt: skip
    market.update()
    assert runs(market) == [(2.49, "01 00", "11 10", "10 00", "up"), (2.6, "11 10", None, "11 10", None)]
    assert changes(market) == [("a", "up", "11", 2.49, 2.6, pytest.approx(4.418))]


@pytest.mark.slow
def test_two_whole_collections_without_it_end_a_price(market: Market) -> None:
    market.source("one")
    rest = [offer(f"r{i}", "5.00") for i in range(4)]
    a = offer("a", "2.00")
    says(market, "one", {"01": [a, *rest], "02": rest})
    market.update()
    assert runs(market) == [(2.0, "01 00", None, "01 00", None)]
    says(market, "one", {"03": rest, "06": [a, *rest]})
    market.update()
    assert runs(market) == [(2.0, "01 00", "02 00", "01 00", "gone"), (2.0, "06 00", None, "06 00", None)]
    assert changes(market) == [("a", "gone", "02", 2.0, None, None), ("a", "new", "06", None, 2.0, None)]
    assert market.sql("SELECT CAST(day AS VARCHAR) FROM price_changes WHERE change = 'gone'") == [("2026-03-03",)]


@pytest.mark.slow
def test_what_is_there_at_first_is_no_news_and_what_comes_later_is(market: Market) -> None:
    market.source("one")
    says(
        market,
        "one",
        {"01": [offer("a"), offer("b", "3.00")], "02": [offer("a"), offer("b", "3.00"), offer("c", "4.00")]},
    )
    market.update()
    assert changes(market) == [("c", "new", "02", None, 4.0, None)]
    assert market.sql("SELECT sku, began_as FROM offer_price_history ORDER BY 1") == [
        ("a", "first"), ("b", "first"), ("c", "new"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_part_of_a_list_says_nothing_of_the_rest(market: Market) -> None:
    """A partial collection shows prices and no absence; nor do fixtures."""
    market.source("one")
    broken = {"sku": "x", "accelerator_count": "1", "price": "1", "currency": "USD"}
    rest = [offer(f"r{i}", "5.00") for i in range(12)]
    says(
        market,
        "one",
        {
            "01": [offer("a"), *rest],
            "02": [*rest, broken],
            "03": [*rest, broken],
            "04": [offer("a", "3.00"), *rest, broken],
        },
    )
    market.source("two", "coreweave")
    says(market, "two", {"01": [offer("f"), offer("g")], "02": [offer("g")], "03": [offer("g")]}, kind="fixture")
    market.update()
    assert runs(market) == [(2.0, "01 00", "04 00", "01 00", "up"), (3.0, "04 00", None, "04 00", None)]
    assert runs(market, "f") == [(2.0, "01 00", None, "01 00", None)]
    assert [row[1] for row in changes(market)] == ["up"]


@pytest.mark.slow
def test_what_is_withheld_is_no_history_until_it_counts(market: Market) -> None:
    market.source("one")
    many = [offer(f"s{i}", "2.00") for i in range(40)]
    says(market, "one", {"01": many, "02": many[:8], "03": many[:8], "04": many[:8]})
    market.update()
    assert changes(market) == []
    says(market, "one", {"05": many[:8]})
    market.update()
    assert {(row[1], row[2]) for row in changes(market)} == {("gone", "04")}
    assert len(changes(market)) == 32


@pytest.mark.slow
def test_at_every_instant_an_offer_has_one_price_at_most(market: Market) -> None:
    for source, when, offers, kind in with_parts(market):
        market.says(source, when, offers, kind)
    market.update()
    assert (
        market.sql(
            """
        SELECT a.sku FROM offer_price_history AS a
        JOIN offer_price_history AS b USING (offer_key, series)
        WHERE a.valid_from < b.valid_from AND (a.valid_to IS NULL OR a.valid_to > b.valid_from)
        """
        )
        == []
    )
    assert market.sql(
        "SELECT count(*) FROM offer_price_history WHERE last_seen_at < valid_from OR last_seen_at >= valid_to"
    ) == [(0,)]
    assert (
        market.sql("SELECT DISTINCT sku FROM offer_price_history WHERE sku LIKE 'a2-%' AND price_scope = 'offer'") != []
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_late_collections_land_right_whenever_they_come(market: Market, seed: int) -> None:
    """Loaded one by one in any order, or all at once: the same history."""
    said = with_parts(market)
    random.Random(seed).shuffle(said)
    at_once = 4 if seed else 12
    for start in range(0, len(said), at_once):
        for source, when, offers, kind in said[start : start + at_once]:
            market.says(source, when, offers, kind)
        market.update()
    step_by_step = {name: market.sql(f"FROM {name} ORDER BY ALL") for name in HISTORY}
    market.build(full=True)
    for name in HISTORY:
        assert step_by_step[name] == market.sql(f"FROM {name} ORDER BY ALL"), name


def test_a_back_series_that_runs_into_a_live_one_says_so(market: Market) -> None:
    market.source("page", kind="page")
    says(market, "page", {"01": [offer("a"), offer("b", "3.00")]}, kind="archived_page")
    says(market, "page", {"20": [offer("a"), offer("b", "4.00")]})
    market.update()
    assert market.sql("SELECT sku, source_kinds FROM offer_price_history ORDER BY sku, valid_from") == [
        ("a", ["archived_page", "live"]), ("b", ["archived_page"]), ("b", ["live"]),
    ]  # fmt: skip
    assert market.sql("SELECT sku, source_kind_before FROM price_changes") == [("b", "archived_page")]


@pytest.mark.slow
def test_overlaps_say_by_how_much_two_series_differ(market: Market) -> None:
    market.source("lambda_api", "lambda")
    market.source("lambda_page", "lambda", kind="page")
    us, eu = {"region": "us-1"}, {"region": "eu-1"}
    says(
        market,
        "lambda_api",
        {"10": [offer("x", "2.00", **us), offer("y", "4.00", **eu)], "11": [offer("x", "2.00", **us)]},
    )
    says(
        market,
        "lambda_page",
        {"09": [offer("1x", "2.20", **us)], "10": [offer("1x", "2.20", **us)]},
        kind="archived_page",
    )
    market.update()
    assert market.sql(
        """
        SELECT back_source, back_kinds, source, source_kinds, CAST(first_day AS VARCHAR), CAST(last_day AS VARCHAR), days, days_matched,
            round(difference_percent, 3), round(level_difference_percent, 3)
        FROM source_overlaps
        """
    ) == [
        (
            "lambda_page",
            ["archived_page"],
            "lambda_api",
            ["live"],
            "2026-03-10",
            "2026-03-11",
            2,
            2,
            10.0,
            pytest.approx(-8.333),
        )
    ]


def test_two_sources_that_disagree_are_listed_and_build_none_the_less(market: Market) -> None:
    market.source("lambda_api", "lambda")
    market.source("lambda_page", "lambda", kind="page")
    says(market, "lambda_api", {"10": [offer("x", "2.00"), offer("y", "2.00")]})
    says(market, "lambda_page", {"10": [offer("x", "2.03"), offer("y", "2.05")]})
    market.update()
    assert market.sql("SELECT sku, source_a, source_kind_a, difference_percent FROM source_disagreements") == [
        ("y", "lambda_api", "live", pytest.approx(2.5))
    ]


@pytest.mark.slow
def test_every_offer_says_where_it_is_from_and_on_what_terms(market: Market) -> None:
    market.source("one")
    says(market, "one", {"01": [offer("a")]})
    market.update()
    for name in ("offers", "offers_current"):
        assert market.sql(f"SELECT source_kind, dataset, terms FROM {name}") == [("live", None, "made up")]
    assert market.sql("SELECT source_kinds, terms FROM provider_prices_daily") == [(["live"], "made up")]
    assert market.sql("SELECT DISTINCT source_kinds, sources FROM prices_daily") == [(["live"], ["one"])]
    assert market.sql("SELECT DISTINCT source_kinds FROM training_costs WHERE cost_usd_mid IS NOT NULL") == [
        (["live"],)
    ]


@pytest.mark.slow
def test_the_command_shows_what_moved(market: Market) -> None:
    market.source("one")
    market.source("two", "coreweave")
    rest = [offer(f"r{i}", "5.00", accelerator_name="B200 SXM 180GB") for i in range(4)]
    says(market, "one", {"01": [offer("a"), *rest], "20": [offer("a", "1.50"), *rest]})
    says(market, "two", {"01": [offer("b"), *rest], "10": [offer("b", "3.00"), *rest]})
    market.update()
    command = CliRunner()

    def told(*arguments: str) -> list[str]:
        done = command.invoke(app, ["changes", "--format", "csv", *arguments])
        return done.stdout.splitlines()[1:]

    assert [line.split(",")[1:4] for line in told("--since", "2026-03-01")] == [
        ["down", "lambda", "h100-sxm-80gb"], ["up", "coreweave", "h100-sxm-80gb"],
    ]  # fmt: skip
    assert len(told("--since", "2026-03-11")) == 1
    assert len(told("--since", "2026-03-01", "--provider", "coreweave")) == 1
    assert len(told("--since", "2026-03-01", "--accelerator", "H100")) == 2
    nothing = command.invoke(app, ["changes", "--accelerator", "B200"])
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert Decimal(told("--since", "2026-03-11")[0].split(",")[8]) == Decimal("1.5")
