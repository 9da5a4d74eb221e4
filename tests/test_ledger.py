"""The road from archive to marts on made-up markets whose truth is known."""

import random
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flows import keep, steps
from tests.market import Market, offer
from warehouse import database, verdicts
from warehouse.build import NothingLoadedError


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def medians(market: Market, segment: str = "all") -> dict[str, float | None]:
    rows = market.sql(
        "SELECT day, usd_per_accelerator_hour_median FROM prices_daily"
        " WHERE accelerator = 'h100-sxm-80gb' AND pricing_model = 'on_demand' AND segment = ? ORDER BY day",
        segment,
    )
    return {str(day): value for day, value in rows}


@pytest.mark.slow
def test_loading_twice_changes_nothing(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a"), offer("b", "3.00")])
    market.update()
    before = market.tables()
    market.says("one", "2026-03-01", [offer("a"), offer("b", "3.00")])
    assert market.load() == []
    assert market.build() is None
    assert market.tables() == before
    assert len(before["raw.offers"]) == 2


def busy_market(market: Market) -> list[tuple[str, str, Any, str]]:
    """Sources of every kind, with gaps, changes, an absence, late rates and a bad page."""
    market.source("aws_api", "aws")
    market.source("aws_page", "aws", kind="page")
    market.source("lambda_api", "lambda")
    market.source("vast_api", "vast")
    market.source("coreweave_api", "coreweave")
    market.source("scaleway_api", "scaleway")
    many = [offer(f"n{i}", Decimal("2.5") + i) for i in range(12)]
    return [
        ("aws_api", "2026-01-01", [offer("p5", "98.32", accelerator_count="8", region="us-east-1"), offer("p4", "5.00")], "live"),
        ("aws_api", "2026-03-01", [offer("p5", "98.32", accelerator_count="8", region="us-east-1"), offer("p4", "4.00")], "live"),
        ("aws_api", "2026-03-05", b"<html>log in</html>", "live"),
        ("aws_page", "2026-02-01", [offer("p5 page", "99.00", accelerator_count="8", region="us-east-1")], "archived_page"),
        ("lambda_api", "2026-01-05", many, "live"),
        ("lambda_api", "2026-01-06", many[:3], "live"),
        ("lambda_api", "2026-01-07", many[1:], "live"),
        ("lambda_api", "2026-01-09T03:00", b"<html>log in</html>", "live"),
        ("lambda_api", "2026-01-09T09:00", many, "live"),
        ("vast_api", "2026-01-10", [offer("51/1x", "1.50"), offer("52/1x", "1.70", pricing_model="spot")], "live"),
        ("vast_api", "2026-01-20", [], "live"),
        ("vast_api", "2026-01-21", [offer("51/1x", "1.60")], "live"),
        ("coreweave_api", "2026-01-02", [offer("hgx", "49.24", accelerator_count="8"), offer("hgx", "48.00", accelerator_count="8")], "fixture"),
        ("coreweave_api", "2026-01-12", b"<html>log in</html>", "live"),
        ("coreweave_api", "2026-01-20", [offer("hgx", "40.00", accelerator_count="8")], "live"),
        ("scaleway_api", "2026-01-15", [offer("H100-SXM-1", "2.73", currency="EUR", region="fr-par")], "live"),
    ]  # fmt: skip


SEEDS = range(8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_any_order_of_loading_gives_the_same_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    found = []
    for order in (None, seed):
        with pytest.MonkeyPatch.context() as patch:
            market = Market(tmp_path / f"{order}", patch)
            said = busy_market(market)
            if order is not None:
                random.Random(order).shuffle(said)
            for source, when, offers, kind in said:
                market.says(source, when, offers, kind)
                if order is not None:
                    market.load()
            market.update()
            tables = market.tables()
            # Verdicts that were decided again stay on record; the newest must agree.
            tables.pop("raw.verdicts")
            found.append(
                (
                    tables,
                    market.sql(
                        "SELECT snapshot_id, verdict, verdict_reason, is_good FROM staging.snapshots ORDER BY 1"
                    ),
                )
            )
    for name, rows in found[0][0].items():
        assert rows == found[1][0][name], name
    assert found[0][1] == found[1][1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_an_incremental_build_equals_a_full_one(market: Market, seed: int) -> None:
    said = busy_market(market)
    random.Random(seed).shuffle(said)
    at_once = 1 if seed else 6
    for start in range(0, len(said), at_once):
        for source, when, offers, kind in said[start : start + at_once]:
            market.says(source, when, offers, kind)
        market.update()
    step_by_step = market.tables()
    market.build(full=True)
    made_anew = market.tables()
    assert step_by_step.keys() == made_anew.keys()
    for name, rows in made_anew.items():
        assert step_by_step[name] == rows, name


@pytest.mark.slow
def test_a_source_that_stays_broken_makes_no_build_longer(market: Market) -> None:
    market.source("well", "lambda")
    market.source("broken", "coreweave")
    market.source("locked", "vultr")
    market.says("well", "2026-03-01", [offer("a")])
    market.says("broken", "2026-03-01", [offer("b"), offer("c"), offer("d")])
    market.says("locked", "2026-03-01", [offer("e")], "fixture")
    market.update()
    built = []
    for day in range(2, 12):
        market.says("well", f"2026-03-{day:02}", [offer("a")])
        market.says("broken", f"2026-03-{day:02}", b"<html>log in</html>")
        market.says("locked", f"2026-03-{day:02}", [], outcome="skipped", reason="needs a key")
        market.load()
        made = market.build()
        assert made is not None
        built.append(made.days_built)
    assert built == [2] * 10
    step_by_step = market.tables()
    market.build(full=True)
    assert market.tables() == step_by_step


@pytest.mark.slow
def test_a_login_page_an_empty_answer_and_a_renamed_field_enter_no_mart(market: Market) -> None:
    for name in ("well", "login", "empty", "renamed", "cut"):
        market.source(name, "lambda" if name == "well" else "coreweave")
    market.says("well", "2026-03-01", [offer("a", "2.00")])
    market.says("login", "2026-03-01", b"<html><form>Sign in</form></html>")
    market.says("empty", "2026-03-01", [])
    market.says("renamed", "2026-03-01", [{"sku": "a", "gpu": "H100", "price": "1", "currency": "USD"}])
    market.says("cut", "2026-03-01", b'[{"sku": "a", "accelerator_na')
    outcomes = {one.source: one for one in market.update()}
    assert {name: one.status for name, one in outcomes.items()} == {
        "well": "ok", "login": "failed", "empty": "empty", "renamed": "failed", "cut": "failed",
    }  # fmt: skip
    assert all(one.reason for one in outcomes.values() if one.source != "well")
    assert market.sql("SELECT DISTINCT source FROM offers") == [("well",)]
    coverage = dict(market.sql("SELECT source, status FROM provider_coverage"))
    assert coverage == {"well": "ok", "login": "failed", "empty": "empty", "renamed": "failed", "cut": "failed"}


@pytest.mark.slow
def test_one_bad_record_does_not_end_the_page(market: Market) -> None:
    market.source("one")
    rows = [offer(f"s{i}") for i in range(98)]
    rows.insert(36, {"sku": "no name", "accelerator_count": "1", "price": "1", "currency": "USD"})
    rows.insert(37, offer("null name", accelerator_name=None))
    market.says("one", "2026-03-01", rows)
    [outcome] = market.update()
    assert (outcome.status, outcome.offers) == ("partial", 98)
    with database.connect_working(read_only=True) as connection:
        bad = connection.execute("SELECT record FROM raw.rejected ORDER BY 1").fetchall()
    assert bad == [("no name",), ("null name",)]


@pytest.mark.slow
def test_a_count_far_from_the_last_is_withheld_until_three_agree(market: Market) -> None:
    market.source("one")
    many = [offer(f"s{i}") for i in range(40)]
    market.says("one", "2026-03-01", many)
    for day in ("02", "03", "04"):
        market.says("one", f"2026-03-{day}", many[:8])
    statuses = [one.status for one in market.update()]
    assert statuses == ["ok", "withheld", "withheld", "ok"]
    assert medians(market) == {"2026-03-01": 2.0, "2026-03-02": 2.0, "2026-03-03": 2.0, "2026-03-04": 2.0}


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["8", "100", "0.00136986"])
def test_a_change_of_unit_is_withheld_and_never_accepted_by_itself(market: Market, factor: str) -> None:
    market.source("one")
    prices = {f"s{i}": Decimal("1.10") + i for i in range(10)}
    market.says("one", "2026-03-01", [offer(sku, price) for sku, price in prices.items()])
    for day in range(2, 8):
        market.says("one", f"2026-03-0{day}", [offer(sku, price * Decimal(factor)) for sku, price in prices.items()])
    outcomes = market.update()
    assert [one.status for one in outcomes] == ["ok", *["withheld"] * 6]
    assert "change of unit" in outcomes[-1].reason


def test_another_unit_shows_though_every_price_moved_meanwhile(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer(f"s{i}", Decimal("1.10") + i) for i in range(10)])
    since = [Decimal(100 + 3 * (i - 5)) / 100 for i in range(10)]  # 15 % down to 12 % up
    market.says("one", "2026-05-01", [offer(f"s{i}", (Decimal("1.10") + i) * since[i]) for i in range(10)])
    market.says("one", "2026-07-01", [offer(f"s{i}", (Decimal("1.10") + i) * 730 / since[i]) for i in range(10)])
    assert [one.status for one in market.load()] == ["ok", "ok", "withheld"]


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "currency"), [("730", "USD"), ("0.01", "USD"), ("8", "USD"), ("1", "EUR")])
def test_prices_that_go_on_moving_in_another_unit_stay_withheld(market: Market, factor: str, currency: str) -> None:
    market.source("one")
    chance = random.Random(1)
    prices = {f"s{i:02}": Decimal("1.10") + i for i in range(20)}
    true = [offer(sku, price) for sku, price in prices.items()]
    market.says("one", "2026-03-01", true)
    for day in range(2, 29):
        for sku in chance.sample(sorted(prices), 4 if day > 2 else 0):
            prices[sku] = round(prices[sku] * Decimal(chance.choice(["0.7", "0.93", "1.06", "1.4"])), 4)
        true = [offer(sku, price) for sku, price in prices.items()]
        other = [one | {"price": str(Decimal(one["price"]) * Decimal(factor)), "currency": currency} for one in true]
        market.says("one", f"2026-03-{day:02}", other)
    market.says("one", "2026-03-29", true)
    assert [one.status for one in market.update()] == ["ok", *["withheld"] * 27, "ok"]


