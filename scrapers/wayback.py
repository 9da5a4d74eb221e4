"""The Internet Archive's copies of a price page: which there are, and their bytes as they were served.

The list (CDX) answers 503 when it is to filter or collapse by itself, so that both are done here. A copy is asked for with
``id_`` behind its timestamp: unchanged, without the archive's own links. About a quarter of those that the list calls good lead
on to another time's copy; that would date a price wrongly, and is refused. A copy that the archive knows to equal one that was
fetched is not fetched again.

These are interfaces for programs, asked slowly: robots.txt of the archive, which speaks to crawlers, is not consulted.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

from scrapers.archive import Archive, Manifest, Outcome
from scrapers.source import Adapter, Page, PageError

if TYPE_CHECKING:
    from scrapers.fetch import Client, FetchError

ORIGIN = "https://web.archive.org"
PAUSE_SECONDS = 1.5
"""Between two requests, at least."""
COPIES_TRIED = 3
"""Of a week (or other period), when the first ones are no good."""
TROUBLES_IN_A_ROW = 3
LISTED_AT_ONCE = 10_000
FIELDS = ["timestamp", "original", "mimetype", "statuscode", "digest"]
Every = Literal["day", "week", "month", "all"]


class WaybackError(RuntimeError):
    """The archive can't be asked now; what was fetched is kept, and the next run goes on from there."""


@dataclass(frozen=True)
class Copy:
    """One copy of a page."""

    timestamp: str
    """UTC, ``YYYYMMDDhhmmss``."""
    original: str
    digest: str

    @property
    def observed_at(self) -> datetime:
        """When it was taken, UTC."""
        return datetime.fromisoformat(f"{self.timestamp[:8]}T{self.timestamp[8:]}").replace(tzinfo=UTC)

    def url(self, origin: str) -> str:
        """Where its bytes are."""
        return f"{origin}/web/{self.timestamp}id_/{self.original}"

    def period(self, every: Every) -> str:
        """The day, week or month that it speaks for."""
        taken = self.observed_at
        match every:
            case "day":
                return f"{taken:%Y-%m-%d}"
            case "week":
                year, week, _ = taken.isocalendar()
                return f"{year}-W{week:02}"
            case "month":
                return f"{taken:%Y-%m}"
            case "all":
                return self.timestamp


@dataclass(frozen=True)
class Wanted:
    """Which copies."""

    urls: tuple[str, ...] = ()
    """The page's addresses through the years; the source's own where none is told."""
    since: date | None = None
    until: date | None = None
    every: Every = "week"
    """One copy for each."""


@dataclass(frozen=True)
class Skipped:
    """A copy that could not be had this time; the next run asks for it again."""

    copy: Copy
    reason: str


def backfill(
    adapter: Adapter,
    archive: Archive,
    client: "Client",
    wanted: Wanted,
    *,
    origin: str = ORIGIN,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Manifest | Skipped]:
    """Copies of a source's page into the archive, one for each period, oldest first; those that are there are not asked for again.

    A copy that is no good is archived with its reason, and the period's next one is tried. Raises WaybackError when the list
    or the archive does not answer: run it again.
    """
    addresses = wanted.urls or (adapter.source.url, *adapter.source.former_urls)
    copies = [copy for url in addresses for copy in listed(client, url, wanted, origin)]
    periods: dict[str, list[Copy]] = defaultdict(list)
    for copy in sorted(copies, key=lambda copy: copy.timestamp):
        periods[copy.period(wanted.every)].append(copy)
    known = {one.observed_at: one for one in archive.manifests(adapter.name) if one.source_kind == "archived_page"}
    fetcher = _Fetcher(client, origin)
    for done, (_, choice) in enumerate(sorted(periods.items()), start=1):
        tried = [one for copy in choice if (one := known.get(copy.observed_at))]
        if not any(one.outcome == "collected" for one in tried):
            untried = [copy for copy in choice if copy.observed_at not in known]
            yield from _first_good(adapter, archive, fetcher, untried[: COPIES_TRIED - len(tried)])
        if progress:
            progress(done, len(periods))


