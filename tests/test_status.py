"""What whoever has forgotten about the ledger is told: ages against promises, gaps, what runs next, and an exit status for a monitor."""

import json
import logging
from pathlib import Path

import pytest

from flows import logs, schedule
from flows.output import say
from tests.command import json_lines, within
from tests.market import Market, at, offer
from warehouse import database


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def status(now: str, *options: str) -> dict[str, dict[str, object]]:
    """Each source's line at a time."""
    lines = json_lines(within("status", "--format", "json", *options, data=database.data_dir(), GPULEDGER_NOW=now))
    return {str(one["source"]): one for one in lines if one["what"] == "source"}


@pytest.mark.slow
def test_ages_gaps_and_reasons(market: Market) -> None:
    market.source("one")
    market.source("never")
    for day in ("2026-02-27T06:00", "2026-03-02T06:00", "2026-03-04T06:00"):
        market.says("one", day, [offer("a")])
    market.says("one", "2026-03-05T06:00", [], outcome="failed", reason="made-up.example answered 503")
    market.update()
    one = status("2026-03-06T18:00:00Z")["one"]
    assert (one["status"], one["reason"]) == ("failed", "made-up.example answered 503")
    assert (one["last_run_at"], one["last_good_at"]) == ("2026-03-05T06:00:00Z", "2026-03-04T06:00:00Z")
    assert (one["age_hours"], one["promised_hours"], one["is_late"]) == (60, 36, True)
    # Of 1 to 5 March, which are over, the 2nd and the 4th had one.
    assert (one["gaps_this_month"], one["slots_this_month"]) == (3, 5)
    assert status("2026-03-06T18:00:00Z", "--within", "3d")["one"]["is_late"] is False
    never = status("2026-03-06T18:00:00Z", "never")
    assert {name: (one["status"], one["is_late"]) for name, one in never.items()} == {"never": ("never", False)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("now", "within_hours", "exit_status"),
    [
        ("2026-03-02T07:00:00Z", None, 0), ("2026-03-04T07:00:00Z", None, 1), ("2026-03-04T07:00:00Z", "3d", 0),
        ("2026-03-02T07:00:00Z", "0h", 1),
    ],
)  # fmt: skip
def test_a_dead_man_check_fails_when_all_is_older_than_promised(
    market: Market, now: str, within_hours: str | None, exit_status: int
) -> None:
    market.source("one")
    market.says("one", "2026-03-02T06:00", [offer("a")])
    market.update()
    options = ["--within", within_hours] if within_hours else []
    done = within("status", "--check", *options, data=database.data_dir(), GPULEDGER_NOW=now)
    assert done.returncode == exit_status, done.stderr
    promised = (within_hours or "36h").replace("h", " h")
    assert (f"promised {promised}" in done.stderr) == (exit_status == 1)


@pytest.mark.slow
def test_a_dead_man_check_tells_one_late_source_from_all(market: Market) -> None:
    market.source("one")
    market.source("two")
    market.says("one", "2026-03-02T06:00", [offer("a")])
    market.says("two", "2026-03-05T06:00", [offer("a")])
    market.update()
    done = within("status", "--check", data=database.data_dir(), GPULEDGER_NOW="2026-03-05T07:00:00Z")
    assert done.returncode == 3
    assert "one: no good collection for 73.0 h, promised 36 h: ok" in done.stderr
    assert "two:" not in done.stderr


def test_an_installation_without_anything_is_late(tmp_path: Path) -> None:
    done = within("status", "--check", data=tmp_path / "none")
    assert done.returncode == 1
    assert "nothing is published yet" in done.stdout
    assert not (tmp_path / "none").exists()


def test_a_time_that_is_none_is_wrong_usage(tmp_path: Path) -> None:
    done = within("status", "--within", "soon", data=tmp_path)
    assert done.returncode == 2
    assert "--within: not a time: 'soon'; write it like 15m, 6h, 1d or 2w" in done.stderr


def test_status_says_when_what_runs_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    schedule.begin("lists", at("2026-03-05T06:10"))
    schedule.end("lists", "partial", "two sources failed")
    lines = json_lines(within("status", "--format", "json", data=tmp_path, GPULEDGER_NOW="2026-03-05T12:00:00Z"))
    planned = {one["deployment"]: one for one in lines if one["what"] == "schedule"}
    assert planned["lists"]["next_run_at"] == "2026-03-06T06:10:00Z"
    assert (planned["lists"]["last_status"], planned["lists"]["last_reason"]) == ("partial", "two sources failed")
    assert planned["marketplaces"]["next_run_at"] == "2026-03-05T12:40:00Z"
    [source, *_] = [one for one in lines if one["what"] == "source" and one["cadence"] == "daily"]
    assert source["next_run_at"] == "2026-03-06T06:10:00Z"


def test_the_log_as_json_has_the_facts_and_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPULEDGER_LOG", "json")
    monkeypatch.setenv("GPULEDGER_VULTR_API_KEY", "s3cr3t-of-vultr")
    logs.set_up()
    try:
        say("vultr: failed: s3cr3t-of-vultr\nand\x1b more", logging.WARNING, source="vultr", offers=3)
        logging.getLogger("some.library").warning("odd %s", "thing")
    finally:
        monkeypatch.delenv("GPULEDGER_LOG")
        logs.set_up()
    ours, theirs = map(json.loads, capsys.readouterr().err.splitlines())
    assert ours.pop("at").endswith("Z")
    assert ours == {
        "level": "warning", "logger": "gpuledger", "message": "vultr: failed: [key]\nand\x1b more", "source": "vultr", "offers": 3,
    }  # fmt: skip
    assert (theirs["logger"], theirs["message"]) == ("some.library", "odd thing")


@pytest.mark.slow
def test_every_line_of_a_command_is_json_when_asked_for(market: Market) -> None:
    market.source("one")
    market.says("one", "2026-03-02T06:00", [offer("a")])
    market.load()
    done = within("build", data=database.data_dir(), GPULEDGER_LOG="json")
    [line] = [json.loads(text) for text in done.stderr.splitlines()]
    assert line["first_day"] == "2026-03-02"
    failed = within("sql", "SELECT", data=database.data_dir(), GPULEDGER_LOG="json")
    [line] = [json.loads(text) for text in failed.stderr.splitlines()]
    assert (line["level"], line["exit_status"]) == ("error", failed.returncode)
    assert within("status", data=database.data_dir(), GPULEDGER_LOG="xml").returncode == 2
