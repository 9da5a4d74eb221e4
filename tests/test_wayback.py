"""Archived pages, asked of a server on this machine that behaves as the Internet Archive's does, faults included."""

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from flows import cli, steps
from scrapers import fetch, wayback
from scrapers.archive import Manifest
from scrapers.fetch import Client
from scrapers.politeness import Politeness
from scrapers.source import Adapter
from scrapers.wayback import Copy, Skipped, Wanted, WaybackError, listed
from tests.market import Market, offer

PAGE = "https://made-up.example/pricing"
OLD = "http://made-up.example/prices.html"
FIELDS = ["timestamp", "original", "mimetype", "statuscode", "digest"]


class Internet:
    """The archive: copies of pages, and how it fails to give them."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.copies: dict[str, list[list[str]]] = {}
        self.bodies: dict[str, bytes] = {}
        self.faults: dict[str, list[Callable[[Request], Response]]] = {}
        """Answers that a timestamp gives first, one after the other; the last one for ever if it stands twice."""
        self.asked: list[str] = []
        self.times: list[float] = []
        self.listed_at_once = 10_000
        server.expect_request("/cdx/search/cdx").respond_with_handler(self._list)
        server.expect_request("/robots.txt").respond_with_data("User-agent: *\nDisallow: /\n")
        server.expect_request(re.compile("^/web/.*")).respond_with_handler(self._give)

    @property
    def origin(self) -> str:
        return self.server.url_for("").rstrip("/")

    def has(
        self,
        timestamp: str,
        body: bytes,
        url: str = PAGE,
        status: str = "200",
        mime: str = "text/html",
        digest: str = "",
    ) -> None:
        self.copies.setdefault(url, []).append([timestamp, url, mime, status, digest or f"D{timestamp}"])
        self.bodies[timestamp] = body

    def _list(self, request: Request) -> Response:
        self.asked.append("list")
        if "filter" in request.args or "collapse" in request.args:
            return Response("<html>503 Service Unavailable</html>", 503)
        rows = self.copies.get(request.args["url"], [])
        low, high = request.args.get("from", "0"), request.args.get("to", "9") + "9" * 6
        rows = [row for row in rows if low <= row[0] <= high]
        start = int(request.args.get("resumeKey", "0"))
        at_once = min(self.listed_at_once, int(request.args["limit"]))
        shown: list[list[str]] = [FIELDS, *rows[start : start + at_once]] if rows else []
        if start + at_once < len(rows):
            shown += [[], [str(start + at_once)]]
        return Response(json.dumps(shown) + "\n", mimetype="application/json")

    def _give(self, request: Request) -> Response:
        timestamp = request.path.split("/")[2].removesuffix("id_")
        self.asked.append(timestamp)
        self.times.append(time.monotonic())
        if faults := self.faults.get(timestamp):
            return faults.pop(0)(request)
        return Response(self.bodies[timestamp], mimetype="text/html")


def to(path: str) -> Callable[[Request], Response]:
    return lambda request: Response("", 302, {"Location": path})


def says(status: int, **headers: str) -> Callable[[Request], Response]:
    return lambda request: Response("no", status, {name.replace("_", "-"): value for name, value in headers.items()})


def cut(request: Request) -> Response:
    return Response([b"[{half a"], 200, {"Content-Length": "5000"}, direct_passthrough=True)


@pytest.fixture
def internet(httpserver: HTTPServer) -> Internet:
    return Internet(httpserver)


class Pace:
    """Time that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def pace() -> Pace:
    return Pace()


@pytest.fixture
def client(pace: Pace) -> Iterator[Client]:
    manners = Politeness(pause_seconds=wayback.PAUSE_SECONDS, sleep=pace.sleep, clock=pace.clock)
    with Client("wayback made_up", kind="api", politeness=manners, allow_loopback=True) as made:
        yield made


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


@pytest.fixture
def adapter(market: Market) -> Adapter:
    market.source("made_up", "lambda", kind="page")
    [found] = steps.live_sources(["made_up"])
    return found


