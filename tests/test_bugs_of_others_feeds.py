"""Answers, days and files that other trackers got wrong: cut and empty answers, drift of units, repeats, gaps, time zones, readers and writers."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows import keep, steps
from scrapers import collect as collector
from scrapers.archive import Archive, Manifest
from scrapers.failures import FetchError
from scrapers.source import Missed, Page, load
from scrapers.truncation import maybe_truncated
from tests.market import Market, at, offer
from warehouse import build as builder
from warehouse import database, reference
from warehouse.verdicts import COUNT_SLACK


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def many(count: int, price: str = "2.00", **words: Any) -> list[dict[str, Any]]:
    return [offer(f"s{place:03}", Decimal(price) + Decimal(place) / 100, **words) for place in range(count)]


Ask = Callable[..., list[tuple[Any, ...]]]
Verdicts = dict[str, list[tuple[str, str]]]


def verdicts() -> Verdicts:
    """Verdict and reason of every collection of each source, by time."""
    with database.connect_working(read_only=True) as connection:
        rows = connection.execute(
            """
            SELECT source, arg_max(verdict, v.load_number), arg_max(v.reason, v.load_number)
            FROM raw.snapshots AS s
            JOIN raw.verdicts AS v USING (snapshot_id)
            GROUP BY source, observed_at
            ORDER BY source, observed_at
            """
        ).fetchall()
    return {source: [row[1:] for row in rows if row[0] == source] for source, _, _ in rows}


def judge(folder: Path, said: dict[str, Sequence[list[dict[str, Any]]]]) -> Verdicts:
    """Verdicts on what sources say on days that follow each other, by the case that each source stands for."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(folder, patch)
        set_rates(market)
        for place, days in enumerate(said.values()):
            market.source(f"source_{place:03}", "made-up")
            for day, offers in enumerate(days):
                market.says(f"source_{place:03}", str(date(2026, 3, 1) + timedelta(days=day)), offers)
        market.load()
        found = verdicts()
    return {case: found[f"source_{place:03}"] for place, case in enumerate(said)}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[steps.Outcome], builder.Built]:
    """One ledger of many sources, each with a trouble of its own."""
    folder = tmp_path_factory.mktemp("story")
    with pytest.MonkeyPatch.context() as patch:
        market = Market(folder, patch)
        for source, days in STORY.items():
            market.source(source, PROVIDERS.get(source, source))
            for when, said, *scope in days:
                market.says(source, when, said, **({"scope": scope[0]} if scope else {}))
        outcomes = market.load()
        built = market.build()
    assert built is not None
    return folder / "data", outcomes, built


