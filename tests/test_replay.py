"""Reading the archive again with other parsers: the difference first, then beside the old reading, never in its place."""

import importlib
import inspect
import linecache
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows import steps
from flows.cli import app
from scrapers import shapes, tables
from scrapers.source import load as load_source
from tests.market import Market, offer
from warehouse import database, load
from warehouse.replay import Replayed, replay


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def mend(market: Market, name: str, old: str, new: str) -> None:
    """Another version of a source's parser."""
    path = market.modules / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    sys.modules.pop(f"scrapers.providers.{name}", None)
    importlib.invalidate_caches()
    linecache.clearcache()


READ = "lambda row: [Offer(**row)]"
# Reads a region that the old one left out, drops the test machines, and takes a price for what it is.
BETTER = """lambda row: [] if row["sku"] == "test" else [
        Offer(**row | ({"region": "eu-1"} if row["sku"] == "moved" else {}) | ({"price": "4.00"} if row["sku"] == "dear" else {}))
    ]"""


def filled(market: Market) -> None:
    market.source("one")
    market.source("two", "coreweave")
    for day in ("01", "02"):
        market.says(
            "one", f"2026-03-{day}", [offer("same"), offer("dear", "3.00"), offer("moved"), offer("test", "2.10")]
        )
        market.says("two", f"2026-03-{day}", [offer("b", "5.00")])
    market.update()


def told(done: Replayed) -> set[tuple[Any, ...]]:
    return {(row[0], f"{row[1]:%d}", row[3], row[4], row[9]) for row in done.rows}


def readings(market: Market) -> list[tuple[Any, ...]]:
    with database.connect_working(read_only=True) as connection:
        return connection.execute(
            "SELECT source, CAST(observed_day AS VARCHAR), count(*), count(DISTINCT parser_version) FROM raw.snapshots GROUP BY ALL ORDER BY ALL"
        ).fetchall()


@pytest.mark.slow
def test_the_difference_is_shown_before_anything_is_replaced(market: Market) -> None:
    filled(market)
    assert replay(market.archive) == Replayed(read=4)
    mend(market, "one", READ, BETTER)
    before = market.tables()
    done = replay(market.archive)
    one_day = {("changed", "dear", "price"), ("gone", "moved", None), ("added", "moved", None), ("gone", "test", None)}
    assert told(done) == {("one", day, *change) for day in ("01", "02") for change in one_day}
    assert (done.read, done.differing, done.recorded) == (4, 2, 0)
    assert market.tables() == before
    assert replay(market.archive, "two") == Replayed(read=2)
    assert replay(market.archive, "one", steps.database.now()).read == 0


