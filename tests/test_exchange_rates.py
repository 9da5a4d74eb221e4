"""The ECB's reference rates: the daily file, the shipped history, and what is refused."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from scrapers.exchange_rates import URL, Rate, fetch, history, parse, unpivoted
from scrapers.source import Page, PageError

DAILY = Path(__file__).parent / "fixtures/exchange_rates/2026-10-30T160000Z/eurofxref-daily.xml"
NAMESPACES = (
    'xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"'
)


def page(body: bytes | str) -> Page:
    return Page(URL, body if isinstance(body, bytes) else body.encode(), "eurofxref-daily.xml")


def envelope(cubes: str, prolog: str = "") -> Page:
    return page(f"{prolog}<gesmes:Envelope {NAMESPACES}><Cube>{cubes}</Cube></gesmes:Envelope>")


def test_the_daily_file_gives_every_rate_of_its_day() -> None:
    rates = parse([page(DAILY.read_bytes())])
    assert len(rates) == 29
    assert {rate.day for rate in rates} == {date(2026, 10, 30)}
    assert rates == sorted(rates, key=lambda rate: rate.currency)
    assert Rate(date(2026, 10, 30), "USD", Decimal("1.1172")) in rates
    assert Rate(date(2026, 10, 30), "GBP", Decimal("0.83380")) in rates
    assert Rate(date(2026, 10, 30), "IDR", Decimal("20275.17")) in rates


def test_fetch_asks_the_ecb_once() -> None:
    asked: list[str] = []

    class Client:
        def get(self, url: str, *, name: str) -> Page:
            asked.append(url)
            return Page(url, DAILY.read_bytes(), name)

    client: Any = Client()
    assert len(parse(list(fetch(client)))) == 29
    assert asked == [URL]


def test_a_file_of_several_days_keeps_each_rate_with_its_day() -> None:
    rates = parse(
        [
            envelope(
                "<Cube time='2026-10-30'><Cube currency='USD' rate='1.1172'/></Cube>"
                "<Cube time='2026-10-29'><Cube currency='USD' rate='1.1'/></Cube>"
            )
        ]
    )
    assert rates == [
        Rate(date(2026, 10, 29), "USD", Decimal("1.1")),
        Rate(date(2026, 10, 30), "USD", Decimal("1.1172")),
    ]


def test_a_rate_that_was_not_set_is_left_out() -> None:
    day = "<Cube time='2026-10-30'><Cube currency='RUB' rate='N/A'/><Cube currency='USD' rate='1.1172'/></Cube>"
    assert [rate.currency for rate in parse([envelope(day)])] == ["USD"]


@pytest.mark.parametrize(
    "cubes",
    [
        "",
        "<Cube time='2026-10-30'/>",
        "<Cube currency='USD' rate='1.1172'/>",
        "<Cube time='30.10.2026'><Cube currency='USD' rate='1.1172'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD'/></Cube>",
        "<Cube time='2026-10-30'><Cube rate='1.1172'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='dollar' rate='1.1172'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='0'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='-1.1172'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='NaN'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='1e12'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='1,1172'/></Cube>",
        "<Cube time='2026-10-30'><Cube currency='USD' rate='1.1'/><Cube currency='USD' rate='1.2'/></Cube>",
    ],
)
def test_what_is_not_a_rate_is_refused(cubes: str) -> None:
    with pytest.raises(PageError):
        parse([envelope(cubes)])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><html><body>Sign in</body></html>",
        b"<html><body>Moved</body></html>",
        b'{"rates": {"USD": 1.1172}}',
        DAILY.read_bytes()[:900],
        DAILY.read_bytes().replace(b"gesmes:Envelope", b"gesmes:Letter"),
        DAILY.read_bytes().replace(b"eurofxref", b"other"),
        b"\xff\xfe\x00\x01",
    ],
)
def test_what_is_not_the_ecb_file_is_refused(body: bytes) -> None:
    with pytest.raises(PageError):
        parse([page(body)])


def test_no_page_is_no_rate() -> None:
    with pytest.raises(PageError):
        parse([])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_before_any_entity_grows(encoding: str) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE bomb [<!ENTITY l0 "ha">{laughs}]>'
        f"<gesmes:Envelope {NAMESPACES}><Cube>&l11;</Cube></gesmes:Envelope>"
    )
    with pytest.raises(PageError, match="document type"):
        parse([page(bomb.encode(encoding))])


def test_an_outside_entity_is_refused() -> None:
    outside = '<!DOCTYPE x [<!ENTITY passwords SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(PageError, match="document type"):
        parse([envelope("<Cube time='2026-10-30'><Cube currency='USD' rate='&passwords;'/></Cube>", outside)])


def test_the_shipped_history_has_the_rates_that_were_set_and_no_others() -> None:
    connection = duckdb.connect()
    connection.register("rates", history())
    known = dict(
        connection.execute("SELECT currency, units_per_eur FROM rates WHERE day = DATE '1999-01-04'").fetchall()
    )
    assert known["USD"] == Decimal("1.1789")
    assert known["TRL"] == Decimal(372274)
    assert "CNY" not in known
    [(weekend, twice, total, least)] = connection.execute("""
        SELECT
            count(*) FILTER (isodow(day) > 5), count(*) - count(DISTINCT (day, currency)), count(*), min(units_per_eur)
        FROM rates
    """).fetchall()
    assert (weekend, twice) == (0, 0)
    assert total > 200_000
    assert least > 0
    [(last_rouble,)] = connection.execute("SELECT max(day) FROM rates WHERE currency = 'RUB'").fetchall()
    assert last_rouble == date(2022, 3, 1)
    [(christmas,)] = connection.execute("SELECT count(*) FROM rates WHERE day = DATE '2024-12-25'").fetchall()
    assert christmas == 0


def test_history_has_the_warehouse_s_types() -> None:
    assert [str(field.type) for field in history().schema] == ["date32[day]", "string", "decimal128(18, 9)"]


def test_gaps_of_the_history_have_no_row() -> None:
    table = unpivoted(b"Date,USD,RUB,\n2022-03-02,1.1106,N/A,\n2022-03-01,1.1162,117.201,\n")
    assert table.to_pylist() == [
        {"day": date(2022, 3, 1), "currency": "RUB", "units_per_eur": Decimal("117.201")},
        {"day": date(2022, 3, 1), "currency": "USD", "units_per_eur": Decimal("1.1162")},
        {"day": date(2022, 3, 2), "currency": "USD", "units_per_eur": Decimal("1.1106")},
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"Datum,USD,\n2022-03-01,1.1162,\n",
        b"Date,dollar,\n2022-03-01,1.1162,\n",
        b"Date,USD,\n01.03.2022,1.1162,\n",
        b"Date,USD,\n2022-03-01,much,\n",
        b"Date,USD,\n2022-03-01,0,\n",
        b"Date,USD,\n2022-03-01,-1.1162,\n",
        b"Date,USD,\n2022-03-01,N/A,\n",
        b"Date,USD,JPY,\n2022-03-01,1.1162,\n",
    ],
)
def test_another_history_is_refused(body: bytes) -> None:
    with pytest.raises(PageError):
        unpivoted(body)