Fill = Callable[..., list[Manifest | Skipped]]


@pytest.fixture
def fill(internet: Internet, client: Client, adapter: Adapter, market: Market) -> Fill:
    def run(**words: object) -> list[Manifest | Skipped]:
        wanted = Wanted(**{"urls": (PAGE,)} | words)  # type: ignore[arg-type]
        return list(wayback.backfill(adapter, market.archive, client, wanted, origin=internet.origin))

    return run


def prices(usd: str) -> bytes:
    return json.dumps([offer("a", usd)]).encode()


def outcomes(found: list[Manifest | Skipped]) -> list[tuple[str, str]]:
    return [
        ("skipped", one.copy.timestamp)
        if isinstance(one, Skipped)
        else (one.outcome, f"{one.observed_at:%Y%m%d%H%M%S}")
        for one in found
    ]


@pytest.mark.slow
def test_one_copy_a_week_at_its_own_time_parsed_by_the_source_itself(
    internet: Internet, fill: Fill, market: Market, pace: Pace
) -> None:
    internet.has("20230102030405", prices("2.00"))
    internet.has("20230104000000", prices("9.99"))
    internet.has("20230109000000", prices("2.10"), status="301")
    internet.has("20230110000000", prices("2.20"), mime="warc/revisit")
    internet.has("20230111000000", prices("2.30"), status="-")
    internet.has("20230112131415", prices("2.40"))
    assert outcomes(fill()) == [("collected", "20230102030405"), ("collected", "20230112131415")]
    assert internet.asked == ["list", "20230102030405", "20230112131415"]
    market.update()
    rows = market.sql("SELECT observed_at, source_kind, price, snapshot_id FROM offers ORDER BY 1")
    assert [(at.astimezone(UTC), kind, float(price)) for at, kind, price, _ in rows] == [
        (datetime(2023, 1, 2, 3, 4, 5, tzinfo=UTC), "archived_page", 2.0),
        (datetime(2023, 1, 12, 13, 14, 15, tzinfo=UTC), "archived_page", 2.4),
    ]
    assert market.sql("SELECT urls FROM staging.snapshots ORDER BY observed_at LIMIT 1") == [
        ([f"{internet.origin}/web/20230102030405id_/{PAGE}"],)
    ]
    assert min(pace.waits) >= wayback.PAUSE_SECONDS - 0.1


def test_pauses_are_long_enough_by_the_clock(
    internet: Internet, adapter: Adapter, market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wayback, "PAUSE_SECONDS", 0.2)
    for day in range(1, 4):
        internet.has(f"2023010{day}000000", prices("2.00"))
    with Client(
        "x", kind="api", politeness=Politeness(pause_seconds=wayback.PAUSE_SECONDS), allow_loopback=True
    ) as client:
        list(wayback.backfill(adapter, market.archive, client, Wanted((PAGE,), every="day"), origin=internet.origin))
    gaps = [later - earlier for earlier, later in zip(internet.times, internet.times[1:], strict=False)]
    assert len(gaps) == 2
    assert min(gaps) >= 0.2


def test_it_goes_on_where_it_stopped_and_asks_nothing_twice(internet: Internet, fill: Fill) -> None:
    internet.has("20230102000000", prices("2.00"))
    fill()
    internet.has("20230109000000", prices("2.10"))
    assert outcomes(fill()) == [("collected", "20230109000000")]
    assert fill() == []
    assert [one for one in internet.asked if one != "list"] == ["20230102000000", "20230109000000"]


def test_a_redirect_to_another_time_is_refused_and_the_weeks_next_copy_taken(
    internet: Internet, fill: Fill, market: Market
) -> None:
    for day in ("02", "03", "04"):
        internet.has(f"202301{day}000000", prices("2.00"))
    internet.faults["20230102000000"] = [to(f"/web/20220601000000id_/{PAGE}")]
    internet.faults["20230103000000"] = [to(f"/web/20230103000000id_/{PAGE}/")]
    internet.bodies["20220601000000"] = prices("1.00")
    assert outcomes(fill()) == [("failed", "20230102000000"), ("collected", "20230103000000")]
    assert "20220601000000" not in internet.asked
    [refused, _] = market.archive.manifests("made_up")
    assert "redirects to another page" in refused.reason
    assert (refused.pages, refused.source_kind) == ((), "archived_page")
    assert fill() == []  # what is refused stays refused


