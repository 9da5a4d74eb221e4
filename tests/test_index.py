"""The price index on made-up markets whose true movement is known, one market for all of them: each case has an accelerator of its own."""

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.market import Market, offer
from warehouse import database
from warehouse.database import Connection
from warehouse.names import resolve

START = date(2025, 1, 1)
LAST = 420
Levels = dict[int, float]


class Case:
    """What sources say of one accelerator. A list with nothing on it counts for nothing, so each also has a T4."""

    def __init__(self, market: Market, accelerator_name: str) -> None:
        self.market = market
        self.name = accelerator_name
        key = resolve(accelerator_name).accelerator
        assert key is not None
        self.accelerator = key

    def says(self, provider: str, day: int, *prices: float, kind: str = "live", source: str = "", **words: Any) -> None:
        """One list of one provider on one day: a SKU per price, named by its place."""
        self.lists(provider, day, {f"sku {place}": price for place, price in enumerate(prices)}, kind, source, **words)

    def lists(
        self, provider: str, day: int, prices: dict[str, float], kind: str = "live", source: str = "", **words: Any
    ) -> None:
        """One list of one provider, by SKU; ``words`` go for each of its offers."""
        name = f"{source or provider}_{self.accelerator}".replace("-", "_")
        self.market.source(name, provider)
        offers = [
            offer(sku, f"{price:.9f}", **({"accelerator_name": self.name} | words)) for sku, price in prices.items()
        ]
        filler = offer("filler", "0.50", accelerator_name="Tesla T4 16GB")
        self.market.says(name, str(START + timedelta(days=day)), [*offers, filler], kind)


def every(days: range, case: Case, provider: str, *prices: float, **words: Any) -> None:
    for day in days:
        case.says(provider, day, *prices, **words)


NAMES = {
    "newcomer": "H100 SXM 80GB", "cut": "A100 SXM 80GB", "returns": "H200 SXM 141GB", "returns cheaper": "B200 SXM 180GB",
    "regions": "H100 PCIe 80GB", "seldom": "A100 SXM 40GB", "seldom ads": "RTX 4090 24GB", "ads": "RTX 3090 24GB",
    "absurd": "A100 PCIe 80GB", "all new": "L40S 48GB", "sources": "V100 SXM2 32GB", "carried": "A40 48GB",
    "models": "V100 SXM2 16GB", "median": "RTX 5090 32GB", "many cells": "L4 24GB", "ties": "RTX A6000 48GB", "too long": "B300 SXM 288GB",
}  # fmt: skip


