"""What moved in a span of days, a week unless told otherwise: prices, the index, single offers, and providers that came or went."""

from collections.abc import Sequence
from datetime import date, timedelta

from warehouse.database import Connection
from warehouse.history import SHOWN_DAYS
from warehouse.reports import wording
from warehouse.reports.figure import Cell, Figure, Table, figure_of, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, fetch
from warehouse.reports.wording import Names

# On the page; the CSV files have all.
MOST_MOVED, MOST_SHOWN = 12, 20
# A median that moved by less than this rounds to nothing.
_LEAST_MOVE = 0.0005
_CHANGE_COLUMNS = (
    "day", "change", "provider", "accelerator", "sku", "accelerator_count", "pricing_model", "commitment_days", "region", "regions",
    "price_before", "price_after", "change_percent", "currency", "per", "source", "source_kind",
)  # fmt: skip
_MOVE_COLUMNS = (
    "accelerator", "since_day", "day", "change_index", "usd_before", "usd", "change_usd", "n_providers", "status", "up", "down", "new", "gone",
    "providers_in", "providers_out", "source_kinds",
)  # fmt: skip


def span(connection: Connection, since: date | None = None) -> tuple[date, date] | None:
    """The day that is compared with and the newest day; None where there is no price."""
    rows = fetch(connection, "SELECT max(day) AS day FROM prices_daily", needs=["prices_daily"])
    if not rows or rows[0]["day"] is None:
        return None
    newest: date = rows[0]["day"]
    return (since or newest - timedelta(days=SHOWN_DAYS), newest)


def changes(connection: Connection, since: date) -> list[Row]:
    """Single offers that rose, fell, came or went from a day on, largest move first; one line for regions that moved alike."""
    return fetch(
        connection,
        """
        SELECT *
        FROM (
            SELECT
                day, change, provider, accelerator, sku, CAST(accelerator_count AS DOUBLE) AS accelerator_count, pricing_model,
                commitment_days, min(region) AS region, count(DISTINCT region) AS regions, price_before, price_after, change_percent, currency,
                per, source, source_kind
            FROM price_changes
            WHERE day >= $since AND accelerator IS NOT NULL AND pricing_model <> 'floor'
            GROUP BY ALL
        )
        ORDER BY abs(change_percent) DESC NULLS LAST, day DESC, provider, accelerator, sku, pricing_model, commitment_days, price_after
        """,
        {"since": since},
        needs=["price_changes"],
    )


def last_change(connection: Connection) -> date | None:
    """The day of the last change of all."""
    rows = fetch(
        connection,
        "SELECT max(day) AS day FROM price_changes WHERE accelerator IS NOT NULL AND pricing_model <> 'floor'",
        needs=["price_changes"],
    )
    return rows[0]["day"] if rows else None


def by_accelerator(connection: Connection, since: date, until: date) -> list[Row]:
    """What moved of each accelerator on demand between two days: index, median, offers, providers. Inside ``indices.index_days``.

    An accelerator of which nothing moved has a row too; ``usd_before`` is null where the day had no price.
    """
    return fetch(
        connection,
        """
        WITH priced AS (
            SELECT * FROM prices_daily
            WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND segment = 'all' AND status <> 'withheld' AND day IN ($since, $until)
        ),
        sellers AS (
            SELECT
                accelerator,
                list(DISTINCT provider ORDER BY provider) FILTER (WHERE day = $since) AS providers_then,
                list(DISTINCT provider ORDER BY provider) FILTER (WHERE day = $until) AS providers_now
            FROM provider_prices_daily
            WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND day IN ($since, $until)
            GROUP BY accelerator
        ),
        moved AS (
            SELECT
                accelerator, count(*) FILTER (change = 'up') AS up, count(*) FILTER (change = 'down') AS down,
                count(*) FILTER (change = 'new') AS new, count(*) FILTER (change = 'gone') AS gone
            FROM price_changes
            WHERE day BETWEEN $since AND $until AND accelerator IS NOT NULL AND pricing_model <> 'floor'
            GROUP BY accelerator
        ),
        levels AS (
            SELECT n.accelerator, n.price_index / b.price_index - 1 AS change_index
            FROM index_days AS n
            JOIN index_days AS b USING (accelerator, segment, chain_id)
            WHERE segment = 'all' AND n.day = $until AND b.day = $since
        ),
        everyone AS (SELECT accelerator FROM priced UNION SELECT accelerator FROM moved UNION SELECT accelerator FROM sellers)
        SELECT
            e.accelerator, $since::DATE AS since_day, $until::DATE AS day, l.change_index,
            b.usd_per_accelerator_hour_median AS usd_before, n.usd_per_accelerator_hour_median AS usd,
            n.usd_per_accelerator_hour_median / b.usd_per_accelerator_hour_median - 1 AS change_usd, n.n_providers, n.status,
            coalesce(m.up, 0) AS up, coalesce(m.down, 0) AS down, coalesce(m.new, 0) AS new, coalesce(m.gone, 0) AS gone,
            list_filter(coalesce(s.providers_now, []), lambda x: NOT list_contains(coalesce(s.providers_then, []), x)) AS providers_in,
            list_filter(coalesce(s.providers_then, []), lambda x: NOT list_contains(coalesce(s.providers_now, []), x)) AS providers_out,
            coalesce(n.source_kinds, b.source_kinds) AS source_kinds
        FROM everyone AS e
        LEFT JOIN priced AS n ON n.accelerator = e.accelerator AND n.day = $until
        LEFT JOIN priced AS b ON b.accelerator = e.accelerator AND b.day = $since
        LEFT JOIN levels AS l ON l.accelerator = e.accelerator
        LEFT JOIN sellers AS s ON s.accelerator = e.accelerator
        LEFT JOIN moved AS m ON m.accelerator = e.accelerator
        ORDER BY e.accelerator
        """,
        {"since": since, "until": until},
        needs=["prices_daily", "provider_prices_daily", "price_changes", "index_days"],
    )


