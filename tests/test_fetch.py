"""The HTTP client against canned answers, and against a real server on this machine."""

import ast
import gzip
import json
import logging
import pickle
import re
import socket
import ssl
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import scrapers
from scrapers import answer
from scrapers.fetch import ATTEMPTS, Client, FetchError, Limits, MissingKeyError
from scrapers.politeness import MAX_CRAWL_DELAY_SECONDS, Politeness, Robots, retry_after_seconds, user_agent

KEY = "sk-live-0123456789/abc+def=="
URL = "https://prices.example.com/v1/gpus"
CHALLENGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>"
Handler = Callable[[httpx.Request], httpx.Response]


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


class Web:
    """Answers in turn, the last one for ever, and remembers what was asked. A dict answers by URL."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)

    @property
    def urls(self) -> list[str]:
        return [str(request.url) for request in self.asked]


def ok(body: bytes = b'{"gpus": []}', **headers: str) -> httpx.Response:
    return httpx.Response(200, content=body, headers=headers)


def moved(location: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"Location": location})


def client_of(handler: Handler, clock: Time | None = None, source: str = "azure", **options: object) -> Client:
    clock = clock or Time()
    transport = httpx.MockTransport(handler)
    options = {"kind": "api", "sleep": clock.sleep, "clock": clock.clock, **options}
    return Client(source, transport=transport, **options)  # type: ignore[arg-type]


def failure(client: Client, url: str = URL, **options: object) -> FetchError:
    with client, pytest.raises(FetchError) as caught:
        client.get(url, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith("azure: ")
    assert message.isprintable()
    return caught.value


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


# --- What a page is


def test_page_is_the_body_byte_for_byte() -> None:
    body = b'\xef\xbb\xbf{"price":  2.10}\r\n'
    web = Web(ok(body))
    with client_of(web) as client:
        page = client.get(URL, params={"page": 2, "gpu": ["h100", "l4"]}, headers={"Accept": "application/json"})
    assert page.body == body
    assert page.url == f"{URL}?page=2&gpu=h100&gpu=l4"
    assert page.name == "v1-gpus"
    assert web.asked[0].headers["accept"] == "application/json"


def test_post_sends_json_and_keeps_the_name() -> None:
    web = Web(ok())
    with client_of(web) as client:
        page = client.post(URL, json={"query": "{ gpuTypes { id } }"}, name="gpu-types.json")
    assert page.name == "gpu-types.json"
    assert web.asked[0].method == "POST"
    assert web.asked[0].headers["content-type"] == "application/json"
    assert json.loads(web.asked[0].content) == {"query": "{ gpuTypes { id } }"}


def test_page_names_come_from_the_path_and_tell_pages_apart() -> None:
    with client_of(Web(ok())) as client:
        names = [
            client.get(f"https://a.example{path}").name
            for path in ("/", "/p/Prix%20GPU.html", "/x?page=1", "/x?page=2")
        ]
    assert names == ["page", "p-prix-gpu.html", "x", "x-2"]


def test_says_who_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    web = Web(ok())
    with client_of(web) as client:
        client.get(URL)
    assert re.fullmatch(r"GPULedger/[0-9.]+ \(\+https://\S+\)", web.asked[0].headers["user-agent"])
    monkeypatch.setenv("GPULEDGER_CONTACT", "ops@example.org\r\nX-Injected: 1")
    assert user_agent().endswith("(+ops@example.orgX-Injected: 1)")


def test_url_is_left_as_written_without_params() -> None:
    web = Web(ok())
    with client_of(web) as client:
        client.get("https://prices.example.com/api?$filter=serviceName eq 'VM'")
        client.get("https://prices.example.com/api?$filter=a", params={"$skip": 100})
    assert web.urls[0].endswith("?$filter=serviceName%20eq%20'VM'")
    assert web.asked[1].url.params.multi_items() == [("$filter", "a"), ("$skip", "100")]


# --- Retries and Retry-After


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_transient_status_is_tried_again(status: int) -> None:
    web = Web(httpx.Response(status), httpx.Response(status), ok())
    with client_of(web) as client:
        assert client.get(URL).body == b'{"gpus": []}'
    assert len(web.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 418, 451, 501, 204, 206, 304, 999])
def test_final_status_is_not_tried_again(status: int) -> None:
    web = Web(httpx.Response(status, content=b"no"))
    error = failure(client_of(web))
    assert (error.kind, error.status, error.is_transient, error.sample) == ("status", status, False, b"no")
    assert f"prices.example.com answered {status}" in str(error)
    assert len(web.asked) == 1


@pytest.mark.parametrize(
    "cause",
    [
        httpx.ConnectError("[Errno 113] No route to host"),
        httpx.ReadTimeout(""),
        httpx.ReadError(""),
        httpx.RemoteProtocolError("x"),
        OSError(107, "Transport endpoint is not connected"),
    ],
)
def test_connection_trouble_is_tried_again(cause: Exception) -> None:
    web = Web(cause, ok())
    with client_of(web) as client:
        client.get(URL)
    assert len(web.asked) == 2


def test_gives_up_after_some_attempts_with_growing_jittered_waits() -> None:
    firsts = set()
    for _ in range(5):
        clock, web = Time(), Web(httpx.Response(503))
        error = failure(client_of(web, clock))
        assert (error.kind, error.status) == ("status", 503)
        assert len(web.asked) == ATTEMPTS == 4
        first, second, third = clock.sleeps
        assert 1 <= first <= 1.5
        assert 2 <= second <= 3
        assert 4 <= third <= 6
        firsts.add(first)
    assert len(firsts) > 1


def test_connection_failures_are_said_in_words() -> None:
    def unresolved(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[Errno -2] Name or service not known") from socket.gaierror(
            -2, "Name or service not known"
        )

    error = failure(client_of(unresolved))
    assert str(error) == "azure: could not reach prices.example.com (name does not resolve)"
    assert error.kind == "unreachable"
    assert "No route to host" in str(failure(client_of(Web(httpx.ConnectError("[Errno 113] No route to host")))))
    assert failure(client_of(Web(httpx.ReadTimeout("")))).kind == "timeout"
    assert failure(client_of(Web(httpx.ConnectTimeout("")))).kind == "timeout"


L06_NOW = datetime(2026, 10, 21, 7, 27, 30, 200_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 30),  # 29.8, rounded up
        ("0.503", 0.503),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ("soon", None),
        (None, None),
        ("", None),
        ("0", 0),
        (" 7 ", 7),
        ("-5", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("١٢", None),
        ("120, 60", None),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", 30),
        ("Wed Oct 21 07:28:00 2026", 30),
        ("Wed, 21 Oct 2026 09:28:00 +0200", 30),
        ("Wed, 99 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_retry_after_in_all_its_forms(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, L06_NOW) == seconds


@given(st.one_of(st.text(), st.from_regex(r"\A[A-Z][a-z]{2}, \d+ Oct \d+ \d+:\d+:\d+ (GMT|[+-]\d+)\Z")))
def test_retry_after_never_crashes(value: str) -> None:
    seconds = retry_after_seconds(value, L06_NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("value", "least"), [("120", 120), ("0.503", 1), ("0", 1), ("soon", 1), ("2.5", 2.5), ("300", 300)]
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for(value: str, least: float, status: int) -> None:
    clock = Time()
    web = Web(httpx.Response(status, headers={"Retry-After": value}), ok())
    with client_of(web, clock) as client:
        client.get(URL)
    assert least <= sum(clock.sleeps) <= max(least, 1.5)


def test_retry_after_date_is_waited_for() -> None:
    clock = Time()
    until = datetime.now(UTC) + timedelta(seconds=90)
    web = Web(httpx.Response(429, headers={"Retry-After": until.strftime("%a, %d %b %Y %H:%M:%S GMT")}), ok())
    with client_of(web, clock) as client:
        client.get(URL)
    assert 80 <= sum(clock.sleeps) <= 91


@pytest.mark.parametrize("value", ["86400", "301", "999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_retry_after_over_the_cap_fails_without_sleeping(value: str) -> None:
    clock = Time()
    web = Web(httpx.Response(503, headers={"Retry-After": value}))
    error = failure(client_of(web, clock))
    assert error.kind == "rate_limited"
    assert "asks to wait" in str(error)
    assert error.retry_after_seconds is not None
    assert error.retry_after_seconds > 300
    assert len(web.asked) == 1
    assert clock.sleeps == []


def test_a_host_over_the_cap_is_not_asked_again_in_this_run() -> None:
    clock = Time()
    web = Web(httpx.Response(429, headers={"Retry-After": "3600"}), ok())
    with client_of(web, clock) as client:
        for message in ("asks to wait 3600 s", "left alone for another 3600 s"):
            with pytest.raises(FetchError, match=message) as caught:
                client.get(URL)
            assert caught.value.kind == "rate_limited"
        assert len(web.asked) == 1
        client.get("https://elsewhere.example/")
        clock.now += 3601
        client.get(URL)


def test_429_to_the_end_is_rate_limited() -> None:
    assert failure(client_of(Web(httpx.Response(429)))).kind == "rate_limited"


def test_a_host_that_asked_to_wait_is_left_alone_by_other_sources_too() -> None:
    clock = Time()
    politeness = Politeness(sleep=clock.sleep, clock=clock.clock)
    web = Web(httpx.Response(503, headers={"Retry-After": "60"}))
    with client_of(web, politeness=politeness) as first, pytest.raises(FetchError):
        first.get(URL)
    before = clock.now
    with client_of(Web(ok()), source="other", politeness=politeness) as second:
        second.get("https://elsewhere.example/x")
        assert clock.now == before
        second.get(URL)
    assert clock.now == before + 60


# --- Pauses and robots.txt


def test_pauses_between_requests_to_one_host_only() -> None:
    clock = Time()
    with client_of(Web(ok()), clock) as client:
        for url in (URL, URL, "https://other.example/", URL):
            client.get(url)
    assert clock.sleeps == [1.0, 1.0]


def test_pause_counts_from_the_end_of_the_answer_and_can_be_set() -> None:
    clock = Time()

    def slow(request: httpx.Request) -> httpx.Response:
        clock.now += 20
        return ok()

    with client_of(slow, politeness=Politeness(pause_seconds=5, sleep=clock.sleep, clock=clock.clock)) as client:
        client.get(URL)
        clock.now += 2
        client.get(URL)
    assert clock.sleeps == [3.0]


def test_threads_take_turns() -> None:
    clock = Time()
    turns: list[float] = []
    politeness = Politeness(sleep=turns.append, clock=clock.clock)
    threads = [threading.Thread(target=politeness.wait, args=("h",)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == [1.0, 2.0, 3.0, 4.0]


ROBOTS = b"""User-agent: *
Disallow: /