def say_all(market: Market) -> dict[str, Case]:
    case = {what: Case(market, name) for what, name in NAMES.items()}

    every(range(5), case["newcomer"], "lambda", 2.0)
    every(range(2, 4), case["newcomer"], "coreweave", 0.5)
    case["newcomer"].lists("coreweave", 4, {})

    every(range(2), case["cut"], "lambda", 2.0, 3.0)
    every(range(2), case["cut"], "aws", 4.0)
    case["cut"].says("lambda", 2, 1.8, 2.7)
    case["cut"].says("aws", 2, 3.6)

    for what, price in (("returns", 4.0), ("returns cheaper", 3.6)):
        every(range(0, 64, 7), case[what], "lambda", 2.0)
        case[what].says("coreweave", 0, 4.0)
        case[what].lists("coreweave", 1, {})
        case[what].says("coreweave", 61, price)

    for day, factor in ((0, 1.0), (1, 0.85)):
        market.source("aws_regions", "aws")
        rows = [
            offer("p5", f"{3 * factor:.2f}", accelerator_name=NAMES["regions"], region=f"region-{place}")
            for place in range(40)
        ]
        market.says("aws_regions", str(START + timedelta(days=day)), rows)
        case["regions"].says("azure", day, 5.0)

    for day, price in ((0, 2.0), (90, 1.6), (180, 1.2), (361, 0.6)):
        case["seldom"].says("lambda", day, price)
        case["seldom ads"].says("vast", day, *[price / 4] * 6)

    # The median of five or more ads of a tier and country is followed, not the ads.
    places: list[dict[str, Any]] = [
        {"tier": "secure", "region": "Sweden, SE"},
        {"tier": "community", "region": "Texas, US"},
    ]
    for day, cheap in ((0, 1.0), (1, 0.7)):
        rows = [
            offer(f"{place * 100 + ad + 1000 * day}/1x", f"{(1 - place / 2) * (0.6 if place else cheap):.4f}",
                  accelerator_name=NAMES["ads"], **words)
            for place, words in enumerate(places)
            for ad in range(5)
        ]  # fmt: skip
        few = [
            offer(
                f"9{ad}/1x", f"{0.3 - ad * day / 50}", accelerator_name=NAMES["ads"], tier="secure", region="Oslo, NO"
            )
            for ad in range(4)
        ]
        market.source("vast_ads", "vast")
        market.says("vast_ads", str(START + timedelta(days=day)), rows + few)

    every(range(3), case["median"], "vast", 0.5, 0.5, 0.4, 0.4, 0.3)
    case["median"].says("vast", 3, 0.5, 0.5, 0.4, 0.3, 0.3, 0.3)
    case["median"].says("vast", 4, 0.5, 0.4, 0.4, 0.3, 0.3, 4.0)

    every(range(3), case["ties"], "vast", *[0.5] * 5)
    every(range(3, 5), case["ties"], "vast", *[0.5] * 8)

    every(range(2), case["absurd"], "lambda", 2.0, 3.0)
    case["absurd"].says("lambda", 2, 2.0, 16.0)
    every(range(3, 5), case["absurd"], "lambda", 2.0, 3.0)

    every(range(3), case["all new"], "lambda", 2.0)
    case["all new"].lists("lambda", 3, {"another": 1.0})
    case["all new"].lists("lambda", 4, {"another": 1.1})

    every(range(3), case["sources"], "lambda", 2.0, kind="archived_page", source="old")
    every(range(3, 6), case["sources"], "lambda", 1.0, source="new")
    every(range(6), case["sources"], "coreweave", 3.0)

    case["carried"].says("lambda", 0, 2.0)
    case["carried"].says("coreweave", 0, 2.0)
    case["carried"].says("lambda", 8, 1.0)

    for day, factor in ((0, 1.0), (1, 0.5)):
        rows = [
            offer("a", f"{2 * factor:.2f}", accelerator_name=NAMES["models"]),
            offer("a", "0.80", accelerator_name=NAMES["models"], pricing_model="spot"),
            offer(
                "a",
                f"{1.6 * factor:.2f}",
                accelerator_name=NAMES["models"],
                pricing_model="reserved",
                commitment_days=365,
            ),
            offer("a", "1.20", accelerator_name=NAMES["models"], pricing_model="reserved", commitment_days=1095),
        ]
        market.source("models", "lambda")
        market.says("models", str(START + timedelta(days=day)), rows)

    case["many cells"].says("lambda", 0, 1.0, 1.0, 1.0, 1.0)
    case["many cells"].says("lambda", 1, 0.5, 1.0, 1.0, 1.0)

    case["too long"].says("lambda", 0, 4.0)
    case["too long"].says("lambda", LAST, 2.0)
    return case


class World:
    """The market that all cases are in, built once."""

    def __init__(self, connection: Connection, cases: dict[str, Case]) -> None:
        self.connection = connection
        self.cases = cases

    def sql(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, list(parameters)).fetchall()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("index"), patch)
        cases = say_all(market)
        market.update()
        connection = database.connect_published()
    with connection:
        yield World(connection, cases)


def index(world: World, what: str, segment: str = "all", model: str = "on_demand") -> dict[int, tuple[int, float]]:
    """Day to chain and level."""
    rows = world.sql(
        "SELECT day, chain_id, price_index FROM price_index_daily WHERE accelerator = ? AND segment = ? AND pricing_model = ? ORDER BY day",
        world.cases[what].accelerator, segment, model,
    )  # fmt: skip
    return {(day - START).days: (chain, level) for day, chain, level in rows}


def levels(world: World, what: str, *days: int, segment: str = "all", model: str = "on_demand") -> list[float]:
    found = index(world, what, segment, model)
    return [round(found[day][1], 6) for day in days]


def test_a_newcomer_and_a_leaver_do_not_move_it(world: World) -> None:
    assert levels(world, "newcomer", 0, 1, 2, 3, 4, 10) == [100] * 6


