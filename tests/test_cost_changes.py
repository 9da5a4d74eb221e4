"""Why a cost changed: matched pairs on made-up markets, and parts that add up, by the SQL itself on made-up prices."""

import math
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.market import Market, offer
from warehouse.model import all_models

Connection = duckdb.DuckDBPyConnection
FROM, BETWEEN, TO = date(2024, 12, 31), date(2025, 6, 1), date(2025, 12, 31)
PARTS = ("price_usd", "panel_usd", "hardware_usd", "recipe_usd", "assumptions_usd", "unsplit_usd")
positive = st.floats(0.01, 1000.0)


@pytest.fixture(scope="module")
def bench() -> Iterator[Connection]:
    """The tables that the parts of a change are made of, with two parts, and no prices yet."""
    connection = duckdb.connect()
    connection.execute(
        """
        CREATE SCHEMA intermediate;
        CREATE SCHEMA reference;
        CREATE TABLE training_cost_frontier (
            day DATE, run VARCHAR, basis VARCHAR, is_relaxed BOOLEAN, accelerator VARCHAR, precision VARCHAR,
            usd_per_accelerator_hour_mid DOUBLE, cost_usd_low DOUBLE, cost_usd_mid DOUBLE, cost_usd_high DOUBLE
        );
        CREATE TABLE training_hours (
            run VARCHAR, accelerator VARCHAR, precision VARCHAR, as_run BOOLEAN, route VARCHAR, nodes BIGINT, accelerator_hours_mid DOUBLE,
            flop_route_hours DOUBLE, spot_overhead_mid DOUBLE, fits BOOLEAN
        );
        CREATE TABLE basis_prices_daily (
            day DATE, accelerator VARCHAR, basis VARCHAR, usd_per_accelerator_hour_mid DOUBLE, cluster_usd_per_accelerator_hour DOUBLE
        );
        CREATE TABLE intermediate.matched_pairs (
            day DATE, provider VARCHAR, segment VARCHAR, accelerator VARCHAR, pricing_model VARCHAR, commitment_days INTEGER,
            mean_log_relative DOUBLE
        );
        CREATE TABLE intermediate.run_facts (run VARCHAR, quality_class VARCHAR, published_on DATE);
        CREATE TABLE reference.stand_ins (run VARCHAR, rank INTEGER, accelerator VARCHAR);
        CREATE TABLE reference.price_bases AS
        SELECT 'on_demand_median' AS basis, 'on_demand' AS pricing_model, 0 AS commitment_days, 'all' AS segment;
        CREATE TABLE intermediate.change_periods AS SELECT '2025' AS period, $1 AS from_day, $2 AS to_day
        """.replace("$1", f"DATE '{FROM}'").replace("$2", f"DATE '{TO}'")
    )
    models = {model.name: model for model in all_models()}
    connection.execute(f"CREATE VIEW cheapest_recipes AS {models['cheapest_recipes'].sql}")
    yield connection
    connection.close()


def change(connection: Connection, path: str = "cheapest_part") -> dict[str, Any]:
    model = next(model for model in all_models() if model.name == "training_cost_changes")
    found = connection.execute(f"FROM ({model.sql}) WHERE path = $1", [path])
    columns = [column[0] for column in found.description or []]
    [row] = found.fetchall()
    return dict(zip(columns, row, strict=True))


