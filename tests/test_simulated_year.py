"""A simulated market of forty sources, two runs a day: the ledger holds every price that was truly shown, nothing else, and the right marts."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulator.market import EPISODES
from tests.simulator.play import SEEN_IN_FULL, Played, play

pytestmark = pytest.mark.slow

# Three hundred and sixty-five when told so.
DAYS = int(os.environ.get("GPULEDGER_SIMULATED_DAYS", "30"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with pytest.MonkeyPatch.context() as patch:
        yield play(tmp_path_factory.mktemp("year"), patch, days=DAYS)


@pytest.fixture(autouse=True)
def its_ledger(own_data: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked is the ledger that was played, not the folder of each test's own."""
    if "played" in request.fixturenames:
        monkeypatch.setenv("GPULEDGER_DATA", str(request.getfixturevalue("played").folder))


def test_everything_that_can_go_wrong_did(played: Played) -> None:
    assert EPISODES.keys() <= played.asked.keys()
    assert played.not_modified > DAYS
    assert played.asked[""] > played.expected_collections / 3


def test_the_ledger_holds_every_price_shown_and_nothing_else(played: Played) -> None:
    found = played.ledger.sql(
        "SELECT source, observed_at, sku, price FROM offers WHERE why_not IS NULL OR NOT starts_with(why_not, 'snapshot withheld')"
    )
    assert len(found) == len(set(found))
    told = played.truth.offers()
    assert told - set(found) == set()
    assert set(found) - told == set()


def test_what_was_withheld_is_in_no_aggregate(played: Played) -> None:
    rows = played.ledger.sql(
        "SELECT count(*), count(*) FILTER (index_eligible) FROM offers WHERE starts_with(why_not, 'snapshot withheld')"
    )
    assert rows[0][0] > 0
    assert rows[0][1] == 0


def test_every_gap_has_a_reason(played: Played) -> None:
    rows = played.ledger.sql(
        "SELECT source, observed_at, status, verdict, concat(reason, verdict_reason) FROM staging.snapshots"
    )
    assert len(rows) == played.expected_collections
    seen = {(one.source, one.observed_at) for one in played.truth.sightings}
    gaps = [row for row in rows if (row[0], row[1]) not in seen]
    assert len(gaps) == played.expected_collections - len(seen)
    assert [row for row in gaps if (row[2] == "ok" and row[3] == "accepted") or not row[4]] == []


def test_provider_prices_are_the_truth(played: Played) -> None:
    rows = played.ledger.sql(
        """
        SELECT day, provider, accelerator, pricing_model, commitment_days, usd_per_accelerator_hour_min, usd_per_accelerator_hour_median, offers,
            age_days
        FROM provider_prices_daily
        """
    )
    found = {(row[0], row[1], (row[2], row[3], row[4])): row[5:] for row in rows}
    told = played.truth.provider_prices()
    assert found.keys() ^ told.keys() == set()
    wrong = {
        key: (found[key], price) for key, price in told.items()
        if not (near(found[key][0], price.lowest) and near(found[key][1], price.median) and found[key][2:] == (price.offers, price.age_days))
    }  # fmt: skip
    assert wrong == {}


def test_daily_prices_are_the_truth(played: Played) -> None:
    rows = played.ledger.sql(
        """
        SELECT day, accelerator, pricing_model, commitment_days, segment, usd_per_accelerator_hour_median, n_providers, status, n_screened
        FROM prices_daily
        """
    )
    found = {(row[0], (row[1], row[2], row[3]), row[4]): row[5:] for row in rows}
    told = played.truth.market_prices()
    assert found.keys() ^ told.keys() == set()
    wrong = {
        key: (found[key], price) for key, price in told.items()
        if not (near(found[key][0], price.median) and found[key][1:] == (price.providers, price.status, 0))
    }  # fmt: skip
    assert wrong == {}


def near(found: Any, told: float | None) -> bool:
    """Equal but for the nine decimals that the warehouse keeps."""
    if found is None or told is None:
        return found is told
    return abs(float(found) - told) <= 1e-8 + 1e-8 * abs(told)


def test_what_was_seen_in_full_is_known() -> None:
    assert SEEN_IN_FULL - {""} <= EPISODES.keys()