def test_all_prices_a_tenth_lower_move_it_to_90(world: World) -> None:
    for segment in ("all", "neocloud", "hyperscaler"):
        assert levels(world, "cut", 0, 1, 2, 5, segment=segment) == [100, 100, 90, 90]


def test_a_provider_that_returns_at_its_old_price_leaves_it_unchanged(world: World) -> None:
    assert set(levels(world, "returns", *range(64))) == {100}


def test_a_provider_that_returns_cheaper_moves_it_by_its_share_on_that_day(world: World) -> None:
    assert set(levels(world, "returns cheaper", *range(61))) == {100}
    assert levels(world, "returns cheaper", 61, 62) == pytest.approx([100 * 0.9**0.5] * 2)


def test_forty_regions_count_as_one_provider(world: World) -> None:
    assert levels(world, "regions", 0, 1) == pytest.approx([100, 100 * 0.85**0.5])


def test_one_cell_of_four_moves_its_provider_by_a_quarter(world: World) -> None:
    assert levels(world, "many cells", 1) == pytest.approx([100 * 0.5**0.25])


@pytest.mark.parametrize(("what", "carried_to"), [("seldom", 14), ("seldom ads", 3)])
def test_a_market_seen_every_90_days_yields_the_true_change(world: World, what: str, carried_to: int) -> None:
    found = index(world, what)
    assert [found[day] for day in (0, 90, 180)] == [(1, 100), (1, pytest.approx(80)), (1, pytest.approx(60))]
    assert carried_to in found
    assert carried_to + 1 not in found, "a day without a price has no row"


@pytest.mark.slow
def test_what_comes_back_after_its_limit_is_new(world: World) -> None:
    """Carried for 14 days, away for more than 180."""
    assert index(world, "seldom")[361] == (1, pytest.approx(30))
    assert index(world, "seldom ads")[361] == (1, pytest.approx(30))
    assert index(world, "too long")[LAST] == (2, 100)


def test_of_ads_the_median_of_five_is_followed(world: World) -> None:
    """Two cells, one of them 30 % lower; four ads in a third place are none, and no ad is there on both days."""
    assert levels(world, "ads", 0, 1) == pytest.approx([100, 100 * 0.7**0.5])


def test_odd_and_even_counts_ties_and_an_absurd_ad(world: World) -> None:
    assert levels(world, "median", 2, 3, 4) == pytest.approx([100, 100 * 0.35 / 0.4, 100])
    assert levels(world, "ties", 0, 2, 3, 4) == [100] * 4


def test_a_price_that_cannot_have_moved_so_far_is_another_thing(world: World) -> None:
    assert set(levels(world, "absurd", *range(5))) == {100}
    screened = world.sql(
        "SELECT day, cells_matched, cells_screened FROM price_index_daily WHERE accelerator = ? AND segment = 'all' AND cells_screened > 0",
        world.cases["absurd"].accelerator,
    )
    assert [((day - START).days, *counts) for day, *counts in screened] == [(2, 1, 1), (3, 1, 1)]


def test_a_chain_ends_where_nothing_is_matched_and_a_new_one_starts_at_100(world: World) -> None:
    assert index(world, "all new")[2] == (1, 100)
    assert index(world, "all new")[3] == (2, 100)
    assert index(world, "all new")[4] == (2, pytest.approx(110))


def test_one_source_is_not_spliced_onto_another(world: World) -> None:
    assert levels(world, "sources", *range(6)) == [100] * 6
    assert index(world, "sources", "neocloud")[5][0] == 1


def test_a_change_enters_on_the_day_it_is_seen_and_carried_days_say_so(world: World) -> None:
    assert levels(world, "carried", 0, 7, 8, 14) == pytest.approx([100, 100, 100 * 0.5**0.5, 100 * 0.5**0.5])
    seen = world.sql(
        "SELECT day, n_providers_seen FROM price_index_daily WHERE accelerator = ? AND segment = 'all' AND n_providers_seen > 0 ORDER BY day",
        world.cases["carried"].accelerator,
    )
    assert [((day - START).days, providers) for day, providers in seen] == [(0, 2), (8, 1)]