def fill(
    connection: Connection, hours: dict[str, float], prices: list[tuple[date, str, float]], winners: dict[date, str],
    relatives: Sequence[tuple[date, str, str, float]] = (), *, own: tuple[str, float] | None = None, run: str = "run", fresh: bool = True,
) -> None:  # fmt: skip
    """One run on the parts given: its hours on each, their prices, which was cheapest when, and what providers changed."""
    if fresh:
        for table in (
            "training_cost_frontier", "training_hours", "basis_prices_daily", "intermediate.matched_pairs", "intermediate.run_facts",
            "reference.stand_ins",
        ):  # fmt: skip
            connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO intermediate.run_facts VALUES ($1, NULL, DATE '2020-01-01')", [run])
    for part, taken in hours.items():
        as_run = own is not None and part == own[0]
        connection.execute(
            "INSERT INTO training_hours VALUES ($1, $2, 'bf16', $3, $4, 2, $5, $6, 1.0, true)",
            [run, part, as_run, "reported" if as_run else "flop", taken, own[1] if own and as_run else None],
        )
    asked = {(day, part): usd for day, part, usd in prices}
    for (day, part), usd in asked.items() if fresh else ():
        connection.execute(
            "INSERT INTO basis_prices_daily VALUES ($1, $2, 'on_demand_median', $3, $3)", [day, part, usd]
        )
    for day, part in winners.items():
        usd = asked[day, part]
        connection.execute(
            "INSERT INTO training_cost_frontier VALUES ($1, $2, 'on_demand_median', false, $3, 'bf16', $4, $5, $5, $5)",
            [day, run, part, usd, usd * hours[part]],
        )
    for day, part, provider, log in relatives:
        connection.execute(
            "INSERT INTO intermediate.matched_pairs VALUES ($1, $2, 'neocloud', $3, 'on_demand', 0, $4)",
            [day, provider, part, log],
        )


def weight(before: float, after: float) -> float:
    return (after - before) / math.log(after / before) if before != after else after


def adds_up(row: dict[str, Any]) -> bool:
    return math.isclose(
        sum(row[part] for part in PARTS), row["change_usd"], rel_tol=1e-9, abs_tol=1e-9 * row["cost_usd_before"]
    )


def test_a_price_that_all_sellers_cut_is_price_alone(bench: Connection) -> None:
    fill(
        bench, {"a": 100}, [(FROM, "a", 4.0), (TO, "a", 2.0)], {FROM: "a", TO: "a"},
        [(BETWEEN, "a", "one", math.log(0.5)), (BETWEEN, "a", "two", math.log(0.5))],
    )  # fmt: skip
    row = change(bench)
    assert (row["cost_usd_before"], row["cost_usd_after"], row["change_usd"]) == (400, 200, -200)
    assert row["price_usd"] == pytest.approx(-200)
    assert row["panel_usd"] == pytest.approx(0, abs=1e-6)
    assert row["hardware_usd"] == row["recipe_usd"] == row["assumptions_usd"] == row["unsplit_usd"] == 0


def test_a_newcomer_is_panel_alone(bench: Connection) -> None:
    fill(bench, {"a": 100}, [(FROM, "a", 4.0), (TO, "a", 2.0)], {FROM: "a", TO: "a"}, [(BETWEEN, "a", "one", 0.0)])
    row = change(bench)
    assert row["price_usd"] == 0
    assert row["panel_usd"] == pytest.approx(-200)
    assert row["matched_days"] == 1


def test_a_new_part_is_held_against_the_old_at_the_later_prices(bench: Connection) -> None:
    prices = [(FROM, "a", 4.0), (TO, "a", 3.0), (TO, "b", 5.0)]
    fill(bench, {"a": 100, "b": 40}, prices, {FROM: "a", TO: "b"}, [(BETWEEN, "a", "one", math.log(0.75))])
    row = change(bench)
    assert row["hardware_day"] == TO
    assert row["hardware_usd"] == pytest.approx(weight(400, 200) * math.log(200 / 300))
    assert row["price_usd"] == pytest.approx(weight(400, 200) * math.log(3 / 4))
    assert row["panel_usd"] == pytest.approx(0, abs=1e-6)


def test_an_old_part_that_left_is_held_against_the_new_on_its_last_day(bench: Connection) -> None:
    prices = [(FROM, "a", 4.0), (BETWEEN, "a", 3.0), (BETWEEN, "b", 6.0), (TO, "b", 5.0)]
    fill(bench, {"a": 100, "b": 40}, prices, {FROM: "a", TO: "b"}, [(TO, "b", "one", math.log(5 / 6))])
    row = change(bench)
    assert row["hardware_day"] == BETWEEN
    assert row["hardware_usd"] == pytest.approx(weight(400, 200) * math.log(240 / 300))
    assert row["price_usd"] == pytest.approx(weight(400, 200) * math.log(5 / 6))
    assert row["panel_usd"] == pytest.approx(weight(400, 200) * math.log(3 / 4))