def test_a_week_without_a_good_copy_stays_a_gap_with_its_reasons(
    internet: Internet, fill: Fill, market: Market
) -> None:
    for day in range(2, 7):
        internet.has(f"2023010{day}000000", prices("2.00"))
        internet.faults[f"2023010{day}000000"] = [to("/web/2022id_/x"), to("/web/2022id_/x")]
    internet.has("20230109000000", prices("2.10"))
    assert [outcome for outcome, _ in outcomes(fill())] == ["failed"] * wayback.COPIES_TRIED + ["collected"]
    assert fill() == []
    market.update()
    assert market.sql(
        "SELECT count(*) FROM provider_coverage WHERE status = 'failed' AND reason LIKE '%another page%'"
    ) == [(3,)]
    assert market.sql("SELECT DISTINCT day FROM offers") == [(date(2023, 1, 9),)]


def test_a_cut_body_is_no_page(internet: Internet, fill: Fill, market: Market) -> None:
    internet.has("20230102000000", prices("2.00"))
    internet.has("20230103000000", prices("2.10"))
    internet.has("20230109000000", prices("2.20"))
    internet.faults["20230102000000"] = [cut] * fetch.ATTEMPTS
    internet.faults["20230109000000"] = [cut, cut]
    assert outcomes(fill()) == [
        ("failed", "20230102000000"),
        ("collected", "20230103000000"),
        ("collected", "20230109000000"),
    ]
    failed = next(market.archive.manifests("made_up"))
    assert "ends early" in failed.reason


def test_too_many_requests_are_waited_for(internet: Internet, fill: Fill, pace: Pace) -> None:
    internet.has("20230102000000", prices("2.00"))
    internet.faults["20230102000000"] = [says(429, Retry_After="20")]
    assert outcomes(fill()) == [("collected", "20230102000000")]
    assert max(pace.waits) >= 19


def test_a_closed_archive_ends_the_run_and_keeps_what_it_has(internet: Internet, fill: Fill, market: Market) -> None:
    for week in ("02", "09", "16"):
        internet.has(f"202301{week}000000", prices("2.00"))
    internet.faults["20230109000000"] = [says(429, Retry_After="7200")]
    with pytest.raises(WaybackError, match="what was fetched is kept, run this again later"):
        fill()
    assert [f"{one.observed_at:%d}" for one in market.archive.manifests("made_up")] == ["02"]


def test_trouble_with_one_copy_is_not_held_against_it_or_the_others(
    internet: Internet, fill: Fill, market: Market
) -> None:
    for day in ("02", "03", "09"):
        internet.has(f"202301{day}000000", prices("2.00"))
    internet.faults["20230102000000"] = [says(503)] * fetch.ATTEMPTS
    assert outcomes(fill()) == [
        ("skipped", "20230102000000"),
        ("collected", "20230103000000"),
        ("collected", "20230109000000"),
    ]
    assert len(list(market.archive.manifests("made_up"))) == 2


def test_trouble_with_one_copy_after_the_other_ends_the_run(internet: Internet, fill: Fill) -> None:
    for week in ("02", "09", "16", "23"):
        internet.has(f"202301{week}000000", prices("2.00"))
        internet.faults[f"202301{week}000000"] = [says(503)] * fetch.ATTEMPTS
    with pytest.raises(WaybackError, match="503"):
        fill()
    assert "20230123000000" not in internet.asked


def test_what_the_archive_calls_the_same_is_fetched_once(internet: Internet, fill: Fill, market: Market) -> None:
    for week in ("02", "09", "16"):
        internet.has(f"202301{week}000000", prices("2.00"), digest="SAME")
    assert len(fill()) == 3
    assert internet.asked == ["list", "20230102000000"]
    market.update()
    assert [day.day for (day,) in market.sql("SELECT day FROM offers ORDER BY 1")] == [2, 9, 16]


