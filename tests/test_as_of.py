"""What the ledger would have said at a time: the macros against the ledger that was published then."""

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from flows import steps
from tests.market import Market, offer
from tests.test_ledger import busy_market
from warehouse import database

# Enough of each table to see any difference, little enough to compare after every step.
ASKED = {
    "offers": "SELECT * FROM {} ORDER BY ALL",
    "prices_daily": "SELECT * FROM {} ORDER BY ALL",
    "training_costs": "SELECT * FROM {} WHERE run IN ('gpt-3-175b', 'llama-65b') ORDER BY ALL",
}
Answers = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def stored(market: Market) -> Answers:
    return {name: market.sql(query.format(name)) for name, query in ASKED.items()}


def as_of(market: Market, known_at: str) -> Answers:
    return {name: market.sql(query.format(f"{name}_as_of(?::TIMESTAMPTZ)"), known_at) for name, query in ASKED.items()}


def with_parts(market: Market) -> list[tuple[str, str, Any, str]]:
    """A busy market, and a provider that prices accelerators, processors and memory apart."""
    market.source("gcp_api", "gcp")
    host = {"accelerator_count": None, "region": "us-central1"}
    parts = [
        offer("g", "3.00", accelerator_name="Nvidia Tesla A100 GPU", price_scope="component", region="us-central1"),
        offer("c", "0.03", accelerator_name="A2 Instance Core", price_scope="host_vcpu", **host),
        offer("r", "0.004", accelerator_name="A2 Instance Ram", price_scope="host_gib", **host),
    ]
    return [*busy_market(market), ("gcp_api", "2026-01-12", parts, "live")]


def same(left: Answers, right: Answers) -> None:
    for name in ASKED:
        assert left[name] == right[name], name


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_it_says_what_was_published_then(market: Market, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Collections come late and out of order, verdicts turn, fixtures leave, a person decides otherwise."""
    said = with_parts(market)
    random.Random(seed).shuffle(said)
    then: dict[str, Answers] = {}
    at_once = 5 if seed else 12
    for day, start in enumerate(range(0, len(said), at_once), start=1):
        monkeypatch.setenv("GPULEDGER_NOW", f"2026-06-{day:02}T12:00:00Z")
        for source, when, offers, kind in said[start : start + at_once]:
            market.says(source, when, offers, kind)
        market.update()
        then[f"2026-06-{day:02} 18:00:00+00"] = stored(market)
    monkeypatch.setenv("GPULEDGER_NOW", "2026-06-20T12:00:00Z")
    [(newest,)] = market.sql("SELECT arg_max(snapshot_id, observed_at) FROM offers WHERE source = 'aws_api'")
    steps.decide(newest, "withheld", "a test page")
    market.build()
    for known_at, answers in then.items():
        same(as_of(market, known_at), answers)
    same(as_of(market, "infinity"), stored(market))
    assert as_of(market, "2026-05-01") == {name: [] for name in ASKED}


@pytest.mark.slow
def test_a_corrected_rate_does_not_change_what_was_known(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    market.source("scaleway_api", "scaleway")
    monkeypatch.setenv("GPULEDGER_NOW", "2026-06-01T00:00:00Z")
    market.says("scaleway_api", "2023-03-20", [offer("H100", "2.00", currency="EUR")])
    market.update()
    monkeypatch.setenv("GPULEDGER_NOW", "2026-06-05T00:00:00Z")
    with database.writer_lock(), database.connect_working() as connection:
        number = database.next_load_number(connection)
        connection.execute(
            "INSERT INTO raw.exchange_rates VALUES ('2023-03-20', 'USD', 1.5, 'a correction', ?, ?)",
            [database.now(), number],
        )
    market.build()
    query = "SELECT CAST(usd_per_accelerator_hour AS DOUBLE) FROM offers_as_of(?::TIMESTAMPTZ)"
    assert market.sql(query, "2026-06-04") == [(pytest.approx(2 * 1.0717),)]
    assert market.sql(query, "2026-06-06") == [(3.0,)]


@pytest.mark.slow
def test_attached_under_another_name_it_answers_once_in_use(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "2.00")])
    market.update()
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database.published_file()}' AS g (READ_ONLY)")
        connection.execute("USE g")
        rows = connection.execute(
            "SELECT usd_per_accelerator_hour_median FROM prices_daily_as_of('infinity') WHERE accelerator = 'h100-sxm-80gb' AND segment = 'all'"
        ).fetchall()
    assert rows == [(2.0,)]
