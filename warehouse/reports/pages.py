"""The pages of the site: which figures stand on each, in which order, under which words."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.reports import (
    cheapest,
    claim_costs,
    claims,
    coverage,
    explanations,
    index_figures,
    methodology,
    moves,
    price_figures,
    prices,
    run_figures,
    runs,
    wording,
)
from warehouse.reports.explained import CONSTANTS, Question, branch, price_stem
from warehouse.reports.figure import Cell, Figure, Table, figure_of, kinds_of, newest, number
from warehouse.reports.ledger import Ledger
from warehouse.reports.links import Links, file_stem
from warehouse.reports.marts import Row


@dataclass(frozen=True)
class Page:
    """One page: where it is, what it is called, its template and what fills it."""

    path: str
    title: str
    template: str
    figures: tuple[Figure, ...] = ()
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """From here to the front page's folder."""
        return "../" * self.path.count("/")


def all_pages(ledger: Ledger) -> Iterator[Page]:
    """Every page, the front page first."""
    links = Links("", frozenset(ledger.accelerators), frozenset(ledger.providers), frozenset(ledger.run_facts))
    below = replace(links, root="../")
    yield _front(ledger, links)
    yield _accelerators(ledger, below)
    for key in ledger.accelerators:
        yield _accelerator(key, ledger, below)
    yield _providers(ledger, below)
    for key in ledger.providers:
        yield _provider(key, ledger, below)
    yield _runs(ledger, below)
    for key in ledger.run_facts:
        yield _run(key, ledger, below)
    yield _claims(ledger, links)
    yield from _explained(ledger, below)
    yield _coverage(ledger, links)
    if (text := methodology.as_html()) is not None:
        yield Page("methodology.html", "Methodology", "methodology.html.jinja", context={"text": text})


def _explained(ledger: Ledger, links: Links) -> Iterator[Page]:
    """How figures come about; the prices behind costs, and the constants."""
    yield Page(
        "explain.html", "How each figure comes about", "explain.html.jinja", context={"explanations": explanations.ALL}
    )
    for price, node in ledger.explained.prices.items():
        accelerator, basis, day = price
        context = {
            "tree": branch(node, links.root),
            "key": accelerator,
            "basis": basis,
            "day": day,
            "accelerator": links.accelerator(accelerator),
        }
        title = f"{ledger.names.accelerator(accelerator)} on {wording.on_day(day)}, {wording.basis(basis)}"
        yield Page(f"explain/{price_stem(price)}.html", title, "price.html.jinja", context=context)
    if constants := [(node, branch(node, links.root)) for node in ledger.explained.constants]:
        yield Page(CONSTANTS, "Constants", "constants.html.jinja", context={"constants": constants})


