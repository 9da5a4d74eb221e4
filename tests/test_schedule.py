"""Schedules: when what is due, what was missed, and files of schedules that say something impossible."""

from datetime import timedelta
from pathlib import Path

import pytest

from flows import schedule
from flows.schedule import DEFAULTS, ScheduleError, Turn
from tests.command import within
from tests.conftest import ROOT
from tests.market import Market, at, offer

HOURLY = DEFAULTS[0]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("6h", 21600), ("1d", 86400), ("2w", 1209600), (" 3h ", 10800)]
)
def test_a_duration_reads(text: str, seconds: int) -> None:
    assert schedule.duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "3", "h", "-1h", "1.5h", "1h30m", "1 h", "9999999d", 3, None])
def test_what_is_no_duration_is_said(text: object) -> None:
    with pytest.raises(ValueError, match=r"not a time: .*; write it like 15m, 6h, 1d or 2w"):
        schedule.duration(text)


def test_times_are_utc_whatever_the_clocks_do() -> None:
    # The night in which the clocks of Europe go forward.
    times = [HOURLY.next_after(at("2026-03-29T00:39:59"))]
    while len(times) < 4:
        times.append(HOURLY.next_after(times[-1]))
    assert [f"{one:%H:%M %Z}" for one in times] == ["00:40 UTC", "01:40 UTC", "02:40 UTC", "03:40 UTC"]
    assert HOURLY.last_before(at("2026-03-29T00:40:00")) == at("2026-03-29T00:40:00")
    digest = next(one for one in DEFAULTS if one.name == "digest")
    assert f"{digest.next_after(at('2028-02-28T12:00')):%a %Y-%m-%d %H:%M}" == "Mon 2028-03-06 07:20"


def test_a_file_changes_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "schedules.toml"
    file.write_text('[marketplaces]\nevery = "15m"\nfirst = 2026-01-01T02:00:00+02:00\njitter = "30s"\n')
    monkeypatch.setenv("GPULEDGER_SCHEDULES", str(file))
    changed, *others = schedule.schedules()
    assert (changed.every, changed.first, changed.jitter) == (
        timedelta(minutes=15), at("2026-01-01T00:00"), timedelta(seconds=30),
    )  # fmt: skip
    assert others == list(DEFAULTS[1:])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[lists", "is not TOML"),
        ("[list]\n", "no deployment 'list'; there is marketplaces, lists, report, digest"),
        ("[lists]\nevery = 5\n", "lists.every: not a time: 5; write it like"),
        ("[lists]\nevery = '1s'\n", "lists.every: at least 30s"),
        ("[lists]\njitter = '1d'\n", "lists.jitter: shorter than every"),
        ("[lists]\nfirst = 'noon'\n", "lists.first: "),
        ("[lists]\nevry = '1d'\n", "lists.evry: Extra inputs are not permitted"),
        ("lists = 3\n", "lists: "),
    ],
)
def test_a_file_that_can_not_be_used_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "odd.toml"
    file.write_text(text)
    done = within("serve", "--show", "--schedules", str(file), data=tmp_path / "data")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert told in line
    assert within("serve", "--show", "--schedules", "none.toml", data=tmp_path / "data").returncode == 1


def test_what_was_missed_is_made_up_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    now = at("2026-03-05T12:00")
    assert not schedule.is_missed(HOURLY, now), "what never ran is new"
    kept = schedule.Turns(turns=[turn("2026-03-05T08:40"), turn("2026-03-05T09:40")])
    write(kept)
    assert schedule.is_missed(HOURLY, now)
    write(schedule.Turns(turns=[*kept.turns, turn("2026-03-05T11:40", started="2026-03-05T11:44")]))
    assert not schedule.is_missed(HOURLY, now)
    # That one did for those of 10:40 and 11:40, whenever Prefect hands them out.
    assert schedule.is_covered("marketplaces", at("2026-03-05T10:40"))
    assert not schedule.is_covered("marketplaces", at("2026-03-05T11:40")), "itself, handed out again"
    assert not schedule.is_covered("marketplaces", at("2026-03-05T12:40"))


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_a_run_that_was_killed_is_made_up_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    now = at("2026-03-05T12:00")
    killed = turn("2026-03-05T11:40", status=status)
    write(schedule.Turns(turns=[killed]))
    assert schedule.is_missed(HOURLY, now)
    write(schedule.Turns(turns=[killed, turn("2026-03-05T11:50", status=status)]))
    assert not schedule.is_missed(HOURLY, now), "killed again: it waits for its next time"
    write(schedule.Turns(turns=[turn("2026-03-05T11:40", status="failed")]))
    assert not schedule.is_missed(HOURLY, now), "it did run"


def turn(scheduled: str, started: str | None = None, status: str = "ok") -> Turn:
    return Turn(scheduled_at=at(scheduled), started_at=at(started or scheduled), ended_at=None, status=status)


def write(turns: schedule.Turns) -> None:
    schedule._write("marketplaces", turns)


def test_the_record_keeps_the_newest_and_a_damaged_one_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path))
    monkeypatch.setattr(schedule, "MOST_TURNS", 3)
    for minute in range(5):
        schedule.begin("lists", at(f"2026-03-05T12:0{minute}"))
        schedule.end("lists", "ok")
    assert [f"{one.scheduled_at:%M}" for one in schedule.turns("lists").turns] == ["02", "03", "04"]
    (tmp_path / "schedules" / "lists.json").write_text("{")
    with pytest.raises(ScheduleError, match="does not read; remove it"):
        schedule.turns("lists")


def test_what_each_deployment_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import steps

    market = Market(tmp_path, monkeypatch)
    for name, cadence in (("hour", "hourly"), ("day", "daily"), ("week", "weekly")):
        market.source(name)
        file = market.modules / f"{name}.py"
        file.write_text(file.read_text().replace("terms=", f"cadence={cadence!r}, terms="))
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-09T06:10:00Z")
    assert (steps.hourly_sources(), steps.list_sources()) == (["hour"], ["day", "week"])
    market.says("week", "2026-03-04T06:10", [offer("a")])
    assert steps.list_sources() == ["day"]
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-11T06:11:00Z")
    assert steps.list_sources() == ["day", "week"]


def test_prefect_yaml_has_the_same_schedules() -> None:
    import yaml

    told = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    deployments = {one["name"]: one for one in told["deployments"]}
    assert list(deployments) == [one.name for one in DEFAULTS]
    for one in DEFAULTS:
        mine = deployments[one.name]
        [times] = mine["schedules"]
        assert (times["interval"], times["anchor_date"], times["timezone"]) == (
            one.every.total_seconds(), one.first.isoformat(), "UTC",
        )  # fmt: skip
        assert mine["parameters"] == {"jitter_seconds": one.jitter.total_seconds()}
        assert (mine["description"], mine["concurrency_limit"]["limit"]) == (one.does, 1)
        assert mine["work_pool"]["name"] == "gpuledger"


@pytest.mark.slow
def test_prefect_yaml_names_flows_that_take_what_it_gives() -> None:
    import yaml
    from prefect.flows import load_flow_from_entrypoint

    told = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    for one in told["deployments"]:
        flow = load_flow_from_entrypoint(str(ROOT / one["entrypoint"]))
        assert one["parameters"].items() <= flow.validate_parameters(one["parameters"]).items()
