"""The one HTTP client: polite, patient with what passes, quick to give up on what does not, and silent about keys.

Only this file imports httpx. One ``Client`` collects one source; ``Politeness`` is what the clients of a run share.
"""

import random
import re
import socket
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from json import dumps
from logging import getLogger
from types import TracebackType
from typing import Literal, Self

import httpx
import stamina

from scrapers import answer, keys
from scrapers.clock import MOST_APART, host_time
from scrapers.connection import PrivateAddressError, Watch, why_not
from scrapers.failures import FetchError, FetchErrorKind, MissingKeyError, blocked, refused
from scrapers.politeness import Politeness, Robots, user_agent
from scrapers.redaction import Redactor
from scrapers.source import MAX_PAGE_BYTES, Page
from scrapers.unchanged import NO_VALIDATORS, KnownPage, Validators, validators_of

__all__ = ["Client", "FetchError", "FetchErrorKind", "Limits", "MissingKeyError", "Params", "Politeness"]

Params = Mapping[str, str | int | Sequence[str]]

ATTEMPTS = 4
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OPEN_HEADERS = frozenset({"accept", "accept-language", "content-type"})
"""What another host may see after a redirect; every other header of a request could hold a key."""
_FAILURES = (
    httpx.HTTPError,
    PrivateAddressError,
    OSError,
    answer.TooLargeError,
    answer.BrokenBodyError,
)

_log = getLogger(__name__)
_random = random.SystemRandom()
stamina.instrumentation.set_on_retry_hooks(())  # its own log line for a retry says neither what failed nor where


@dataclass(frozen=True)
class Limits:
    """How long one exchange with a host (one attempt, one hop) may take, and how large its answer may be."""

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    """Without any new data."""
    total_seconds: float = 300.0
    page_bytes: int = MAX_PAGE_BYTES
    """Unpacked as well as packed."""


@dataclass(frozen=True)
class _Ask:
    """One request, before it is sent."""

    method: Literal["GET", "POST"]
    url: httpx.URL
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    redirects: int = 0
    is_message: bool = False
    """Something told: the answer need say no more than that it was taken."""
    may_follow: Callable[[str], bool] | None = None
    validators: Validators = NO_VALIDATORS
    """Those of the answer that is known already."""

    @property
    def is_conditional(self) -> bool:
        """Whether "unchanged" is an answer; where a redirect leads is asked in full."""
        return bool(self.validators) and not self.redirects

    @property
    def host(self) -> str:
        return self.url.host

    @property
    def origin(self) -> str:
        return f"{self.url.scheme}://{self.url.netloc.decode('ascii')}"

    def redirected(self, location: str, status: int) -> "_Ask":
        """The request that a redirect asks for; keys go to the same origin only. Raises InvalidURL, ValueError."""
        url = _without(self.url.join(location), self.secret_params)
        ask = replace(self, url=url, redirects=self.redirects + 1)
        if status not in {307, 308}:
            ask = replace(ask, method="GET", content=None)
        if ask.origin == self.origin:
            return ask
        headers = {name: value for name, value in self.headers.items() if name.lower() in _OPEN_HEADERS}
        return replace(ask, headers=headers, secret_params={})


@dataclass(frozen=True)
class _Redirect:
    status: int
    location: str


@dataclass(frozen=True)
class _Body:
    content: bytes
    validators: Validators = NO_VALIDATORS


class _Unchanged:
    """The host says that what is known still holds."""


