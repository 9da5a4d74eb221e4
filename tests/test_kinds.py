"""The general rule behind each kind of mistake that other trackers made, as a property: few examples here, more among the slow tests.

The kinds are those of `docs/rules.md`; some have their property beside their cases, in `test_names.py`, `test_bugs_of_others_*.py` and
`test_training_costs.py`.
"""

import itertools
import json
import time
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows import schedule
from flows.app import when
from scrapers.archive import Manifest
from scrapers.offer import Offer
from scrapers.shapes import several_places
from scrapers.source import Page, Parsed, load
from scrapers.truncation import PAGE_SIZES, maybe_truncated
from tests.market import Market, at, offer
from warehouse import database, preview
from warehouse import load as loader
from warehouse.accelerators import UNSTATED, catalogue, read_rows
from warehouse.names import resolve

SEEN_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOURS = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1, "day": 24, "month": 730, "year": 8760}
Rows = dict[str, dict[str, Any]]


def so_many(few: int, many: int) -> pytest.MarkDecorator:
    """Examples in the fast tier and among the slow tests."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])


def steady(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    """A source of its own called `made_up`."""
    market = Market(tmp_path, monkeypatch)
    market.source("made_up", "made-up")
    return market


def shown(offers: list[dict[str, Any]]) -> Rows:
    """What `gpuledger parse` shows of these offers, by SKU and way of buying."""
    page = Page("https://made-up.example/", json.dumps(offers).encode(), "page.json")
    rows, _ = preview.preview(load("made_up"), [page], SEEN_AT)
    return {f"{row['sku']} {row['pricing_model']} {row['price']}": row for row in rows}


# --- B: form factors, C: memory ---------------------------------------------------------------------------------------------

FORMS = [
    part for part in catalogue().by_key.values() if part.form_factor not in {"", UNSTATED, "mobile"} and part.memory_gb
]


@so_many(60, 1000)
def test_a_form_that_is_said_is_the_form_and_none_is_made_up(examples: int) -> None:
    @steady(examples)
    @given(
        st.sampled_from(FORMS),
        st.sampled_from(
            ["{vendor} {model} {form} {gb}GB", "{form} {vendor} {model} ({gb} GB)", "8x {vendor} {model}-{form}-{gb}GB"]
        ),
    )
    def holds(part: Any, way: str) -> None:
        name = way.format(vendor=part.vendor, model=part.model, form=part.form_factor, gb=part.memory_gb)
        assert (resolve(name).form_factor, resolve(name).memory_gb) == (part.form_factor, part.memory_gb), name
        alone = resolve(f"{part.vendor} {part.model}").form_factor
        forms = {one.form_factor for one in catalogue().by_model[part.model]}
        assert alone is None or alone in forms

    holds()


# --- D: machines and accelerators, E: slices, F: units, G: what is no price ------------------------------------------------

BOUNDS = {
    row["accelerator"]: (Decimal(row["lowest_usd_per_hour"]), Decimal(row["highest_usd_per_hour"]))
    for row in read_rows("accelerators") if row["lowest_usd_per_hour"]
}  # fmt: skip


@st.composite
def any_offers(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Offers of one part in any unit, scope, number and currency, each at a place of its own."""
    offers = []
    for place in range(draw(st.integers(8, 25))):
        per = draw(st.sampled_from(sorted(HOURS)))
        hourly = draw(st.decimals("0.05", "60", places=4))
        price = max(Decimal("1e-9"), round(hourly * Decimal(HOURS[per]), 9)) + Decimal("0.000000007")
        offers.append(
            offer(
                f"s{place}", price, per=per, region=f"r{place}", accelerator_count=draw(st.sampled_from(["1", "2", "8", "0.5", "0.166667"])),
                price_scope=draw(st.sampled_from(["offer", "offer", "accelerator", "component"])),
                currency=draw(st.sampled_from(["USD", "USD", "USD", "AKT", "RUB"])),
                pricing_model=draw(st.sampled_from(["on_demand", "on_demand", "spot", "floor"])),
            )
        )  # fmt: skip
    return offers