def has_moved(row: Row) -> bool:
    """Whether anything of an accelerator moved; that a price has grown too old to count is a move of its providers."""
    return (
        any(row[name] for name in ("up", "down", "new", "gone", "providers_in", "providers_out"))
        or abs(row["change_index"] or 0) >= _LEAST_MOVE
        or abs(row["change_usd"] or 0) >= _LEAST_MOVE
    )


def moves_figure(
    rows: Sequence[Row], days: tuple[date, date] | None, last: date | None, names: Names, links: Links
) -> Figure:
    """The accelerators of which something moved, the largest move first."""
    moved = sorted(
        (row for row in rows if has_moved(row)),
        key=lambda row: (-abs(row["change_index"] or 0), -abs(row["change_usd"] or 0), row["accelerator"]),
    )
    columns, numbers = figure_of(moved, _MOVE_COLUMNS)
    return Figure(
        name="moved-this-week",
        explained="moved-this-week",
        title=f"What moved {_when(days)}",
        basis="on demand, all providers; index: like held against like; median: US dollars per accelerator and hour, which also jumps where"
        " sellers come or go" + ("" if days is None else f"; {wording.on_day(days[0])} to {wording.on_day(days[1])}"),
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator", "Index", "Median before", "Median now", "Offers", "Providers in", "Providers out"),
            [
                (
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"])),
                    number(wording.percent(row["change_index"], 1)),
                    number(wording.usd_per_hour(row["usd_before"])),
                    number(wording.usd_per_hour(row["usd"]), note=wording.percent(row["change_usd"], 1)),
                    Cell(counts(row)),
                    Cell(", ".join(names.provider(key) for key in row["providers_in"])),
                    Cell(", ".join(names.provider(key) for key in row["providers_out"])),
                )
                for row in moved[:MOST_MOVED]
            ],
        ),
        counted=f"{len(moved)} of {len(rows)} accelerators",
        day=None if days is None else days[1],
        source_kinds=tuple(sorted({kind for row in moved for kind in row["source_kinds"] or ()})),
        notes=(
            "A provider is in once its price counts, and out once it is gone, or too old to be carried."
            + (
                f" The {MOST_MOVED} largest moves are shown; all are in the CSV file."
                if len(moved) > MOST_MOVED
                else ""
            ),
        ),
        empty="There are no daily prices yet."
        if days is None
        else f"Nothing moved between {wording.on_day(days[0])} and {wording.on_day(days[1])}."
        + ("" if last is None else f" The last change in the ledger was on {wording.on_day(last)}."),
    )


def _when(days: tuple[date, date] | None) -> str:
    if days is None or (days[1] - days[0]).days == SHOWN_DAYS:
        return "this week"
    return f"since {wording.on_day(days[0])}"


def counts(row: Row) -> str:
    """How many single offers rose, fell, came and went."""
    return ", ".join(f"{row[name]:,} {name}" for name in ("up", "down", "new", "gone") if row[name])


def changes_figure(
    rows: Sequence[Row], days: tuple[date, date] | None, last: date | None, names: Names, links: Links
) -> Figure:
    """Single offers that moved, in their printed currency."""
    columns, numbers = figure_of(rows, _CHANGE_COLUMNS)
    left = f" The {MOST_SHOWN} largest are shown; all are in the CSV file." if len(rows) > MOST_SHOWN else ""
    return Figure(
        name="price-changes",
        explained="price-changes",
        title=f"Offers that changed {_when(days)}",
        basis="prices as printed, in their own currency and unit of time, all pricing models"
        + ("" if days is None else f"; {wording.on_day(days[0])} to {wording.on_day(days[1])}"),
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator", "Change", "Before", "After", "Terms", "Provider", "Offer", "Day"),
            [
                (
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"])),
                    Cell(_change(row)),
                    number(_printed(row["price_before"], row)),
                    number(_printed(row["price_after"], row)),
                    Cell(wording.pricing(row["pricing_model"], row["commitment_days"])),
                    Cell(names.provider(row["provider"]), href=links.provider(row["provider"])),
                    Cell(row["sku"], note=row["region"] if row["regions"] == 1 else f"{row['regions']} regions"),
                    Cell(wording.on_day(row["day"])),
                )
                for row in rows[:MOST_SHOWN]
            ],
        ),
        counted=f"{len(rows):,} changes",
        day=max((row["day"] for row in rows), default=None),
        source_kinds=tuple(sorted({row["source_kind"] for row in rows})),
        notes=(f"Regions that moved alike are one line.{left}",),
        empty="No offer changed its price."
        + ("" if last is None else f" The last one to do so did on {wording.on_day(last)}."),
    )


def _change(row: Row) -> str:
    if row["change_percent"] is None:
        return str(row["change"])
    return wording.percent(row["change_percent"] / 100, 1)


def _printed(price: object, row: Row) -> str:
    return "" if price is None else f"{float(str(price)):,.4g} {row['currency']} per {row['per']}"
