"""From a published number down to the page that it was read from: a tree of values, each with how it comes about and where it is from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from warehouse.ask import UnknownNameError
from warehouse.cost_questions import ImpossibleQuestionError, after_release, known_basis, price_day
from warehouse.database import Connection
from warehouse.model import upstream_of
from warehouse.what_if import same_version

Row = Mapping[str, Any]
Pages = Callable[[str], Sequence["Node"]]
"""Snapshot id to the pages that the archive has of it."""
Priced = Callable[[str, str, date], "Node"]
"""Accelerator, basis and day to what the price is made of."""
MOST_OFFERS = 12


@dataclass(frozen=True)
class Node:
    """A value, what it is made of, and who says so."""

    what: str
    value: Any = None
    unit: str = ""
    how: str = ""
    source: str = ""
    url: str = ""
    parts: tuple["Node", ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain values, without what is empty."""
        fields = {name: value for name, value in vars(self).items() if name != "parts" and value not in (None, "")}
        return fields | ({"parts": [part.as_dict() for part in self.parts]} if self.parts else {})

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The tree as indented text."""
        told = "" if self.value is None else f": {text(self.value)}{f' {self.unit}' if self.unit else ''}"
        yield f"{'  ' * depth}{self.what}{told}"
        for note in (self.how, self.source, self.url):
            if note:
                yield f"{'  ' * depth}    {note}"
        for part in self.parts:
            yield from part.lines(depth + 1)


def cost(  # noqa: PLR0913  # a question has so many parts
    connection: Connection, run: str, *, on: date | None, basis: str, key: str | None, precision: str | None, pages: Pages | None = None,
    most: int = MOST_OFFERS, costs: str = "training_costs", priced: Priced | None = None,
) -> Node:  # fmt: skip
    """What one cost is made of; on the run's own part where none is named, in its own number format where none is.

    Who asks for many names a table of their ``costs``, and tells of the price by ``priced``. Raises ImpossibleQuestionError where
    there is no such cost.
    """
    day = price_day(connection, on)
    known_basis(connection, basis)
    if key is not None:
        after_release(connection, [key], day)
    rows = _rows(
        connection,
        f"""
        SELECT t.*, h.route, h.fits AS has_room
        FROM {costs} AS t
        JOIN training_hours AS h USING (run, accelerator, precision)
        WHERE t.run = $run AND t.day = $on AND t.basis = $basis AND (t.accelerator = $key OR ($key IS NULL AND t.as_run))
            AND ($precision IS NULL OR t.precision = $precision)
        ORDER BY t.as_run DESC, t.precision NOT IN ('bf16', 'fp16'), t.cost_usd_mid, t.precision
        """,
        {"run": run, "on": day, "basis": basis, "key": key, "precision": precision},
    )
    if not rows:
        where = key or "the part it was run on"
        raise ImpossibleQuestionError(
            f"{run} has no cost on {where} on {day} on {basis}; gpuledger cost {run} --on {day} shows what there is"
        )
    row = rows[0]
    if row["cost_usd_mid"] is None:
        why = "it does not fit" if row["fits"] is False else str(row["price_status"]).replace("_", " ")
        raise ImpossibleQuestionError(f"{run} has no cost on {row['accelerator']} on {day} on {basis}: {why}")
    overhead = () if row["overhead_factor"] == 1 else (_overhead(connection, row),)
    return Node(
        f"cost of {run} on {row['accelerator']} ({row['precision']}) on {day}",
        row["cost_usd_mid"],
        "USD",
        "accelerator-hours x US dollars per accelerator and hour"
        + (" x overhead" if overhead else "")
        + f"; judgement range {text(row['cost_usd_low'])} to {text(row['cost_usd_high'])}, mostly from {row['dominant_uncertainty']}"
        + "; nominal dollars, final run only",
        parts=(
            _hours(connection, row),
            price(connection, row["priced_on"], basis, day, pages=pages, most=most)
            if priced is None
            else priced(row["priced_on"], basis, day),
            *overhead,
            _cluster(connection, row),
        ),
    )


def price(
    connection: Connection,
    key: str,
    basis: str,
    on: date | None,
    *,
    pages: Pages | None = None,
    most: int = MOST_OFFERS,
) -> Node:
    """What a part's price on a basis and day is made of: providers, their offers, and the pages. Raises ImpossibleQuestionError."""
    day = price_day(connection, on)
    known_basis(connection, basis)
    rows = _rows(
        connection,
        "SELECT * FROM basis_prices_daily WHERE day = $on AND basis = $basis AND accelerator = $key",
        {"on": day, "basis": basis, "key": key},
    )
    if not rows:
        raise ImpossibleQuestionError(f"{key} has no price on {day} on {basis}")
    [row] = rows
    terms = _terms(connection, basis, row)
    providers = _rows(
        connection,
        """
        SELECT *
        FROM provider_prices_daily
        WHERE day = $on AND accelerator = $key AND pricing_model = $pricing_model AND commitment_days = $commitment_days
            AND ($segment = 'all' OR segment = $segment) AND ($provider IS NULL OR provider = $provider)
        ORDER BY usd_per_accelerator_hour_median, provider
        """,
        {name: terms[name] for name in ("pricing_model", "commitment_days", "segment", "provider")}
        | {"on": day, "key": key},
    )
    offers = _offers(connection, day, key, terms["pricing_model"], terms["commitment_days"])
    screened = _rows(
        connection,
        "SELECT n_screened, status, reason FROM prices_daily WHERE day = $on AND accelerator = $key AND pricing_model = $pricing_model"
        " AND commitment_days = $commitment_days AND segment = $segment",
        {name: terms[name] for name in ("pricing_model", "commitment_days", "segment")} | {"on": day, "key": key},
    )
    left_out = sum(one["n_screened"] for one in screened) if terms["provider"] is None else 0
    return Node(
        f"price of {key} on {day}, {basis}",
        row["usd_per_accelerator_hour_mid"],
        "USD per accelerator and hour",
        f"{terms['meaning']}; range {text(row['usd_per_accelerator_hour_low'])} to {text(row['usd_per_accelerator_hour_high'])};"
        f" {row['price_status']}, {row['n_providers']} provider{'' if row['n_providers'] == 1 else 's'}"
        + (f", {left_out} more left out as outliers" if left_out else "")
        + f", {row['age_days']} days old",
        parts=tuple(
            _provider(connection, one, [offer for offer in offers if offer["provider"] == one["provider"]], pages, most)
            for one in providers
        ),
    )


