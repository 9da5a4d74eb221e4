"""Readers for the shapes that price pages come in: price text, tables, embedded JSON, JSON-LD.

They copy and never guess: what they do not recognise raises PageError, what is a placeholder is None.
"""

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer, Per, PricingModel
from scrapers.source import READING_ERRORS, Page, PageError, Rejected, Unpriced, one_line

NUMBER = r"\d[\d.,' ]*"
CURRENCIES = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "Rs.": "INR", "円": "JPY", "R$": "BRL"}
# A sign of several currencies: a code beside it tells which; ¥ alone tells nothing.
MAY_MEAN = {"$": {"USD", "CAD", "AUD", "SGD"}, "¥": {"JPY", "CNY"}}
CODES = "USD|EUR|GBP|INR|JPY|CNY|CHF|BRL|CAD|AUD|SGD|KRW|SEK|PLN"
UNITS: dict[str, Per] = {
    "second": "second", "sec": "second", "s": "second",
    "minute": "minute", "min": "minute",
    "hour": "hour", "hours": "hour", "hr": "hour", "hrs": "hour", "h": "hour",
    "day": "day", "d": "day",
    "month": "month", "months": "month", "mo": "month",
    "year": "year", "years": "year", "yr": "year",
}  # fmt: skip
PLACEHOLDERS = {
    "", "-", "--", "–", "––", "—", "n/a", "na", "tbd", "tba", "rfq", "custom", "unavailable", "not available",
    "sold out", "coming soon", "contact us", "contact sales", "contact", "contact for pricing", "get a quote",
    "on request", "upon request", "price on request", "price upon request", "poa", "call", "call for pricing",
    "contact for price", "contact for quote", "enquire", "ask us", "out of stock", "waitlist", "join waitlist",
    "join the waitlist", "pre order", "pre-order", "request a quote", "talk to sales", "reserve now", "call us",
    "inquire",
}  # fmt: skip
_EACH = r"(?:gpu|gpus|accelerator|chip|card|[a-z]+\d+[a-z]*)"
_MONEY = re.compile(
    rf"""^(?P<floor>from|starting\ (?:at|from)|starts\ (?:at|from)|as\ low\ as)?:?\s*
    (?P<before>US\$|R\$|Rs\.|[$€£₹¥]|(?:{CODES})\b)?\s*
    (?P<number>{NUMBER})\s*
    (?P<after>[$€£₹¥円]|\b(?:{CODES})\b)?\s*
    (?P<unit>(?:(?:/|per\b)\s*(?:1\s+)?(?:(?P<each>{_EACH})\s*(?:[-/]|per\b)?\s*)?(?P<per>{"|".join(sorted(UNITS, key=len, reverse=True))})?)?)\s*
    (?:[*†‡¹²³⁴]+)?$""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Money:
    """One price as printed."""

    amount: Decimal
    currency: str | None
    """ISO 4217; None when the text names none."""
    per: Per | None
    each: bool
    """The text says per accelerator."""
    floor: bool
    """The text says "from"."""
    text: str


def clean(text: str) -> str:
    """Text with every kind of space folded to one blank, and zero-width marks, React comments and word joiners gone."""
    text = re.sub(r"<!--.*?-->|[\u200b-\u200f\u2060\ufeff]", "", text)
    return " ".join(text.split())


def is_placeholder(text: str) -> bool:
    """Whether the text holds a column without pricing anything."""
    return clean(text).rstrip("*.:→ ").casefold() in PLACEHOLDERS


def number(text: str, decimal_mark: str = ".") -> Decimal:
    """A plain positive number, with thousands separators in groups of three only.

    ``decimal_mark`` is the page's; the other of ``.`` and ``,`` (and ' or a blank) groups thousands. Raises PageError otherwise.
    """
    groups = "[,' ]" if decimal_mark == "." else "[.' ]"
    mark = re.escape(decimal_mark)
    text = clean(text)
    if not re.fullmatch(rf"(?:\d{{1,3}}(?:{groups}\d{{3}})+|\d+)(?:{mark}\d+)?", text):
        raise PageError(f"not a plain number: {text[:40]!r}")
    return Decimal(re.sub(groups, "", text).replace(decimal_mark, "."))


def money(text: str, decimal_mark: str = ".") -> Money | None:
    """The one price in the text, or None for a placeholder ("Contact sales", "N/A", a dash).

    Refuses ranges, two prices, and anything with words it does not know: raises PageError.
    """
    text = clean(text)
    if is_placeholder(text):
        return None
    # GCP prints "$2 .0000" and Lambda "$ 1,883.40": blanks around the number's parts are layout.
    joined = re.sub(r"(?<=\d) (?=[.,]\d)", "", text)
    found = _MONEY.match(joined)
    if not found:
        raise PageError(f"not one price: {text[:60]!r}")
    currency = _currency(found["before"], found["after"], text)
    per = UNITS[found["per"].casefold()] if found["per"] else None
    amount = number(found["number"].strip(" '"), decimal_mark)
    return Money(amount, currency, per, bool(found["each"]), bool(found["floor"]), text)


def _currency(before: str | None, after: str | None, text: str) -> str | None:
    """What the signs and codes around a number mean together. Raises PageError where that is two currencies."""
    marks = [mark for mark in (before, after) if mark]
    if not marks:
        return None
    if len(marks) == 1 and marks[0] in CURRENCIES:
        return CURRENCIES[marks[0]]
    meanings = [MAY_MEAN.get(mark) or {CURRENCIES.get(mark, mark.upper())} for mark in marks]
    meant = meanings[0] & meanings[-1]
    if len(meant) != 1:
        raise PageError(f"not one currency in {text[:60]!r}")
    return next(iter(meant))


def price(text: str, decimal_mark: str = ".") -> Money | None:
    """Like ``money``, with zero as a placeholder: nobody rents for nothing."""
    found = money(text, decimal_mark)
    if found and found.amount > 0:
        return found
    _note_no_price(clean(text)[:40])
    return None


def hourly(text: str, *, header_says_so: bool = False) -> dict[str, Any] | None:
    """The ``price``, ``currency`` and ``price_scope`` of an Offer by the hour, or None for a placeholder.

    The unit stands in the text, or else in the column's header. Raises PageError for another unit or none, for a text
    without a currency, and for a floor.
    """
    asked = price(text)
    if asked is None:
        return None
    if asked.floor or asked.currency is None or (asked.per or (header_says_so and "hour")) != "hour":
        raise PageError(f"not a price by the hour: {asked.text[:60]!r}")
    scope = "accelerator" if asked.each else "offer"
    return {"price": asked.amount, "currency": asked.currency, "price_scope": scope}


def text_of(node: Tag | None, without: str = "") -> str:
    """The node's visible text; what is struck through, or matches the CSS selector ``without``, is not.

    Raises PageError when there is no node.
    """
    if node is None:
        raise PageError("a part of the page is missing")
    left_out = {id(tag) for tag in node.select(without)} if without else set()
    strings = node.find_all(string=True)
    return clean(" ".join(s for s in strings if not any(_is_struck(p) or id(p) in left_out for p in s.parents)))


STRUCK = {"s", "del", "strike", "script", "style", "template"}


def _is_struck(tag: Tag) -> bool:
    """Whether the tag is struck through, by its name, its style or the usual class, or is no text at all."""
    look = f"{tag.get('style')} {tag.get('class')}" if tag.attrs else ""
    return tag.name in STRUCK or "line-through" in look or "strikethrough" in look


def one(node: BeautifulSoup | Tag, selector: str) -> Tag:
    """The first node of a CSS selector. Raises PageError when there is none."""
    found = node.select_one(selector)
    if found is None:
        raise PageError(f"nothing on the page matches {selector!r}")
    return found


def whole_html(page: Page) -> BeautifulSoup:
    """The page as HTML. Raises PageError when it stops inside a word or a tag: "$2.9" may be the half of "$2.99"."""
    if not page.text.rstrip().endswith(">"):
        raise PageError(f"{page.name}: not a whole page of HTML; it ends with {clean(page.text[-40:])!r}")
    return page.soup


def table_rows(table: Tag, header_of: Callable[[Tag], str] = text_of) -> list[dict[str, Tag]]:
    """Rows of a table as header text to cell; the header is the first row that has cells.

    Of several columns without a header the first counts. Raises PageError when two columns share a name, or when a row
    has another number of cells than the header: columns would shift.
    """
    rows = [row.find_all(["th", "td"], recursive=False) for row in table.find_all("tr")]
    rows = [row for row in rows if row]
    if not rows:
        raise PageError("a table without rows")
    header = [header_of(cell) for cell in rows[0]]
    names = [name for name in header if name]
    if len(set(names)) != len(names):
        raise PageError(f"a table with two columns of one name: {header}")
    for row in rows[1:]:
        if len(row) != len(header):
            raise PageError(f"a row of {len(row)} cells under a header of {len(header)}: {text_of(row[0])!r}")
    return [dict(reversed(list(zip(header, row, strict=True)))) for row in rows[1:]]


def text_rows(table: Tag, without: str = "") -> list[dict[str, str]]:
    """Rows of a table as ``label`` of the header to text of the cell, both without what matches the selector."""
    rows = table_rows(table, lambda cell: label(text_of(cell, without)))
    return [{name: text_of(cell, without) for name, cell in row.items()} for row in rows]


def table_texts(table: Tag, without: str = "") -> list[list[str]]:
    """The texts of a table's cells row by row, as wide as it is: a cell stands in every column and row that it spans.

    A head without a row around its cells is one. Raises PageError when a price spans columns: it is in none of them.
    """
    rows: list[dict[int, str]] = []
    below: dict[tuple[int, int], str] = {}
    lines = [line.find_all(["th", "td"], recursive=False) for line in table.find_all(["thead", "tr"])]
    for place, cells in enumerate(cells for cells in lines if cells):
        rows.append({column: text for (line, column), text in below.items() if line == place})
        for cell in cells:
            text = text_of(cell, without)
            width, height = (int(str(cell.get(span) or 1)) for span in ("colspan", "rowspan"))
            if width > 1 and is_priced(text):
                raise PageError(f"a price over {width} columns: {text[:40]!r}")
            first = next(column for column in itertools.count() if column not in rows[place])
            for column in range(first, first + width):
                rows[place][column] = text
                below |= {(place + line, column): text for line in range(1, height)}
    return [[text for _, text in sorted(row.items())] for row in rows]


def labelled(header: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """One row of a grid that is not a table, as ``label`` of the header to text.

    Raises PageError when two columns share a name, or when the row has another number of cells than the header.
    """
    names = [label(text) for text in header]
    if len(set(names)) != len(names) or len(names) != len(texts):
        raise PageError(f"a row of {len(texts)} cells under a header of {len(names)}: {[*texts[:1]]} {names}")
    return dict(zip(names, texts, strict=True))


def heading_before(tag: Tag, *names: str) -> str:
    """The text of the last tag of those names (all headings without any) before this one; empty without one."""
    found = tag.find_all_previous(names or ("h1", "h2", "h3", "h4", "h5", "h6"), limit=1)
    return "".join(text_of(heading) for heading in found)


def label(text: str) -> str:
    """A column's header as code looks for it: small letters, no footnote marks, no blanks around a slash."""
    return re.sub(r"\s*/\s*", "/", re.sub(r"[*†‡¹²³⁴]+", "", clean(text)).strip()).casefold()


