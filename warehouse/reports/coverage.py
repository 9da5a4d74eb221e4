"""What the ledger covers: how each source fared, what is left out and why, and the spellings that nobody has explained yet."""

from collections.abc import Sequence

from warehouse.database import Connection
from warehouse.gates import Result
from warehouse.reports import wording
from warehouse.reports.figure import Cell, Figure, Table, figure_of, kinds_of, newest, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, fetch
from warehouse.reports.wording import Names


def sources(connection: Connection) -> list[Row]:
    """Each source on the last day that it was collected."""
    return fetch(
        connection,
        """
        SELECT
            source, arg_max(provider, day) AS provider, arg_max(source_kind, day) AS source_kind, max(day) AS last_tried,
            max(last_good_at) AS last_good_at, arg_max(status, day) AS status, arg_max(reason, day) AS reason, arg_max(offers, day) AS offers,
            count(*) AS days_collected, count(*) FILTER (status NOT IN ('ok', 'partial')) AS days_failed, min(day) AS first_day
        FROM provider_coverage
        GROUP BY source
        ORDER BY source
        """,
        needs=["provider_coverage"],
    )


def failures(connection: Connection) -> list[Row]:
    """The days on which a source gave nothing that counts, newest first, at most a hundred."""
    return fetch(
        connection,
        """
        SELECT day, source, source_kind, status, reason
        FROM provider_coverage
        WHERE status <> 'ok'
        ORDER BY day DESC, source
        LIMIT 100
        """,
        needs=["provider_coverage"],
    )


def left_out(connection: Connection) -> list[Row]:
    """Current offers that count in no aggregate, by reason."""
    return fetch(
        connection,
        """
        SELECT why_not, count(*) AS offers, list(DISTINCT provider ORDER BY provider) AS providers, list(DISTINCT source_kind) AS source_kinds
        FROM offers_current
        WHERE NOT index_eligible
        GROUP BY why_not
        ORDER BY offers DESC, why_not
        """,
        needs=["offers_current"],
    )


def without_price(connection: Connection) -> list[Row]:
    """Accelerators whose on-demand price is withheld on the newest day, and since when."""
    return fetch(
        connection,
        """
        WITH newest AS (
            SELECT accelerator, segment, reason
            FROM prices_daily
            WHERE day = (SELECT max(day) FROM prices_daily) AND pricing_model = 'on_demand' AND segment = 'all' AND status = 'withheld'
        )
        SELECT n.accelerator, n.reason, max(p.day) AS last_priced, arg_max(p.usd_per_accelerator_hour_median, p.day) AS usd
        FROM newest AS n
        LEFT JOIN prices_daily AS p
            ON p.accelerator = n.accelerator AND p.segment = n.segment AND p.pricing_model = 'on_demand' AND p.status <> 'withheld'
        GROUP BY n.accelerator, n.reason
        ORDER BY last_priced DESC, n.accelerator
        """,
        needs=["prices_daily"],
    )


def unknown_spellings(connection: Connection) -> list[Row]:
    """Every spelling that no rule or reference row knows, with who prints it and an example."""
    return fetch(
        connection,
        """
        SELECT
            provider, accelerator_name, min(sku) AS sku, count(*) AS offers, min(day) AS first_day, max(day) AS last_day,
            list(DISTINCT source_kind) AS source_kinds
        FROM offers
        WHERE accelerator IS NULL
        GROUP BY provider, accelerator_name
        ORDER BY provider, accelerator_name
        """,
        needs=["offers"],
    )


def overlaps(connection: Connection) -> list[Row]:
    """Where a back-series and another source tell one price on the same days, the largest difference first."""
    return fetch(
        connection,
        f"""
        SELECT {", ".join(_OVERLAP_COLUMNS)}
        FROM source_overlaps
        ORDER BY
            abs(coalesce(difference_percent, level_difference_percent)) DESC, days DESC,
            provider, accelerator, pricing_model, commitment_days, back_source, source
        """,
        needs=["source_overlaps"],
    )


_OVERLAP_COLUMNS = (
    "provider", "accelerator", "pricing_model", "commitment_days", "back_source", "back_kinds", "source", "source_kinds", "first_day", "last_day",
    "days", "days_matched", "difference_percent", "largest_difference_percent", "level_difference_percent",
)  # fmt: skip
MOST_OVERLAPS = 40


