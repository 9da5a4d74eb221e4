"""The command that takes history in: published datasets, and archived pages."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.app import FORMAT, WrongUsageError, app
from flows.ask import day_of
from flows.keep import exit_status, load_and_report
from flows.output import Format, print_rows, say
from flows.progress import shown

if TYPE_CHECKING:
    from scrapers.offer import Offer
    from scrapers.source import Adapter, Capture, Parsed

WAYBACK = "wayback"
SHOWN_PROBLEMS = 20
CAPTURE_COLUMNS = ("observed_at", "scope", "status", "offers", "rejected", "reason")
OFFER_COLUMNS = (
    "observed_on", "provider", "sku", "accelerator_name", "accelerator", "accelerator_count", "pricing_model", "commitment_days",
    "price", "currency", "per", "price_scope", "region",
)  # fmt: skip


class Every(StrEnum):
    """How often a page is wanted."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"


@app.command()
def backfill(
    dataset: Annotated[str, typer.Argument(help="A dataset (see: gpuledger sources), or wayback for archived pages.")],
    what: Annotated[str, typer.Argument(metavar="PATH|SOURCE", help="Where the dataset is; of wayback, whose page.")],
    mapping: Annotated[Path | None, typer.Option(help="What is in which column of a price_table (TOML).")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would load and what would not; store nothing.")
    ] = False,
    since: Annotated[str | None, typer.Option(help="Archived pages from this day on, such as 2023-01-01.")] = None,
    until: Annotated[str | None, typer.Option(help="Archived pages to this day.")] = None,
    every: Annotated[Every, typer.Option(help="One archived page for each.")] = Every.WEEK,
    url: Annotated[
        list[str] | None, typer.Option(help="Another address of the page; may be given several times.")
    ] = None,
    form: FORMAT = Format.TABLE,
) -> None:
    """Take years of history into the archive and the warehouse; gpuledger build brings the tables up to it.

    Example: gpuledger backfill skypilot_catalog skypilot-catalog

    Example: gpuledger backfill price_table quotes.csv --mapping quotes.toml --dry-run

    Example: gpuledger backfill wayback lambda_page --since 2023-01-01
    """
    from flows import steps
    from scrapers.wayback import Wanted

    if dataset == WAYBACK:
        if mapping or dry_run:
            raise WrongUsageError("--mapping and --dry-run are for datasets, not for wayback")
        _wayback(what, Wanted(tuple(url or ()), day_of(since), day_of(until), every.value))
        return
    if since or until or url or every is not Every.WEEK:
        raise WrongUsageError("--since, --until, --every and --url are for wayback; a dataset is taken whole")
    adapter = steps.dataset(dataset)
    if (adapter.name == "price_table") != bool(mapping):
        wanted = (
            "says with --mapping FILE what is in its columns" if not mapping else "needs no --mapping; price_table does"
        )
        raise WrongUsageError(f"{adapter.name} {wanted}")
    for path in (Path(what), mapping):
        if path and not path.exists():
            raise WrongUsageError(f"there is no {path}")
    captures = steps.dataset_captures(adapter, Path(what), mapping)
    if dry_run:
        raise typer.Exit(_dry_run(adapter, captures, form, show_offers=mapping is not None))
    with shown("archiving") as progress:
        found, new = steps.backfill_dataset(adapter, captures, progress)
    say(f"{adapter.name}: {found:,} captures, {new:,} of them new")
    status = load_and_report()
    if new:
        say("the tables do not have it yet; bring them up to it with: gpuledger build")
    raise typer.Exit(status)


def _wayback(source: str, wanted: Any) -> None:
    from flows import steps
    from scrapers.wayback import Skipped, WaybackError

    fetched, skipped, stopped = 0, 0, ""
    with shown("fetching") as progress:
        try:
            for one in steps.backfill_wayback(source, wanted, progress):
                if isinstance(one, Skipped):
                    skipped += 1
                    say(f"{one.copy.timestamp} {one.copy.original}: {one.reason}; the next run asks again")
                else:
                    fetched += 1
        except WaybackError as error:
            stopped = str(error)
    status = load_and_report()
    if fetched:
        say("the tables do not have it yet; bring them up to it with: gpuledger build")
    if stopped:
        say(f"gpuledger: {stopped}")
    if stopped or skipped:
        status = 3 if fetched and status != 1 else 1
    raise typer.Exit(status)


def _dry_run(adapter: "Adapter", captures: "Iterator[Capture]", form: Format, *, show_offers: bool) -> int:
    """What each capture would give, on stdout; what would not load and which names are not known, on stderr."""
    rows: list[tuple[Any, ...]] = []
    unknown: Counter[str] = Counter()
    good, bad, problems = 0, 0, 0
    for capture in captures:
        parsed, status, reason = _read(adapter, capture)
        good += len(parsed.offers)
        bad += len(parsed.rejected) or status != "ok"
        for rejected in parsed.rejected:
            problems += 1
            if problems <= SHOWN_PROBLEMS:
                say(
                    f"{capture.observed_at:%Y-%m-%d} {capture.scope}: {rejected.record} would not load: {rejected.reason}"
                )
        if not show_offers:
            rows.append((capture.observed_at, capture.scope, status, len(parsed.offers), len(parsed.rejected), reason))
        for offer, accelerator in _named(parsed.offers, adapter):
            if accelerator is None:
                unknown[f"{offer.provider or adapter.source.provider}: {offer.accelerator_name}"] += 1
            if show_offers:
                rows.append(
                    tuple(
                        {"observed_on": capture.observed_at.date(), "accelerator": accelerator}.get(
                            name, getattr(offer, name, None)
                        )
                        for name in OFFER_COLUMNS
                    )
                )
    print_rows(OFFER_COLUMNS if show_offers else CAPTURE_COLUMNS, rows, form)
    if problems > SHOWN_PROBLEMS:
        say(f"and {problems - SHOWN_PROBLEMS:,} more rows that would not load")
    for name, times in unknown.most_common(SHOWN_PROBLEMS):
        say(f"unknown spelling in {times:,} offers, add a row to warehouse/reference/spellings.csv: {name}")
    say(f"{good:,} offers would load, {problems:,} rows would not; nothing was stored")
    return exit_status([1] * bool(good), [1] * bool(bad))


def _read(adapter: "Adapter", capture: "Capture") -> "tuple[Parsed, str, str]":
    from scrapers.source import PageError, Parsed

    try:
        parsed = adapter.parse(capture.pages)
    except PageError as error:
        return Parsed([], []), "failed", str(error)
    if parsed.rejected:
        return parsed, "partial", parsed.rejected[0].reason
    return (parsed, "ok", "") if parsed.offers else (parsed, "empty", "no offer")


def _named(offers: "list[Offer]", adapter: "Adapter") -> "Iterator[tuple[Offer, str | None]]":
    """Offers with the accelerator that the warehouse will read from their words."""
    from warehouse.names import resolve_text

    known: dict[tuple[Any, ...], str | None] = {}
    for offer in offers:
        words = (
            offer.provider,
            offer.sku,
            offer.accelerator_name,
            offer.accelerator_count,
            offer.memory_gb,
            offer.memory_scope,
        )
        if words not in known:
            known[words] = resolve_text(
                provider=offer.provider or adapter.source.provider, sku=offer.sku, accelerator_name=offer.accelerator_name,
                accelerator_count=offer.accelerator_count, memory_gb=offer.memory_gb, memory_scope=offer.memory_scope,
            ).accelerator  # fmt: skip
        yield offer, known[words]