def model_name(text: str) -> str:
    """A text that may name an accelerator: letters before a number. Raises PageError for a size, a price and plain words."""
    if not re.search("[A-Za-z] ?[0-9]", text) or is_priced(text):
        raise PageError(f"not a name of an accelerator: {text[:40]!r}")
    return text


def refuse_unknown_prices(rows: Iterable[Mapping[str, str]], known: Collection[str]) -> None:
    """Raises PageError when a column of prices has a header that is not ``known``: renamed, or a new kind of price."""
    for row in rows:
        for name, text in row.items():
            if name not in known and is_priced(text):
                raise PageError(f"a column of prices with a header that is not known: {name!r}")


def refuse_unknown_table(table: Tag, header: object) -> None:
    """Raises PageError when a table whose header is not known prices accelerators; CPUs, storage and networks may."""
    if is_priced(text_of(table)) and re.search("GPU|NVIDIA", text_of(table), re.IGNORECASE):
        raise PageError(f"a price table with a header that is not known: {header}")


def is_priced(text: str) -> bool:
    """Whether a sign of a currency stands in the text."""
    return re.search("[$€£₹¥円]", text) is not None


TERM = r"(\d+)(?:\s?[-–—]\s?\d+|\+)?[\s-]*(day|week|month|year)s?"