def expected(said: dict[str, Any]) -> tuple[float | None, bool]:
    """US dollars per accelerator and hour, and whether it counts: reckoned here, apart from the models."""
    count = float(said["accelerator_count"])
    hourly = float(said["price"]) / HOURS[said["per"]]
    usd = hourly / count if said["price_scope"] == "offer" else hourly
    low, high = BOUNDS["h100-sxm-80gb"]
    is_plain = said["currency"] == "USD" and said["price_scope"] != "component" and said["pricing_model"] != "floor"
    return (usd if said["currency"] == "USD" else None), is_plain and count >= 1 and float(low) <= round(
        usd, 9
    ) <= float(high)


@so_many(1, 40)
def test_any_offer_comes_to_its_own_price_or_says_why_not(made_up: Market, examples: int) -> None:
    @steady(examples)
    @given(any_offers())
    def holds(offers: list[dict[str, Any]]) -> None:
        rows = {row["sku"]: row for row in shown(offers).values()}
        assert len(rows) == len(offers)
        for said in offers:
            row = rows[said["sku"]]
            usd, counts = expected(said)
            assert (row["price"], row["currency"], row["per"]) == (
                Decimal(said["price"]),
                said["currency"],
                said["per"],
            )
            assert row["usd_per_accelerator_hour"] == (
                usd if usd is None else pytest.approx(Decimal(usd), rel=Decimal("1e-6"), abs=Decimal("2e-9"))
            )
            assert (row["index_eligible"], row["why_not"] is None) == (counts, counts), (said, row["why_not"])

    holds()


NO_PRICES = st.one_of(
    st.decimals(max_value=0, allow_nan=True, allow_infinity=True), st.just("NaN"), st.just("-inf"), st.text(max_size=4), st.none(), st.booleans(),
)  # fmt: skip


@so_many(3, 60)
def test_what_is_no_price_is_in_no_table_and_is_told(made_up: Market, examples: int) -> None:
    @steady(examples)
    @given(st.lists(NO_PRICES, min_size=1, max_size=2))
    def holds(prices: list[Any]) -> None:
        good = [offer(f"good {place}", "2.00") for place in range(20)]
        bad = [
            offer(f"bad {place}") | {"price": price if price is None or isinstance(price, bool) else str(price)}
            for place, price in enumerate(prices)
        ]
        bad = [one for one in bad if not _is_price(one["price"])]
        parsed = load("made_up").parse([Page("x", json.dumps([*bad, *good]).encode(), "page.json")])
        assert [one.sku for one in parsed.offers] == [one["sku"] for one in good]
        assert {one.record for one in (*parsed.rejected, *parsed.unpriced)} == {one["sku"] for one in bad}

    holds()


def _is_price(price: object) -> bool:
    try:
        return isinstance(price, str) and Decimal(price).is_finite() and Decimal(price) >= Decimal("1e-9")
    except ArithmeticError:
        return False


# --- H: kinds of prices ----------------------------------------------------------------------------------------------------

SHARES = st.lists(st.integers(1, 600).map(lambda percent: Decimal(percent) / 100), min_size=6, max_size=20, unique=True)


@so_many(2, 30)
def test_spot_is_kept_beside_on_demand_and_marked_by_its_share(made_up: Market, examples: int) -> None:
    @steady(examples)
    @given(SHARES)
    def holds(shares: list[Decimal]) -> None:
        pairs = {f"g{place}": share for place, share in enumerate([*shares, Decimal("0.01")])}
        offers = [
            offer(sku, Decimal("4.01") * factor, pricing_model=way)
            for sku, share in pairs.items()
            for way, factor in (("on_demand", Decimal(1)), ("spot", share))
        ]
        rows = {(row["sku"], row["pricing_model"]): row for row in shown(offers).values()}
        assert len(rows) == 2 * len(pairs)
        for sku, share in pairs.items():
            assert rows[sku, "on_demand"]["why_not"] is None
            why_not = rows[sku, "spot"]["why_not"] or ""
            assert rows[sku, "spot"]["price"] == Decimal("4.01") * share
            assert ("not in one unit with it" in why_not) == (share < Decimal("0.02") or share > 4)
            assert ("times the price on demand" in why_not) == (share >= 1 or share < Decimal("0.02"))

    holds()