@pytest.fixture
def told(story: tuple[Path, list[steps.Outcome], builder.Built], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks the published copy of the story."""
    monkeypatch.setenv("GPULEDGER_DATA", str(story[0]))

    def ask(query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with database.connect_published() as connection:
            return connection.execute(query, list(parameters)).fetchall()

    return ask


def periods(told: Ask, source: str) -> list[tuple[Any, ...]]:
    """Price, from, to and last seen of each unbroken run of a source's prices, in UTC."""
    return told(
        "SELECT CAST(CAST(price AS DOUBLE) AS VARCHAR).replace('.0', ''), strftime(valid_from AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S'),"
        " strftime(valid_to AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S'), strftime(last_seen_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S')"
        " FROM offer_price_history WHERE source = ? ORDER BY valid_from",
        source,
    )


B200 = {"accelerator_name": "B200 SXM 180GB"}
REGIONS = [offer("p5", "98.32", accelerator_count="8", region=f"region-{place}") for place in range(29)]
SIZES_901 = [offer(f"size-{place}", "2.00") for place in range(900)]
PROVIDERS = {"changed": "lambda", "well": "coreweave", "clouds": "aws", "old": "crusoe", "clock": "nebius"}
STORY: dict[str, list[tuple[Any, ...]]] = {
    "edge": [("2026-03-20", many(64))],
    "changed": [("2026-03-20", many(40)), ("2026-03-21", [])],
    "well": [("2026-03-20", [offer("w", "3.00")]), ("2026-03-21", [offer("w", "3.00")])],
    "clouds": [
        ("2026-03-20", [*REGIONS, offer("p5", "98.32", accelerator_count="8", region="me-south-1")]),
        ("2026-03-21", REGIONS, "all but me-south-1: did not answer in time"),
    ],
    "lost": [
        ("2026-03-18", [*SIZES_901, offer("x", "4.00", **B200)]), ("2026-03-19", SIZES_901),
        ("2026-03-20", [*SIZES_901, offer("x", "4.00", **B200)]),
    ],
    "noise": [
        (f"2026-03-1{day}", json.dumps([offer("a")]).replace('"2.00"', price).encode())
        for day, price in ((1, "2.49"), (2, "2.4900000000000002"), (3, "2.49"))
    ],
    "instant": [("2026-03-21T10:00:00", [offer("i", "2.00")]), ("2026-03-21T10:00:03", [offer("i", "2.20")])],
    "old": [("2026-03-01", [offer("o", "2.00", accelerator_name="L40S")])],
    "clock": [(f"2026-03-{day}", [offer("c", "9.00", accelerator_name="H200 SXM")]) for day in ("10", "21")],
    "unseen": [
        ("2026-03-20", [offer("b", accelerator_name="Quantum Z9"), offer("c", accelerator_name="Quantum Z9")]),
        ("2026-03-21", [offer("b", accelerator_name="Quantum Z9")]),
    ],
    "zeros": [("2026-03-21", [offer("007"), offer("7"), offer("1e3")])],
}  # fmt: skip


# --- pages that end on a page's edge, answers that are empty -------------------------------------------------------------


def answer(count: int, **beside: Any) -> Page:
    return Page(
        "https://made-up.example/",
        json.dumps({"offers": [{"id": n} for n in range(count)]} | beside).encode(),
        "page.json",
    )


@pytest.mark.parametrize(
    ("pages", "is_marked"),
    [
        ([answer(64)], True), ([answer(100)], True), ([answer(63)], False), ([answer(64, total=64)], False), ([answer(64, next=None)], False),
        ([answer(64, meta={"count": 64})], False), ([answer(64), answer(20)], False), ([answer(64), answer(64)], True), ([answer(0)], False),
        ([answer(64, country="US")], True), ([Page("x", b"<html></html>", "page.html")], False), ([Page("x", b"[{]", "page.json")], False),
    ],
)  # fmt: skip
def test_an_answer_as_long_as_a_page_is_marked_unless_it_says_how_many_there_are(
    pages: list[Page], is_marked: bool
) -> None:
    told = maybe_truncated(pages)
    assert told.startswith("maybe truncated") == is_marked
    assert bool(told) == is_marked


@pytest.mark.slow
def test_a_maybe_truncated_answer_says_so_where_people_look(told: Ask) -> None:
    mark = "maybe truncated: exactly 64 records, and no word of how many there are"
    assert told("SELECT status, offers, reason FROM provider_coverage WHERE source = 'edge'") == [("ok", 64, mark)]


def test_a_layout_that_gives_no_row_is_neither_sold_out_nor_the_end(told: Ask, story: Any) -> None:
    """One source's page changes, the others go on; the first keeps its prices of the day before."""
    outcomes = [one for one in story[1] if one.source in {"changed", "well"}]
    assert sorted((one.source, one.status) for one in outcomes) == [
        ("changed", "empty"), ("changed", "ok"), ("well", "ok"), ("well", "ok"),
    ]  # fmt: skip
    assert keep.report_outcomes(outcomes) == 3
    rows = told(
        "SELECT provider, offers, is_carried FROM provider_prices_daily"
        " WHERE day = '2026-03-21' AND provider IN ('coreweave', 'lambda') ORDER BY 1"
    )
    assert rows == [("coreweave", 1, False), ("lambda", 40, True)]
    assert told("SELECT status, reason FROM provider_coverage WHERE source = 'changed' AND day = '2026-03-21'") == [
        ("empty", "the page was read and lists no offer; no offers; an empty answer is not taken for sold out")
    ]


def test_a_region_that_did_not_answer_is_not_sold_out(told: Ask, story: Any) -> None:
    outcomes = [one for one in story[1] if one.source == "clouds"]
    assert [(one.status, one.offers) for one in outcomes] == [("ok", 30), ("partial", 29)]
    assert "me-south-1" in outcomes[1].reason
    rows = told("SELECT age_days, count(*) FROM offers_current WHERE source = 'clouds' GROUP BY 1 ORDER BY 1")
    assert rows == [(0, 29), (1, 1)]


def test_one_row_of_901_that_is_missing_a_day_is_no_change_of_price(told: Ask) -> None:
    rows = told(
        "SELECT day, usd_per_accelerator_hour_median FROM provider_prices_daily"
        " WHERE accelerator = 'b200-sxm-180gb' AND NOT is_carried ORDER BY 1"
    )
    assert [(str(day), price) for day, price in rows] == [("2026-03-18", Decimal(4)), ("2026-03-20", Decimal(4))]
    assert told(
        "SELECT count(*) FROM provider_prices_daily WHERE accelerator = 'b200-sxm-180gb' AND day = '2026-03-19'"
    ) == [(0,)]
    assert told("SELECT count(DISTINCT offer_key), count(DISTINCT price) FROM offers WHERE sku = 'x'") == [(1, 1)]
    assert told("SELECT count(*) FROM offer_price_history WHERE sku = 'x' AND valid_to IS NULL") == [(1,)]
    assert told("SELECT count(*) FROM price_changes WHERE source = 'lost'") == [(0,)]
    assert told("SELECT DISTINCT day FROM offers WHERE sku = 'x' ORDER BY 1") == [
        (date(2026, 3, 18),),
        (date(2026, 3, 20),),
    ]


def test_noise_of_floats_is_no_change_of_price(told: Ask) -> None:
    found = told(
        "SELECT count(*), count(DISTINCT price), count(DISTINCT offer_key), max(price) FROM offers WHERE source = 'noise'"
    )
    assert found == [(3, 1, 1, Decimal("2.49"))]
    assert periods(told, "noise") == [("2.49", "2026-03-11 00:00:00", None, "2026-03-13 00:00:00")]
    assert told("SELECT count(*) FROM price_changes WHERE source = 'noise'") == [(0,)]


def test_for_every_instant_there_is_one_price(told: Ask) -> None:
    assert told(
        "SELECT count(*), max(usd_per_accelerator_hour_median) FROM provider_prices_daily WHERE source = 'instant'"
    ) == [(1, Decimal("2.20"))]
    assert told("SELECT price, age_days FROM offers_current WHERE source = 'instant'") == [(Decimal("2.20"), 0)]
    assert periods(told, "instant") == [
        ("2", "2026-03-21 10:00:00", "2026-03-21 10:00:03", "2026-03-21 10:00:00"), ("2.2", "2026-03-21 10:00:03", None, "2026-03-21 10:00:03"),
    ]  # fmt: skip
    for second, price in (("00", "2.00"), ("02", "2.00"), ("03", "2.20"), ("59", "2.20")):
        at_that_instant = told(
            "SELECT price FROM offer_price_history"
            " WHERE source = 'instant' AND valid_from <= $1 AND ($1 < valid_to OR valid_to IS NULL)",
            f"2026-03-21T10:00:{second}Z",
        )
        assert at_that_instant == [(Decimal(price),)]


def test_a_price_of_twenty_days_ago_is_not_that_of_today(told: Ask) -> None:
    rows = told(
        "SELECT usd_per_accelerator_hour_median, age_days, status FROM prices_daily"
        " WHERE accelerator = 'l40s-48gb' AND segment = 'all' AND day IN ('2026-03-10', '2026-03-21') ORDER BY day"
    )
    assert rows == [(2.0, 9, "thin"), (None, None, "withheld")]
    assert told("SELECT count(*) FROM offers_current WHERE source = 'old'") == [(0,)]


def test_a_page_in_place_of_the_list_is_withheld(tmp_path: Path) -> None:
    found = judge(tmp_path, {"": [many(90), many(64), many(89)]})[""]
    assert [verdict for verdict, _ in found] == ["accepted", "withheld", "accepted"]
    assert "64 offers after 90" in found[1][1]
    assert "maybe truncated" in found[1][1]


def test_a_challenge_is_kept_as_a_sample_and_gives_no_row(tmp_path: Path) -> None:
    page = b"<html><head><title>Just a moment...</title></head></html>"

    class Session:
        def __enter__(self) -> "Session":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def fetch(_: Any) -> Iterator[Page]:
        error = FetchError("vultr: a challenge page", kind="blocked")
        error.sample = page
        raise error
        yield  # a generator, as fetch is

    client: Any = Session
    manifest = collector.pages_from_network(
        "vultr", fetch, Archive(tmp_path), client, lambda: datetime(2026, 3, 1, tzinfo=UTC)
    )
    assert (manifest.outcome, [stored.name for stored in manifest.pages]) == ("failed", ["refused-answer"])
    assert Archive(tmp_path).pages(manifest)[0].body == page
    for source in ("vultr", "lambda_page"):
        with pytest.raises(ValueError, match=source):
            load(source).parse([Page("x", page, "page")])


def test_what_part_did_not_answer_is_archived_with_its_reason(tmp_path: Path) -> None:
    class Session:
        def __enter__(self) -> "Session":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def fetch(_: Any) -> Iterator[Page | Missed]:
        yield Page("x", b"{}", "one.json")
        yield Missed("me-south-1", "did not answer in time")

    client: Any = Session
    archive = Archive(tmp_path)
    manifest = collector.pages_from_network(
        "aws_prices", fetch, archive, client, lambda: datetime(2026, 3, 1, tzinfo=UTC)
    )
    assert (manifest.outcome, manifest.scope) == ("collected", "all but me-south-1: did not answer in time")


def test_one_kind_of_price_that_is_gone_as_a_whole_is_withheld_until_three_agree(tmp_path: Path) -> None:
    both = [*many(30), *many(30, "1.00", pricing_model="spot")]
    found = judge(tmp_path, {"": [both, *[many(35)] * 4]})[""]
    assert [verdict for verdict, _ in found] == ["accepted", "withheld", "withheld", "accepted", "accepted"]
    assert found[1][1] == "no offer is spot, after 30 of 60 on 2026-03-01"


@settings(max_examples=2)
@given(st.lists(st.tuples(st.integers(20, 60), st.integers(1, 130)), min_size=12, max_size=12))
def test_a_count_far_from_the_last_is_withheld(
    tmp_path_factory: pytest.TempPathFactory, counts: list[tuple[int, int]]
) -> None:
    said = {f"{number}": (many(before), many(now)) for number, (before, now) in enumerate(counts)}
    found = judge(tmp_path_factory.mktemp("counts"), said)
    for (before, now), verdicts in zip(counts, found.values(), strict=True):
        near = before / 2 <= now <= 2 * before or abs(now - before) <= COUNT_SLACK
        is_page = now < 0.8 * before and bool(maybe_truncated([answer(now)]))
        assert (verdicts[1][0] == "accepted") == (near and not is_page), (before, now, verdicts)


# --- units that drift ----------------------------------------------------------------------------------------------------

EUR_USD = "1.1512"  # from 2026-03-02 on


def set_rates(market: Market) -> None:
    cubes = "".join(
        f"<Cube time='2026-03-0{day}'><Cube currency='USD' rate='{EUR_USD}'/><Cube currency='GBP' rate='0.87'/></Cube>"
        for day in (2, 3, 4)
    )
    namespaces = (
        'xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"'
    )
    body = f"<gesmes:Envelope {namespaces}><Cube>{cubes}</Cube></gesmes:Envelope>".encode()
    page = Page("https://ecb.example/", body, "rates.xml")
    market.archive.write("exchange_rates", [page], observed_at=at("2026-02-28"), source_kind="live")


def scaled(offers: list[dict[str, Any]], factor: str | Decimal, **words: Any) -> list[dict[str, Any]]:
    return [one | {"price": str(round(Decimal(one["price"]) * Decimal(factor), 9))} | words for one in offers]


SIZES = [
    offer(f"{n}x-{place}", Decimal("2.10") * n + place, accelerator_count=str(n))
    for n in (1, 2, 4, 8)
    for place in range(3)
]
DRIFTS = {
    "cents": scaled(many(10), 100),
    "of eight": scaled(many(10), 8),
    "a month as an hour": scaled(many(10), 730),
    "an hour divided by a month": scaled(many(10), Decimal(1) / 730),
    "doubled": scaled(many(10), 2),
    "the rate": scaled(many(10), EUR_USD),
    "the rate, turned over": scaled(many(10), 1 / Decimal(EUR_USD)),
    "another label": many(10, currency="EUR"),
    "another label of time": many(10, per="month"),
    "another scope": scaled(many(10, accelerator_count="8"), 1, price_scope="accelerator"),
    "all renamed, in cents": [one | {"sku": f"new {one['sku']}"} for one in scaled(many(10), 100)],
    "nine of ten by the rate": [*scaled(many(9), EUR_USD), many(10)[9]],
    "only most of them": [*scaled(many(7), 8), *many(10)[7:]],
}


CHANGES = {
    "prices that moved apart": [
        offer(f"s{place:03}", Decimal("2.00") + Decimal(place) / 100 * (place % 3)) for place in range(10)
    ],
    "everything a tenth dearer": scaled(many(10), "1.10"),
    "another label and its number": scaled(many(10), 1 / Decimal(EUR_USD), currency="EUR"),
    "a month, and its number": scaled(many(10), 730, per="month"),
    "half of them halved": [*scaled(many(5), "0.5"), *many(10)[5:]],
    "a few in another unit": [*scaled(many(3), 8), *many(10)[3:]],
}


EACH = [one | {"price": str(Decimal(one["price"]) / Decimal(one["accelerator_count"]))} for one in SIZES]
BAD = {"sku": "bad", "accelerator_count": "1", "price": "1", "currency": "USD"}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """Every drift and change, each said by a source of its own that said something else the day before."""
    said = {case: (many(10), now) for case, now in (DRIFTS | CHANGES).items()}
    said["another scope"] = (many(10, accelerator_count="8"), DRIFTS["another scope"])
    said["machines to each"] = (SIZES, EACH)
    said["never whole"] = ([*many(10), BAD], [*scaled(many(10), 100), BAD])
    return judge(tmp_path_factory.mktemp("drifts"), said)


@pytest.mark.parametrize("case", [*DRIFTS, "never whole"])
def test_a_unit_that_moved_is_withheld(judged: Verdicts, case: str) -> None:
    assert [verdict for verdict, _ in judged[case]] == ["accepted", "withheld"]
    assert "a change of unit" in judged[case][1][1]


@pytest.mark.parametrize("case", CHANGES)
def test_prices_that_moved_are_accepted(judged: Verdicts, case: str) -> None:
    assert [verdict for verdict, _ in judged[case]] == ["accepted", "accepted"]


def test_prices_of_machines_that_became_prices_of_each_are_withheld(judged: Verdicts) -> None:
    assert judged["machines to each"][1][0] == "withheld"
    assert "moved by their number of accelerators" in judged["machines to each"][1][1]


FACTORS = st.sampled_from(["8", "100", "0.01", "0.125", "730", "0.00136986", "3600", "0.000277778", "24"])
PRICES = st.lists(st.decimals("0.5", "9", places=2), min_size=5, max_size=12, unique=True)


@settings(max_examples=2)
@given(st.lists(st.tuples(PRICES, FACTORS), min_size=12, max_size=12))
def test_one_large_factor_for_all_is_never_a_price(
    tmp_path_factory: pytest.TempPathFactory, lists: list[tuple[list[Decimal], str]]
) -> None:
    said = {}
    for number, (prices, factor) in enumerate(lists):
        offers = [offer(f"s{place}", price) for place, price in enumerate(prices)]
        said[f"{number}: {factor}"] = (offers, scaled(offers, factor))
    for case, found in judge(tmp_path_factory.mktemp("factors"), said).items():
        assert [verdict for verdict, _ in found] == ["accepted", "withheld"], case


@pytest.mark.slow
def test_a_person_accepts_a_change_of_unit_and_it_is_on_record(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    market.source("one")
    market.says("one", "2026-03-01", many(10))
    moved = market.says("one", "2026-03-02", scaled(many(10), 8))
    market.update()
    [(why_not,)] = market.sql("SELECT DISTINCT why_not FROM offers WHERE snapshot_id = ?", moved.snapshot_id)
    assert why_not.startswith("snapshot withheld: 10 of 10 prices moved by the same factor 8: a change of unit")
    assert market.sql("SELECT max(usd_per_accelerator_hour_max) FROM provider_prices_daily") == [(Decimal("2.09"),)]
    monkeypatch.setenv("LOGNAME", "ada")
    steps.decide(moved.snapshot_id, "accepted", "they now sell nodes")
    market.build()
    assert market.sql("SELECT max(usd_per_accelerator_hour_max) FROM provider_prices_daily") == [(Decimal("16.72"),)]
    assert verdicts()["one"][1] == ("accepted", "they now sell nodes")


# --- repeats, gaps, time -------------------------------------------------------------------------------------------------


ZONES = """
import sys
from datetime import datetime
from pathlib import Path
from flows import steps
from flows.app import when
from scrapers.source import Page
for text in sys.argv[1:]:
    steps.take_in("vultr", [Page("x", Path("page.json").read_bytes(), "page.json")], when(text), "live")
steps.load_archive()
steps.build()
from warehouse import database
with database.connect_published() as connection:
    print(connection.execute("SELECT DISTINCT day, epoch(observed_at) FROM offers").fetchall())
    print(connection.execute("SELECT count(*) FROM raw.snapshots WHERE source = 'vultr'").fetchall())
"""


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["America/Los_Angeles", pytest.param("Asia/Tokyo", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("times", "instant"),
    [
        (("2025-01-15T08:00:00+00:00", "2025-01-15T17:00:00+09:00"), "2025-01-15T08:00:00+00:00"),
        pytest.param(("2025-11-02T06:30:00Z",), "2025-11-02T06:30:00+00:00", marks=pytest.mark.slow),
    ],
)
def test_an_instant_is_one_whatever_the_zone_and_belongs_to_its_utc_day(
    tmp_path: Path, zone: str, times: tuple[str, ...], instant: str
) -> None:
    page = next(Path(__file__).parent.glob("fixtures/vultr/*/plans-001.json"))
    (tmp_path / "page.json").write_bytes(page.read_bytes())
    environment = os.environ | {
        "GPULEDGER_DATA": str(tmp_path / "data"),
        "TZ": zone,
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", ZONES, *times],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moment = datetime.fromisoformat(instant)
    seen, counted = done.stdout.splitlines()[-2:]
    assert f"{moment.timestamp()}" in seen
    assert repr(moment.date()) in seen
    assert counted == "[(1,)]"


def test_what_is_observed_is_stamped_when_it_is_fetched(tmp_path: Path) -> None:
    """A run that was due on the first of May and began on the 26th saw the prices of the 26th."""

    class Session:
        def __enter__(self) -> "Session":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    late = datetime(2026, 5, 26, 8, tzinfo=UTC)
    client: Any = Session
    manifest: Manifest = collector.pages_from_network(
        "vultr", lambda _: [Page("x", b"{}", "a")], Archive(tmp_path), client, lambda: late
    )
    assert manifest.observed_at == late


@pytest.mark.slow
def test_runs_that_come_late_all_at_once_see_the_prices_of_now(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down for twelve hours, then twelve runs in a row: each is of its own time, and the hours before stay empty."""
    market.source("one")
    market.says("one", "2026-03-01T00:05", [offer("a", "2.00")])
    clock = at("2026-03-01T13:00")

    def fetch(_: Any) -> Iterator[Page]:
        yield Page("x", json.dumps([offer("a", "2.10")]).encode(), "page.json")

    class Session:
        def __enter__(self) -> "Session":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    client: Any = Session
    for run in range(12):
        moment = clock + timedelta(seconds=20 * run)
        collector.pages_from_network("one", fetch, market.archive, client, lambda moment=moment: moment)
    market.update()
    seen = [row[0] for row in market.sql("SELECT observed_at FROM offers ORDER BY 1")]
    assert [one.astimezone(UTC).hour for one in seen] == [0, *[13] * 12]
    assert market.sql("SELECT change, price_after, hour(changed_at AT TIME ZONE 'UTC') FROM price_changes") == [
        ("up", Decimal("2.10"), 13)
    ]
    assert market.sql("SELECT snapshots FROM provider_coverage WHERE source = 'one'") == [(13,)]


# --- readers, writers, files ---------------------------------------------------------------------------------------------

HOLD = """
import sys, time
from warehouse import database
with database.writer_lock(), database.connect_working() as connection:
    connection.execute("BEGIN")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_loaders_at_once_load_a_batch_once(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", many(10))
    code = "from flows import steps; print(len(steps.load_archive()))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent)])}
    # Sources of this test's own are not found by other processes: what cannot be read loads as failed, once.
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    assert sorted(one.communicate()[0].strip() for one in both) == ["0", "1"]
    with database.connect_working(read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM raw.snapshots").fetchall() == [(1,)]


def test_a_late_word_in_a_column_of_numbers_loses_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{place},1.5" for place in range(30_000)] + ["A10,1.5"]
    (tmp_path / "late.csv").write_text("sku,price\n" + "\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setattr(reference, "csv_files", lambda: {"late": tmp_path / "late.csv"})
    with database.connect_memory() as connection:
        reference.load(connection, ("late",))
        assert connection.execute(
            "SELECT count(*), count(DISTINCT sku), max(price) FROM reference.late"
        ).fetchall() == [(30_001, 30_001, 1.5)]
        assert connection.execute("SELECT price FROM reference.late WHERE sku = 'A10'").fetchall() == [(1.5,)]


@pytest.mark.slow
def test_a_writer_locks_no_reader_out_and_a_second_writer_is_told_who_writes(told: Ask) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        reader = subprocess.run(
            [sys.executable, "-m", "flows.cli", "sources", "--format", "csv"],
            capture_output=True, text=True, env=os.environ, check=False,
        )  # fmt: skip
        assert reader.returncode == 0
        assert "this is from the published copy" in reader.stderr
        started = time.monotonic()
        refusal = f"process {holder.pid} is writing to the warehouse; wait for it to end"
        with pytest.raises(database.WarehouseError, match=refusal), database.writer_lock(1):
            pass
        assert time.monotonic() - started < 5
    finally:
        holder.communicate("")
    # What no row knows is told once, however often it was seen.
    assert reader.stderr.count("unknown spelling: unseen: Quantum Z9") == 1


def test_unseen_spellings_are_told_once_and_never_guessed(
    told: Ask, story: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story[2].unknown_names == ("unseen: Quantum Z9",)
    keep.say_built(story[2])
    assert capsys.readouterr().err.count("Quantum Z9") == 1
    assert told("SELECT DISTINCT accelerator, why_not FROM offers WHERE source = 'unseen'") == [
        (None, "unknown accelerator")
    ]


def test_a_sku_that_looks_like_a_number_stays_a_text(told: Ask) -> None:
    assert told("SELECT sku FROM offers WHERE source = 'zeros' ORDER BY ordinal") == [("007",), ("7",), ("1e3",)]