@pytest.mark.slow
def test_a_new_reading_stands_beside_the_old_and_holds(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-03T00:00:00Z")
    filled(market)
    mend(market, "one", READ, BETTER)
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-10T00:00:00Z")
    done = replay(market.archive, apply=True)
    assert (done.differing, done.recorded) == (2, 2)
    market.build()
    assert readings(market) == [
        ("one", "2026-03-01", 2, 2), ("one", "2026-03-02", 2, 2), ("two", "2026-03-01", 1, 1), ("two", "2026-03-02", 1, 1),
    ]  # fmt: skip
    query = "SELECT DISTINCT sku, region, CAST(price AS DOUBLE) FROM {} WHERE source = 'one' ORDER BY 1"
    new = [("dear", "global", 4.0), ("moved", "eu-1", 2.0), ("same", "global", 2.0)]
    old = [("dear", "global", 3.0), ("moved", "global", 2.0), ("same", "global", 2.0), ("test", "global", 2.1)]
    assert market.sql(query.format("offers")) == new
    assert market.sql(query.format("offers_as_of('2026-03-11')")) == new
    assert market.sql(query.format("offers_as_of('2026-03-04')")) == old
    assert market.sql("SELECT count(*) FROM price_changes") == [(0,)]

    tables = market.tables()
    assert replay(market.archive, apply=True) == Replayed(read=4)
    assert market.build() is None
    assert market.tables() == tables
    market.build(full=True)
    assert market.tables() == tables


@pytest.mark.slow
def test_an_apply_that_is_interrupted_is_completed_by_the_next(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(market)
    mend(market, "one", READ, BETTER)
    monkeypatch.setattr(load, "OFFERS_PER_TRANSACTION", 1)
    write = load.write
    written = []

    def stopped_after_one(connection: database.Connection, batch: list[load.Loaded]) -> None:
        if written:
            raise KeyboardInterrupt
        written.extend(batch)
        write(connection, batch)

    with monkeypatch.context() as patch:
        patch.setattr(load, "write", stopped_after_one)
        with pytest.raises(KeyboardInterrupt):
            replay(market.archive, apply=True)
    assert [row[2] for row in readings(market) if row[0] == "one"] == [2, 1]
    market.build()
    done = replay(market.archive, apply=True)
    assert (done.differing, done.recorded) == (1, 1)
    market.build()
    assert {price for (price,) in market.sql("SELECT price FROM offers WHERE sku = 'dear'")} == {Decimal(4)}
    step_by_step = market.tables()
    market.build(full=True)
    assert market.tables() == step_by_step


@pytest.mark.slow
def test_what_does_not_read_any_more_keeps_its_reading(market: Market) -> None:
    filled(market)
    mend(market, "one", "raise PageError", "pass\n        if len(page.json) == 4:\n            raise PageError")
    done = replay(market.archive, apply=True)
    assert {(one.source, f"{one.observed_at:%d}") for one in done.unread} == {("one", "01"), ("one", "02")}
    assert done.recorded == 0
    assert replay(market.archive, apply=True).recorded == 0
    market.build()
    assert market.sql("SELECT count(*) FROM offers WHERE source = 'one'") == [(8,)]


@pytest.mark.slow
def test_a_parser_that_goes_back_is_read_by_again(market: Market) -> None:
    filled(market)
    mend(market, "one", READ, BETTER)
    replay(market.archive, apply=True)
    mend(market, "one", BETTER, READ)
    assert replay(market.archive, apply=True).recorded == 2
    market.build()
    assert market.sql("SELECT DISTINCT price FROM offers WHERE sku = 'dear'") == [(Decimal(3),)]
    assert replay(market.archive, apply=True).recorded == 0


@pytest.mark.slow
def test_a_page_that_failed_is_read_once_its_parser_is_mended(market: Market) -> None:
    market.source("one")
    market.says(
        "one",
        "2026-03-01",
        b'{"data": [{"sku": "a", "accelerator_name": "H100 SXM 80GB", "accelerator_count": "1", "price": "2", "currency": "USD"}]}',
    )
    [outcome] = market.update()
    assert outcome.status == "failed"
    mend(
        market,
        "one",
        "for page in pages:",
        "for page in pages:\n        if isinstance(page.json, dict):\n            page.__dict__['json'] = page.json['data']",
    )
    done = replay(market.archive, apply=True)
    assert [(row[3], row[4]) for row in done.rows] == [("added", "a")]
    market.build()
    assert market.sql("SELECT sku, index_eligible FROM offers") == [("a", True)]


@pytest.mark.slow
def test_the_command_tells_first_and_replaces_when_told(market: Market) -> None:
    filled(market)
    mend(market, "one", READ, BETTER)
    command = CliRunner()
    shown = command.invoke(app, ["replay", "one", "--since", "2026-03-02", "--format", "csv"])
    assert shown.exit_code == 0
    assert sorted(line.split(",")[3] for line in shown.stdout.splitlines()[1:]) == ["added", "changed", "gone", "gone"]
    assert "1 of 1 collections read otherwise" in shown.stderr
    assert "nothing was replaced" in shown.stderr
    done = command.invoke(app, ["replay", "--apply"])
    assert done.exit_code == 0
    assert "2 new readings recorded" in done.stderr
    assert market.sql("SELECT count(*) FROM offers WHERE sku = 'test'") == [(0,)]
    assert command.invoke(app, ["replay", "--since", "2030-01-01"]).exit_code == 1


def test_a_version_covers_all_that_a_parser_reads_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the modules that it shares with others too, and of those only."""
    text_of = inspect.getsource
    names = ("price_table", "vultr", "azure")
    before = [load_source(name).parser_version for name in names]
    for shared, changed in ((tables, [True, False, False]), (shapes, [True, True, True])):
        monkeypatch.setattr(
            inspect, "getsource", lambda module, of=shared: text_of(module) + "# mended" * (module is of)
        )
        after = [load_source(name).parser_version for name in names]
        assert [one != other for one, other in zip(before, after, strict=True)] == changed