@pytest.mark.slow
def test_a_person_overrides_a_verdict_and_it_is_on_record(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer(f"s{i}") for i in range(40)])
    withheld = market.says("one", "2026-03-02", [offer(f"s{i}", "3.00") for i in range(4)])
    market.update()
    with database.writer_lock(), database.connect_working() as connection:
        verdicts.override(connection, withheld.snapshot_id, "accepted", "they sold out", "ada")
    market.build()
    assert medians(market) == {"2026-03-01": 2.0, "2026-03-02": 3.0}
    with database.connect_working(read_only=True) as connection:
        rows = connection.execute(
            "SELECT verdict, decided_by FROM raw.verdicts WHERE snapshot_id = ? ORDER BY load_number",
            [withheld.snapshot_id],
        )
        assert rows.fetchall() == [("withheld", "rule"), ("accepted", "ada")]


@pytest.mark.slow
def test_prices_are_carried_within_their_limits_only(market: Market) -> None:
    market.source("list", "lambda")
    market.source("ads", "vast")
    market.source("clock", "coreweave")
    market.says("list", "2026-03-01", [offer("a", "2.00")])
    market.says("ads", "2026-03-01", [offer("51/1x", "1.00")])
    market.says("clock", "2026-03-31", [offer("other", "9.00", accelerator_name="B200 SXM 180GB")])
    market.update()
    assert [day for day, value in medians(market, "marketplace").items() if value is not None] == [
        f"2026-03-0{d}" for d in range(1, 5)
    ]
    neocloud = medians(market, "neocloud")
    assert [day for day, value in neocloud.items() if value is not None] == [f"2026-03-{d:02}" for d in range(1, 16)]
    assert neocloud["2026-03-16"] is None
    status = market.sql(
        "SELECT status, reason FROM prices_daily WHERE accelerator = 'h100-sxm-80gb' AND segment = 'neocloud' AND day = '2026-03-16'"
    )
    assert status == [("withheld", "no price within its age limit")]