def offer(connection: Connection, snapshot_id: str, ordinal: int, *, pages: Pages | None = None) -> Node:
    """What one offer of the ledger says, what was made of it, and the page that it stood on. Raises UnknownNameError."""
    rows = _rows(
        connection,
        """
        SELECT o.*, s.urls, s.content_hash, s.parser_version, o.day AS seen_day
        FROM offers AS o
        JOIN staging.snapshots AS s USING (snapshot_id)
        WHERE o.snapshot_id = $snapshot_id AND o.ordinal = $ordinal
        """,
        {"snapshot_id": snapshot_id, "ordinal": ordinal},
    )
    if not rows:
        raise UnknownNameError(
            f"no offer {ordinal} in a snapshot {snapshot_id}; the columns snapshot_id and ordinal of offers name it"
        )
    return _offer(connection, rows[0], pages)


def _hours(connection: Connection, row: Row) -> Node:
    """Where the hours are from: as reported, or by FLOP, peak and utilisation."""
    [run] = _rows(
        connection,
        """
        SELECT r.*, f.has_flop_route, h.route, h.log_half_width_low, h.log_half_width_high, h.dominant_uncertainty, h.calibration_factor,
            h.mfu_mid AS hours_mfu, h.share_of_hours AS hours_share, h.peak_tflops AS hours_peak
        FROM reference.training_runs AS r
        JOIN intermediate.run_facts AS f USING (run)
        JOIN training_hours AS h USING (run)
        WHERE run = $run AND h.accelerator = $key AND h.precision = $precision
        """,
        {"run": row["run"], "key": row["accelerator"], "precision": row["precision"]},
    )
    told = f"range {text(row['accelerator_hours_low'])} to {text(row['accelerator_hours_high'])}, mostly from {run['dominant_uncertainty']}"
    if run["route"] != "flop":
        spread = _constant(connection, f"hours_spread_{'same_die' if run['route'] == 'same_die' else run['how_known']}")
        meaning = "reported hours" if run["route"] == "reported" else "hours reported on the same die with other memory"
        return Node(
            "accelerator-hours", row["accelerator_hours_mid"], "h", f"{meaning} ({str(run['how_known']).replace('_', ' ')}); {told}",
            run["source"] or "", run["source_url"] or "", spread,
        )  # fmt: skip
    forms = _rows(
        connection,
        """
        SELECT p.*, a.source_url AS peak_url, a.verified AS peak_verified, m.source AS mfu_source, m.source_url AS mfu_url, m.mfu_of
        FROM intermediate.training_parts AS p
        JOIN reference.accelerators AS a ON a.accelerator = p.form
        JOIN reference.mfu AS m ON m.accelerator = p.form AND m.precision = p.precision
        WHERE p.accelerator = $key AND p.precision = $precision
        ORDER BY p.form
        """,
        {"key": row["accelerator"], "precision": row["precision"]},
    )
    [(runs, low, high)] = connection.execute(
        "SELECT count(calibration_factor), quantile_cont(calibration_factor, 0.16), quantile_cont(calibration_factor, 0.84) FROM training_hours"
    ).fetchall()
    flop = Node(
        "model FLOP",
        run["model_flop"],
        "FLOP",
        f"{run['flop_basis']}; without recomputed activations",
        run["source"] or "",
        run["source_url"] or "",
    )
    error = Node(
        "error of the FLOP route", None, "", f"reported over FLOP-route hours, {runs} runs: middle two thirds from {text(low)} to {text(high)}"
    ) if runs else None  # fmt: skip
    parts = [part for form in forms for part in _form(form, run["stated_mfu"])]
    if run["utilisation_mid"] is not None:
        parts.append(
            Node(
                "share of it that fine-tuning reaches",
                run["utilisation_mid"],
                "",
                f"{run['utilisation_low']} to {run['utilisation_high']}",
            )
        )
    goodput = _constant(connection, "goodput") if run["hours_share"] < 1 else ()
    how = "model FLOP / (dense peak x MFU x share of hours x 3600)" + (
        "; geometric mean over the forms it may be" if len(forms) > 1 else ""
    )
    return Node(
        "accelerator-hours",
        row["accelerator_hours_mid"],
        "h",
        f"{how}; {told}",
        parts=(flop, *parts, *goodput, *([error] if error else [])),
    )


