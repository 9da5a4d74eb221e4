"""The checks before publishing: an error keeps the last good copy and says so everywhere, a warning is published with the word."""

from pathlib import Path

import pytest

from flows import steps
from tests.command import json_lines, within
from tests.market import Market, offer
from warehouse import database, gates, health
from warehouse.model import all_checks

DAYS = ("2026-03-01T06:00", "2026-03-02T06:00")


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-02T12:00:00Z")
    return Market(tmp_path, monkeypatch)


def folder() -> Path:
    return database.data_dir()


def test_every_check_says_what_must_hold_and_how_severe_it_is() -> None:
    for name, sql in all_checks().items():
        lines = sql.splitlines()
        assert lines[0].startswith("-- "), name
        assert lines[1].startswith("-- severity: "), name
    found = {gates.severity_of(name, sql) for name, sql in all_checks().items()}
    assert found == {"error", "warn", "info"}


def test_a_severity_that_there_is_not_is_an_error() -> None:
    with pytest.raises(gates.SeverityError, match="check odd: no severity 'fatal'; there is error, warn, info"):
        gates.severity_of("odd", "-- Says.\n-- severity: fatal\nSELECT 1")


@pytest.mark.slow
def test_a_failed_gate_keeps_the_last_good_copy_and_says_so(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    market.source("one")
    market.says("one", DAYS[0], [offer("a", "2.00")])
    market.update()
    [(build_id,)] = market.sql("SELECT build_id FROM builds")
    market.says("one", DAYS[1], [offer("a", "3.00")])
    market.load()
    with monkeypatch.context() as patch:
        failing = "-- No price is three.\n-- severity: error\nSELECT price FROM offers WHERE price = 3"
        patch.setattr("warehouse.build.all_checks", lambda: {"no_three": failing})
        done = within("build", data=folder())
        assert done.returncode == 1
        assert "check no_three found rows, so nothing was changed and the last good copy stands" in done.stderr
    assert market.sql("SELECT build_id, max(price) FROM builds, offers GROUP BY ALL") == [(build_id, 2)]
    # The copy that stands is what it was; everything that looks says why it is no newer.
    [ledger, *_] = json_lines(within("status", "--format", "json", data=folder()))
    assert ledger["build_id"] == build_id
    assert "failed its check no_three (No price is three.); build " + build_id in ledger["failed_build"]
    shown = within("status", "--check", data=folder())
    assert shown.returncode == 1
    assert "NOT published since: the build of 2026-03-02 12:00 UTC failed its check no_three" in shown.stdout
    assert "failed its check no_three" in steps.report().read_text(encoding="utf-8")
    assert any(one.what == "gate" and not one.is_well for one in health.doctor())
    # The next build that passes is published, and nobody speaks of it any more; the record stays.
    assert within("build", data=folder()).returncode == 0
    assert "failed its check" not in steps.report().read_text(encoding="utf-8")
    assert json_lines(within("status", "--format", "json", data=folder()))[0]["failed_build"] == ""
    assert market.sql("SELECT is_published, check_name, rows_found FROM gate_results WHERE severity = 'error'") == [
        (False, "no_three", 1)
    ]


@pytest.mark.slow
def test_a_warning_is_published_with_the_word(market: Market) -> None:
    market.source("one")
    market.says("one", DAYS[0], [offer(sku, "2.00") for sku in "abcdef"])
    market.update()
    # Four of six up by half: too few for a change of unit, too many for a usual day.
    market.says("one", DAYS[1], [offer(sku, "3.00" if sku < "e" else "2.00") for sku in "abcdef"])
    market.load()
    done = within("build", data=folder())
    assert done.returncode == 0, done.stderr
    told = (
        "warn: No source has half or more of its prices leap from one collection to the next. (source_prices_leapt: 1,"
    )
    assert told in done.stderr
    assert market.sql("SELECT count(*) FROM offers") == [(12,)]
    assert market.sql("SELECT is_published, check_name FROM gate_results WHERE severity = 'warn' ORDER BY 2") == [
        (True, "source_prices_leapt")
    ]
    page = steps.report()
    assert "Published with 1 warning:" in page.read_text(encoding="utf-8")
    assert "source_prices_leapt" in (page.parent / "coverage.html").read_text(encoding="utf-8")
    assert told in within("status", data=folder()).stdout


@pytest.mark.slow
def test_drift_holds_each_source_against_its_run_before(market: Market) -> None:
    market.source("one")
    market.source("once")
    market.says("one", DAYS[0], [offer("a", "2.00"), offer("b", "4.00"), offer("c", "5.00")])
    market.says(
        "one", DAYS[1], [offer("a", "2.20"), offer("b", "4.00"), offer("d", "6.00", accelerator_name="Zzyzx 9")]
    )
    market.says("once", DAYS[1], [offer("a", "2.00")])
    market.update()
    [row] = market.sql(
        "SELECT source, offers, offers_before, offers_new, offers_gone, prices_compared, prices_changed, prices_leapt,"
        " round(median_change_percent, 6), names_unknown, names_unknown_new FROM source_drift"
    )
    assert row == ("one", 3, 3, 1, 1, 2, 1, 0, 5.0, 1, 1)
    assert market.sql("SELECT severity, check_name FROM gate_results") == [("info", "names_are_known")]


@pytest.mark.slow
def test_a_withheld_collection_is_listed_decided_and_recorded(market: Market) -> None:
    market.source("one", offers=range(2, 100))
    market.says("one", DAYS[0], [offer("a"), offer("b")])
    market.says("one", DAYS[1], [offer("a")])
    market.update()
    [row] = json_lines(within("quarantine", "--format", "json", data=folder()))
    assert (row["source"], row["offers"], row["reason"]) == ("one", 1, "1 offers, normal is 2 to 99")
    assert (row["decided_by"], row["waits_for"], row["offers_last_good"]) == ("rule", "gpuledger accept or reject", 2)
    assert within("quarantine", data=folder()).stderr.startswith("1 of 1 wait; decide with: gpuledger accept ")
    assert "1 collections wait for a decision" in within("status", data=folder()).stdout
    assert market.sql("SELECT check_name FROM gate_results WHERE severity = 'warn'") == [("sources_are_not_withheld",)]
    for command, verdict in (("accept", "accepted"), ("reject", "withheld")):
        assert within(command, row["snapshot_id"], "--reason", "looked at it", data=folder()).returncode == 0
        assert json_lines(within("quarantine", "--format", "json", data=folder())) == []
        [decided] = json_lines(within("quarantine", "--decided", "--format", "json", data=folder()))
        assert (decided["reason"], decided["decided_by"] != "rule") == ("looked at it", True)
        assert decided["waits_for"].startswith(f"{verdict} by ")
        assert market.sql("SELECT count(*) FROM offers WHERE day = '2026-03-02' AND index_eligible") == [
            (int(command == "accept"),)
        ]
    assert market.sql("SELECT DISTINCT build_id FROM gate_results") != market.sql("SELECT build_id FROM builds")
    assert len(market.sql("SELECT * FROM raw.verdicts WHERE decided_by <> 'rule'")) == 2
