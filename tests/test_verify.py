"""Published rows are what the raw rows give, and whoever changes them is found out."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.market import Market, offer
from warehouse import database
from warehouse.verify import Comparison, verify


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A published copy, built day by day."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("verify"), patch)
        for name in ("lambda", "coreweave"):
            market.source(name, name)
        for day in (1, 2):
            for name, price in (("lambda", 2.0), ("coreweave", 3.0)):
                market.says(name, f"2026-03-0{day}", [offer("a", price - day / 10), offer("b", price)])
            market.update()
        yield database.published_file()


@pytest.fixture(autouse=True)
def published(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of it to each test."""
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    database.published_file().parent.mkdir()
    shutil.copyfile(built, database.published_file())


def differing() -> dict[str, Comparison]:
    return {one.table: one for one in verify().comparisons if not one.agrees}


def change(sql: str) -> None:
    with duckdb.connect(str(database.published_file())) as connection:
        connection.execute(sql)


@pytest.mark.slow
def test_what_was_built_day_by_day_verifies_and_leaves_nothing_behind() -> None:
    found = verify()
    assert (found.agrees, found.note) == (True, "")
    assert sum(one.published for one in found.comparisons if one.table == "main.prices_daily") > 0
    assert [path for path in database.data_dir().iterdir() if path.name.startswith(".scratch")] == []


@pytest.mark.slow
def test_a_changed_a_missing_and_a_made_up_row_are_named() -> None:
    change(
        "UPDATE prices_daily SET usd_per_accelerator_hour_median = 1.23 WHERE day = '2026-03-02' AND segment = 'all'"
    )
    change("DELETE FROM provider_prices_daily WHERE day = '2026-03-02' AND provider = 'lambda'")
    change(
        "INSERT INTO basis_prices_daily BY NAME SELECT * REPLACE (DATE '2026-03-09' AS day) FROM basis_prices_daily LIMIT 1"
    )
    found = differing()
    assert found["main.prices_daily"].differing == 1
    assert found["main.prices_daily"].example == "2026-03-02 h100-sxm-80gb on_demand 0 all"
    assert found["main.provider_prices_daily"].only_recomputed == 1
    assert found["main.basis_prices_daily"].only_published == 1


@pytest.mark.slow
def test_the_last_digit_of_a_sum_is_no_difference_and_more_is() -> None:
    change("UPDATE prices_daily SET usd_per_gb_hour = usd_per_gb_hour * (1 + 1e-12)")
    assert differing() == {}
    change("UPDATE prices_daily SET usd_per_gb_hour = usd_per_gb_hour * (1 + 1e-6)")
    assert set(differing()) == {"main.prices_daily"}


@pytest.mark.slow
def test_a_view_that_says_something_else_is_named() -> None:
    change("UPDATE intermediate.matched_pairs SET mean_log_relative = -1 WHERE day = '2026-03-02'")
    found = differing()
    assert set(found) == {"intermediate.matched_pairs", "main.price_index_daily"}
    assert "price_index" in found["main.price_index_daily"].example


@pytest.mark.slow
def test_rows_of_other_rules_are_told_apart_from_faults() -> None:
    change("UPDATE builds SET reference_hash = 'older'")
    found = verify()
    assert found.agrees
    assert "the reference rows are others than those of build" in found.note
