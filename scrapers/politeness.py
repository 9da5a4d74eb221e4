"""How a host is treated: a pause between requests, robots.txt, Retry-After.

One ``Politeness`` serves a whole run, also across threads: a wait belongs to the host, whichever source asks it next.
"""

import math
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Self

from protego import Protego

PRODUCT = "GPULedger"
"""The name this program has in robots.txt and at the start of its User-Agent."""

PROJECT_URL = "https://github.com/gpu-ledger/gpu-ledger"

MAX_RETRY_AFTER_SECONDS = 300.0
"""A host that asks for a longer wait fails its source for this run."""

MAX_CRAWL_DELAY_SECONDS = 30.0
"""A longer Crawl-delay counts as this one: an hour between two pages means that nobody reads the second."""

_ROBOTS_BYTES = 512 * 1024
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]+)?")


def user_agent() -> str:
    """Who is asking, and where to complain: the project, or GPULEDGER_CONTACT (an address or URL of who runs it)."""
    try:
        number = version("gpu-ledger")
    except PackageNotFoundError:
        number = "0"
    contact = "".join(c for c in os.environ.get("GPULEDGER_CONTACT", "") if c.isascii() and c.isprintable()).strip()
    return f"{PRODUCT}/{number} (+{contact or PROJECT_URL})"


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, from ``now``; None when it asks for nothing that can be understood.

    Seconds may have a fraction. A date is rounded up to whole seconds, and a date in the past asks for nothing.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    try:
        seconds = math.ceil((until - now).total_seconds())
    except OverflowError:
        return None
    return float(seconds) if seconds > 0 else None


@dataclass(frozen=True)
class Robots:
    """What the robots.txt of one host tells this program."""

    rules: Protego
    unread_because: str = ""
    """Why robots.txt could not be read; then nothing may be fetched from the host in this run."""

    @classmethod
    def parse(cls, body: bytes) -> Self:
        """The rules of a robots.txt; an empty one, or one that is not there, allows everything."""
        return cls(Protego.parse(body[:_ROBOTS_BYTES].decode("utf-8-sig", errors="replace")))

    @classmethod
    def unread(cls, reason: str) -> Self:
        """A robots.txt that is perhaps there and could not be read."""
        return cls(Protego.parse(""), reason)

    def allows(self, url: str) -> bool:
        """Whether the rules let this program read a URL."""
        return self.rules.can_fetch(url, PRODUCT)

    @property
    def crawl_delay_seconds(self) -> float:
        """The pause asked for, 0 when none, at most MAX_CRAWL_DELAY_SECONDS."""
        delay = self.rules.crawl_delay(PRODUCT) or 0.0
        return min(delay, MAX_CRAWL_DELAY_SECONDS) if delay > 0 else 0.0


class Politeness:
    """When each host may be asked again, and what its robots.txt says; for one run, shared between threads."""

    def __init__(
        self,
        *,
        pause_seconds: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.robots: dict[str, Robots] = {}
        """By origin (``https://host``)."""
        self.given_up: dict[str, str] = {}
        """Hosts that did not answer however often they were asked, and how that was said; not asked again in this run."""
        self._pause_seconds = pause_seconds
        self._sleep = sleep
        self._clock = clock
        self._crawl_delays: dict[str, float] = {}
        self._free_at: dict[str, float] = {}
        self._closed_until: dict[str, float] = {}
        self._agreeing: set[str] = set()
        self._lock = threading.Lock()

    def wait(self, host: str) -> None:
        """Sleep until the host may be asked, and take that turn."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._free_at.get(host, now))
            self._free_at[host] = turn + self._pause(host)
        if turn > now:
            self._sleep(turn - now)

    def pause(self, host: str, seconds: float = 0.0) -> None:
        """From now on leave the host alone for this long, and never for less than its usual pause."""
        with self._lock:
            until = self._clock() + max(seconds, self._pause(host))
            self._free_at[host] = max(until, self._free_at.get(host, until))

    def leave_alone(self, host: str, seconds: float) -> None:
        """Do not ask the host again for so long that this run is over by then."""
        with self._lock:
            self._closed_until[host] = self._clock() + seconds

    def closed_seconds(self, host: str) -> float:
        """For how much longer the host is not to be asked at all; 0 when it may be."""
        with self._lock:
            now = self._clock()
            return max(0.0, self._closed_until.get(host, now) - now)

    def is_clock_doubtful(self, host: str, *, agrees: bool) -> bool:
        """Whether this machine's clock may be wrong, now that a host agrees with it or not: one other host that does is enough."""
        with self._lock:
            if agrees:
                self._agreeing.add(host)
            return not self._agreeing

    def slow_down(self, host: str, crawl_delay_seconds: float) -> None:
        """Make the host's usual pause at least this long, from now on."""
        with self._lock:
            self._crawl_delays[host] = crawl_delay_seconds
        self.pause(host)

    def _pause(self, host: str) -> float:
        return max(self._pause_seconds, self._crawl_delays.get(host, 0.0))