def test_a_long_list_comes_in_parts_and_addresses_go_together(internet: Internet, client: Client, fill: Fill) -> None:
    internet.listed_at_once = 2
    for day in range(1, 6):
        internet.has(f"2023010{day}000000", prices("2.00"))
    internet.has("20220501000000", prices("1.50"), url=OLD)
    assert len(listed(client, PAGE, Wanted(), internet.origin)) == 5
    assert outcomes(fill(urls=(PAGE, OLD), every="month")) == [
        ("collected", "20220501000000"),
        ("collected", "20230101000000"),
    ]


@pytest.mark.parametrize(("every", "days"), [("day", 5), ("week", 2), ("month", 1), ("all", 6)])
def test_how_often(internet: Internet, fill: Fill, every: str, days: int) -> None:
    for timestamp in (
        "20230105000000",
        "20230106000000",
        "20230106120000",
        "20230107000000",
        "20230108000000",
        "20230109000000",
    ):
        internet.has(timestamp, prices("2.00"))
    assert len(fill(every=every)) == days


def test_since_and_until(internet: Internet, fill: Fill) -> None:
    for month in range(1, 7):
        internet.has(f"20230{month}15000000", prices("2.00"))
    assert outcomes(fill(since=date(2023, 2, 15), until=date(2023, 4, 15))) == [
        ("collected", f"20230{month}15000000") for month in (2, 3, 4)
    ]


@pytest.mark.parametrize(
    "answer",
    [
        '{"a": 1}',
        '[["timestamp"], ["2023"]]',
        "<html>",
        '["x"]',
        '[["urlkey", "timestamp", "original", "mimetype", "digest"]]',
    ],
)
def test_a_list_that_is_none_is_refused(httpserver: HTTPServer, client: Client, answer: str) -> None:
    httpserver.expect_request("/cdx/search/cdx").respond_with_data(answer)
    with pytest.raises(WaybackError, match="the list of copies of"):
        listed(client, PAGE, Wanted(), httpserver.url_for("").rstrip("/"))


def test_no_copies_are_none(internet: Internet, fill: Fill) -> None:
    assert fill() == []


def test_a_copy_speaks_for_its_iso_week() -> None:
    assert (
        Copy("20221231000000", PAGE, "").period("week") == Copy("20230101000000", PAGE, "").period("week") == "2022-W52"
    )


def test_the_command(
    internet: Internet,
    adapter: Adapter,
    market: Market,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["gpuledger", "backfill", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(str(end.value.code or 0))

    def quick(*words: object, **more: object) -> Client:
        manners = Politeness(pause_seconds=0.0, sleep=lambda seconds: None)
        return Client("made_up", kind="api", politeness=manners, allow_loopback=True)

    monkeypatch.setattr(fetch, "Client", quick)
    monkeypatch.setattr(wayback.backfill, "__kwdefaults__", {"origin": internet.origin, "progress": None})
    for week in ("02", "09"):
        internet.has(f"202301{week}000000", prices("2.00"))
    assert run("wayback", "made_up", "--url", PAGE) == 0
    assert "2 collections of 1 sources, 2 offers" in capsys.readouterr().err
    assert run("wayback", "made_up", "--url", PAGE) == 0
    assert "nothing new" in capsys.readouterr().err
    for week in ("16", "23", "30"):
        internet.has(f"202301{week}000000", prices("2.00"))
    internet.faults["20230130000000"] = [says(429, Retry_After="7200")] * 2
    assert run("wayback", "made_up", "--url", PAGE) == 3
    assert "run this again later" in capsys.readouterr().err
    assert run("wayback", "made_up", "--url", PAGE) == 1
    assert run("wayback", "nobody") == 2
    assert run("wayback", "made_up", "--dry-run") == 2
    assert run("wayback", "made_up", "--since", "last year") == 2
    assert run("wayback", "made_up", "--every", "hour") == 2