def overlaps_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """By how much a back-series differs from what it is laid against."""
    columns, numbers = figure_of(rows, _OVERLAP_COLUMNS)
    left = (
        f" The {MOST_OVERLAPS} largest differences are shown; all are in the CSV file."
        if len(rows) > MOST_OVERLAPS
        else ""
    )
    alike = sum(1 for row in rows if row["days_matched"] and row["difference_percent"] == 0)
    return Figure(
        name="source-overlaps",
        explained="source-overlaps",
        title="Where a back-series and another source overlap",
        basis="by how much the back-series is above the other source, median of days: on the same things, and of their medians, which is the jump"
        " where one takes over",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Provider", "Accelerator", "Terms", "Back-series", "Against", "Days", "Same things", "Level"),
            [
                (
                    Cell(names.provider(row["provider"]), href=links.provider(row["provider"])),
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"])),
                    Cell(wording.pricing(row["pricing_model"], row["commitment_days"])),
                    Cell(row["back_source"], note=wording.listed(row["back_kinds"])),
                    Cell(row["source"], note=wording.listed(row["source_kinds"])),
                    number(
                        f"{row['days']:,}",
                        note=f"{wording.on_day(row['first_day'])} to {wording.on_day(row['last_day'])}",
                    ),
                    number(_percent(row["difference_percent"]), note=_most(row)),
                    number(_percent(row["level_difference_percent"])),
                )
                for row in rows[:MOST_OVERLAPS]
            ],
        ),
        counted=f"{len(rows):,} overlaps, {alike:,} of which tell the same things at the same price",
        day=newest(rows, "last_day"),
        source_kinds=tuple(sorted({kind for row in rows for kind in row["back_kinds"]})),
        notes=(f"No series is spliced onto another: on each day one source speaks for a provider.{left}",),
        empty="No back-series overlaps with another source.",
    )


def _percent(value: float | None) -> str:
    return "" if value is None else wording.percent(value / 100, 1)


def _most(row: Row) -> str:
    if not row["days_matched"]:
        return "none the same"
    return f"at most {_percent(row['largest_difference_percent'])} in {row['days_matched']:,} days"


def drift(connection: Connection) -> list[Row]:
    """Each source's last good collection against the one before it."""
    return fetch(connection, "FROM source_drift ORDER BY source", needs=["source_drift"])


def checks_figure(results: Sequence[Result]) -> Figure:
    """What the checks found in this build."""
    columns = ("severity", "check_name", "says", "rows_found", "example")
    return Figure(
        name="checks",
        title="What the checks say of this build",
        basis="errors keep a build from being published and are not here; warn is a warning, info worth knowing",
        columns=columns,
        rows=[tuple(getattr(one, column) for column in columns) for one in results],
        table=Table(
            ("Severity", "What should hold", "Rows", "The first"),
            [
                (
                    Cell(one.severity, mark="bad" if one.severity == "warn" else "good"),
                    Cell(one.says, note=one.check_name),
                    number(f"{one.rows_found:,}"),
                    Cell(one.example),
                )
                for one in results
            ],
        ),
        counted=f"{len(results)} checks",
        empty="Nothing: every check passed.",
    )