@pytest.mark.slow
def test_an_unchanged_hyperscaler_price_fills_its_gap_and_a_changed_one_does_not(market: Market) -> None:
    market.source("aws_api", "aws")
    market.says(
        "aws_api", "2026-01-01", [offer("same", "4.00"), offer("moved", "8.00", accelerator_name="B200 SXM 180GB")]
    )
    market.says(
        "aws_api", "2026-03-01", [offer("same", "4.00"), offer("moved", "7.00", accelerator_name="B200 SXM 180GB")]
    )
    market.update()
    rows = dict(
        market.sql(
            "SELECT accelerator, count(*) FROM provider_prices_daily WHERE day BETWEEN '2026-01-16' AND '2026-02-28' GROUP BY 1"
        )
    )
    assert rows == {"h100-sxm-80gb": 44}
    assert market.sql("SELECT DISTINCT is_bracketed FROM provider_prices_daily WHERE day = '2026-02-01'") == [(True,)]


@pytest.mark.slow
def test_an_offer_absent_from_a_whole_snapshot_has_no_price_that_day(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "2.00"), offer("b", "4.00")])
    market.says("one", "2026-03-02", [offer("b", "4.00")])
    market.says("one", "2026-03-03", [offer("a", "2.00"), offer("b", "4.00")])
    market.update()
    assert medians(market) == {"2026-03-01": 3.0, "2026-03-02": 4.0, "2026-03-03": 3.0}