def _form(form: Row, stated_mfu: float | None) -> tuple[Node, Node]:
    """Peak and utilisation of one form that a part may have."""
    peak = Node(
        f"dense peak of {form['form']}", form["peak_tflops"], "TFLOP/s", f"{form['precision']}, verified: {form['peak_verified']}",
        url=form["peak_url"] or "",
    )  # fmt: skip
    if stated_mfu is not None:
        return peak, Node(f"utilisation of {form['form']} (MFU)", stated_mfu, how="as stated, over all hours")
    span = f"{text(form['mfu_low'])} to {text(form['mfu_high'])}, {form['mfu_evidence'].replace('_', ' ')}, per {form['mfu_of']}"
    return peak, Node(
        f"utilisation of {form['form']} (MFU)",
        form["mfu_mid"],
        how=span,
        source=form["mfu_source"] or "",
        url=form["mfu_url"] or "",
    )


def _overhead(connection: Connection, row: Row) -> Node:
    [hours] = _rows(
        connection,
        "SELECT nodes FROM training_hours WHERE run = $run AND accelerator = $key AND precision = $precision",
        {"run": row["run"], "key": row["accelerator"], "precision": row["precision"]},
    )
    return Node(
        "overhead of interruptions", row["overhead_factor"], "", f"1 / (1 - sqrt(2 x checkpoint x rate) - restart x rate), {hours['nodes']} machines",
        parts=_constant(connection, "spot_interruptions_per_node_hour", "checkpoint_hours", "restart_hours"),
    )  # fmt: skip


