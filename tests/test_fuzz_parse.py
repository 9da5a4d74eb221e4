"""Damaged pages for the parser of every source: offers of the whole page or one clear error, in bounded time, and never another price.

Run whole (``GPULEDGER_FUZZ=1``) there are more than 10,000 inputs; by default a tenth of them. Each is made from its number alone, so that
a failure names the input that shows it again.
"""

import copy
import json
import os
import random
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer
from scrapers.source import Adapter, Page, PageError, load_all
from tests.record import FIXTURES, fixture_pages

pytestmark = pytest.mark.slow

SHARE = float(os.environ.get("GPULEDGER_FUZZ", "0.1"))
INPUTS_OF_A_SOURCE = 200
SECONDS, SECONDS_OF_A_LARGE_PAGE = 10, 60
LARGE_BYTES = 50 * 1024 * 1024
SOURCES = [one for one in load_all() if any((FIXTURES / one.name).glob("*T*Z"))]

Damage = Callable[[random.Random, bytes], bytes]


class TooSlowError(BaseException):
    """Not an Exception, so that no parser can take it for a fault of its page."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fails what runs inside when it takes more processor time: how busy the machine is with other things does not matter."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlowError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- damage to any page --------------------------------------------------------------------------------------------------


def cut_end(chance: random.Random, body: bytes) -> bytes:
    return body[: chance.randrange(len(body))]


def cut_start(chance: random.Random, body: bytes) -> bytes:
    return body[chance.randrange(len(body)) :]


def other_encoding(chance: random.Random, body: bytes) -> bytes:
    text = body.decode("utf-8-sig", errors="replace")
    return text.encode(chance.choice(["utf-16", "utf-32", "utf-16-le", "cp037"]), errors="replace")


def broken_bytes(chance: random.Random, body: bytes) -> bytes:
    """Bytes that are no text, in place of letters: digits stay, or another price would be what the page says."""
    damaged = bytearray(body)
    for _ in range(chance.randint(1, 20)):
        place = chance.randrange(len(damaged))
        if not chr(damaged[place]).isdigit() and damaged[place] not in b".,eE+-":
            damaged[place] = chance.choice([0x00, 0x80, 0xC3, 0xFF, 0xFE, 0x1B])
    return bytes(damaged)


def around(chance: random.Random, body: bytes) -> bytes:
    before, after = chance.choice(
        [
            (b"\xef\xbb\xbf", b""),
            (b"\n\n ", b"\n"),
            (b"<!-- x -->", b""),
            (b"", b"\x00"),
            (b")]}',\n", b""),
            (b"", body),
        ]
    )
    return before + body + after


ANY_PAGE: list[Damage] = [cut_end, cut_start, other_encoding, broken_bytes, around]

# --- damage to JSON ------------------------------------------------------------------------------------------------------

ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    "",
    " ",
    "NaN",
    "-",
    [],
    {},
    [None],
    {"value": None},
    "Infinity",
    10**30,
    -0.5,
    1e-12,
    "1e400",
    "x" * 400,
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def parent(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


def json_damage(change: Callable[[random.Random, Any, list[tuple[Any, ...]]], Any]) -> Damage:
    def damage(chance: random.Random, body: bytes) -> bytes:
        value = json.loads(body)
        paths = list(places(value))
        return body if not paths else json.dumps(change(chance, value, paths)).encode()

    damage.__name__ = change.__name__
    return damage


def rename(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    """A field gets another name, in one record or in all."""
    keys = [path for path in paths if isinstance(path[-1], str)]
    if not keys:
        return value
    name = chance.choice(keys)[-1]
    chosen = [path for path in keys if path[-1] == name]
    for path in chosen if chance.random() < 0.6 else [chance.choice(chosen)]:
        inner = parent(value, path)
        inner[f"{name}_v2"] = inner.pop(name)
    return value


def swap_type(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    path = chance.choice(paths)
    inner, key = parent(value, path), path[-1]
    old = inner[key]
    inner[key] = chance.choice([[old], {"value": old}, str(old), [old, old], None, bool(old)])
    return value


def odd_value(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    """Something in a field's place that is no price, count or name; numbers where a number stood would be another price."""
    path = chance.choice(paths)
    inner, key = parent(value, path), path[-1]
    odd = [
        one
        for one in ODD
        if not (isinstance(one, int | float) and not isinstance(one, bool) and one not in {0, -1, -0.5})
    ]
    inner[key] = copy.deepcopy(chance.choice(odd))
    return value