def listed(client: "Client", url: str, wanted: Wanted, origin: str = ORIGIN) -> list[Copy]:
    """The copies of a page that were served with 200, oldest first. Raises WaybackError."""
    from scrapers.fetch import FetchError

    params: dict[str, str | int] = {
        "url": url,
        "output": "json",
        "fl": ",".join(FIELDS),
        "limit": LISTED_AT_ONCE,
        "showResumeKey": "true",
    }
    params |= {name: f"{day:%Y%m%d}" for name, day in (("from", wanted.since), ("to", wanted.until)) if day}
    copies: list[Copy] = []
    while True:
        try:
            answer = client.get(f"{origin}/cdx/search/cdx", params=params, name="cdx.json")
            rows, resume_key = _rows(answer)
        except (FetchError, PageError) as error:
            raise WaybackError(
                f"the list of copies of {url} could not be read: {error}; run this again later"
            ) from None
        copies += [
            Copy(row["timestamp"], row["original"], row["digest"])
            for row in rows
            if row["statuscode"] == "200"
            and row["mimetype"] != "warc/revisit"
            and re.fullmatch(r"\d{14}", row["timestamp"])
        ]
        if resume_key is None:
            return copies
        params["resumeKey"] = resume_key


def _rows(answer: Page) -> tuple[list[dict[str, str]], str | None]:
    """The rows of a list, and the key with which it goes on; behind an empty row, where there is more."""
    table = answer.json
    if not isinstance(table, list) or not all(isinstance(row, list) for row in table):
        raise PageError("not a list of copies")
    if not table:
        return [], None
    resume_key = None
    if len(table) >= 2 and table[-2] == [] and len(table[-1]) == 1:
        *table, _, [resume_key] = table
    if table[0] != FIELDS or any(len(row) != len(FIELDS) for row in table):
        raise PageError(f"a list of copies under another header: {table[0]}")
    return [dict(zip(FIELDS, row, strict=True)) for row in table[1:]], resume_key


class _Fetcher:
    """Fetches copies, each content once."""

    def __init__(self, client: "Client", origin: str) -> None:
        self._client = client
        self._origin = origin
        self._bodies: dict[str, bytes] = {}
        self._troubles = 0

    def page(self, copy: Copy) -> Page:
        """A copy's bytes. Raises FetchError; WaybackError when it is not this copy that is in trouble."""
        from scrapers.fetch import FetchError

        url = copy.url(self._origin)
        if copy.digest not in self._bodies:
            same_time = f"{self._origin}/web/{copy.timestamp}id_/"
            try:
                page = self._client.get(url, name="page", may_follow=lambda target: target.startswith(same_time))
            except FetchError as error:
                self._troubles += is_passing(error)
                if error.kind in {"rate_limited", "unreachable"} or self._troubles == TROUBLES_IN_A_ROW:
                    raise WaybackError(f"{error}; what was fetched is kept, run this again later") from None
                raise
            self._bodies[copy.digest] = page.body
        self._troubles = 0
        return Page(url, self._bodies[copy.digest], "page")


def is_passing(error: "FetchError") -> bool:
    """Whether asking another day may help."""
    return error.kind in {"rate_limited", "unreachable", "timeout"} or (
        error.status is not None and error.status >= 500
    )


def _first_good(
    adapter: Adapter, archive: Archive, fetcher: _Fetcher, choice: list[Copy]
) -> Iterator[Manifest | Skipped]:
    """The first copy that can be had, and what became of those before it."""
    from scrapers.fetch import FetchError

    for copy in choice:
        pages: list[Page] = []
        outcome: Outcome = "collected"
        reason = ""
        try:
            pages = [fetcher.page(copy)]
        except FetchError as error:
            if is_passing(error):
                yield Skipped(copy, str(error))
                continue
            outcome, reason = "failed", str(error)
        # Pages that a source's own fetch puts together are not all in one copy.
        scope = copy.original[:300] if adapter.has_fetch else "whole"
        yield archive.write(
            adapter.name, pages, observed_at=copy.observed_at, source_kind="archived_page", outcome=outcome, reason=reason,
            scope=scope,
        )  # fmt: skip
        if outcome == "collected":
            return