def term_days(text: str) -> int:
    """Days of a term, the shortest of a range: "3-years" 1095, "1 year+" 365, "7-30 days" 7, "2 weeks – 1 year" 14.

    A month is 30 days, twelve of them 365.
    """
    found = re.fullmatch(rf"{TERM}(?:\s*\+|\s*[-–—]\s*{TERM})?", clean(text), re.IGNORECASE)
    if not found:
        raise PageError(f"not a term: {text[:40]!r}")
    count, unit = int(found[1]), found[2].casefold()
    if unit == "month":
        return count // 12 * 365 + count % 12 * 30
    return count * {"day": 1, "week": 7, "year": 365}[unit]


WAYS: dict[str, PricingModel] = {
    "on-demand": "on_demand", "spot": "spot", "preemptible": "spot",
    "reserved": "reserved", "reserve": "reserved", "reservation": "reserved",
}  # fmt: skip
NO_WAY = {
    "gpu", "cloud", "vm", "droplet", "compute", "current", "price", "pricing", "cost", "per", "hour", "/hr", "gpu-hour",
}  # fmt: skip


def several_places(text: str) -> list[str]:
    """The places that one cell names: "Iowa (us-central1), Oregon; East US" three, "Oslo, NO" one."""
    apart = r"[,;|/](?!\s*[A-Z]{2}\s*(?:[,;|/]|(?:and|&)\s|$))(?![^()]*\))|\s(?:and|&)\s"
    pieces = (piece.strip() for piece in re.split(apart, clean(text)))
    return [piece for piece in pieces if piece]