# --- I: places, J: one offer twice ------------------------------------------------------------------------------------------

PLACES = st.from_regex(r"\A[A-Z][a-z]{2,8}( [A-Z][a-z]{2,8})?( \([a-z]{2}-[a-z]{4}\d\))?(, [A-Z]{2})?\Z").filter(
    lambda text: " and " not in text
)


@so_many(60, 2000)
def test_places_of_one_cell_come_back_as_they_were(examples: int) -> None:
    @steady(examples)
    @given(st.lists(PLACES, max_size=5), st.sampled_from([", ", ",", "; ", " / ", "|", " and ", " & "]))
    def holds(places: list[str], between: str) -> None:
        assert several_places(between.join(places)) == places

    holds()


@so_many(1, 30)
def test_of_one_offer_told_several_times_one_counts_in_any_order(made_up: Market, examples: int) -> None:
    @steady(examples)
    @given(
        st.lists(
            st.tuples(
                st.decimals("1", "9", places=2), st.sampled_from([None, "2026-01-01", "2026-02-01", "2026-12-01"])
            ),
            min_size=2,
            max_size=6,
        ),
        st.randoms(),
    )
    def holds(told: list[tuple[Decimal, str | None]], chance: Any) -> None:
        offers = [offer("a", price, effective_at=since) for price, since in told]
        counted = []
        for _ in range(2):
            rows, _ = preview.preview(load("made_up"), [Page("x", json.dumps(offers).encode(), "page.json")], SEEN_AT)
            counted.append([(row["price"], row["effective_at"]) for row in rows if row["index_eligible"]])
            chance.shuffle(offers)
        holding = [one for one in told if one[1] != "2026-12-01"]
        newest = max((since or "" for _, since in holding), default=None)
        lowest = [min(price for price, since in holding if (since or "") == newest)] if holding else []
        assert [price for price, _ in counted[0]] == lowest
        assert counted[0] == counted[1]

    holds()


# --- K: pages of a list -----------------------------------------------------------------------------------------------------


@so_many(40, 1000)
def test_a_list_is_marked_if_and_only_if_it_ends_where_a_page_does(examples: int) -> None:
    @steady(examples)
    @given(st.one_of(st.integers(0, 600), st.sampled_from(sorted(PAGE_SIZES))), st.booleans())
    def holds(count: int, tells: bool) -> None:
        body = {"offers": [{"id": number} for number in range(count)]} | ({"total": count} if tells else {})
        marked = bool(maybe_truncated([Page("x", json.dumps(body).encode(), "page.json")]))
        assert marked == (not tells and (count in PAGE_SIZES or (count > 0 and count % 500 == 0)))

    holds()


# --- M: histories -----------------------------------------------------------------------------------------------------------

SIGHTINGS = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from(["2.00", "2.0000000000000004", "2.20", "1.90"])),
    min_size=3,
    max_size=10,
    unique_by=lambda one: one[0],
)


