"""Alerts: each event once by each way, however many builds see it; a file that can't be used is one clear line."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from flows import tell
from scrapers import fetch
from tests.market import Market, offer
from warehouse import alert_events, alerts, database
from warehouse.alerts import AlertsError

FILE = """
[deliver]
file = "told.log"

[[alert]]
kind = "price_below"
accelerator = "H100"
basis = "on_demand_min"
usd_per_accelerator_hour = 2.0

[[alert]]
kind = "index_moved"
accelerator = "h100-sxm-80gb"
percent = 5

[[alert]]
kind = "cheaper_elsewhere"
accelerator = "h100-sxm-80gb"
provider = "lambda"
percent = 10

[[alert]]
kind = "source_stale"
days = 3

[[alert]]
kind = "cost_below"
run = "llama-65b"
cost_usd = 900_000
accelerator = "h100-sxm-80gb"
"""


def says(market: Market, day: str, ours: float, theirs: float) -> None:
    market.says("lambda", day, [offer("a", f"{ours}", accelerator_count="8")])
    market.says("coreweave", day, [offer("a", f"{theirs}", accelerator_count="8")])
    market.update()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("alerts"), patch)
        for name in ("lambda", "coreweave"):
            market.source(name, name)
        says(market, "2026-03-01", 24, 24)
        yield market


@pytest.fixture
def market(built: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    """Every test's own copy, in a folder of its own."""
    shutil.copytree(built.modules.parent / "data", tmp_path / "data", symlinks=True)
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-03")
    monkeypatch.chdir(tmp_path)
    return built