def way_of_buying(words: str) -> dict[str, Any] | None:
    """``pricing_model`` and ``commitment_days``, from a header: "Current Spot", "1-year reserved", "GPU 6 Month Cost (/hr)".

    None when no way stands there, or two, or a word that is not known: it may change what the price is for.
    """
    text = re.sub("on demand|pay as you go", "on-demand", label(words))
    term = re.search(TERM, text)
    rest = set(re.findall(r"[^\s(),]+", text.replace(term[0], " ") if term else text))
    ways = {WAYS[word] for word in rest & WAYS.keys()} | ({"reserved"} if term else set())
    if len(ways) != 1 or rest - WAYS.keys() - NO_WAY:
        return None
    return {"pricing_model": ways.pop(), "commitment_days": term_days(term[0]) if term else 0}


def sold(row: Mapping[str, str], specs: Collection[str], *, by_the_hour: bool = False) -> Iterator[dict[str, Any]]:
    """Each price of a ``labelled`` row as fields of an Offer: its column says how it is bought, a "from" makes it a floor.

    The unit stands in the cell, in the column's header, or elsewhere (``by_the_hour``). Raises PageError for a price in
    one of the ``specs`` or in a column that says no way of buying, for another unit, and for a price without a currency.
    """
    for column, text in row.items():
        way = None if column in specs else way_of_buying(column)
        if way is None and is_priced(text):
            raise PageError(f"a price in a column that does not say what for: {column!r}")
        if way is None or (asked := price(text)) is None:
            continue
        unit = asked.per or ("hour" if by_the_hour or re.search("/hr|hour", column) else None)
        if asked.currency is None or unit != "hour":
            raise PageError(f"not a price by the hour: {asked.text[:60]!r} under {column!r}")
        if asked.floor:
            tier = None if way["pricing_model"] == "on_demand" else way["pricing_model"]
            way = {**way, "pricing_model": "floor", "tier": tier}
        scope = "accelerator" if asked.each or "gpu-hour" in column else "offer"
        yield {**way, "price": asked.amount, "currency": asked.currency, "price_scope": scope}


