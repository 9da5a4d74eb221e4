"""What a source is, what its pages are, and how sources are found: by being there."""

import ast
import csv
import difflib
import hashlib
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from bs4 import BeautifulSoup
from pydantic import ValidationError

from scrapers import datasets, providers
from scrapers.offer import Offer
from scrapers.unchanged import NO_VALIDATORS, Validators

if TYPE_CHECKING:
    from scrapers.fetch import Client

SourceType = Literal["api", "page", "dataset", "curated"]
MAX_PAGE_BYTES = 64 * 1024 * 1024
# Eight times the largest price page seen; the tree of a page takes some hundred times its size.
MAX_HTML_BYTES = 8 * 1024 * 1024
MOST_OF_AN_ERROR = 500


class PageError(ValueError):
    """A page that is not what this source's pages are: a login page, half an answer, a changed layout.

    The message is one line for a person and says what was expected.
    """


READING_ERRORS = (
    LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, csv.Error, SyntaxError,
)  # fmt: skip
"""What code raises that reads a layout it does not know; PageError and pydantic's errors are ValueErrors."""


@dataclass(frozen=True)
class Rejected:
    """A record that could not be read, and why; the rest of its page stands."""

    record: str
    reason: str


@dataclass(frozen=True)
class Unpriced(Rejected):
    """A record that asks nothing: its price is zero, null, or a word. No fault of the page, and no offer."""


@dataclass(frozen=True)
class Parsed:
    """What the pages of one snapshot say."""

    offers: list[Offer]
    rejected: list[Rejected]
    unpriced: list[Unpriced] = field(default_factory=list)
    remark: str = ""
    """What is odd about the pages, though they read."""


class UnknownSourceError(LookupError):
    """No module of that name."""