def write(text: str = FILE) -> None:
    Path("alerts.toml").write_text(text, encoding="utf-8")


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Tell, and what came out on stdout."""
    assert tell.tell_alerts()
    return [line.removeprefix("alert: ") for line in capsys.readouterr().out.splitlines()]


def test_without_a_file_nothing_is_told(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys) == []
    assert not (database.data_dir() / "alerts.json").exists()


def test_each_kind_tells_what_it_is_about(
    market: Market, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write()
    assert told(capsys) == []
    says(market, "2026-03-02", 24, 12)
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-06T12:00")
    lines = told(capsys)
    assert [line.split(" (")[0] for line in lines[:3]] == [
        "h100-sxm-80gb is at 1.5 USD an hour on 2026-03-02",
        "the index of h100-sxm-80gb",
        "h100-sxm-80gb: coreweave asks 1.5 USD an hour on 2026-03-02, 50 % less than lambda's 3",
    ]
    assert lines[1].endswith("fell 29.3 % from 2026-03-01 to 2026-03-02")
    assert lines[3:5] == [
        f"{name}: no good collection since 2026-03-02 00:00 UTC, 4.5 days" for name in ("coreweave", "lambda")
    ]
    assert lines[5].startswith("llama-65b costs ")
    assert len(Path("told.log").read_text(encoding="utf-8").splitlines()) == 6
    assert told(capsys) == [], "once"


@pytest.mark.slow
def test_an_event_that_is_over_may_come_again(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    write(FILE[: FILE.index('[[alert]]\nkind = "index')])
    for day, price, lines in (("02", 12, 1), ("03", 12.8, 0), ("04", 20, 0), ("05", 14.4, 1)):
        says(market, f"2026-03-{day}", 24, price)
        assert len(told(capsys)) == lines, day


def test_a_changed_threshold_is_another_question(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE[: FILE.index('[[alert]]\nkind = "index')]
    says(market, "2026-03-02", 24, 12)
    write(text)
    assert len(told(capsys)) == 1
    write(text.replace("2.0", "1.9"))
    assert len(told(capsys)) == 1


def test_the_cheapest_part_stands_where_none_is_named(market: Market) -> None:
    write("[[alert]]\nkind = 'cost_below'\nrun = 'bert-large'\ncost_usd = 1e9\nbasis = 'neocloud_median'\n")
    path = Path("alerts.toml")
    with database.connect_published() as connection:
        found = alert_events.events(connection, path, alerts.read(path))
    assert [one.facts["run"] for one in found] in (["bert-large"], [])


WRONG = {
    "[[alert]\n": "is not TOML",
    "[[alert]]\nkind = 'price_under'\n": "alert 1: Input tag 'price_under'",
    "[[alert]]\nkind = 'price_below'\naccelerator = 'H100'\n": "alert 1 (price_below): usd_per_accelerator_hour: Field required",
    "[[alert]]\nkind = 'price_below'\naccelerator = 'H100'\nusd_per_accelerator_hour = '2'\n": "Input should be a valid number",
    "[[alert]]\nkind = 'price_below'\naccelerator = 'H100'\nusd_per_accelerator_hour = -1.0\n": "greater than 0",
    "[[alert]]\nkind = 'price_below'\naccelerator = 'H1000'\nusd_per_accelerator_hour = 1.0\n": "alert 1 (price_below): no accelerator 'H1000'",
    "[[alert]]\nkind = 'price_below'\naccelerator = 'H100'\nbasis = 'cheap'\nusd_per_accelerator_hour = 1.0\n": "no basis 'cheap'",
    "[[alert]]\nkind = 'source_stale'\nsource = 'lamda'\ndays = 2.0\n": "no source 'lamda'; near it: lambda",
    "[[alert]]\nkind = 'cost_below'\nrun = 'gpt-9'\ncost_usd = 1.0\n": "no training run 'gpt-9'",
    "[[alert]]\nkind = 'index_moved'\naccelerator = 'H100'\npercent = 5.0\nsegment = 'cloud'\n": "segment: Input should be 'hyperscaler'",
    "[deliver]\nmail = 'me'\n": "deliver.mail: Extra inputs are not permitted",
    "[deliver.webhook]\nurl = 'https://hooks.example.com/x'\n": "deliver.webhook.hosts: Field required",
    "[deliver.webhook]\nhosts = ['hooks.example.com']\n": "one of url and url_env belongs here",
}  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), WRONG.items(), ids=lambda text: "")
def test_a_bad_file_is_one_clear_line_that_names_the_alert(
    market: Market, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    write(text)
    assert not tell.tell_alerts()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("alerts: alerts.toml")
    assert problem in line


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_ALERTS", "none.toml")
    with pytest.raises(AlertsError, match=r"GPULEDGER_ALERTS names none\.toml, which is not a file"):
        alerts.file()


def test_a_memory_that_does_not_read_is_named(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    (database.data_dir() / "alerts.json").write_text("{}}", encoding="utf-8")
    assert not tell.tell_alerts()
    assert "alerts.json does not read; move it away" in capsys.readouterr().err


# Webhooks.


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client speaks to a server on this machine."""
    real = fetch.Client

    def client(source: str, **options: object) -> fetch.Client:
        return real(source, allow_loopback=True, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(fetch, "Client", client)


def webhook_file(httpserver: HTTPServer, hosts: str = "localhost") -> str:
    address = httpserver.url_for("/services/T0/B0/s3cr3t-t0ken")
    alert = "[[alert]]\nkind = 'price_below'\naccelerator = 'H100'\nusd_per_accelerator_hour = 2.0\n"
    return f"[deliver]\nstdout = false\n[deliver.webhook]\nurl = '{address}'\nhosts = ['{hosts}']\n{alert}"


def test_a_webhook_gets_one_message_that_slack_takes_too(
    market: Market, httpserver: HTTPServer, loopback: None, capsys: pytest.CaptureFixture[str]
) -> None:
    received = []

    def take(request: Request) -> Response:
        received.append(json.loads(request.data))
        assert request.content_type == "application/json"
        return Response("ok")

    httpserver.expect_request("/services/T0/B0/s3cr3t-t0ken", method="POST").respond_with_handler(take)
    write(webhook_file(httpserver))
    says(market, "2026-03-02", 24, 12)
    assert tell.tell_alerts()
    assert tell.tell_alerts()
    [message] = received
    assert message["text"].startswith("GPU Ledger\n• h100-sxm-80gb is at 1.5 USD an hour")
    [alert] = message["alerts"]
    assert (alert["kind"], alert["day"], alert["usd_per_accelerator_hour"]) == ("price_below", "2026-03-02", 1.5)
    assert capsys.readouterr().out == ""


def test_what_a_webhook_did_not_take_is_told_by_the_next_build_and_its_address_by_nobody(
    market: Market, httpserver: HTTPServer, loopback: None, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([500, 302, 403, 204, 200])
    asked = []

    def take(request: Request) -> Response:
        asked.append(request.path)
        status = next(answers)
        headers = {"Location": httpserver.url_for("/elsewhere")} if status == 302 else {}
        return Response("no such s3cr3t-t0ken", status=status, headers=headers)

    httpserver.expect_request("/services/T0/B0/s3cr3t-t0ken", method="POST").respond_with_handler(take)
    write(webhook_file(httpserver))
    says(market, "2026-03-02", 24, 12)
    assert [tell.tell_alerts() for _ in range(5)] == [False, False, False, True, True]
    problems = capsys.readouterr().err
    assert len(asked) == 4, "each time once, no redirect followed, and no more after the 204"
    assert [line.partition(" answered ")[2][:3] for line in problems.splitlines()] == ["500", "", "403"]
    assert "s3cr3t" not in problems


def test_nothing_is_sent_to_a_host_that_the_file_does_not_name(
    market: Market, httpserver: HTTPServer, loopback: None, capsys: pytest.CaptureFixture[str]
) -> None:
    write(webhook_file(httpserver, hosts="hooks.slack.com"))
    says(market, "2026-03-02", 24, 12)
    assert not tell.tell_alerts()
    assert "localhost is not among the hosts named (hooks.slack.com); nothing was sent" in capsys.readouterr().err
    assert httpserver.log == []


def test_a_webhook_that_is_down_holds_up_nothing_else(market: Market, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE + "[deliver.webhook]\nurl_env = 'GPULEDGER_ALERTS_WEBHOOK'\nhosts = ['hooks.example.com']\n"
    write(text)
    says(market, "2026-03-02", 24, 12)
    assert not tell.tell_alerts()
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) >= 3
    assert shown.err == "alerts: the webhook's address is not in the environment; set GPULEDGER_ALERTS_WEBHOOK\n"