_SPOT_ALONE = Decimal("1.5")


def _sold(offer: Offer) -> tuple[str, str, str | None]:
    return offer.sku, offer.region, offer.tier


def check_discounts(found: Iterable[Offer | Rejected]) -> list[Offer | Rejected]:
    """The same, once each. Raises PageError where columns cannot be what they say.

    That is when a longer commitment is dearer, when most spot prices are, and when everything is at a discount. A spot price now and
    then above the one on demand is real.
    """
    results = list(dict.fromkeys(found))
    offers = [item for item in results if isinstance(item, Offer) and item.pricing_model != "floor"]
    if offers and not any(offer.pricing_model == "on_demand" for offer in offers):
        raise PageError("no price on demand among discounts: the columns are not what they say")
    dearest: dict[tuple[str, str, str | None], Decimal] = {}
    dearer: list[Offer] = []
    for offer in sorted(offers, key=lambda offer: (offer.pricing_model != "on_demand", offer.commitment_days)):
        key = _sold(offer)
        if offer.price > dearest.get(key, offer.price):
            dearer.append(offer)
        if offer.pricing_model != "spot":
            dearest[key] = offer.price
    listed = {_sold(offer): offer.price for offer in offers if offer.pricing_model == "on_demand"}
    spot = [offer for offer in offers if offer.pricing_model == "spot" and _sold(offer) in listed]
    shares = [offer.price / listed[_sold(offer)] for offer in spot]
    above = [share for share in shares if share > 1]
    # Of a single pair nothing but its distance tells a busy day from columns that changed places.
    is_swapped = len(above) > len(shares) / 2 and (len(above) > 1 or above[0] > _SPOT_ALONE)
    if is_swapped or any(offer.pricing_model != "spot" for offer in dearer):
        raise PageError(f"{dearer[0].price} for {dearer[0].sku} is no discount: the columns are not what they say")
    return results


def gigabytes(text: str) -> Decimal:
    """A size in gigabytes, decimal or binary as printed: "200 GiB" 200, "1.8 TB" 1800, "22 TiB SSD" 22528."""
    found = re.match(r"([\d.,]+)\s*(GB|GiB|TB|TiB)\b", clean(text))
    if not found:
        raise PageError(f"not a size of memory: {text[:40]!r}")
    return number(found[1]) * {"GB": 1, "GiB": 1, "TB": 1000, "TiB": 1024}[found[2]]


def json_ld(page: Page) -> Iterator[dict[str, Any]]:
    """Every JSON-LD object on the page, those inside ``@graph`` one by one."""
    for script in page.soup.select('script[type="application/ld+json"]'):
        found = embedded(script.string or "")
        for item in found if isinstance(found, list) else [found]:
            yield from item.get("@graph", [item])


def next_data(page: Page) -> Any:
    """The JSON that a Next.js page carries in ``#__NEXT_DATA__``. Raises PageError when there is none."""
    return embedded(one(page.soup, "script#__NEXT_DATA__").string or "")


def flight(page: Page) -> str:
    """What a Next.js page streams to its own scripts (``self.__next_f``), unescaped, in order.

    A value may be split between two scripts. Raises PageError when there is none.
    """
    chunks = re.findall(r'self\.__next_f\.push\(\[1,("(?:[^"\\]|\\.)*")\]\)', page.text)
    if not chunks:
        raise PageError("no data stream of Next.js on the page")
    return "".join(map(embedded, chunks))


def embedded_at(text: str, place: int) -> Any:
    """The JSON value that starts at that place of a text, numbers exact. Raises PageError when none does."""
    try:
        return json.JSONDecoder(parse_float=Decimal).raw_decode(text, place)[0]
    except (ValueError, RecursionError) as error:
        raise PageError(f"no JSON can be read at its place: {error}") from None