@pytest.mark.slow
def test_the_last_snapshot_of_a_utc_day_is_the_days_price(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01T23:59:59", [offer("a", "3.00")])
    market.says("one", "2026-03-01T00:00", [offer("a", "2.00")])
    market.says("one", "2026-03-02T00:00", [offer("a", "4.00")])
    market.update()
    assert medians(market) == {"2026-03-01": 3.0, "2026-03-02": 4.0}


@pytest.mark.slow
def test_forty_regions_do_not_outvote_one_neocloud(market: Market) -> None:
    market.source("aws_api", "aws")
    market.source("lambda_api", "lambda")
    regions = [offer("p5", 10 + place, region=f"region-{place}") for place in range(40)]
    market.says("aws_api", "2026-03-01", [*regions, offer("p5", "6.00", region="us-east-1")])
    market.says("lambda_api", "2026-03-01", [offer("a", "2.00")])
    market.update()
    assert medians(market) == {"2026-03-01": 4.0}
    assert market.sql("SELECT n_providers, status FROM prices_daily WHERE segment = 'all'") == [(2, "thin")]


@pytest.mark.slow
def test_one_source_counts_for_a_provider_and_the_other_says_why(market: Market) -> None:
    market.source("lambda_api", "lambda")
    market.source("lambda_page", "lambda", kind="page")
    market.says("lambda_api", "2026-03-01", [offer("a", "2.00")])
    market.says("lambda_page", "2026-03-01", [offer("1x H100", "9.00")])
    market.update()
    assert medians(market) == {"2026-03-01": 2.0}
    assert market.sql("SELECT source, index_eligible, why_not FROM offers ORDER BY 1") == [
        ("lambda_api", True, None), ("lambda_page", False, "for this provider and day lambda_api counts"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["live", "curated"])  # of which one lists everything and the other never does
def test_of_prices_by_date_the_one_in_force_makes_the_day(market: Market, kind: str) -> None:
    market.source("one", kind="curated" if kind == "curated" else "api")
    dates = [("0.41", "2026-02-01"), ("1.46", "2026-03-01"), ("0.30", "2026-05-01")]
    market.says("one", "2026-03-02", [offer("a", price, effective_at=day) for price, day in dates], kind)
    market.update()
    assert medians(market) == {"2026-03-02": 1.46}
    assert market.sql("SELECT price FROM offers_current") == [(Decimal("1.46"),)]


@pytest.mark.slow
def test_an_aggregator_speaks_only_where_no_source_of_ours_does(market: Market) -> None:
    market.source("lambda_api", "lambda")
    market.source("broker", "prime_intellect", is_aggregator=True)
    market.says("lambda_api", "2026-03-01", [offer("a", "2.00")])
    market.says(
        "broker", "2026-03-01", [offer("l", "1.00", provider="Lambda Labs"), offer("c", "5.00", provider="CoreWeave")]
    )
    market.update()
    rows = market.sql("SELECT provider, usd_per_accelerator_hour_median FROM provider_prices_daily ORDER BY 1")
    assert rows == [("coreweave", Decimal("5.00")), ("lambda", Decimal("2.00"))]


@pytest.mark.slow
def test_fixtures_leave_once_a_live_snapshot_is_good(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "2.00")], "fixture")
    market.update()
    assert medians(market) == {"2026-03-01": 2.0}
    market.says("one", "2026-03-05", [offer("a", "3.00")])
    market.update()
    assert medians(market) == {"2026-03-05": 3.0}
    assert market.sql("SELECT why_not FROM offers WHERE source_kind = 'fixture'") == [
        ("a fixture that a live snapshot has replaced",)
    ]