def test_between_parts_that_never_met_the_cheapest_of_the_time_is_followed(bench: Connection) -> None:
    prices = [(FROM, "a", 4.0), (FROM, "c", 8.0), (TO, "c", 6.0), (TO, "b", 5.0)]
    fill(bench, {"a": 100, "b": 40, "c": 60}, prices, {FROM: "a", TO: "b"}, [(TO, "c", "one", math.log(6 / 8))])
    row = change(bench)
    assert row["accelerators_followed"] == "a|c"
    assert row["price_usd"] == pytest.approx(weight(400, 200) * math.log(6 / 8))
    assert row["hardware_usd"] == pytest.approx(weight(400, 200) * math.log((60 * 8 / 400) * (200 / (60 * 6))))
    assert adds_up(row)


def test_parts_that_never_met_leave_it_unsplit(bench: Connection) -> None:
    fill(bench, {"a": 100, "b": 40}, [(FROM, "a", 4.0), (TO, "b", 5.0)], {FROM: "a", TO: "b"})
    row = change(bench)
    assert row["unsplit_usd"] == row["change_usd"] == -200
    assert row["hardware_day"] is None
    assert adds_up(row)


def test_going_from_reported_hours_to_hours_by_flop_is_an_assumption(bench: Connection) -> None:
    prices = [(day, part, 2.0) for day in (FROM, TO) for part in "ab"]
    fill(bench, {"a": 100, "b": 80}, prices, {FROM: "a", TO: "b"}, own=("a", 80))
    row = change(bench)
    assert row["assumptions_usd"] == pytest.approx(-40)
    assert row["hardware_usd"] == pytest.approx(0, abs=1e-6)


def test_a_better_recipe_is_told_from_price(bench: Connection) -> None:
    prices = [(FROM, "a", 4.0), (TO, "a", 2.0)]
    fill(bench, {"a": 100}, prices, {FROM: "a", TO: "a"}, [(BETWEEN, "a", "one", math.log(0.5))], run="old")
    fill(bench, {"a": 20}, prices, {FROM: "a", TO: "a"}, run="new", fresh=False)
    bench.execute("UPDATE intermediate.run_facts SET quality_class = 'good'")
    bench.execute("UPDATE intermediate.run_facts SET published_on = $1 WHERE run = 'new'", [BETWEEN])
    row = change(bench, "cheapest_recipe")
    assert (row["run"], row["recipe_before"], row["recipe_after"]) == ("old", "old", "new")
    assert (row["cost_usd_before"], row["cost_usd_after"]) == (400, 40)
    assert row["recipe_usd"] == pytest.approx(weight(400, 40) * math.log(1 / 5))
    assert row["price_usd"] == pytest.approx(weight(400, 40) * math.log(1 / 2))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    st.tuples(positive, positive),
    st.lists(positive, min_size=6, max_size=6),
    st.floats(-3, 3),
    st.booleans(),
    st.booleans(),
    positive,
)
def test_parts_add_up_whatever_happens(
    bench: Connection,
    taken: tuple[float, float],
    usd: list[float],
    log: float,
    meet: bool,
    from_reported: bool,
    by_flop: float,
) -> None:
    days = (FROM, BETWEEN, TO)
    prices = [(day, part, value) for (day, part), value in zip([(d, p) for d in days for p in "ab"], usd, strict=True)]
    if not meet:
        prices = [price for price in prices if price[:2] in {(FROM, "a"), (TO, "b")}]
    fill(
        bench, {"a": taken[0], "b": taken[1]}, prices, {FROM: "a", TO: "b"}, [(BETWEEN, "a", "one", log)],
        own=("a", by_flop) if from_reported else None,
    )  # fmt: skip
    row = change(bench)
    assert adds_up(row)
    assert row["change_usd"] == pytest.approx(row["cost_usd_after"] - row["cost_usd_before"])
    assert (row["unsplit_usd"] == 0) == meet or row["change_usd"] == 0