@pytest.mark.slow
@pytest.mark.parametrize("examples", [8])
def test_a_price_has_one_run_until_it_moves_and_runs_never_overlap(
    tmp_path_factory: pytest.TempPathFactory, examples: int
) -> None:
    @steady(examples)
    @given(SIGHTINGS, st.randoms())
    def holds(sightings: list[tuple[int, str]], chance: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            market = Market(tmp_path_factory.mktemp("runs"), patch)
            market.source("one", "made-up")
            for hour, price in chance.sample(sightings, len(sightings)):
                moment = (SEEN_AT + timedelta(hours=hour)).replace(tzinfo=None).isoformat()
                market.says("one", moment, json.dumps([offer("a")]).replace('"2.00"', price).encode())
            market.update()
            found = market.sql(
                "SELECT price, valid_from, valid_to, last_seen_at FROM offer_price_history ORDER BY valid_from"
            )
        seen = [(round(Decimal(price), 9), SEEN_AT + timedelta(hours=hour)) for hour, price in sorted(sightings)]
        runs = [list(run) for _, run in itertools.groupby(seen, key=lambda one: one[0])]
        starts = [*(run[0][1] for run in runs), None]
        assert [
            (price, begin.astimezone(UTC), end and end.astimezone(UTC), last.astimezone(UTC))
            for price, begin, end, last in found
        ] == [(run[0][0], run[0][1], starts[place + 1], run[-1][1]) for place, run in enumerate(runs)]

    holds()


# --- N: time zones ----------------------------------------------------------------------------------------------------------


@so_many(40, 1000)
def test_an_instant_is_read_as_itself_in_whatever_zone_it_is_told(examples: int) -> None:
    @steady(examples)
    @given(st.integers(1_483_228_800, 1_893_456_000), st.integers(-14 * 60, 14 * 60))
    def holds(seconds: int, minutes: int) -> None:
        instant = datetime.fromtimestamp(seconds, UTC)
        told = instant.astimezone(timezone(timedelta(minutes=minutes))).isoformat()
        assert (when(told), when(told).tzinfo) == (instant, UTC)

    holds()


# --- O: numbers in the warehouse --------------------------------------------------------------------------------------------


@so_many(4, 100)
def test_a_price_comes_back_from_the_warehouse_as_it_went_in(made_up: Market, examples: int) -> None:
    @steady(examples)
    @given(st.lists(st.decimals("0.000000001", "999999999", places=9, allow_nan=False), min_size=1, max_size=30))
    def holds(prices: list[Decimal]) -> None:
        offers = [Offer.model_validate(offer(f"00{place}", price)) for place, price in enumerate(prices)]
        manifest = Manifest("snapshot", "made_up", "live", SEEN_AT, "collected", "", (), "whole")
        with database.connect_memory() as connection:
            loader.write_unjudged(connection, loader.read(load("made_up"), manifest, lambda: Parsed(offers, [])))
            kept = connection.execute(
                "SELECT sku, price FROM raw.offers JOIN raw.offer_texts USING (offer_text_id) ORDER BY ordinal"
            ).fetchall()
        assert kept == [(one.sku, one.price) for one in offers]

    holds()


# --- N and P: schedules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["America/New_York", "UTC", "Australia/Lord_Howe"])
def test_a_daily_run_is_one_for_each_utc_day_when_the_clocks_change(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 9 March 2025 New York had no half past two."""

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        [daily] = [one for one in schedule.DEFAULTS if one.name == "lists"]
        moment, days = at("2025-03-07T23:59:59"), []
        while moment < at("2025-03-11"):
            moment = daily.next_after(moment)
            days.append(moment.astimezone(UTC).date().isoformat())
    finally:
        monkeypatch.undo()
        time.tzset()
    assert days[:3] == ["2025-03-08", "2025-03-09", "2025-03-10"]


@so_many(30, 500)
def test_what_was_missed_is_due_once_and_its_times_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:

    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))

    @steady(examples)
    @given(st.sampled_from(schedule.DEFAULTS), st.integers(1, 60 * 24 * 60), st.integers(0, 60 * 24 * 40))
    def holds(one: Any, ran_minutes_ago: int, later_minutes: int) -> None:
        now = SEEN_AT + timedelta(minutes=later_minutes)
        ran = schedule.Turn(
            scheduled_at=now - timedelta(minutes=ran_minutes_ago),
            started_at=now - timedelta(minutes=ran_minutes_ago),
            status="ok",
        )
        schedule._write(one.name, schedule.Turns(turns=[ran]))
        assert schedule.is_missed(one, now) == (ran.started_at < one.last_before(now))
        assert one.next_after(now) - one.last_before(now) == one.every
        assert one.last_before(now) <= now < one.next_after(now)
        # Once it has run late, no time before that is due any more.
        schedule._write(
            one.name, schedule.Turns(turns=[ran, ran.model_copy(update={"scheduled_at": now, "started_at": now})])
        )
        assert not schedule.is_missed(one, now)
        assert schedule.is_covered(one.name, one.last_before(now) - one.every)

    holds()