def _cluster(connection: Connection, row: Row) -> Node:
    [hours] = _rows(
        connection,
        """
        SELECT h.*, f.bytes_per_parameter, f.parameters, c.what AS cluster_source, c.source_url AS cluster_url, c.verified
        FROM training_hours AS h
        JOIN intermediate.run_facts AS f USING (run)
        LEFT JOIN reference.cluster_limits AS c ON c.accelerator = h.accelerator
        WHERE h.run = $run AND h.accelerator = $key AND h.precision = $precision
        """,
        {"run": row["run"], "key": row["accelerator"], "precision": row["precision"]},
    )
    parts = []
    if hours["minimum_accelerators"] is not None:
        parts.append(
            Node(
                "fewest that hold it", hours["minimum_accelerators"], "accelerators",
                f"{text(hours['bytes_per_parameter'])} bytes x {text(hours['parameters'])} / (usable share x {text(hours['memory_gb'])} GB)",
                parts=_constant(connection, "bytes_per_parameter", "usable_memory_share"),
            )
        )  # fmt: skip
    if hours["cluster_source"]:
        parts.append(
            Node(
                "largest cluster told of",
                hours["largest_cluster"],
                "accelerators",
                f"verified: {hours['verified']}",
                hours["cluster_source"],
                hours["cluster_url"] or "",
            )
        )
    days = text(hours["accelerator_hours_mid"] / hours["accelerators"] / 24)
    fabric = "with" if hours["has_fabric"] else "without"
    return Node(
        "cluster reckoned with",
        hours["accelerators"],
        "accelerators",
        f"{hours['nodes']} machines, {fabric} a fabric; {days} days",
        parts=tuple(parts),
    )


def _terms(connection: Connection, basis: str, row: Row) -> dict[str, Any]:
    if basis.startswith("provider:"):
        pricing_model = "on_demand" if row["commitment_days"] == 0 else "reserved"
        return {
            "pricing_model": pricing_model, "commitment_days": row["commitment_days"], "segment": "all",
            "provider": basis.removeprefix("provider:"), "meaning": "the provider's own price",
        }  # fmt: skip
    [found] = _rows(connection, "SELECT * FROM reference.price_bases WHERE basis = $basis", {"basis": basis})
    return {**found, "provider": None}


def _provider(connection: Connection, row: Row, offers: Sequence[Row], pages: Pages | None, most: int) -> Node:
    middle = float(row["usd_per_accelerator_hour_median"])
    nearest = sorted(
        offers,
        key=lambda one: (abs(float(one["usd_per_accelerator_hour"]) - middle), str(one["sku"]), str(one["region"])),
    )
    left = len(offers) - most
    return Node(
        f"{row['provider']} ({row['segment']})", middle, "USD per accelerator and hour",
        f"median over its home regions, of whole nodes where it sells those; {_spread(row)}, source {row['source']}"
        + (f"; the {most} nearest to the median are shown" if left > 0 else ""),
        parts=tuple(_offer(connection, one, pages) for one in nearest[:most]),
    )  # fmt: skip


def _spread(row: Row) -> str:
    """The lowest price is that of what can be had."""
    count, low, high = row["offers"], row["usd_per_accelerator_hour_min"], text(row["usd_per_accelerator_hour_max"])
    offers = f"{count:,} offer{'' if count == 1 else 's'}"
    return f"{offers} up to {high}, all known to be taken" if low is None else f"{offers} from {text(low)} to {high}"