# Matched pairs, by the whole pipeline.


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def moves(market: Market, provider: str = "lambda") -> dict[date, float]:
    """Day to the provider's mean move, where there was one to tell."""
    rows = market.sql(
        "SELECT day, mean_log_relative FROM intermediate.matched_pairs WHERE provider = $1 AND mean_log_relative IS NOT NULL ORDER BY day",
        provider,
    )
    return dict(rows)


@pytest.mark.slow
def test_a_newcomers_cheaper_offer_moves_no_pair(market: Market) -> None:
    source = market.source("here")
    market.says(source, "2025-01-01", [offer("a", 2), offer("b", 4)])
    market.says(source, "2025-01-02", [offer("a", 2), offer("b", 4), offer("c", "0.5")])
    market.says(source, "2025-01-03", [offer("a", "1.8"), offer("b", "3.6"), offer("c", "0.45")])
    market.update()
    assert moves(market) == {date(2025, 1, 2): 0, date(2025, 1, 3): pytest.approx(math.log(0.9))}
    counts = market.sql("SELECT cells, cells_matched, cells_changed FROM intermediate.matched_pairs ORDER BY day")
    assert counts == [(2, 0, 0), (3, 2, 0), (3, 3, 3)]


@pytest.mark.slow
def test_what_comes_back_is_held_against_its_last_price(market: Market) -> None:
    source = market.source("here")
    market.says(source, "2025-01-01", [offer("a", 2), offer("b", 4)])
    market.says(source, "2025-01-02", [offer("b", 4)])
    market.says(source, "2025-03-02", [offer("a", "1.8"), offer("b", 4)])
    market.update()
    assert moves(market)[date(2025, 3, 2)] == pytest.approx(math.log(0.9) / 2)
    market.says(source, "2025-03-03", [offer("b", 4)])
    market.says(source, "2025-10-02", [offer("a", 1), offer("b", 4)])
    market.update()
    # After more than 180 days it is new, and so is b, which nobody saw in between.
    assert date(2025, 10, 2) not in moves(market)


@pytest.mark.slow
def test_forty_regions_are_one_provider(market: Market) -> None:
    one, many = market.source("one", "lambda"), market.source("many", "crusoe")
    for day, price in (("2025-01-01", 2), ("2025-01-02", "1.8")):
        market.says(one, day, [offer("a", 2)])
        market.says(many, day, [offer("a", price, region=f"region-{number}") for number in range(40)])
    market.update()
    assert moves(market, "crusoe")[date(2025, 1, 2)] == pytest.approx(math.log(0.9))
    assert moves(market)[date(2025, 1, 2)] == 0


@pytest.mark.slow
def test_ads_of_a_marketplace_are_held_against_each_other_by_their_median(market: Market) -> None:
    source = market.source("ads", "vast")
    for day, price in (("2025-01-01", 2.0), ("2025-01-02", 1.0)):
        market.says(source, day, [offer(f"{day}-{number}/1x H100", price + number / 10) for number in range(5)])
    market.says(source, "2025-01-03", [offer(f"late-{number}/1x H100", 1) for number in range(4)])
    market.update()
    assert moves(market, "vast") == {date(2025, 1, 2): pytest.approx(math.log(1.2 / 2.2))}


@pytest.mark.slow
def test_pairs_are_the_same_built_day_by_day_and_at_once(market: Market) -> None:
    source = market.source("here")
    for number in range(6):
        day = date(2025, 1, 1) + timedelta(days=20 * number)
        market.says(source, str(day), [offer("a", 2 - number / 10), *([offer("b", 3 + number)] if number % 2 else [])])
        if number % 2:
            market.update()
    piecewise = (
        market.sql("FROM intermediate.matched_pairs ORDER BY ALL"),
        market.sql("FROM training_cost_changes ORDER BY ALL"),
    )
    market.build(full=True)
    assert piecewise == (
        market.sql("FROM intermediate.matched_pairs ORDER BY ALL"), market.sql("FROM training_cost_changes ORDER BY ALL")
    )  # fmt: skip
    assert piecewise[0]