User-agent: GPULedger
Disallow: /private
Allow: /private/prices$
Crawl-delay: 7
"""


def site(robots: httpx.Response | Exception) -> tuple[list[str], Handler]:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if request.url.path != "/robots.txt":
            return ok()
        if isinstance(robots, Exception):
            raise robots
        return httpx.Response(robots.status_code, headers=robots.headers, content=robots.content)

    return asked, handler


def test_robots_is_read_once_and_obeyed() -> None:
    asked, handler = site(ok(ROBOTS))
    clock = Time()
    politeness = Politeness(sleep=clock.sleep, clock=clock.clock)
    with client_of(handler, kind="page", politeness=politeness) as client:
        client.get("https://a.example/pricing")
        client.get("https://a.example/private/prices")
        with pytest.raises(
            FetchError, match=r"azure: robots.txt of a.example does not allow /private/x; not fetched"
        ) as caught:
            client.get("https://a.example/private/x?y=1")
        assert caught.value.kind == "robots"
    with client_of(handler, kind="page", politeness=politeness) as another:
        another.get("https://a.example/more")
    assert asked == ["/robots.txt", "/pricing", "/private/prices", "/more"]
    assert clock.sleeps == [7.0, 7.0, 7.0]


def test_robots_is_obeyed_by_default_but_not_asked_by_an_api_client() -> None:
    asked, handler = site(ok(b"User-agent: *\nDisallow: /"))
    with (
        Client("x", transport=httpx.MockTransport(handler), sleep=lambda _: None) as client,
        pytest.raises(FetchError, match="does not allow"),
    ):
        client.get(URL)
    asked.clear()
    with client_of(handler, kind="api") as client:
        client.get(URL)
    assert asked == ["/v1/gpus"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_no_robots_is_leave_to_read(status: int) -> None:
    asked, handler = site(httpx.Response(status))
    with client_of(handler, kind="page") as client:
        client.get(URL)
    assert asked == ["/robots.txt", "/v1/gpus"]


def test_a_host_that_cannot_be_reached_is_not_asked_again_in_this_run() -> None:
    """Thirty regions of a host that is down must not take thirty times four attempts."""
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        raise httpx.ConnectError("refused")

    with client_of(handler, kind="api") as client:
        for _ in range(30):
            with pytest.raises(FetchError, match="could not reach") as caught:
                client.get(URL)
            assert caught.value.kind == "unreachable"
    assert len(asked) == ATTEMPTS


@pytest.mark.parametrize(
    ("robots", "why"),
    [
        (httpx.Response(500), "answered 500"),
        (httpx.Response(503), "answered 503"),
        (httpx.Response(429), "answered 429"),
        (httpx.ConnectError("refused"), "could not reach"),
        (httpx.ReadTimeout(""), "sent nothing"),
    ],
)
def test_unreadable_robots_is_no_leave_for_this_run(robots: httpx.Response | Exception, why: str) -> None:
    asked, handler = site(robots)
    with client_of(handler, kind="page") as client:
        for _ in range(2):
            with pytest.raises(FetchError, match=why) as caught:
                client.get(URL)
            assert caught.value.kind == "robots"
            assert str(caught.value).count("azure:") == 1
    assert asked == ["/robots.txt"] * ATTEMPTS


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"<html>not found</html>", b"Crawl-delay: nan\nDisallow"])
def test_odd_robots_allow(body: bytes) -> None:
    asked, handler = site(ok(body))
    with client_of(handler, kind="page") as client:
        client.get(URL)
    assert asked == ["/robots.txt", "/v1/gpus"]


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("86400", MAX_CRAWL_DELAY_SECONDS), ("999999999999999", 30), ("nan", 0), ("-3", 0), ("x", 0), ("2.5", 2.5)],
)
def test_crawl_delay_has_a_cap(delay: str, seconds: float) -> None:
    assert Robots.parse(f"User-agent: *\nCrawl-delay: {delay}\n".encode()).crawl_delay_seconds == seconds


def test_robots_of_the_host_a_redirect_leads_to_count_too() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/robots.txt":
            return ok(b"" if request.url.host == "a.example" else b"User-agent: *\nDisallow: /")
        return moved("https://b.example/pricing")

    error = failure(client_of(handler, kind="page"), "https://a.example/")
    assert (error.kind, str(error)) == ("robots", "azure: robots.txt of b.example does not allow /pricing; not fetched")


# --- Redirects


def test_redirects_are_followed_and_the_asked_url_is_kept() -> None:
    web = Web(moved("/v2/gpus", 301), moved("https://b.example/gpus", 308), ok())
    with client_of(web) as client:
        assert client.get(URL).url == URL
    assert web.urls == [URL, "https://prices.example.com/v2/gpus", "https://b.example/gpus"]


def test_redirects_have_an_end() -> None:
    web = Web(moved("/again"))
    error = failure(client_of(web))
    assert (error.kind, str(error)) == ("redirect", "azure: prices.example.com redirects more than 5 times")
    assert len(web.asked) == 6


@pytest.mark.parametrize(
    "location",
    [
        "http://prices.example.com/v1",
        "ftp://prices.example.com/v1",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "https://localhost/",
        "https://a.localhost./",
        "https://127.0.0.1/",
        "https://127.9.9.9:8443/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.100.100.200/",
        "https://[fd00::1]/",
        "https://[fe80::1]/",
        "https://0.0.0.0/",
        "https://user:secret@b.example/",
        "https://b.example:99999999/",
        "https://[::1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://127.1/",
        "https://[/",
        "https://a..b/",
    ],
)
def test_redirects_to_unsafe_places_are_not_followed(location: str) -> None:
    web = Web(moved(location))
    error = failure(client_of(web))
    assert error.kind == "redirect"
    assert "secret" not in str(error)
    assert len(web.asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://prices.example.com/",
        "https://127.0.0.1/",
        "ftp://x/",
        "x",
        "",
        "https://[",
        "https://u:p@h/",
        "https://a:0x1/",
    ],
)
def test_unsafe_urls_are_not_asked(url: str) -> None:
    web = Web(ok())
    assert failure(client_of(web), url).kind == "unreachable"
    assert web.asked == []


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1"])
def test_the_loopback_flag_opens_loopback_only(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    web = Web(moved(f"http://{host}/x"), ok())
    with client_of(web, allow_loopback=True) as client:
        if address == "10.0.0.1":
            with pytest.raises(FetchError, match="not followed"):
                client.get(URL)
        else:
            client.get(URL)


def test_post_is_repeated_by_307_and_becomes_get_by_302() -> None:
    web = Web(moved("/b", 307), moved("/c", 302), ok())
    with client_of(web) as client:
        client.post(URL, json=[1])
    assert [(r.method, r.content) for r in web.asked] == [("POST", b"[1]"), ("POST", b"[1]"), ("GET", b"")]


def test_redirect_without_location_is_an_error() -> None:
    assert failure(client_of(Web(httpx.Response(302)))).kind == "status"


# --- Keys


def test_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPULEDGER_X_KEY", raising=False)
    with client_of(Web(ok())) as client:
        for value in (None, "", "  \n"):
            if value is not None:
                monkeypatch.setenv("GPULEDGER_X_KEY", value)
            with pytest.raises(MissingKeyError, match="azure: needs a key; set GPULEDGER_X_KEY") as caught:
                client.key("GPULEDGER_X_KEY")
            assert caught.value.kind == "no_key"
        monkeypatch.setenv("GPULEDGER_X_KEY", "abc\u2026def")
        with pytest.raises(MissingKeyError, match="GPULEDGER_X_KEY holds characters") as caught:
            client.key("GPULEDGER_X_KEY")
        assert "abc" not in str(caught.value)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GPULEDGER_X_KEY", f" {KEY}\n")
    return "GPULEDGER_X_KEY"


def holds_key(text: str) -> bool:
    return "0123456789" in text


def test_keys_are_sent_and_stand_nowhere_else(key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.url.params["key"] == KEY
        return ok(json.dumps({"next": f"{request.url}&page=2", "you sent": KEY, "price": 2.1}).encode())

    with client_of(echo) as client:
        page = client.get(URL, auth_key=client.key(key), secret_params={"key": client.key(key)}, params={"page": 1})
        following = client.get(page.json["next"], auth_key=client.key(key), secret_params={"key": client.key(key)})
        assert not holds_key(repr(client))
    assert page.url == f"{URL}?page=1"
    assert not holds_key(page.text)
    assert not holds_key(following.url + following.name)
    assert "HTTP Request: GET" in caplog.text
    assert not holds_key(caplog.text)


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(401, content=f"bad key {KEY}".encode()),
        httpx.Response(503, content=KEY.encode()),
        ok(b"<title>Just a moment...</title>" + KEY.encode()),
        httpx.ConnectError(f"cannot reach {URL}?key={KEY}"),
        httpx.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'"),
        moved(f"http://b.example/{KEY}"),
        moved(f"https://b.example/?token={KEY}"),
        moved(f"https://b.example:99999999/?token={KEY}"),
    ],
)
def test_errors_hold_no_key(key: str, trouble: httpx.Response | Exception, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with client_of(Web(trouble)) as client, pytest.raises(FetchError) as caught:
        client.get(URL, auth_key=client.key(key), secret_params={"key": client.key(key)})
    shown = (
        "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(caught.value)) + caplog.text
    )
    assert not holds_key(shown)


@pytest.mark.parametrize(
    "place", ["https://b.example/?token=", "https://b.example/", "https://prices.example.com/v2?t="]
)
def test_redirects_that_show_the_key_are_not_followed(key: str, place: str) -> None:
    web = Web(moved(place + KEY), ok())
    client = client_of(web)
    assert failure(client, auth_key=client.key(key)).kind == "redirect"
    assert len(web.asked) == 1


def test_a_refused_key_is_named(key: str) -> None:
    client = client_of(Web(httpx.Response(401)))
    error = failure(client, auth_key=client.key(key))
    assert str(error) == f"azure: prices.example.com answered 401 (Unauthorized); check the key in {key}"


def test_keys_stay_with_their_host(key: str) -> None:
    web = Web(moved("/b"), moved("https://other.example/c"), ok())
    with client_of(web) as client:
        sent = {"X-API-Key": KEY, "Cookie": "a=b", "Accept": "text/html"}
        client.get(URL, auth_key=client.key(key), headers=sent, secret_params={"key": KEY})
    same, other = web.asked[1], web.asked[2]
    assert same.headers["authorization"] == f"Bearer {KEY}"
    assert same.url.params["key"] == same.headers["x-api-key"] == KEY
    assert not {"authorization", "x-api-key", "cookie"} & set(other.headers)
    assert other.headers["accept"] == "text/html"
    assert str(other.url) == "https://other.example/c"


def test_what_is_too_short_for_a_key_takes_nothing_out() -> None:
    with client_of(Web(ok(b"v1"))) as client:
        page = client.get(URL, secret_params={"format": "v1"})
    assert (page.url, page.body) == (URL, b"v1")


@pytest.mark.parametrize("location", ["https://prices.example.com:8443/c", "https://www.prices.example.com/c"])
def test_another_port_or_subdomain_is_another_host(key: str, location: str) -> None:
    web = Web(moved(location), ok())
    with client_of(web) as client:
        client.get(URL, auth_key=client.key(key))
    assert "authorization" not in web.asked[1].headers


def test_a_key_echoed_in_a_redirect_is_sent_once_and_not_logged(key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/gpus":
            return moved(str(request.url.copy_with(path="/v2/gpus")))
        assert request.url.params.multi_items() == [("page", "1"), ("key", KEY)]
        return ok()

    with client_of(handler) as client:
        assert client.get(URL, params={"page": 1}, secret_params={"key": client.key(key)}).url == f"{URL}?page=1"
    assert not holds_key(caplog.text)


# --- Answers that are not the page


@pytest.mark.parametrize(
    "refusal",
    [
        ok(CHALLENGE),
        ok(b"\xef\xbb\xbf\n<html><head><TITLE data-x=1>\n Just a moment&hellip;</TITLE>"),
        ok(b"<html><script>window._cf_chl_opt = {}</script></html>"),
        ok(b"{}", **{"cf-mitigated": "challenge"}),
        httpx.Response(403, content=CHALLENGE),
        httpx.Response(503, content=CHALLENGE, headers={"Retry-After": "5"}),
        httpx.Response(202, headers={"x-amzn-waf-action": "challenge"}),
    ],
)
def test_challenge_is_blocked_and_not_asked_again(refusal: httpx.Response) -> None:
    web = Web(refusal)
    error = failure(client_of(web))
    assert error.kind == "blocked"
    assert error.sample == refusal.content
    assert len(web.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"note": "<title>Just a moment...</title>"}',
        b"<html><title>GPU prices</title><p>Just a moment...</p></html>",
        b"<html><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script></html>",
    ],
)
def test_ordinary_pages_are_no_challenge(body: bytes) -> None:
    with client_of(Web(ok(body))) as client:
        assert client.get(URL).body == body


@pytest.mark.parametrize("body", [b"", b" \r\n"])
def test_empty_answer_is_an_error(body: bytes) -> None:
    error = failure(client_of(Web(ok(body))))
    assert (error.kind, str(error)) == ("status", "azure: prices.example.com answered 200 with an empty body")


def test_text_from_outside_is_made_one_printable_line() -> None:
    error = failure(client_of(Web(httpx.ConnectError("a\x1b[31m\nb\u202e"))))
    assert str(error) == "azure: could not reach prices.example.com (a [31m b )"


def test_errors_survive_pickling() -> None:
    error = failure(client_of(Web(httpx.Response(404))))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
    missing = pickle.loads(pickle.dumps(MissingKeyError("azure: needs a key")))
    assert (type(missing), missing.kind) == (MissingKeyError, "no_key")


# --- Sizes


def test_the_stream_is_left_at_the_limit() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 1000

    with pytest.raises(answer.TooLargeError):
        answer.whole(endless(), "", 10_000)
    assert taken == 11


def test_a_stream_that_unpacks_to_nothing_is_left_too() -> None:
    def endless() -> Iterator[bytes]:
        yield gzip.compress(b"")[:10]
        while True:
            yield b"\x00\x00\x00\xff\xff" * 200  # empty stored blocks

    with pytest.raises(answer.TooLargeError):
        answer.whole(endless(), "gzip", 10_000)


def test_gzip_in_any_pieces() -> None:
    body = b"".join(b"%d," % n for n in range(300_000))
    packed = gzip.compress(body[:1_000_000]) + gzip.compress(body[1_000_000:])
    for size in (1, 17, len(packed)):
        if size == 1:
            pieces, expected = gzip.compress(body[:5000]), body[:5000]
        else:
            pieces, expected = packed, body
        chunks = [pieces[i : i + size] for i in range(0, len(pieces), size)]
        assert answer.whole(chunks, "GZIP", 10_000_000) == expected
    zeros = gzip.compress(bytes(5_000_000))
    assert answer.whole([zeros], "gzip", 5_000_000) == bytes(5_000_000)
    with pytest.raises(answer.TooLargeError):
        answer.whole([zeros], "gzip", 4_999_999)


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(b"x" * 100)[:-9], b"not gzip", gzip.compress(b"x") + b"\x00\x00\x00", b""],
    ids=["cut", "other", "more behind", "empty"],
)
def test_broken_gzip_is_not_half_a_page(packed: bytes) -> None:
    with pytest.raises(answer.BrokenBodyError):
        answer.whole([packed], "gzip", 1000)


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd", "deflate"])
def test_other_encodings_are_not_unpacked(encoding: str) -> None:
    with pytest.raises(answer.BrokenBodyError, match="not asked for"):
        answer.whole([b"x"], encoding, 1000)


# --- A real server


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Client]]:
    """Makes clients for a server here, that try once."""
    monkeypatch.setattr("scrapers.fetch.ATTEMPTS", 1)
    clients: list[Client] = []

    def make(**limits: float) -> Client:
        quick = Politeness(sleep=lambda _: None)
        clients.append(Client("azure", kind="api", politeness=quick, limits=Limits(**limits), allow_loopback=True))  # type: ignore[arg-type]
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def test_real_page(httpserver: HTTPServer, served: Callable[..., Client]) -> None:
    body = json.dumps(list(range(1000))).encode()
    httpserver.expect_request("/a").respond_with_data(status=302, headers={"Location": "/b"})
    packed = {"Content-Encoding": "gzip"}
    httpserver.expect_request("/b", headers={"Accept-Encoding": "gzip"}).respond_with_data(
        gzip.compress(body), headers=packed
    )
    assert served().get(httpserver.url_for("/a")).body == body


def test_real_endless_stream(httpserver: HTTPServer, served: Callable[..., Client]) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    httpserver.expect_request("/").respond_with_handler(lambda _: Response(endless()))
    error = failure(served(page_bytes=1_000_000), httpserver.url_for("/"))
    assert (error.kind, error.is_transient) == ("too_large", False)
    assert "more than 1000000 bytes" in str(error)


def test_a_declared_length_over_the_limit_is_not_read() -> None:
    class Unread(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("read")

    declared = {"Content-Length": str(64 * 1024 * 1024 + 1)}
    client = client_of(lambda _: httpx.Response(200, headers=declared, stream=Unread()))
    assert failure(client).kind == "too_large"


def test_real_gzip_bomb(httpserver: HTTPServer, served: Callable[..., Client]) -> None:
    bomb = gzip.compress(bytes(2**24)) * 64  # a gibibyte in about a mebibyte
    httpserver.expect_request("/").respond_with_data(bomb, headers={"Content-Encoding": "gzip"})
    assert failure(served(), httpserver.url_for("/")).kind == "too_large"
    assert len(httpserver.log) == 1


def test_real_refusal_is_sampled(httpserver: HTTPServer, served: Callable[..., Client]) -> None:
    httpserver.expect_request("/").respond_with_data(
        gzip.compress(CHALLENGE), status=403, headers={"Content-Encoding": "gzip"}
    )
    error = failure(served(), httpserver.url_for("/"))
    assert (error.kind, error.sample) == ("blocked", CHALLENGE)


def test_real_cookies_and_auth_do_not_follow_to_another_port(
    httpserver: HTTPServer, served: Callable[..., Client]
) -> None:
    seen: list[Request] = []

    def remember(request: Request) -> Response:
        seen.append(request)
        return Response("{}")

    with HTTPServer() as other:
        other.expect_request("/").respond_with_handler(remember)
        httpserver.expect_request("/").respond_with_data(status=307, headers={"Location": other.url_for("/")})
        served().get(httpserver.url_for("/"), auth_key=KEY)
    assert "Authorization" not in seen[0].headers


def test_a_name_that_leads_to_a_private_address_is_refused_once_connected(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", httpserver.port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: here)
    client = Client("azure", kind="api", politeness=Politeness(sleep=lambda _: None))
    error = failure(client, "https://prices.example.com/")
    assert str(error) == "azure: prices.example.com leads to the private address 127.0.0.1; not fetched"
    assert (error.kind, error.is_transient) == ("unreachable", False)
    assert httpserver.log == []


def test_nobody_listening(served: Callable[..., Client]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = failure(served(), f"http://127.0.0.1:{port}/")
    assert str(error) == "azure: could not reach 127.0.0.1 (connection refused)"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@contextmanager
def trickle(
    head: bytes, *, context: ssl.SSLContext | None = None, then: str = "drip", first: bytes = b""
) -> Iterator[int]:
    """A server that sends ``head``, and then a byte now and again, nothing at all, or the end.

    ``first`` is a whole answer to the first request, after which the connection is kept.
    """
    over = threading.Event()
    whole_answers = [first] if first else []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(2)
                stream = context.wrap_socket(connection, server_side=True) if context else connection
                while stream.recv(65536) and whole_answers:
                    stream.sendall(whole_answers.pop())
                stream.sendall(head)
                while then != "end" and not over.wait(0.02):
                    if then == "drip":
                        stream.sendall(b"x")
            except OSError:
                pass

    def accept() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    threads = [threading.Thread(target=accept)]
    threads[0].start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        for thread in threads:
            thread.join()
        listener.close()


@pytest.mark.parametrize(
    "head",
    [HEAD, b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: ", b""],
    ids=["body", "no length", "header", "start"],
)
def test_real_trickle_ends_after_the_total_time(head: bytes, served: Callable[..., Client]) -> None:
    with trickle(head) as port:
        started = time.monotonic()
        error = failure(served(total_seconds=0.15), f"http://127.0.0.1:{port}/")
        assert time.monotonic() - started < 2
    assert (error.kind, str(error)) == ("timeout", "azure: 127.0.0.1 did not finish within 0.15 s")


def test_real_cut_is_not_taken_for_the_end_of_a_page(served: Callable[..., Client]) -> None:
    """A body without a length ends with its connection."""
    with trickle(b"HTTP/1.1 200 OK\r\n\r\nhalf a page", then="silence") as port:
        assert failure(served(total_seconds=0.15), f"http://127.0.0.1:{port}/").kind == "timeout"


def test_real_second_request_is_timed_too(served: Callable[..., Client]) -> None:
    first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    with trickle(HEAD, first=first) as port:
        client = served(total_seconds=0.15)
        assert client.get(f"http://127.0.0.1:{port}/").body == b"ok"
        assert failure(client, f"http://127.0.0.1:{port}/").kind == "timeout"


@pytest.mark.parametrize("head", [HEAD, b""])
def test_real_silence_ends_after_the_read_time(head: bytes, served: Callable[..., Client]) -> None:
    with trickle(head, then="silence") as port:
        error = failure(served(read_seconds=0.1), f"http://127.0.0.1:{port}/")
    assert (error.kind, str(error)) == ("timeout", "azure: 127.0.0.1 sent nothing for 0.1 s")


@pytest.mark.parametrize(
    ("head", "kind"), [(HEAD + b"half a page", "cut"), (b"", "unreachable"), (b"garbage\r\n\r\n", "unreachable")]
)
def test_real_broken_answers(head: bytes, kind: str, served: Callable[..., Client]) -> None:
    with trickle(head, then="end") as port:
        error = failure(served(), f"http://127.0.0.1:{port}/")
    assert (error.kind, error.is_transient) == (kind, True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x509 = pytest.importorskip("cryptography.x509")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    path.write_bytes(pem + built.public_bytes(serialization.Encoding.PEM))
    return path


def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_real_certificate_is_checked(certificate: Path, served: Callable[..., Client]) -> None:
    with trickle(HEAD, context=tls(certificate)) as port:
        error = failure(served(), f"https://localhost:{port}/")
    assert str(error).startswith("azure: could not reach localhost (its certificate is not valid: self")
    assert (error.kind, error.is_transient) == ("unreachable", False)


def test_real_tls(certificate: Path, served: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with trickle(HEAD[:-2] + b"\r\n" + b"x" * 100_000, context=tls(certificate), then="end") as port:
        assert len(served().get(f"https://localhost:{port}/").body) == 100_000
    for head in (HEAD, b"HTTP/1.1 200 OK\r\n\r\nx", b"HTTP/1.1 200 OK\r\nX-Slow: "):
        with trickle(head, context=tls(certificate)) as port:
            error = failure(served(total_seconds=0.3), f"https://localhost:{port}/")
        assert error.kind == "timeout"


# --- The rule of the house


def test_only_fetch_imports_httpx() -> None:
    root = Path(scrapers.__file__).parent.parent
    found = set()
    for folder in ("scrapers", "warehouse", "flows"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if any(name.split(".")[0] in {"httpx", "requests", "urllib3", "aiohttp"} for name in names):
                    found.add(path.relative_to(root).as_posix())
    assert found == {"scrapers/fetch.py"}