@pytest.mark.slow
def test_fixtures_that_left_long_ago_make_no_later_build_dearer(market: Market) -> None:
    market.source("listed")
    market.says("listed", "2026-01-01T12:00", [offer("recorded")], kind="fixture")
    market.says("listed", "2026-03-01T12:00", [offer("a"), offer("b")])
    market.update()
    first = market.says("listed", "2026-03-02T12:00", [offer("a"), offer("b", "2.10")])
    market.load()
    built = market.build()
    assert built is not None
    assert (built.is_full, built.days_built) == (False, 2)
    # Yet they come back when all live ones are rejected, and leave again.
    older = market.sql(
        "SELECT snapshot_id FROM staging.snapshots WHERE source_kind = 'live' AND snapshot_id <> ?", first.snapshot_id
    )
    for verdict, skus in (("withheld", {"recorded"}), ("accepted", {"a", "b"})):
        for snapshot_id in (first.snapshot_id, older[0][0]):
            steps.decide(snapshot_id, verdict, "a test")
        market.build()
        assert {row[0] for row in market.sql("SELECT sku FROM offers WHERE index_eligible")} == skus
        before = market.tables()
        market.build(full=True)
        assert market.tables() == before


def test_currency_converts_at_the_latest_rate_on_or_before_the_day(market: Market) -> None:
    """Sunday 2023-03-19 takes Friday's rate of the ECB, 1.0623 dollars for a euro."""
    market.source("scaleway_api", "scaleway")
    market.says(
        "scaleway_api", "2023-03-19", [offer("H100", "2.00", currency="EUR"), offer("T", "2.00", currency="XTS")]
    )
    market.update()
    rows = market.sql("SELECT sku, usd_per_accelerator_hour, fx_date, why_not FROM offers ORDER BY 1")
    assert rows == [
        ("H100", Decimal("2.1246"), date(2023, 3, 17), None), ("T", None, None, "no exchange rate for XTS within 45 days"),
    ]  # fmt: skip


def test_equal_offers_collapse_and_differing_ones_keep_the_lowest(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "3.00"), offer("a", "2.00"), offer("a", "2.00")])
    market.update()
    rows = market.sql("SELECT price, index_eligible FROM offers ORDER BY ordinal")
    assert rows == [(Decimal(3), False), (Decimal(2), True), (Decimal(2), False)]
    assert medians(market) == {"2026-03-01": 2.0}