@dataclass(frozen=True)
class Page:
    """One answer of a provider, byte for byte, as the archive keeps it."""

    url: str
    body: bytes
    name: str = "page"
    """File name within its snapshot; tells several pages of one snapshot apart."""
    validators: Validators = NO_VALIDATORS
    """What the host gave to ask later whether the page has changed."""

    @cached_property
    def text(self) -> str:
        """The body as text. Raises PageError when it is not UTF-8."""
        try:
            return self.body.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise PageError(f"{self.name}: not UTF-8 text ({error.reason} at byte {error.start})") from None

    @cached_property
    def json(self) -> Any:
        """The body as JSON with every number that has a fraction as an exact Decimal. Raises PageError when it is not JSON."""
        try:
            return json.loads(self.text, parse_float=Decimal, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            if isinstance(error, PageError):
                raise
            start = " ".join(self.text[:60].split())
            raise PageError(f"{self.name}: not JSON ({error}); it starts with {start!r}") from None

    @cached_property
    def soup(self) -> BeautifulSoup:
        """The body as HTML. Raises PageError when it is larger than any price page."""
        if len(self.body) > MAX_HTML_BYTES:
            raise PageError(
                f"{self.name}: {len(self.body) >> 20} MiB of HTML; a price page has at most {MAX_HTML_BYTES >> 20}"
            )
        return BeautifulSoup(self.text, "lxml")


def _refuse_constant(name: str) -> Decimal:
    """NaN and Infinity are not JSON; they become a Decimal that no Offer accepts."""
    return Decimal(name)


@dataclass(frozen=True)
class Missed:
    """A part of a source (a region, a page) that did not answer; ``fetch`` yields it in the place of that part's pages."""

    part: str
    reason: str


@dataclass(frozen=True)
class Capture:
    """What a published history shows of one moment: the pages of one snapshot that someone else collected."""

    observed_at: datetime
    """When the prices were seen, in UTC."""
    pages: list[Page]
    scope: str = "whole"
    """``whole``, or what of the source was seen."""


@dataclass(frozen=True)
class Source:
    """What is collected, from where, and what is normal about it."""

    provider: str
    """Key in ``reference/providers.csv``. An aggregator names itself here and its upstreams in each offer."""
    url: str
    """Where the prices are read, for people and for ``fetch``."""
    kind: SourceType
    offers: range
    """How many offers a whole snapshot normally has; outside it, the snapshot is kept and withheld."""
    cadence: Literal["hourly", "daily", "weekly"] = "daily"
    key_env: str | None = None
    """Environment variable that holds the key; without it the source is skipped."""
    terms: str = ""
    """What robots.txt and the terms say about reading this, in a few words."""
    is_aggregator: bool = False
    unproven: bool = False
    """Written from documentation, no real answer seen yet."""
    whole: bool = True
    """A snapshot lists everything on offer, so that an absence means something."""
    former_urls: tuple[str, ...] = ()
    """Where the page was before, for its archived copies."""

    def __post_init__(self) -> None:
        if not self.offers or self.offers.step != 1 or self.offers.start < 1:
            raise ValueError(f"{self.provider}: offers must be a range from at least 1, got {self.offers}")


@dataclass(frozen=True)
class Adapter:
    """A source module, ready to use."""

    name: str
    source: Source
    module: ModuleType

    def parse(self, pages: Sequence[Page]) -> Parsed:
        """Every offer on these pages, and every record that could not be read.

        Raises PageError when the pages are not this source's, whatever the module stumbled over: a renamed field, a changed
        type, a missing part or many unreadable records make a page that we do not understand, and never a guess.
        """
        from scrapers.truncation import maybe_truncated

        if not pages:
            raise PageError(f"{self.name}: no page to read")
        try:
            found: list[Offer | Rejected] = list(self.module.parse(pages))
        except PageError as error:
            raise PageError(" ".join(f"{self.name}: {error}".split())[:MOST_OF_AN_ERROR]) from error
        except READING_ERRORS as error:
            raise PageError(f"{self.name}: the layout is not the one known ({one_line(error)})") from error
        offers = [item for item in found if isinstance(item, Offer)]
        unpriced = [item for item in found if isinstance(item, Unpriced)]
        rejected = [item for item in found if isinstance(item, Rejected) and not isinstance(item, Unpriced)]
        priced = len(offers) + len(rejected)
        if rejected and (not offers or (len(rejected) > 2 and len(rejected) > priced / 10)):
            first = rejected[0]
            raise PageError(
                f"{self.name}: {len(rejected)} of {priced} records do not read, first {first.record}: {first.reason}"
            )
        return Parsed(offers, rejected, unpriced, maybe_truncated(pages))

    @property
    def has_fetch(self) -> bool:
        """Whether the module pages through its answers itself."""
        return hasattr(self.module, "fetch")

    def fetch(self, client: "Client") -> Iterator[Page | Missed]:
        """The pages of one snapshot, from the network, and what of it did not answer."""
        if self.has_fetch:
            own: Callable[[Client], Iterable[Page | Missed]] = self.module.fetch
            yield from own(client)
        else:
            yield client.get(self.source.url)

    @cached_property
    def parser_version(self) -> str:
        """Changes whenever the code that reads this source's pages does, its own or what it imports of this package."""
        return hashlib.sha256("".join(_code_behind(self.module)).encode()).hexdigest()[:12]


def _code_behind(module: ModuleType) -> list[str]:
    """The text of a module and of every module of this package that it reads with."""
    codes, queue = {}, [module.__name__, __name__, "scrapers.truncation"]
    while queue:
        name = queue.pop()
        if name not in codes:
            codes[name] = inspect.getsource(sys.modules.get(name) or importlib.import_module(name))
            queue += _imported(codes[name])
    return [codes[name] for name in sorted(codes)]


@cache
def _imported(code: str) -> tuple[str, ...]:
    """Modules of this package that a text imports as it is read; those within functions and for types alone are not."""
    found = []
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "scrapers":
            found += [f"scrapers.{one.name}" for one in statement.names]
        elif isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("scrapers."):
            found.append(str(statement.module))
    return tuple(found)


def one_line(error: Exception) -> str:
    """An error as one short line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}"


def _homes(folder: Path | None = None) -> dict[str, str]:
    """Source name to the package that holds its module; ``folder`` is searched as well."""
    if folder is not None and str(folder) not in providers.__path__:
        providers.__path__.append(str(folder))
    return {
        found.name: package.__name__
        for package in (datasets, providers)
        for found in pkgutil.iter_modules(package.__path__)
        if not found.name.startswith("_")
    }


def source_names(folder: Path | None = None) -> list[str]:
    """Names of all source modules, sorted; ``folder`` is searched as well."""
    return sorted(_homes(folder))


def load(name: str, folder: Path | None = None) -> Adapter:
    """The source of that name. Raises UnknownSourceError, naming near ones."""
    homes = _homes(folder)
    if name not in homes:
        near = difflib.get_close_matches(name, homes, n=3) or sorted(homes)[:8]
        raise UnknownSourceError(f"no source {name!r}; there is {', '.join(near)} (all: gpuledger sources)")
    module = importlib.import_module(f"{homes[name]}.{name}")
    return Adapter(name, module.SOURCE, module)


def load_all(folder: Path | None = None) -> list[Adapter]:
    """Every source there is."""
    return [load(name) for name in source_names(folder)]


def snapshot_id(source: str, observed_at: datetime, content_hash: str) -> str:
    """Identity of one collection: the same bytes of the same source at the same instant are the same snapshot."""
    return hashlib.sha256(f"{source}\n{observed_at.isoformat()}\n{content_hash}".encode()).hexdigest()[:20]