def test_pricing_models_are_apart_and_terms_are_cells(world: World) -> None:
    assert levels(world, "models", 1) == pytest.approx([50])
    assert levels(world, "models", 1, model="spot") == [100]
    assert levels(world, "models", 1, model="reserved") == pytest.approx([100 * 0.5**0.5])


def test_every_row_says_with_which_parameters_it_was_made(world: World) -> None:
    newest = world.sql("SELECT max(version) FROM reference.index_parameters")
    assert world.sql("SELECT DISTINCT parameters_version FROM price_index_daily") == newest
    assert world.sql("SELECT DISTINCT parameters_version FROM prices_daily") == newest


def test_where_half_ask_one_price_an_outlier_is_beyond_a_factor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The MAD is 0."""
    market = Market(tmp_path, monkeypatch)
    case = Case(market, "H100 SXM 80GB")
    providers = ["lambda", "coreweave", "crusoe", "nebius", "verda", "vultr"]
    for provider, price in zip(providers, [2.0, 2.0, 2.0, 2.0, 5.9, 6.1], strict=True):
        case.says(provider, 0, price)
    market.update()
    rows = market.sql(
        "SELECT n_providers, n_screened, usd_per_accelerator_hour_median FROM prices_daily WHERE accelerator = ? AND segment = 'neocloud'",
        case.accelerator,
    )
    assert rows == [(5, 1, 2.0)]


# A market at random, and the index of it worked out again in plain Python.

Cell = tuple[str, str]
PROVIDERS = {"lambda": "neocloud", "coreweave": "neocloud", "aws": "hyperscaler"}
RETURN_DAYS, CARRY_DAYS, RANDOM_DAYS = 180, 14, 40


def random_market(market: Market, case: Case, dice: random.Random) -> list[tuple[str, int, dict[str, float]]]:
    """Lists with SKUs that come and go, skipped days, and prices that drift."""
    said = []
    for provider in PROVIDERS:
        prices = {f"sku {place}": dice.uniform(1, 4) for place in range(4)}
        for day in range(RANDOM_DAYS):
            prices = {sku: price * dice.choice([1, 1, 0.9, 1.05]) for sku, price in prices.items()}
            if dice.random() < 0.4:
                listed = {sku: round(price, 4) for sku, price in prices.items() if dice.random() < 0.6}
                said.append((provider, day, listed))
    return said


def by_hand(said: list[tuple[str, int, dict[str, float]]], last_day: int) -> Levels:
    """The index of the segment ``all`` by the definition, day by day."""
    lists = {(provider, day): prices for provider, day, prices in said}
    remembered: dict[Cell, tuple[int, float]] = {}
    level, found = None, {}
    for day in range(last_day + 1):
        changes, priced = defaultdict(list), False
        for provider in PROVIDERS:
            seen = [past for past in range(day, day - CARRY_DAYS - 1, -1) if (provider, past) in lists]
            for sku, price in (lists[provider, seen[0]] if seen else {}).items():
                priced = True
                last_day_priced, last = remembered.get((provider, sku), (-1000, price))
                if last_day_priced >= day - RETURN_DAYS:
                    changes[provider].append(math.log(price / last))
                remembered[provider, sku] = (day, price)
        if changes:
            assert level is not None
            level *= math.exp(sum(sum(one) / len(one) for one in changes.values()) / len(changes))
        elif priced:
            level = 100.0
        if priced:
            assert level is not None
            found[day] = level
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_in_whatever_pieces_it_is_built_it_is_what_the_definition_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    market = Market(tmp_path, monkeypatch)
    case = Case(market, "H100 SXM 80GB")
    said = random_market(market, case, dice)
    pieces = list(said)
    dice.shuffle(pieces)
    step = len(pieces) // 3 + 1
    for start in range(0, len(pieces), step):
        for provider, day, prices in pieces[start : start + step]:
            case.lists(provider, day, prices)
        market.update()
    query = "SELECT day, price_index FROM price_index_daily WHERE accelerator = ? AND segment = 'all' ORDER BY day"
    found = {(day - START).days: level for day, level in market.sql(query, case.accelerator)}
    assert found == pytest.approx(by_hand(said, max(day for _, day, _ in said)))
    in_pieces = market.tables()
    market.build(full=True)
    assert market.tables() == in_pieces
