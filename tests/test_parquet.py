"""The Parquet beside the published copy: the same rows, only changed months written, swapped in whole; and the connection from Python."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from flows import steps
from tests.market import Market, offer
from warehouse import connect, database, parquet
from warehouse.database import WarehouseError

Files = dict[str, int]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("parquet"), patch)
        market.source("lambda")
        for day, price in (
            ("2026-01-05", "3.00"),
            ("2026-01-20", "2.90"),
            ("2026-02-10", "2.90"),
            ("2026-03-01", "2.50"),
        ):
            market.says("lambda", day, [offer("a", price), offer("b", "4.00")])
        market.update()
        steps.publish_parquet()
        yield market


@pytest.fixture
def market(built: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    """Every test's own copy."""
    shutil.copytree(built.modules.parent / "data", tmp_path / "data", symlinks=True, dirs_exist_ok=True)
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "data"))
    return built


def files() -> Files:
    """Every file there is and which it is on the disk."""
    here = parquet.folder().resolve()
    return {str(path.relative_to(here)): path.stat().st_ino for path in here.rglob("*.parquet")}


def count(table: str, folder: Path | None = None) -> int:
    [(rows,)] = duckdb.sql(f"SELECT count(*) FROM '{folder or parquet.folder()}/{table}/**/*.parquet'").fetchall()
    return int(rows)


@pytest.mark.slow
def test_every_mart_is_there_with_all_its_rows(market: Market) -> None:
    tables = {name.partition("/")[0] for name in files()}
    assert tables >= {
        "offers", "offers_current", "prices_daily", "provider_prices_daily", "price_index_daily", "basis_prices_daily", "training_hours",
        "training_costs_as_run", "training_cost_frontier", "claims", "provider_coverage", "builds",
    }  # fmt: skip
    with connect() as connection:
        for table in tables - {"training_costs_as_run"}:
            [(rows,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
            assert count(table) == rows, table
        [(rows,)] = connection.execute("SELECT count(*) FROM training_costs WHERE as_run").fetchall()
    assert count("training_costs_as_run") == rows


def test_a_new_day_writes_its_month_and_leaves_the_others(market: Market) -> None:
    before = files()
    market.says("lambda", "2026-03-02", [offer("a", "2.40"), offer("b", "4.00")])
    market.update()
    assert steps.publish_parquet() is not None
    after = files()
    assert {name for name, file in before.items() if after[name] != file and "month=" in name} == {
        name for name in before if "month=2026-03" in name
    }
    assert count("prices_daily") == market.sql("SELECT count(*) FROM prices_daily")[0][0]
    assert steps.publish_parquet() is None, "nothing is new"
    assert files() == after


def test_a_late_day_writes_what_it_changes(market: Market) -> None:
    """The index of every later day, but not the prices of days that it does not reach."""
    before = files()
    market.says("lambda", "2026-02-01", [offer("a", "1.45"), offer("b", "4.00")])
    market.update()
    steps.publish_parquet()
    after = files()
    changed = {name for name, file in before.items() if after[name] != file}
    assert "provider_prices_daily/month=2026-02/provider_prices_daily.parquet" in changed
    assert "provider_prices_daily/month=2026-03/provider_prices_daily.parquet" not in changed
    assert "provider_prices_daily/month=2026-01/provider_prices_daily.parquet" not in changed
    assert count("price_index_daily") == market.sql("SELECT count(*) FROM price_index_daily")[0][0]


@pytest.mark.slow
def test_a_full_build_of_the_same_rows_rewrites_no_month(market: Market) -> None:
    before = files()
    market.build(full=True)
    steps.publish_parquet()
    assert {name for name, file in files().items() if before[name] != file and "month=" in name} == set()


@pytest.mark.slow
def test_months_missed_by_a_killed_run_are_made_up_for(market: Market) -> None:
    for day in ("2026-03-20", "2026-04-02"):
        market.says("lambda", day, [offer("a", "2.40"), offer("b", "4.00")])
        market.update()
    steps.publish_parquet()
    assert count("prices_daily") == market.sql("SELECT count(*) FROM prices_daily")[0][0]


def test_what_cannot_be_written_leaves_the_last_files(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files()
    market.says("lambda", "2026-04-02", [offer("a", "2.40"), offer("b", "4.00")])
    market.update()

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "_swap_in", full_disk)
        with pytest.raises(WarehouseError, match="No space left on device; the last good files stand"):
            steps.publish_parquet()
    assert files() == before
    steps.publish_parquet()
    assert len(list(database.published_file().parent.glob("parquet-*"))) == 2, "the newest and the one before"


def test_who_reads_the_files_before_can_go_on(market: Market) -> None:
    reading = parquet.folder().resolve()
    rows = count("prices_daily", reading)
    market.says("lambda", "2026-04-02", [offer("a", "2.40"), offer("b", "4.00")])
    market.update()
    steps.publish_parquet()
    assert count("prices_daily", reading) == rows


def test_files_of_another_engine_or_none_are_written_anew(market: Market) -> None:
    manifest = parquet.folder() / parquet.MANIFEST
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(duckdb.__version__, "0.0.1"), encoding="utf-8")
    assert steps.publish_parquet() is not None
    manifest.write_text("{", encoding="utf-8")
    assert steps.publish_parquet() is not None
    shutil.rmtree(parquet.folder().resolve())
    assert steps.publish_parquet() is not None
    assert count("prices_daily") == market.sql("SELECT count(*) FROM prices_daily")[0][0]


# The connection from Python.


def test_connect_reads_with_the_macros_and_gives_arrow(market: Market) -> None:
    with connect() as connection:
        rows = connection.execute("FROM cheapest('h100-sxm-80gb')").fetchall()
        assert [row[1] for row in rows] == ["lambda"]
        table = connection.sql("SELECT day, usd_per_accelerator_hour_median FROM prices_daily").to_arrow_table()
        assert isinstance(table, pa.Table)
        assert table.num_rows > 0
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute("DELETE FROM builds")


def test_a_copy_that_is_swapped_while_it_is_opened_is_opened_again(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB would take the head from the one and the rest from the other, and call that damaged, or worse."""
    opened = []

    def open_and_swap(*arguments: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        opened.append(arguments)
        if len(opened) == 1:
            database.publish()
            raise duckdb.IOException("No more data remaining in MetadataReader")
        if len(opened) == 2:
            database.publish()
        return real(*arguments, **options)

    real = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", open_and_swap)
    with connect() as connection:
        assert connection.execute("SELECT count(*) > 0 FROM builds").fetchall() == [(True,)]
    assert len(opened) == 3


def test_importing_the_package_imports_no_database() -> None:
    code = "import sys, warehouse; sys.exit('duckdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("library", "method"), [("pandas", "df"), ("polars", "pl")])
def test_results_as_data_frames(market: Market, library: str, method: str) -> None:
    pytest.importorskip(
        library, reason=f"{library} is not installed: results as its frames are checked in the slow tests"
    )
    with connect() as connection:
        frame = getattr(connection.sql("SELECT day, n_providers FROM prices_daily"), method)()
    assert list(frame.columns) == ["day", "n_providers"]