def nested_null(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    path = chance.choice([one for one in paths if len(one) > 1] or paths)
    parent(value, path)[path[-1]] = None
    return value


def drop(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    path = chance.choice(paths)
    del parent(value, path)[path[-1]]
    return value


def shuffle(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    lists = [path for path in paths if isinstance(parent(value, path)[path[-1]], list)]
    if lists and chance.random() < 0.7:
        path = chance.choice(lists)
        chance.shuffle(parent(value, path)[path[-1]])
    return value if isinstance(value, dict) else chance.sample(value, len(value))


def repeat(chance: random.Random, value: Any, paths: list[tuple[Any, ...]]) -> Any:
    path = chance.choice(paths)
    inner, key = parent(value, path), path[-1]
    if isinstance(inner, list):
        inner.insert(chance.randrange(len(inner) + 1), copy.deepcopy(inner[key]))
    return value


def deep(chance: random.Random, body: bytes) -> bytes:
    depth = chance.choice([50, 2000, 100_000])
    return b"[" * depth + body + b"]" * depth


JSON_PAGE: list[Damage] = [*map(json_damage, (rename, swap_type, odd_value, nested_null, drop, shuffle, repeat)), deep]

# --- damage to HTML ------------------------------------------------------------------------------------------------------


def html_damage(change: Callable[[random.Random, BeautifulSoup], None]) -> Damage:
    def damage(chance: random.Random, body: bytes) -> bytes:
        soup = BeautifulSoup(body.decode(errors="replace"), "lxml")
        change(chance, soup)
        return str(soup).encode()

    damage.__name__ = change.__name__
    return damage


def any_tag(chance: random.Random, soup: BeautifulSoup, *names: str) -> Tag | None:
    tags = soup.find_all(names or True)
    return chance.choice(tags) if tags else None


def shuffle_rows(chance: random.Random, soup: BeautifulSoup) -> None:
    for table in soup.find_all(["tbody", "ul", "table"]):
        rows = table.find_all(["tr", "li"], recursive=False)[1 if table.name == "table" else 0 :]
        shuffled = chance.sample(list(rows), len(rows))
        for row in rows:
            row.extract()
        table.extend(shuffled)


def drop_tag(chance: random.Random, soup: BeautifulSoup) -> None:
    if tag := any_tag(chance, soup):
        tag.decompose()


def drop_row(chance: random.Random, soup: BeautifulSoup) -> None:
    if tag := any_tag(chance, soup, "tr", "li", "section", "article", "table", "script"):
        tag.decompose()


def rename_header(chance: random.Random, soup: BeautifulSoup) -> None:
    if tag := any_tag(chance, soup, "th", "h1", "h2", "h3", "h4", "thead"):
        tag.string = chance.choice(["", "Something else", "Price", "N/A", "GPU", "—"])


def rename_classes(chance: random.Random, soup: BeautifulSoup) -> None:
    for tag in soup.find_all(class_=True):
        if chance.random() < 0.5:
            tag["class"] = "css-1x2y3z"


def other_words(chance: random.Random, soup: BeautifulSoup) -> None:
    """A cell's text is another one that is no price."""
    if (tag := any_tag(chance, soup, "td", "th", "p", "span", "div", "li")) and not tag.find(True):
        tag.string = chance.choice(
            ["", "Contact us", "$", "$-", "$2.2.44", "NaN", "\u202e", "null", "Sold out", "<script>"]
        )


def strike(chance: random.Random, soup: BeautifulSoup) -> None:
    if (tag := any_tag(chance, soup, "td", "span", "p")) and re.search(r"\d", tag.get_text()):
        tag.wrap(soup.new_tag(chance.choice(["s", "del", "strike"])))


HTML_PAGE: list[Damage] = [
    html_damage(one) for one in (shuffle_rows, drop_tag, drop_row, rename_header, rename_classes, other_words, strike)
]

# --- what a parser may answer --------------------------------------------------------------------------------------------


def facts(offers: list[Offer]) -> set[tuple[object, ...]]:
    """What a price is made of."""
    return {
        (
            one.price,
            one.currency,
            one.per,
            one.price_scope,
            one.pricing_model,
            one.commitment_days,
            one.accelerator_count,
        )
        for one in offers
    }


@dataclass(frozen=True)
class Recorded:
    """A fixture and what it says."""

    name: str
    pages: list[Page]
    truth: set[tuple[object, ...]]


def recorded(adapter: Adapter) -> list[Recorded]:
    folders: list[Path] = sorted((FIXTURES / adapter.name).glob("*T*Z"))
    return [
        Recorded(one.name, pages, facts(adapter.parse(pages).offers))
        for one in folders
        for pages in [fixture_pages(one)]
    ]


def fault(adapter: Adapter, pages: list[Page], truth: set[tuple[object, ...]], seconds: int) -> str:
    """What is wrong with the answer to these pages; empty where nothing is."""
    try:
        with within(seconds):
            offers = adapter.parse(pages).offers
    except PageError as error:
        return "" if len(str(error).splitlines()) == 1 and len(str(error)) < 1000 else f"not one clear line: {error}"
    except TooSlowError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  # whatever else a parser raises is a fault of it
        return f"raises {error!r:.200}"
    # How many accelerators may have got lost; that is no other number.
    others = {
        one for one in facts(offers) - truth if one[-1] is not None or one[:-1] not in {own[:-1] for own in truth}
    }
    return f"other prices: {sorted(map(str, others))[:3]}" if others else ""


def damages_of(page: Page) -> list[Damage]:
    start = page.body.lstrip()[:1]
    if start in {b"{", b"["}:
        return [*ANY_PAGE, *JSON_PAGE, *JSON_PAGE]
    return [*ANY_PAGE, *HTML_PAGE, *HTML_PAGE] if start == b"<" else ANY_PAGE


@pytest.mark.parametrize("adapter", SOURCES, ids=lambda one: one.name)
def test_a_damaged_page_gives_its_own_prices_or_one_clear_error(adapter: Adapter) -> None:
    whole, faults = recorded(adapter), []
    for number in range(max(1, round(SHARE * INPUTS_OF_A_SOURCE))):
        chance = random.Random(f"{adapter.name} {number}")
        fixture = whole[number % len(whole)]
        pages = list(fixture.pages)
        place = chance.randrange(len(pages))
        page = pages[place]
        done = [chance.choice(damages_of(page)) for _ in range(chance.choice([1, 1, 1, 2]))]
        body = page.body
        for damage in done:
            try:
                body = damage(chance, body) if body else body
            except (ValueError, RecursionError):
                break  # the first damage left nothing that the second could read
        pages[place] = Page(page.url, body, page.name)
        if chance.random() < 0.1:
            chance.shuffle(pages)
        if found := fault(adapter, pages, fixture.truth, SECONDS):
            words = ", ".join(one.__name__ for one in done)
            faults.append(f"input {number}, {fixture.name} {page.name}, {words}: {found}")
    assert not faults, "\n".join(faults)


def enlarged(page: Page, way: str) -> bytes:
    """The page with fifty megabytes more."""
    body = page.body.strip()
    is_json = body[:1] in {b"{", b"["} and not page.name.endswith(".toml")
    match way:
        case "blanks":
            return body[:-1] + b" " * LARGE_BYTES + body[-1:]
        case "one word":
            word = b"x" * LARGE_BYTES
            return b'["' + word + b'",' + body + b"]" if is_json else body + b"<p>" + word + b"</p>"
        case "records" if is_json:
            return with_longest_list_repeated(body)
        case "records":
            return body * (LARGE_BYTES // len(body) + 1)
    raise AssertionError(way)


def with_longest_list_repeated(body: bytes) -> bytes:
    value = json.loads(body)
    lists = [path for path in [(), *places(value)] if path and isinstance(parent(value, path)[path[-1]], list)]
    if isinstance(value, list):
        return json.dumps(value * (LARGE_BYTES // len(body) + 1)).encode()
    if lists:
        path = max(lists, key=lambda one: len(json.dumps(parent(value, one)[one[-1]])))
        records = parent(value, path)[path[-1]]
        parent(value, path)[path[-1]] = records * (LARGE_BYTES // max(1, len(json.dumps(records))) + 1)
    return json.dumps(value).encode()


LARGE_SOURCES = SOURCES if SHARE >= 1 else SOURCES[:: round(1 / SHARE)]


@pytest.mark.parametrize("way", ["blanks", "one word", "records"])
@pytest.mark.parametrize("adapter", LARGE_SOURCES, ids=lambda one: one.name)
def test_fifty_megabytes_end_in_bounded_time(adapter: Adapter, way: str) -> None:
    fixture = recorded(adapter)[-1]
    first, *others = sorted(fixture.pages, key=lambda page: page.name.endswith(".toml"))
    pages = [Page(first.url, enlarged(first, way), first.name), *others]
    assert fault(adapter, pages, fixture.truth, SECONDS_OF_A_LARGE_PAGE) == ""