def embedded(text: str) -> Any:
    """JSON inside a page, numbers exact. Raises PageError when it is not JSON."""
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise PageError(f"embedded JSON does not read: {error}") from None


def decimal_of(value: object) -> Decimal:
    """A JSON number, or a string that is a plain decimal, as an exact Decimal.

    Raises PageError for null, booleans, words, NaN and infinities: none of them is a number that was told.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise PageError(f"not a number: {value!r}")
    if isinstance(value, str) and not re.fullmatch(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", value.strip()):
        raise PageError(f"not a number: {value[:40]!r}")
    amount = Decimal(value)
    if not amount.is_finite():
        raise PageError(f"not a finite number: {value}")
    return amount


def whole(value: object) -> int:
    """A JSON integer: a count, an amount in the smallest unit. Raises PageError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise PageError(f"not a whole number: {value!r}")
    return value


def asked(value: object) -> Decimal | None:
    """A JSON price that somebody asks; None for null and zero, which stand for "not offered".

    Raises PageError for a negative price and for what is not a number.
    """
    amount = Decimal(0) if value is None else decimal_of(value)
    if amount < 0:
        raise PageError(f"a negative price: {amount}")
    if not amount:
        _note_no_price(str(value))
    return amount or None


_no_prices: ContextVar[list[str] | None] = ContextVar("no_prices", default=None)
"""What stood in place of the prices of the record that ``each`` reads."""


def _note_no_price(told: str) -> None:
    if (noted := _no_prices.get()) is not None:
        noted.append(told)


def truth(value: object) -> bool:
    """A JSON boolean. Raises PageError for anything else."""
    if not isinstance(value, bool):
        raise PageError(f"neither true nor false: {value!r}")
    return value


def fraction(text: str) -> Decimal:
    """A count that may be a fraction: ``8``, ``1/4`` (0.25), ``1/6`` (0.166667, six places)."""
    if found := re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text):
        if int(found[2]) == 0:
            raise PageError(f"a fraction over zero: {text!r}")
        return round(Decimal(found[1]) / Decimal(found[2]), 6)
    return decimal_of(text)


def items(value: object, what: str) -> Sequence[dict[str, Any]]:
    """A JSON list of objects, as it must be. Raises PageError otherwise; an empty list is an answer."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise PageError(f"{what} is not a list of objects")
    return cast("Sequence[dict[str, Any]]", value)


def named(value: object, what: str, key: str = "name") -> Sequence[dict[str, Any]]:
    """A JSON object of objects as records, each with its name there under ``key``. Raises PageError otherwise."""
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise PageError(f"{what} is not an object of objects")
    return [{**item, key: name} for name, item in value.items()]


def check_month(hourly: Decimal, monthly: Decimal) -> None:
    """Raises PageError when two prices cannot be of one thing: swapped fields, another unit.

    Providers count a month as 672 to 744 hours; capped and discounted ones have been seen from 570 to 1,363.
    """
    if not 400 * hourly <= monthly <= 1500 * hourly:
        raise PageError(f"{monthly} a month does not go with {hourly} an hour")


def each(
    records: Iterable[dict[str, Any]], key: str, read: Callable[[dict[str, Any]], Iterable[Offer]]
) -> Iterator[Offer | Rejected]:
    """The offers of every record; a record that does not read is reported under its ``key`` and the rest go on.

    So is one without an offer that had something in the place of a price: ``Unpriced``.
    """
    for place, record in enumerate(records):
        name = str(record.get(key) or f"record {place}")[:100]
        noted: list[str] = []
        token = _no_prices.set(noted)
        found: list[Offer | Rejected]
        try:
            found = list(read(record))
            if noted and not found:
                found.append(Unpriced(name, f"no price: {noted[0] or 'empty'}"))
        except READING_ERRORS as error:
            found = [Rejected(name, one_line(error))]
        finally:
            _no_prices.reset(token)
        yield from found