def _offer(connection: Connection, row: Row, pages: Pages | None) -> Node:
    """One offer as printed, and its snapshot."""
    count = row["accelerator_count"]
    places = ", ".join(str(row[name]) for name in ("region", "zone", "tier") if row[name])
    printed = (
        f"{text(row['price'])} {row['currency']} per {row['per']} for the {row['price_scope']}"
        + (f" of {text(count)}" if count is not None else "")
        + f" {row['accelerator_name']}; {places}"
    )
    rate: tuple[Node, ...] = ()
    if row["fx_date"] is not None:
        found = _rows(
            connection,
            "SELECT usd_per_unit, fx_date FROM intermediate.usd_rates WHERE day = $day AND currency = $currency",
            {"day": row["seen_day"], "currency": row["currency"]},
        )
        rate = tuple(
            Node(
                f"US dollars for one {row['currency']}",
                one["usd_per_unit"],
                "",
                f"rate of {one['fx_date']}",
                "European Central Bank",
            )
            for one in found
        )
    kept = () if pages is None else tuple(pages(row["snapshot_id"]))
    urls = list(row["urls"])
    snapshot = Node(
        f"snapshot {row['snapshot_id']}",
        str(row["observed_at"]),
        how=f"{row['source']}, {str(row['source_kind']).replace('_', ' ')}; SHA-256 over its pages {row['content_hash']}",
        url="" if kept else " ".join(urls[:3]) + (f" and {len(urls) - 3} more" if len(urls) > 3 else ""),
        parts=kept,
    )
    return Node(
        f"offer {row['sku']}",
        row["usd_per_accelerator_hour"],
        "USD per accelerator and hour",
        f"{printed}; seen {row['seen_day']}; ordinal {row['ordinal']}",
        parts=(*rate, snapshot),
    )


def _offers(
    connection: Connection, day: date, key: str, pricing_model: str, commitment_days: int
) -> list[dict[str, Any]]:
    """The offers that stand and count on a day, found as a build finds them: once for all that is asked of the day in a row."""
    made = "SELECT comment FROM duckdb_tables() WHERE temporary AND table_name = 'explained_offers'"
    if connection.execute(made).fetchall() != [(str(day),)]:
        _find_offers(connection, day)
    return _rows(
        connection,
        """
        SELECT *
        FROM explained_offers
        WHERE accelerator = $key AND pricing_model = $pricing_model AND commitment_days = $commitment_days
        ORDER BY usd_per_accelerator_hour, sku, region
        """,
        {"key": key, "pricing_model": pricing_model, "commitment_days": commitment_days},
    )


def _find_offers(connection: Connection, day: date) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE days_to_build AS SELECT $1::DATE AS day", [day])
    for model in upstream_of(["offer_days"]):
        if model.partition == "transient":
            with same_version():
                connection.execute(f"CREATE OR REPLACE TEMP TABLE {model.name} AS {model.sql}")
    # The model also tells the day before.
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE explained_offers AS
        SELECT f.* EXCLUDE (day), o.day, o.seen_day, o.age_days, o.is_bracketed, s.urls, s.content_hash
        FROM offer_days AS o
        JOIN intermediate.preferred_sources AS p USING (day, provider, accelerator, pricing_model, commitment_days)
        JOIN intermediate.priced_offers AS f ON f.day = o.seen_day AND f.snapshot_id = o.snapshot_id AND f.ordinal = o.ordinal
        JOIN staging.snapshots AS s ON s.snapshot_id = o.snapshot_id
        WHERE o.day = $day AND o.own_why_not IS NULL AND o.source = p.preferred_source
        """,
        {"day": day},
    )
    connection.execute(f"COMMENT ON TABLE explained_offers IS '{day}'")


def _constant(connection: Connection, *names: str) -> tuple[Node, ...]:
    return tuple(
        Node(row["meaning"], row["value"], row["unit"], row["name"], row["source"] or "", row["source_url"] or "")
        for row in _rows(
            connection,
            "SELECT * FROM reference.training_constants WHERE list_contains($names, name) ORDER BY list_position($names, name)",
            {"names": list(names)},
        )
    )


def _rows(connection: Connection, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    found = connection.execute(sql, parameters)
    columns = [column[0] for column in found.description or []]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def text(value: Any) -> str:
    """A value as trees show it: whole from a thousand up, six digits that count below."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return str(value)
    number = float(value)
    if abs(number) >= 1e15:
        return f"{number:.4g}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.6g}"