def _front(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    shown_runs = [run for run in runs.REFERENCE_RUNS if run in ledger.run_facts] or list(ledger.run_facts)[:6]
    asked_about = _asked_about(ledger)
    figures = (
        moves.moves_figure(ledger.moves, ledger.moved_days, ledger.last_change, names, links),
        moves.changes_figure(ledger.changes, ledger.moved_days, ledger.last_change, names, links),
        price_figures.by_accelerator(ledger.prices_by_segment, asked_about, names, links),
        cheapest.cheapest_figure(ledger.cheapest, names, links),
        index_figures.index_figure(ledger.index, ledger.index_levels, ledger.index_quarters, asked_about, names, links),
        index_figures.unit_figure(ledger.units, ledger.unit_quarters, ledger.deflator, names),
        run_figures.by_run(shown_runs, ledger.as_run, ledger.frontier, ledger.published, names, links, ledger.kinds),
        coverage.sources_figure(ledger.sources, names, links),
        coverage.unknown_spellings_figure(ledger.unknown_spellings, names, links),
    )
    context = {"has_fixtures": "fixture" in ledger.kinds, "verdicts": claims.verdicts(ledger.claims)}
    return Page("index.html", "GPU Ledger", "front.html.jinja", figures, context)


def _claims(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    figures = (
        claims.claims_figure(ledger.claims, names, links),
        claim_costs.llama_figure(ledger.claimed_llama, names, links),
        claim_costs.since_figure(ledger.claimed_since, names, links),
        claims.published_figure(ledger.published, names, links, name="published-estimates"),
    )
    return Page("claims.html", "The claims", "claims.html.jinja", figures, {"verdicts": claims.verdicts(ledger.claims)})


def _asked_about(ledger: Ledger) -> list[str]:
    """The parts that people ask about and that have prices; where none has, the dozen with the most price points."""
    series = ledger.prices_by_segment
    return [key for key in prices.ASKED_ABOUT if key in series] or sorted(
        series, key=lambda key: (-len(series[key]), key)
    )[:12]


_NEWEST_COLUMNS = (
    "accelerator", "day", "usd", "n_providers", "status", "change_30_days", "change_365_days", "usd_per_dense_bf16_pflop_hour",
    "usd_per_gb_hour", "age_days", "source_kinds",
)  # fmt: skip


def _accelerators(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    rows = [ledger.newest_prices[key] for key in ledger.accelerators if key in ledger.newest_prices]
    columns, numbers = figure_of(rows, _NEWEST_COLUMNS)
    lines = sorted(
        ledger.accelerators, key=lambda key: (key not in ledger.newest_prices, names.accelerator(key).lower())
    )
    figure = Figure(
        name="accelerators",
        explained="prices",
        title="All accelerators",
        basis="US dollars per accelerator and hour, on demand, median of all providers; per PFLOP/s: dense 16-bit peak; changes against the"
        " very day before, where it has a price; the set of providers may have changed in between",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator", "Price per hour", "Providers", "30 days", "One year", "Per PFLOP/s", "Per GB"),
            [_newest_line(key, ledger.newest_prices.get(key), ledger, links) for key in lines],
        ),
        counted=f"{len(rows)} accelerators with a price, {len(lines) - len(rows)} without one today",
        day=newest(rows, "day"),
        source_kinds=kinds_of(rows),
        empty="No accelerator has a price yet.",
    )
    return Page("accelerators/index.html", "Accelerators", "list.html.jinja", (figure,))


def _newest_line(key: str, row: Row | None, ledger: Ledger, links: Links) -> tuple[Cell, ...]:
    name = Cell(ledger.names.accelerator(key), href=links.accelerator(key))
    if row is None:
        return (name, Cell("no price today", mark="muted"), Cell(""), Cell(""), Cell(""), Cell(""), Cell(""))
    return (
        name,
        number(wording.usd_per_hour(row["usd"])),
        number(str(row["n_providers"]), note="" if row["status"] == "ok" else wording.STATUSES.get(row["status"], "")),
        number(wording.percent(row["change_30_days"])),
        number(wording.percent(row["change_365_days"])),
        number(wording.usd_per_hour(row["usd_per_dense_bf16_pflop_hour"])),
        number("" if row["usd_per_gb_hour"] is None else f"${row['usd_per_gb_hour']:.4f}"),
    )


def _accelerator(key: str, ledger: Ledger, links: Links) -> Page:
    names, stem = ledger.names, file_stem(key)
    segments = ledger.prices_by_segment.get(key, [])
    models = ledger.prices_by_model.get(key, [])
    providers = ledger.prices_by_accelerator.get(key, [])
    offers = cheapest.offers_figure(
        ledger.offers_by_accelerator.get(key, []), names, links, name=f"accelerator-{stem}-offers", by_provider=False
    )
    figures = [price_figures.of_accelerator(stem, segments, names)]
    # One day alone has moved against nothing.
    if key in ledger.index_levels and any(row["to_day"] > row["from_day"] for row in ledger.index.get(key, [])):
        figures.append(
            index_figures.of_accelerator(
                stem, key, ledger.index[key], ledger.index_levels[key], ledger.index_quarters.get(key, []), names
            )
        )
    if any(row["pricing_model"] != "on_demand" for row in models):
        figures.append(price_figures.by_pricing_model(stem, models, names))
    if len({row["provider"] for row in providers}) > 1:
        figures.append(price_figures.by_provider(stem, providers, names))
    figures.append(_with_spread(offers, key, ledger))
    figures.append(
        _spans(
            f"accelerator-{stem}-who-sells-it",
            ledger.spans_by_accelerator.get(key, []),
            ledger,
            links,
            by_provider=False,
        )
    )
    explained = ledger.explained.price_stem(key, runs.FRONTIER_BASIS)
    context = {"key": key, "price": ledger.newest_prices.get(key), "explained": explained}
    return Page(f"accelerators/{stem}.html", names.accelerator(key), "accelerator.html.jinja", tuple(figures), context)


def _with_spread(figure: Figure, key: str, ledger: Ledger) -> Figure:
    panel = price_figures.offers_today(key, ledger.offers_by_accelerator.get(key, []), ledger.names)
    return figure if panel is None else replace(figure, panels=(panel,), shows_table=True)


def _spans(name: str, rows: list[Row], ledger: Ledger, links: Links, *, by_provider: bool) -> Figure:
    names = ledger.names
    last = newest(rows, "last_day")
    columns, numbers = figure_of(
        rows,
        ("accelerator", "provider", "segment", "first_day", "last_day", "usd", "age_days", "source", "source_kinds"),
    )
    return Figure(
        name=name,
        explained="sellers",
        title="What it has sold" if by_provider else "Who has sold it",
        basis="US dollars per accelerator and hour, on demand; days with a price, carried ones among them",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Accelerator" if by_provider else "Provider", "First day", "Last day", "Last price", "Source"),
            [
                (
                    Cell(names.accelerator(row["accelerator"]), href=links.accelerator(row["accelerator"]))
                    if by_provider
                    else Cell(
                        names.provider(row["provider"]),
                        href=links.provider(row["provider"]),
                        note=wording.one_of(row["segment"]),
                    ),
                    Cell(wording.on_day(row["first_day"])),
                    Cell(
                        wording.on_day(row["last_day"]),
                        mark="" if ledger.build is None or row["last_day"] == ledger.build.last_day else "muted",
                    ),
                    number(wording.usd_per_hour(row["usd"])),
                    Cell(row["source"], note=wording.listed(row["source_kinds"] or ())),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} {'accelerators' if by_provider else 'providers'}",
        day=last,
        source_kinds=kinds_of(rows),
        empty="No on-demand price of it counts yet.",
    )


def _providers(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    lines, numbers = [], []
    for key in sorted(ledger.providers, key=lambda key: names.provider(key).lower()):
        spans, offers = ledger.spans_by_provider.get(key, []), ledger.offers_by_provider.get(key, [])
        segment = (spans or offers)[0]["segment"]
        first = min((row["first_day"] for row in spans), default=None)
        last = max((row["last_day"] for row in spans), default=None)
        lines.append(
            (
                Cell(names.provider(key), href=links.provider(key)),
                Cell(wording.one_of(segment)),
                number(str(len(spans))),
                number(f"{len(offers):,}"),
                Cell(f"{wording.on_day(first)} to {wording.on_day(last)}" if spans else ""),
            )
        )
        numbers.append((key, segment, len(spans), len(offers), first, last))
    everything = [row for rows in ledger.spans_by_provider.values() for row in rows]
    figure = Figure(
        name="providers",
        explained="sellers",
        title="All providers",
        basis="accelerators with an on-demand price, ever; offers that count on the newest day",
        columns=("provider", "segment", "accelerators", "offers_today", "first_day", "last_day"),
        rows=numbers,
        table=Table(("Provider", "Segment", "Accelerators", "Offers today", "Priced"), lines),
        counted=f"{len(lines)} providers",
        day=newest(everything, "last_day"),
        source_kinds=kinds_of(everything),
        empty="No provider has a price yet.",
    )
    return Page("providers/index.html", "Providers", "list.html.jinja", (figure,))


def _provider(key: str, ledger: Ledger, links: Links) -> Page:
    names, stem = ledger.names, file_stem(key)
    figures = (
        price_figures.of_provider(stem, ledger.prices_by_provider.get(key, []), names, links),
        cheapest.offers_figure(
            ledger.offers_by_provider.get(key, []), names, links, name=f"provider-{stem}-offers", by_provider=True
        ),
        _spans(f"provider-{stem}-what-it-sold", ledger.spans_by_provider.get(key, []), ledger, links, by_provider=True),
    )
    return Page(f"providers/{stem}.html", names.provider(key), "provider.html.jinja", figures, {"key": key})


def _runs(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    lines, numbers = [], []
    for run, row in ledger.run_facts.items():
        best = _best_today(run, ledger)
        lines.append(
            (
                Cell(
                    names.run(run),
                    href=links.run(run),
                    note=f"{row['developer']}, {wording.on_day(row['published_on'])}",
                ),
                Cell(names.accelerator(row["accelerator"]) if row["accelerator"] else ""),
                number(wording.whole(row["accelerator_hours_mid"])),
                number(wording.quantity(row["model_flop"])),
                number(
                    "" if best is None else wording.usd(best["usd"]),
                    note="" if best is None else names.accelerator(best["told"]),
                ),
            )
        )
        numbers.append(
            (
                run,
                row["published_on"],
                row["accelerator"],
                row["accelerator_hours_mid"],
                row["model_flop"],
                *((None, None) if best is None else (best["usd"], best["told"])),
            )
        )
    days = [rows[-1] for rows in ledger.frontier.values()]
    figure = Figure(
        name="runs",
        explained="cheapest-part",
        title="All training runs",
        basis=f"cost on the cheapest part on the newest day, {wording.basis(runs.FRONTIER_BASIS)}, on firm evidence; nominal US dollars",
        columns=(
            "run",
            "published_on",
            "accelerator",
            "accelerator_hours",
            "model_flop",
            "cost_usd_today",
            "cheapest_part",
        ),
        rows=numbers,
        table=Table(("Run", "Part", "Accelerator-hours", "Model FLOP", "On the cheapest part today"), lines),
        counted=f"{len(lines)} runs",
        day=newest(days),
        source_kinds=ledger.kinds,
        empty="No training run has hours yet.",
    )
    return Page("runs/index.html", "Training runs", "list.html.jinja", (figure,))


def _best_today(run: str, ledger: Ledger) -> Row | None:
    firm = [row for row in ledger.frontier.get(run, []) if not row["is_relaxed"]]
    return firm[-1] if firm and ledger.build is not None and firm[-1]["to_day"] == ledger.build.last_day else None


def _run(run: str, ledger: Ledger, links: Links) -> Page:
    names, stem, kinds = ledger.names, file_stem(run), ledger.kinds
    published = [row for row in ledger.published if row["run"] == run]
    frontier = ledger.frontier.get(run, [])
    figures = [
        run_figures.of_run(run, ledger.as_run.get(run, []), published, names, kinds),
        run_figures.cheapest_part(run, frontier, published, names, kinds),
        run_figures.who_was_cheapest(run, frontier, names, links, kinds),
        run_figures.today(run, ledger.run_costs_today.get(run, []), names, links, kinds),
    ]
    if published:
        figures.append(claims.published_figure(published, names, links, name=f"run-{stem}-published"))
    return Page(
        f"runs/{stem}.html",
        names.run(run),
        "run.html.jinja",
        tuple(figures),
        {
            "facts": _facts(ledger.run_facts[run], ledger, links),
            "trees": [
                (_asked(question, ledger), branch(node, links.root))
                for question, node in ledger.explained.costs.get(run, [])
            ],
        },
    )


def _asked(question: Question, ledger: Ledger) -> str:
    where = (
        "as run" if question.is_as_run else f"on {ledger.names.accelerator(question.accelerator)}, the cheapest part"
    )
    return f"The cost {where} on {wording.on_day(question.day)}, {wording.basis(question.basis)}"


def _facts(row: Row, ledger: Ledger, links: Links) -> list[tuple[str, Cell]]:
    """What is known of a run, as terms and what they are."""
    part = row["accelerator"]
    facts = [
        ("Developer", Cell(row["developer"] or "")),
        ("Published", Cell(wording.on_day(row["published_on"]))),
        ("Parameters", Cell(wording.quantity(row["parameters"]))),
        ("Tokens", Cell(wording.quantity(row["tokens"]))),
        ("Model FLOP", Cell(wording.quantity(row["model_flop"]))),
        ("Trained on", Cell(_hardware(row, ledger), href=links.accelerator(part) if part else "")),
        ("Accelerator-hours", Cell(wording.whole(row["accelerator_hours_mid"] or row["accelerator_hours"]))),
        ("Share of the dense peak", Cell("" if row["mfu_mid"] is None else f"{row['mfu_mid'] * 100:.0f} %")),
        ("How known", Cell((row["how_known"] or "").replace("_", " "), note=row["note"] or "")),
        ("Source", Cell(row["source"] or row["source_url"] or "", href=web_address(row["source_url"]))),
    ]
    return [(term, cell) for term, cell in facts if cell.text]


def _hardware(row: Row, ledger: Ledger) -> str:
    count = "" if row["accelerator_count"] is None else f"{row['accelerator_count']:,} × "
    return f"{count}{ledger.names.accelerator(row['accelerator'])}" if row["accelerator"] else ""


def web_address(address: str | None) -> str:
    """Only addresses of the web become links."""
    return address if address and address.startswith("https://") else ""


def _coverage(ledger: Ledger, links: Links) -> Page:
    names = ledger.names
    figures = (
        coverage.sources_figure(ledger.sources, names, links),
        coverage.checks_figure(ledger.gate_words),
        coverage.drift_figure(ledger.drift, names, links),
        coverage.failures_figure(ledger.failures),
        coverage.overlaps_figure(ledger.overlaps, names, links),
        coverage.left_out_figure(ledger.left_out, names),
        coverage.without_price_figure(ledger.without_price, names, links),
        coverage.unknown_spellings_figure(ledger.unknown_spellings, names, links),
    )
    return Page("coverage.html", "Coverage and data quality", "list.html.jinja", figures)