class Client:
    """Fetches the pages of one source. Whatever fails raises FetchError; no error, log line or Page holds a key.

    ``kind`` is the source's: robots.txt is obeyed for pages. ``allow_loopback`` is for tests against a server on this
    machine. ``sleep`` and ``clock`` (monotonic, seconds) serve the client's own ``Politeness`` when none is given. ``known`` are
    the last answers by URL, asked for only if they have changed; ``now`` is this machine's time, which hosts may gainsay.
    """

    def __init__(  # noqa: PLR0913  # all but the first have one usual value
        self,
        source: str,
        *,
        kind: Literal["api", "page", "dataset", "curated"] = "page",
        politeness: Politeness | None = None,
        limits: Limits | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        allow_loopback: bool = False,
        known: Mapping[str, KnownPage] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._source = source
        self._known = known or {}
        self._now = now
        self._obeys_robots = kind == "page"
        self._politeness = politeness or Politeness(sleep=sleep, clock=clock)
        self._limits = limits or Limits()
        self._allow_loopback = allow_loopback
        self._redactor = Redactor()
        self._key_names: list[str] = []
        self._page_names: dict[str, int] = {}
        self._http = httpx.Client(
            transport=transport,
            timeout=httpx.Timeout(self._limits.read_seconds, connect=self._limits.connect_seconds),
            # One connection per exchange, so that Watch sees its socket; with a pause in between little is lost.
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"User-Agent": user_agent(), "Accept-Encoding": "gzip", "Accept-Language": "en"},
            event_hooks={"response": [_keep_location]},
        )
        self._redactor.watch_loggers()

    def __repr__(self) -> str:
        return f"Client({self._source!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._redactor.leave_loggers()

    def key(self, env_name: str) -> str:
        """The key of that name, from the environment or the file of keys.

        Raises MissingKeyError when there is none, when it can't be a key, and when the file can't be used.
        """
        with self._told():
            try:
                key = keys.find(env_name)
            except keys.KeysFileError as error:
                raise MissingKeyError(str(error)) from None
            if not key:
                raise MissingKeyError(f"needs a key; set {env_name} to collect this source")
            if not (key.isascii() and key.isprintable()):
                raise MissingKeyError(f"{env_name} holds characters that no key has; set it again")
        self._redactor.add(key)
        self._key_names.append(env_name)
        return key

    def get(
        self,
        url: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        auth_key: str | None = None,
        secret_params: Mapping[str, str] | None = None,
        name: str | None = None,
        may_follow: Callable[[str], bool] | None = None,
    ) -> Page:
        """The page at a URL, with ``params`` added to its query.

        ``auth_key`` is a key that is sent as a bearer token. ``secret_params`` are sent in the query, and stand in no
        ``Page.url``. Without a ``name`` the page is called by the URL's path. ``may_follow`` says of the URL that a redirect
        leads to whether it is still the page that was asked for.
        """
        secrets = dict(secret_params or {})
        sent = self._headers(headers or {}, auth_key)
        with self._told():
            ask = _Ask("GET", self._url(url, params or {}, secrets), sent, secrets, may_follow=may_follow)
            known = self._known.get(self._redactor.text(str(ask.url)))
            if known and known.validators.holds(self._now()):
                return self._page_if_changed(ask, name, known)
            return self._page(ask, name)

    def post(
        self,
        url: str,
        *,
        json: object,
        headers: Mapping[str, str] | None = None,
        auth_key: str | None = None,
        secret_params: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Page:
        """The answer to a question put as JSON, which must be safe to put twice; else as ``get``."""
        secrets = dict(secret_params or {})
        sent = self._headers({"Content-Type": "application/json", **(headers or {})}, auth_key)
        with self._told():
            ask = _Ask("POST", self._url(url, {}, secrets), sent, secrets, dumps(json).encode())
            return self._page(ask, name)

    def send(self, url: str, *, json: object, hosts: Collection[str]) -> None:
        """Tell a webhook something as JSON, once: any 2xx is well, nothing is sent again, and no redirect is followed.

        The whole address counts as a key, since what a webhook's path holds is one. Raises FetchError, also for a host
        that is not among ``hosts``.
        """
        with self._told():
            ask = _Ask("POST", self._url(url, {}, {}), {"Content-Type": "application/json"}, {}, dumps(json).encode())
            for secret in (url, str(ask.url), ask.url.raw_path.decode("ascii")):
                self._redactor.add(secret)
            if ask.host not in hosts:
                raise FetchError(f"{ask.host} is not among the hosts named ({', '.join(hosts)}); nothing was sent")
            self._check(ask)
            if isinstance(self._exchange(replace(ask, is_message=True)), _Redirect):
                raise FetchError(
                    f"{ask.host} redirects; not followed, and nothing is known to be read", kind="redirect"
                )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Puts errors into the words of this source: one printable line, its name in front, without keys."""
        try:
            yield
        except FetchError as error:
            error.args = (f"{self._source}: {self._line(str(error))}",)
            error.sample = self._redactor.body(error.sample)
            raise

    def _line(self, text: str) -> str:
        printable = "".join(c if c.isprintable() else " " for c in self._redactor.text(text))
        return " ".join(printable.split())[:400]

    def _headers(self, headers: Mapping[str, str], auth_key: str | None) -> dict[str, str]:
        sent = dict(headers)
        if auth_key is not None:
            sent["Authorization"] = f"Bearer {auth_key}"
        for name, value in sent.items():
            if name.lower() == "authorization":
                self._redactor.add(value.rpartition(" ")[2])
        return sent

    def _url(self, url: str, params: Params, secret_params: Mapping[str, str]) -> httpx.URL:
        for secret in secret_params.values():
            self._redactor.add(secret)
        try:
            target = _without(httpx.URL(url), secret_params)
        except httpx.InvalidURL as error:
            raise FetchError(f"{url!r} is not a URL ({error})") from None
        return target.copy_merge_params(dict(params)) if params else target

    def _page(self, ask: _Ask, name: str | None) -> Page:
        return self._named(ask, name, self._answer(ask, obeys_robots=self._obeys_robots))

    def _page_if_changed(self, ask: _Ask, name: str | None, known: KnownPage) -> Page:
        """The page, from the archive where the host says that it has not changed; in full where the archive does not have it."""
        found = self._answer(replace(ask, validators=known.validators), obeys_robots=self._obeys_robots)
        if isinstance(found, _Unchanged):
            try:
                found = _Body(known.read(), known.validators)
            except RuntimeError as error:
                _log.info("%s: %s; asked for in full", self._source, self._line(str(error)))
                return self._page(ask, name)
        return self._named(ask, name, found)

    def _named(self, ask: _Ask, name: str | None, found: "_Body | _Unchanged") -> Page:
        if isinstance(found, _Unchanged) or not found.content.strip():
            raise FetchError(f"{ask.host} answered 200 with an empty body", kind="status", status=200)
        url, body = self._redactor.text(str(ask.url)), self._redactor.body(found.content)
        return Page(url, body, name or self._name_of(ask.url), found.validators)

    def _name_of(self, url: httpx.URL) -> str:
        """A slug of the path; the second page of one path gets a number, so that names tell pages apart."""
        slug = re.sub(r"[^a-z0-9._]+", "-", self._redactor.text(url.path).lower()).strip("-.")[:80] or "page"
        count = self._page_names[slug] = self._page_names.get(slug, 0) + 1
        return slug if count == 1 else f"{slug}-{count}"

    def _answer(self, ask: _Ask, *, obeys_robots: bool) -> _Body | _Unchanged:
        """The answer, asked for up to ATTEMPTS times."""
        attempts = stamina.retry_context(
            on=_sleep_before_retry, attempts=ATTEMPTS, timeout=None, wait_initial=1.0, wait_max=30.0
        )
        try:
            for attempt in attempts:
                with attempt:
                    try:
                        return self._follow(ask, obeys_robots=obeys_robots)
                    except FetchError as error:
                        self._back_off(error, ask.host, attempt.next_wait)
                        raise
        except FetchError as error:
            if error.kind == "unreachable" and error.is_transient:
                self._politeness.given_up[ask.host] = str(error)
            raise
        raise AssertionError("stamina raises the last error")

    def _back_off(self, error: FetchError, host: str, seconds: float) -> None:
        """Leave the host alone for the back-off, jittered, or for as long as it asks; the next request waits for it."""
        asked_for = error.retry_after_seconds or 0.0
        if error.is_transient:
            wait = max(seconds * _random.uniform(1.0, 1.5), asked_for)
            self._politeness.pause(host, wait)
            _log.info("%s: %s; leaving it alone for %.1f s", self._source, self._line(str(error)), wait)
        elif asked_for:
            self._politeness.leave_alone(host, asked_for)

    def _follow(self, ask: _Ask, *, obeys_robots: bool) -> _Body | _Unchanged:
        """The answer, after up to MAX_REDIRECTS redirects."""
        while True:
            self._check(ask)
            if obeys_robots:
                self._obey_robots(ask)
            found = self._exchange(ask)
            if not isinstance(found, _Redirect):
                return found
            ask = self._redirected(ask, found)

    def _check(self, ask: _Ask) -> None:
        url = ask.url
        host = url.raw_host.decode("ascii")
        reason = why_not(url.scheme, host, url.port, allow_loopback=self._allow_loopback)
        if url.userinfo:
            reason = "it holds a user name or password"
        if reason is not None:
            shown = f"{url.scheme}://{url.host}{url.path}"
            if ask.redirects:
                raise FetchError(f"redirected to {shown}, which is not followed: {reason}", kind="redirect")
            raise FetchError(f"{shown} is not fetched: {reason}")
        if closed := self._politeness.closed_seconds(ask.host):
            text = f"{ask.host} asked in this run to be left alone for another {closed:.0f} s; run it later"
            raise FetchError(text, kind="rate_limited")

    def _redirected(self, ask: _Ask, found: _Redirect) -> _Ask:
        if ask.redirects == MAX_REDIRECTS:
            raise FetchError(f"{ask.host} redirects more than {MAX_REDIRECTS} times", kind="redirect")
        try:
            target = ask.redirected(found.location, found.status)
        except (httpx.InvalidURL, ValueError) as error:
            raise FetchError(f"{ask.host} redirects to what is not a URL ({error})", kind="redirect") from None
        if self._redactor.text(str(target.url)) != str(target.url):
            raise FetchError(f"{ask.host} redirects to an address that holds the key; not followed", kind="redirect")
        if ask.may_follow and not ask.may_follow(str(target.url)):
            raise FetchError(f"{ask.host} redirects to another page, {target.url}; not followed", kind="redirect")
        return target

    def _obey_robots(self, ask: _Ask) -> None:
        known = self._politeness.robots
        robots = known.get(ask.origin)
        if robots is None:
            robots = known[ask.origin] = self._read_robots(ask.origin)
            self._politeness.slow_down(ask.host, robots.crawl_delay_seconds)
        if robots.unread_because:
            text = f"not fetched in this run, as robots.txt could not be read: {robots.unread_because}"
            raise FetchError(text, kind="robots")
        if not robots.allows(str(ask.url)):
            raise FetchError(f"robots.txt of {ask.host} does not allow {ask.url.path}; not fetched", kind="robots")

    def _read_robots(self, origin: str) -> Robots:
        """As RFC 9309 has it, 4xx means that there is no robots.txt; but 429 asks to be left alone."""
        try:
            found = self._answer(_Ask("GET", httpx.URL(f"{origin}/robots.txt")), obeys_robots=False)
            return Robots.parse(found.content if isinstance(found, _Body) else b"")
        except FetchError as error:
            if error.kind == "clock":
                raise
            if error.status is not None and 400 <= error.status < 500 and error.status != 429:
                return Robots.parse(b"")
            return Robots.unread(self._line(str(error)))

    def _exchange(self, ask: _Ask) -> _Body | _Unchanged | _Redirect:
        """Ask once, and read the answer."""
        if said := self._politeness.given_up.get(ask.host):
            raise FetchError(said)
        self._politeness.wait(ask.host)
        host = ask.url.raw_host.decode("ascii")
        with Watch(host, self._limits.total_seconds, allow_loopback=self._allow_loopback) as watch:
            try:
                return self._send(ask, watch)
            except _FAILURES as error:
                raise _explained(TimeoutError() if watch.expired else error, ask, self._limits) from None
            finally:
                self._politeness.pause(ask.host)

    def _send(self, ask: _Ask, watch: Watch) -> _Body | _Unchanged | _Redirect:
        url = ask.url.copy_merge_params(dict(ask.secret_params)) if ask.secret_params else ask.url
        headers = dict(ask.headers) | (ask.validators.request_headers if ask.is_conditional else {})
        request = self._http.build_request(
            ask.method, url, headers=headers, content=ask.content, extensions={"trace": watch.trace}
        )
        response = self._http.send(request, stream=True)
        try:
            return self._read(ask, response, watch)
        finally:
            response.close()

    def _read(self, ask: _Ask, response: httpx.Response, watch: Watch) -> _Body | _Unchanged | _Redirect:
        status, headers, limit = response.status_code, response.headers, self._limits.page_bytes
        if not ask.is_message:
            self._check_clock(ask, headers)
        if status == 304 and ask.is_conditional:
            return _Unchanged()
        if status in _REDIRECTS and (location := response.extensions.get("location")):
            return _Redirect(status, location)
        # A transport that answers from memory has unpacked the body already.
        chunks = [response.content] if response.is_stream_consumed else response.iter_raw()
        encoding = "" if response.is_stream_consumed else headers.get("content-encoding", "")
        if status != 200 and not (ask.is_message and 200 <= status < 300):
            raise refused(ask.host, status, headers, answer.start(chunks, encoding), self._key_names)
        if _declared_bytes(headers) > limit:
            raise answer.TooLargeError
        body = answer.whole(chunks, encoding, limit)
        if watch.expired:  # a body without a stated length seems complete when the connection is cut
            raise TimeoutError
        if answer.is_challenge(headers, body):
            raise blocked(ask.host, status, body)
        # What a redirect led to is not what these would be sent to.
        return _Body(body) if ask.redirects else _Body(body, validators_of(headers, self._redactor.text, self._now()))

    def _check_clock(self, ask: _Ask, headers: httpx.Headers) -> None:
        now, theirs = self._now(), host_time(headers)
        if theirs is None:
            return
        if self._politeness.is_clock_doubtful(ask.host, agrees=abs(theirs - now) <= MOST_APART):
            text = (
                f"the clock of this machine says {now:%Y-%m-%d %H:%M} UTC, that of {ask.host} {theirs:%Y-%m-%d %H:%M}"
            )
            raise FetchError(f"{text}; set the clock, or unset GPULEDGER_NOW, and collect again", kind="clock")


def _keep_location(response: httpx.Response) -> None:
    """Takes redirects out of httpx's hands: it would read the address before it is checked, and fail by itself."""
    if location := response.headers.pop("location", None):
        response.extensions["location"] = location


def _sleep_before_retry(error: Exception) -> float | bool:
    """Stamina's hook: False is no retry, a number the seconds to sleep; none here, as Politeness waits for the host."""
    return 0.0 if isinstance(error, FetchError) and error.is_transient else False


def _explained(error: Exception, ask: _Ask, limits: Limits) -> FetchError:
    """A failed exchange in words."""
    kind: FetchErrorKind = "unreachable"
    is_transient = True
    match error:
        case httpx.ConnectTimeout():
            kind, text = "timeout", f"{ask.host} did not connect within {limits.connect_seconds:g} s"
        case httpx.TimeoutException():
            kind, text = "timeout", f"{ask.host} sent nothing for {limits.read_seconds:g} s"
        case TimeoutError():
            kind, text = "timeout", f"{ask.host} did not finish within {limits.total_seconds:g} s"
        case answer.BrokenBodyError():
            kind, text = "cut", f"the answer of {ask.host} can't be read: {error}"
        case httpx.RemoteProtocolError() if "message body" in str(error):
            kind, text = "cut", f"the answer of {ask.host} ends early ({error})"
        case answer.TooLargeError():
            kind, is_transient = "too_large", False
            text = f"{ask.host} sends more than {limits.page_bytes} bytes, the most that a page may have"
        case PrivateAddressError():
            kind, is_transient = "redirect" if ask.redirects else "unreachable", False
            text = f"{ask.host} leads to the private address {error}; not fetched"
        case _:
            reason, is_transient = _connection_failure(error)
            text = f"could not reach {ask.host} ({reason})"
    return FetchError(text, kind=kind, is_transient=is_transient)


def _connection_failure(error: BaseException) -> tuple[str, bool]:
    """What is wrong in a few words, and whether it can pass."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case socket.gaierror():
                return "name does not resolve", True
            case ssl.SSLCertVerificationError():
                return f"its certificate is not valid: {cause.verify_message}", False
            case ConnectionRefusedError():
                return "connection refused", True
        cause = cause.__cause__ or cause.__context__
    can_pass = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ProxyError | OSError)
    return str(error) or type(error).__name__, can_pass


def _without(url: httpx.URL, params: Mapping[str, str]) -> httpx.URL:
    for name in params:
        if name in url.params:
            url = url.copy_remove_param(name)
    return url


def _declared_bytes(headers: httpx.Headers) -> int:
    declared = headers.get("content-length", "")
    return int(declared) if re.fullmatch(r"[0-9]{1,18}", declared) else 0