NO_PRICES = {
    "floor": ({"pricing_model": "floor"}, 'a "from" price or a bid floor'),
    "component": ({"price_scope": "component"}, "accelerator only, the host is billed on top"),
    "unknown": ({"accelerator_name": "Some Unknown GPU"}, "unknown accelerator"),
    "uncounted": (
        {"accelerator_count": None, "accelerator_name": "H100 SXM"},
        "the number of accelerators is not told",
    ),
    "slice": ({"accelerator_count": "0.125"}, "a slice, not a whole accelerator"),
    "serverless": ({"tier": "serverless"}, "tier serverless"),
    "absurd": ({"price": "999999"}, "outside what this part can cost"),
    "future": ({"effective_at": "2026-10-01"}, "holds only from 2026-10-01"),
}


@pytest.mark.slow
def test_what_is_no_price_of_a_rented_machine_stays_out_and_says_why(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer(sku, **words) for sku, (words, _) in NO_PRICES.items()])
    market.update()
    found = {
        sku: (eligible, why_not)
        for sku, eligible, why_not in market.sql("SELECT sku, index_eligible, why_not FROM offers")
    }
    for sku, (_, why) in NO_PRICES.items():
        assert found[sku][0] is False
        assert why in found[sku][1]
    assert market.sql("SELECT count(*) FROM provider_prices_daily") == [(0,)]


# Unit, days bound, price, US dollars per hour.
UNITS = [
    ("hour", 0, "2.00", "2.00"), ("second", 0, "0.0005", "1.80"), ("minute", 0, "0.03", "1.80"), ("day", 0, "48", "2.00"),
    ("month", 0, "1460", "2.00"), ("year", 365, "17520", "2.00"), ("term", 365, "17520", "2.00"), ("term", 1095, "52560", "2.00"),
]  # fmt: skip


@pytest.mark.slow
def test_every_unit_of_time_comes_to_an_hour(market: Market) -> None:
    market.source("one")
    offers = [
        offer(f"{per} {days}", price, per=per, commitment_days=days, pricing_model="reserved" if days else "on_demand")
        for per, days, price, _ in UNITS
    ]
    market.says("one", "2026-03-01", offers)
    market.update()
    found = dict(market.sql("SELECT sku, usd_per_accelerator_hour FROM offers"))
    assert found == {f"{per} {days}": Decimal(usd) for per, days, _, usd in UNITS}


@pytest.mark.slow
def test_an_outlier_is_judged_within_its_segment_only(market: Market) -> None:
    for place, price in enumerate(["2.00", "2.10", "2.20", "2.00", "19.00"]):
        name = market.source(f"n{place}", ["lambda", "coreweave", "crusoe", "verda", "nebius"][place])
        market.says(name, "2026-03-01", [offer("a", price)])
    market.source("aws_api", "aws")
    market.says("aws_api", "2026-03-01", [offer("p5", "12.29")])
    market.update()
    rows = market.sql(
        "SELECT segment, n_providers, n_screened FROM prices_daily WHERE pricing_model = 'on_demand' ORDER BY segment"
    )
    assert rows == [("all", 5, 1), ("hyperscaler", 1, 0), ("neocloud", 4, 1)]


def test_with_nothing_loaded_nothing_is_built(market: Market) -> None:
    with pytest.raises(NothingLoadedError, match="gpuledger run"):
        market.build()
    assert not database.published_file().exists()


def test_with_nothing_that_counts_the_build_says_so(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(keep, "say", lambda text, *_, **__: said.append(text))
    market.source("one")
    market.says("one", "2026-03-01", b"<html>log in</html>")
    market.load()
    keep.say_built(market.build())
    assert "no collection counts yet" in said[0]
    assert market.sql("SELECT count(*) FROM prices_daily") == [(0,)]


def test_a_failed_check_changes_nothing_and_keeps_the_published_copy(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "2.00")])
    market.update()
    monkeypatch.setattr("warehouse.build.all_checks", lambda: {"never": "SELECT 'a row'"})
    market.says("one", "2026-03-02", [offer("a", "3.00")])
    with pytest.raises(Exception, match="check never found rows"):
        market.update()
    assert medians(market) == {"2026-03-01": 2.0}
    monkeypatch.undo()
