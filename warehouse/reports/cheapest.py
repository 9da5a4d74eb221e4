"""Today's offers: the cheapest of each accelerator, and all that count."""

from collections.abc import Sequence

from warehouse.database import Connection
from warehouse.reports import wording
from warehouse.reports.figure import Cell, Figure, Table, figure_of, kinds_of, newest, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, fetch, grouped
from warehouse.reports.wording import Names

_NUMBERS = (
    "accelerator", "pricing_model", "commitment_days", "usd", "provider", "segment", "sku", "tier", "accelerator_count", "region", "price",
    "currency", "per", "seen_day", "age_days", "available", "source", "source_kind",
)  # fmt: skip
# On the page at most so many of one accelerator's or provider's offers; the CSV file has all.
MOST_SHOWN = 25

_COLUMNS = """
    accelerator, pricing_model, commitment_days, CAST(usd_per_accelerator_hour AS DOUBLE) AS usd, provider, segment, sku, tier,
    CAST(accelerator_count AS DOUBLE) AS accelerator_count, region, country, available, price, currency, per, seen_day, age_days, source,
    source_kind
"""
_COUNTS = "index_eligible AND available IS DISTINCT FROM false AND accelerator IS NOT NULL"


def by_accelerator(connection: Connection) -> list[Row]:
    """The cheapest offer of each accelerator on each pricing model, shortest term first; ties go to the youngest price."""
    return fetch(
        connection,
        f"""
        SELECT {_COLUMNS}, count(*) OVER same AS offers, count(DISTINCT provider) OVER same AS n_providers
        FROM offers_current
        WHERE {_COUNTS}
        WINDOW same AS (PARTITION BY accelerator, pricing_model)
        QUALIFY row_number() OVER (
            PARTITION BY accelerator, pricing_model ORDER BY usd_per_accelerator_hour, commitment_days, age_days, provider, sku, region
        ) = 1
        ORDER BY accelerator, list_position(['on_demand', 'spot', 'flex', 'reserved'], pricing_model)
        """,
        needs=["offers_current"],
    )


def every_offer(connection: Connection) -> list[Row]:
    """All current offers that count, cheapest first, one row per provider, SKU, price and term: regions at one price are counted."""
    return fetch(
        connection,
        f"""
        WITH counted AS (SELECT {_COLUMNS} FROM offers_current WHERE {_COUNTS})
        SELECT * EXCLUDE (region, country, available), min(region) AS region, count(DISTINCT region) AS regions, bool_or(available) AS available
        FROM counted
        GROUP BY ALL
        ORDER BY accelerator, usd, provider, sku, pricing_model, commitment_days
        """,
        needs=["offers_current"],
    )


def cheapest_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """A line for each accelerator: its cheapest offer on demand, else on the freest terms there are, and beside it the other terms."""
    columns, numbers = figure_of(rows, (*_NUMBERS, "offers", "n_providers"))
    parts = grouped(rows, "accelerator")
    return Figure(
        name="cheapest-today",
        explained="cheapest-today",
        title="Today's cheapest, by accelerator",
        basis="US dollars per accelerator and hour at the day's exchange rate; offers that count and are not known to be taken",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator", "Price per hour", "Terms", "Provider", "Offer", "Region", "Seen", "On other terms"),
            [
                (
                    Cell(names.accelerator(key), href=links.accelerator(key)),
                    number(wording.usd_per_hour(best["usd"])),
                    _terms(best),
                    _provider(best, names, links),
                    _offer(best),
                    Cell(best["region"] or ""),
                    _seen(best),
                    Cell("; ".join(_other_terms(row, names) for row in others)),
                )
                for key in sorted(parts, key=lambda key: names.accelerator(key).lower())
                for best, *others in [parts[key]]
            ],
        ),
        counted=f"{len(parts)} accelerators, {sum(row['offers'] for row in rows):,} offers",
        day=newest(rows, "seen_day"),
        source_kinds=kinds_of(rows),
        notes=("Offers on different terms are not the same thing; none is a recommendation.",),
        empty="No offer counts on the newest day.",
    )


def _other_terms(row: Row, names: Names) -> str:
    terms = wording.pricing(row["pricing_model"], row["commitment_days"])
    return f"{terms} {wording.usd_per_hour(row['usd'])} ({names.provider(row['provider'])})"


def offers_figure(rows: Sequence[Row], names: Names, links: Links, *, name: str, by_provider: bool) -> Figure:
    """All current offers of one accelerator, or of one provider."""
    columns, numbers = figure_of(rows, (*_NUMBERS, "regions"))
    left = f" The {MOST_SHOWN} cheapest are shown; all are in the CSV file." if len(rows) > MOST_SHOWN else ""
    return Figure(
        name=name,
        explained="cheapest-today",
        title="Today's offers",
        basis="US dollars per accelerator and hour at the day's exchange rate; offers that count and are not known to be taken",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator" if by_provider else "Provider", "Price per hour", "Terms", "Offer", "Region", "Seen"),
            [
                (
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"]))
                    if by_provider
                    else _provider(row, names, links),
                    number(
                        wording.usd_per_hour(row["usd"]),
                        note="" if row["currency"] == "USD" else f"from {row['currency']}",
                    ),
                    _terms(row),
                    _offer(row),
                    Cell(row["region"] if row["regions"] == 1 else f"{row['regions']} regions"),
                    _seen(row),
                )
                for row in rows[:MOST_SHOWN]
            ],
        ),
        counted=f"{len(rows):,} offers",
        day=newest(rows, "seen_day"),
        source_kinds=kinds_of(rows),
        notes=(f"Regions at one price are one line.{left}",),
        empty="No offer counts on the newest day.",
    )


def _terms(row: Row) -> Cell:
    return Cell(
        wording.pricing(row["pricing_model"], row["commitment_days"]), note=(row["tier"] or "").replace("_", " ")
    )


def _provider(row: Row, names: Names, links: Links) -> Cell:
    return Cell(
        names.provider(row["provider"]), href=links.provider(row["provider"]), note=wording.one_of(row["segment"])
    )


def _offer(row: Row) -> Cell:
    count = row["accelerator_count"]
    return Cell(row["sku"], note="" if count is None else f"{count:g} accelerator{'' if count == 1 else 's'}")


def _seen(row: Row) -> Cell:
    return Cell(wording.on_day(row["seen_day"]), note=wording.days_old(row["age_days"]))
