"""Pages that have not changed are not sent again and are seen all the same; a source that keeps failing is left alone, and never in silence."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from flows import steps
from scrapers.archive import Archive
from scrapers.breaker import FAILURES_IN_A_ROW, FIRST_REST, LONGEST_REST, Streak
from scrapers.collect import pages_from_network
from scrapers.fetch import Client
from scrapers.politeness import Politeness
from scrapers.source import Page
from scrapers.unchanged import LONGEST, Validators
from tests.command import within
from tests.market import Market, at, offer

NOON = at("2026-03-02T12:00")


class Host:
    """A host on this machine whose pages have validators, and a collector of them whose clock is told."""

    def __init__(self, server: HTTPServer, archive: Archive) -> None:
        self.archive = archive
        self.server = server
        self.bodies = {"/1": b"one", "/2": b"two"}
        self.asked: list[tuple[str, int, dict[str, str]]] = []
        self.by_date = False
        self.status = 200
        self.now = NOON
        self.date = True
        server.expect_request("/robots.txt").respond_with_data("", status=404)
        for path in self.bodies:
            server.expect_request(path).respond_with_handler(self.respond)

    def respond(self, request: Request) -> Response:
        body = self.bodies[request.path]
        tag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        told = {"If-None-Match": tag} if not self.by_date else {"If-Modified-Since": "Mon, 02 Mar 2026 08:00:00 GMT"}
        sent = {
            name: request.headers[name] for name in ("If-None-Match", "If-Modified-Since") if name in request.headers
        }
        is_same = self.status == 200 and sent.items() >= told.items()
        status = 304 if is_same else self.status
        headers = {"ETag": tag} if not self.by_date else {"Last-Modified": told["If-Modified-Since"]}
        if self.date:
            headers["Date"] = self.now.strftime("%a, %d %b %Y %H:%M:%S GMT")
        self.asked.append((request.path, status, sent))
        return Response(b"" if is_same else body, status=status, headers=headers)

    def collect(self, hours: float = 0, paths: tuple[str, ...] = ("/1", "/2"), **more: Any) -> Any:
        self.now = NOON + timedelta(hours=hours)
        self.asked.clear()

        def fetch(client: Client) -> Iterator[Page]:
            for path in paths:
                yield client.get(self.server.url_for(path))

        def client() -> Client:
            manners = Politeness(sleep=lambda _: None)
            return Client(
                "made_up", kind="api", politeness=manners, allow_loopback=True,
                known=self.archive.known_pages("made_up"), now=lambda: self.now,
            )  # fmt: skip

        return pages_from_network("made_up", fetch, self.archive, client, lambda: self.now, **more)

    def statuses(self) -> list[int]:
        return [status for _, status, _ in self.asked]


@pytest.fixture
def host(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("NO_PROXY", "*")
    # Its own Date header would be that of this machine.
    monkeypatch.setattr(
        "werkzeug.serving.WSGIRequestHandler.date_time_string",
        lambda *_: host.now.strftime("%a, %d %b %Y %H:%M:%S GMT"),
    )
    host = Host(httpserver, Archive(tmp_path / "archive"))
    return host


# --- Not changed


@pytest.mark.parametrize("by_date", [False, True])
def test_what_has_not_changed_is_seen_and_stored_once(host: Host, by_date: bool) -> None:
    host.by_date = by_date
    first = host.collect()
    later = host.collect(hours=1)
    assert host.statuses() == [304, 304]
    assert later.outcome == "collected"
    assert later.snapshot_id != first.snapshot_id
    assert later.content_hash == first.content_hash
    assert [page.body for page in host.archive.pages(later)] == [b"one", b"two"]
    assert len(list((host.archive.root / "objects").glob("*/*.gz"))) == 2


def test_of_several_pages_each_is_asked_by_its_own(host: Host) -> None:
    host.collect()
    host.bodies["/2"] = b"two, changed"
    later = host.collect(hours=1)
    assert host.statuses() == [304, 200]
    assert [page.body for page in host.archive.pages(later)] == [b"one", b"two, changed"]
    again = host.collect(hours=2)
    assert host.statuses() == [304, 304]
    assert again.content_hash == later.content_hash


def test_a_url_asked_twice_is_asked_in_full(host: Host) -> None:
    host.collect(paths=("/1", "/1"))
    host.collect(hours=1, paths=("/1", "/1"))
    assert host.statuses() == [200, 200]


def test_where_the_body_is_gone_it_is_asked_for_again(host: Host) -> None:
    host.collect()
    body = host.archive.root / "objects" / (digest := hashlib.sha256(b"one").hexdigest())[:2] / f"{digest}.gz"
    body.unlink()
    later = host.collect(hours=1)
    assert host.statuses() == [304, 200, 304]
    assert [page.body for page in host.archive.pages(later)] == [b"one", b"two"]


def test_after_a_week_it_is_asked_in_full(host: Host) -> None:
    host.collect()
    hours = LONGEST.total_seconds() / 3600
    host.collect(hours=hours / 2)
    host.collect(hours=hours - 1)
    assert host.statuses() == [304, 304]
    host.collect(hours=hours + 1)
    assert host.statuses() == [200, 200]
    host.collect(hours=hours + 2)
    assert host.statuses() == [304, 304]


def test_a_failure_between_takes_nothing_away(host: Host) -> None:
    host.collect()
    host.status = 404
    assert host.collect(hours=1).outcome == "failed"
    host.status = 200
    assert host.collect(hours=2).outcome == "collected"
    assert host.statuses() == [304, 304]


@pytest.mark.parametrize("tag", ['"a\u00e9"', '"' + "x" * 600 + '"', '"made-up-key-0123456789"'])
def test_a_validator_that_is_none_is_not_kept(host: Host, monkeypatch: pytest.MonkeyPatch, tag: str) -> None:
    from scrapers.redaction import Redactor
    from scrapers.unchanged import validators_of

    redactor = Redactor()
    redactor.add("made-up-key-0123456789")
    assert not validators_of({"etag": tag}, redactor.text, NOON)
    assert validators_of({"etag": 'W/"fine"'}, redactor.text, NOON) == Validators('W/"fine"', "", NOON)


def test_304_that_nobody_asked_for_is_a_failure(host: Host) -> None:
    host.status = 304
    manifest = host.collect()
    assert (manifest.outcome, "304" in manifest.reason) == ("failed", True)


# --- Clocks


@pytest.mark.parametrize(("apart", "outcome"), [(23, "collected"), (-23, "collected"), (25, "failed"), (-25, "failed")])
def test_a_clock_that_no_host_agrees_with_puts_no_price_on_a_wrong_day(
    host: Host, monkeypatch: pytest.MonkeyPatch, apart: int, outcome: str
) -> None:
    true = NOON + timedelta(hours=apart)
    monkeypatch.setattr(
        "werkzeug.serving.WSGIRequestHandler.date_time_string", lambda *_: true.strftime("%a, %d %b %Y %H:%M:%S GMT")
    )
    host.date = False
    manifest = host.collect()
    assert manifest.outcome == outcome
    assert ("set the clock" in manifest.reason) == (outcome == "failed")
    assert manifest.streak.failures == 0


def test_one_host_with_a_wrong_clock_is_not_believed_against_another() -> None:
    manners = Politeness()
    assert manners.is_clock_doubtful("a", agrees=False)
    assert not manners.is_clock_doubtful("b", agrees=True)
    assert not manners.is_clock_doubtful("a", agrees=False)


# --- Left alone


def test_rests_double_to_a_week_and_end() -> None:
    for failures in range(FAILURES_IN_A_ROW):
        assert Streak(failures, NOON).rests_until(NOON) is None
    rests = [Streak(failures, NOON).rests_until(NOON) for failures in range(FAILURES_IN_A_ROW, 40)]
    assert rests[0] == NOON + FIRST_REST
    assert rests[1] == NOON + 2 * FIRST_REST
    assert rests[-1] == NOON + LONGEST_REST
    assert rests == sorted(one for one in rests if one)
    assert Streak(FAILURES_IN_A_ROW, NOON).rests_until(NOON + FIRST_REST) is None
    # Tried by a clock that was ahead.
    assert Streak(9, NOON).rests_until(NOON - timedelta(days=400)) is None


@pytest.mark.slow
def test_a_source_that_keeps_failing_is_asked_less_often_and_each_time_says_so(host: Host) -> None:
    host.status = 404
    tried = [hour for hour in range(72) if host.collect(hours=hour).outcome == "failed"]
    assert tried == [0, 1, 2, 3, 4, 10, 22, 46]
    manifest = host.collect(hours=72)
    assert host.asked == []
    assert manifest.outcome == "skipped"
    assert (
        manifest.reason
        == "failed 8 times in a row, so it is next asked after 2026-03-06 10:00 UTC; at once with: gpuledger collect made_up"
    )
    # A person's word goes before it, and a success ends it.
    host.status = 200
    assert host.collect(hours=73, is_asked_for=True).outcome == "collected"
    assert host.collect(hours=74).outcome == "collected"
    assert host.statuses() == [304, 304]


def test_being_offline_counts_against_nobody(host: Host) -> None:
    with HTTPServer() as closed:
        host.server = closed  # the other tests go on with theirs
    for hour in range(8):
        manifest = host.collect(hours=hour)
        assert (manifest.outcome, manifest.streak.failures) == ("failed", 0)
    assert "could not reach" in manifest.reason


def test_a_source_left_alone_shows_in_sources_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    market = Market(tmp_path, monkeypatch)
    market.source("down")
    market.source("well")
    market.says(
        "down", "2026-03-01T12:00", b"", outcome="failed", reason="503", streak=Streak(5, at("2026-03-01T12:00"))
    )
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-01T13:00:00Z")
    monkeypatch.setattr(steps, "collect_rates", lambda: None)
    monkeypatch.setattr(steps, "collect_curated", list)
    body = json.dumps([offer("a")]).encode()
    monkeypatch.setattr(
        "scrapers.source.Adapter.fetch", lambda self, _: iter([Page("https://made-up.example/", body, "page.json")])
    )
    done = within("collect", data=tmp_path / "data")
    assert done.returncode == 3  # the first failure is loaded with it
    assert "down: skipped: failed 5 times in a row" in done.stderr
    told = [
        json.loads(line) for line in within("sources", "--format", "json", data=tmp_path / "data").stdout.splitlines()
    ]
    assert {one["source"]: one["status"] for one in told}.items() >= {"down": "skipped", "well": "ok"}.items()
    assert "at once with: gpuledger collect down" in next(one["reason"] for one in told if one["source"] == "down")
    done = within(
        "collect", "down", data=tmp_path / "data", GPULEDGER_NOW=datetime(2026, 3, 1, 14, tzinfo=UTC).isoformat()
    )
    assert (done.returncode, "1 collections of 1 sources" in done.stderr) == (0, True)