def drift_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """How each source differs from its run before."""
    columns, numbers = figure_of(
        rows,
        (
            "source", "provider", "observed_at", "observed_before_at", "offers", "offers_before", "offers_new", "offers_gone",
            "prices_compared", "prices_changed", "prices_leapt", "median_change_percent", "names_unknown", "names_unknown_new",
        ),
    )  # fmt: skip
    return Figure(
        name="drift",
        title="Each source against its run before",
        basis="the last two good collections; what was not collected twice within a fortnight has no row",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Source", "Seen", "Offers", "New", "Gone", "Prices that moved", "Median move", "Unknown names"),
            [
                (
                    Cell(row["source"], href=links.provider(row["provider"]), note=names.provider(row["provider"])),
                    Cell(
                        wording.on_day(row["observed_at"]), note=f"before {wording.on_day(row['observed_before_at'])}"
                    ),
                    number(f"{row['offers']:,}", note=f"before {row['offers_before']:,}"),
                    number(f"{row['offers_new']:,}"),
                    number(f"{row['offers_gone']:,}"),
                    number(f"{row['prices_changed']:,} of {row['prices_compared']:,}"),
                    number(
                        ""
                        if row["median_change_percent"] is None
                        else wording.percent(row["median_change_percent"] / 100, 1)
                    ),
                    number(f"{row['names_unknown']:,}"),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} sources",
        empty="None: no source was collected twice within a fortnight.",
    )


def sources_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """Each source: last good, how it fared last, and why not better."""
    columns, numbers = figure_of(
        rows,
        (
            "source",
            "provider",
            "source_kind",
            "last_tried",
            "last_good_at",
            "status",
            "reason",
            "offers",
            "first_day",
            "days_collected",
            "days_failed",
        ),
    )
    return Figure(
        name="coverage",
        explained="coverage",
        title="Sources",
        basis="each source on the last day that it was collected",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Source", "Provider", "Last good", "Status", "Offers", "Days", "What is missing, and why"),
            [
                (
                    Cell(row["source"], note=row["source_kind"].replace("_", " ")),
                    Cell(names.provider(row["provider"]), href=links.provider(row["provider"])),
                    Cell(wording.on_day(row["last_good_at"]) or "never"),
                    Cell(row["status"], mark="good" if row["status"] == "ok" else "bad"),
                    number(wording.whole(row["offers"])),
                    number(f"{row['days_collected']:,}", note=f"since {wording.on_day(row['first_day'])}"),
                    Cell(row["reason"] or "", note=f"{row['days_failed']} failed days" if row["days_failed"] else ""),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} sources",
        day=newest(rows, "last_tried"),
        source_kinds=kinds_of(rows),
        empty="Nothing was collected yet.",
    )


def failures_figure(rows: Sequence[Row]) -> Figure:
    """Days on which a source was not ok."""
    columns, numbers = figure_of(rows, ("day", "source", "source_kind", "status", "reason"))
    return Figure(
        name="failures",
        explained="coverage",
        title="Collections that were not whole",
        basis="the newest hundred",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Day", "Source", "Status", "Why"),
            [
                (
                    Cell(wording.on_day(row["day"])),
                    Cell(row["source"]),
                    Cell(row["status"], mark="bad"),
                    Cell(row["reason"] or ""),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} collections",
        day=newest(rows, "day"),
        source_kinds=kinds_of(rows),
        empty="None: every collection in the ledger was whole.",
    )


def left_out_figure(rows: Sequence[Row], names: Names) -> Figure:
    """Offers that count in no aggregate."""
    columns, numbers = figure_of(rows, ("why_not", "offers", "providers"))
    return Figure(
        name="left-out",
        explained="left-out",
        title="Offers left out of every price, and why",
        basis="offers that stand on the newest day",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Why", "Offers", "Providers"),
            [
                (
                    Cell(row["why_not"] or ""),
                    number(f"{row['offers']:,}"),
                    Cell(", ".join(names.provider(key) for key in row["providers"])),
                )
                for row in rows
            ],
        ),
        counted=f"{sum(row['offers'] for row in rows):,} offers",
        source_kinds=kinds_of(rows),
        empty="None: every offer counts.",
    )


def without_price_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """Accelerators that had a price once and have none now."""
    columns, numbers = figure_of(rows, ("accelerator", "last_priced", "usd", "reason"))
    return Figure(
        name="without-price",
        explained="without-price",
        title="Accelerators without a price today",
        basis="on demand, all providers",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator", "Last priced", "Last price per hour", "Why"),
            [
                (
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"])),
                    Cell(wording.on_day(row["last_priced"])),
                    number(wording.usd_per_hour(row["usd"])),
                    Cell(row["reason"] or ""),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} accelerators",
        day=newest(rows, "last_priced"),
        empty="None: every accelerator that ever had a price has one today.",
    )


def unknown_spellings_figure(rows: Sequence[Row], names: Names, links: Links) -> Figure:
    """Spellings that wait for a reference row."""
    columns, numbers = figure_of(rows, ("provider", "accelerator_name", "sku", "offers", "first_day", "last_day"))
    return Figure(
        name="unknown-spellings",
        explained="left-out",
        title="Spellings that nobody has explained yet",
        basis="as printed; these offers are kept and count nowhere until a reference row says what they are",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Provider", "As printed", "For example", "Offers", "Seen"),
            [
                (
                    Cell(names.provider(row["provider"]), href=links.provider(row["provider"])),
                    Cell(row["accelerator_name"] or "(no name)"),
                    Cell(row["sku"] or ""),
                    number(f"{row['offers']:,}"),
                    Cell(_between(row)),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} spellings",
        day=newest(rows, "last_day"),
        source_kinds=kinds_of(rows),
        empty="None: every name in the ledger is understood.",
    )


def _between(row: Row) -> str:
    first, last = wording.on_day(row["first_day"]), wording.on_day(row["last_day"])
    return first if first == last else f"{first} to {last}"
