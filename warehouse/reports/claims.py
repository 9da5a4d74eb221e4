"""The questions that started this, and what others published: claimed, recomputed, difference, verdict, why."""

import math

from warehouse.database import Connection
from warehouse.reports import wording
from warehouse.reports.figure import Cell, Figure, Table, figure_of, newest, number
from warehouse.reports.links import Links
from warehouse.reports.marts import Row, fetch

_VERDICTS = {
    "holds": ("holds", "good"),
    "differs": ("differs", "bad"),
    "not_met": ("not met", "bad"),
    "derived": ("worked out here", "muted"),
    "not_recomputable": ("cannot be recomputed", "muted"),
    "yes": ("yes", "good"),
    "no": ("no", "bad"),
}
_CLAIM_COLUMNS = (
    "claim", "topic", "statement", "claimed_by", "claimed_on", "unit", "claimed_low", "claimed", "claimed_high", "recomputed_low",
    "recomputed", "recomputed_high", "difference", "verdict", "why", "derivation", "run", "ledger_basis", "ledger_day", "ledger_priced_on",
    "ledger_usd_low", "ledger_usd_mid", "ledger_usd_high", "source", "source_url",
)  # fmt: skip
_PUBLISHED_COLUMNS = (
    "published_cost", "run", "name", "published_by", "published_on", "published_usd", "published_low_usd", "published_high_usd",
    "recomputed_usd", "recomputed_low_usd", "recomputed_high_usd", "error", "class", "tolerance", "is_within_tolerance", "method",
    "derivation", "verified", "note", "source", "source_url",
)  # fmt: skip
# The claims about runs come first; what nobody can recompute comes last.
_ORDER = ("holds", "differs", "not_met", "derived", "yes", "no", "not_recomputable")


def claims(connection: Connection) -> list[Row]:
    """Every claim, those about a run first."""
    rows = fetch(
        connection,
        f"SELECT {', '.join(_CLAIM_COLUMNS)} FROM claims ORDER BY claimed_on, topic, claim",
        needs=["claims"],
    )
    return sorted(
        rows,
        key=lambda row: (row["run"] is None, _ORDER.index(row["verdict"]) if row["verdict"] in _ORDER else len(_ORDER)),
    )


def published(connection: Connection) -> list[Row]:
    """Every published estimate with its recomputation, oldest first."""
    sql = f"SELECT {', '.join(_PUBLISHED_COLUMNS)} FROM published_cost_checks ORDER BY published_on, published_cost"
    return fetch(connection, sql, needs=["published_cost_checks"])


def verdicts(rows: list[Row]) -> str:
    """How many claims fared how, such as: holds 5, not met 1."""
    counts: dict[str, int] = {}
    for row in rows:
        words, _ = _VERDICTS.get(row["verdict"], (row["verdict"], ""))
        counts[words] = counts.get(words, 0) + 1
    return ", ".join(f"{words} {count}" for words, count in counts.items())


def claims_figure(rows: list[Row], names: wording.Names, links: Links) -> Figure:
    """The headline table."""
    columns, numbers = figure_of(rows, _CLAIM_COLUMNS)
    return Figure(
        name="claims",
        explained="claims",
        title="The claims",
        basis="recomputed from the inputs that each claim states; in the ledger: reported hours at the hyperscalers' median, on demand, on the"
        " priced day nearest to the claim",
        columns=columns,
        rows=numbers,
        table=Table(
            ("Claim", "Claimed", "Recomputed", "Difference", "Verdict", "Why"),
            [
                (
                    Cell(
                        row["statement"],
                        href=links.run(row["run"]) if row["run"] else "",
                        note=f"{row['claimed_by']}, {wording.on_day(row['claimed_on'])}",
                    ),
                    number(_claimed(row)),
                    number(_band(row["recomputed_low"], row["recomputed"], row["recomputed_high"], row["unit"])),
                    number(wording.percent(row["difference"])),
                    _verdict(row["verdict"]),
                    Cell(row["why"] or "", note=_in_the_ledger(row, names)),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} claims",
        day=newest(rows, "ledger_day"),
        empty="No claims in this build yet.",
    )


def published_figure(
    rows: list[Row], names: wording.Names, links: Links, *, name: str, title: str = "Published estimates"
) -> Figure:
    """Published estimates beside what their own inputs give."""
    columns, numbers = figure_of(rows, _PUBLISHED_COLUMNS)
    return Figure(
        name=name,
        explained="published-estimates",
        title=title,
        basis="each publisher's own inputs and dollars",
        columns=columns,
        rows=numbers,
        table=Table(
            ("What", "Published by", "Published", "Recomputed", "Error", "Within its rounding", "How firm"),
            [
                (
                    Cell(
                        names.run(row["run"]) if row["run"] else row["name"],
                        href=links.run(row["run"]) if row["run"] else "",
                        note=row["source"] or "",
                    ),
                    Cell(row["published_by"], note=wording.on_day(row["published_on"])),
                    number(_band(row["published_low_usd"], row["published_usd"], row["published_high_usd"], "USD")),
                    number(_band(row["recomputed_low_usd"], row["recomputed_usd"], row["recomputed_high_usd"], "USD")),
                    number(wording.percent(row["error"], 1)),
                    _within(row),
                    Cell(_CLASSES.get(row["class"]) or row["class"], note=row["note"] or ""),
                )
                for row in rows
            ],
        ),
        counted=f"{len(rows)} estimates",
        empty="No published estimates in this build yet.",
    )


_CLASSES = {
    "independent": "hours and price stated apart from the result",
    "price_read_back": "price found from the result",
    "reconstructed": "inputs partly reconstructed",
    "band": "only a band was published",
}


def mark_of(row: Row) -> tuple[float, str] | None:
    """Where a published estimate stands on a chart, and what it says; a band stands at its geometric middle."""
    low, mid, high = row["published_low_usd"], row["published_usd"], row["published_high_usd"]
    usd = mid if mid is not None else math.sqrt(low * high) if low and high else low or high
    return None if usd is None else (usd, f"{row['published_by']} (published)")


def _verdict(verdict: str) -> Cell:
    words, mark = _VERDICTS.get(verdict, (verdict, "muted"))
    return Cell(words, mark=mark)


def _within(row: Row) -> Cell:
    if row["is_within_tolerance"] is None:
        return Cell("not recomputable", mark="muted")
    return Cell("yes", mark="good") if row["is_within_tolerance"] else Cell("no", mark="bad")


def _in_the_ledger(row: Row, names: wording.Names) -> str:
    if row["ledger_usd_mid"] is None:
        return ""
    return (
        f"In the ledger, {names.run(row['run'])} on {names.accelerator(row['ledger_priced_on'])}, hyperscaler median of"
        f" {wording.on_day(row['ledger_day'])}: {wording.usd(row['ledger_usd_mid'])}"
        f" ({wording.usd(row['ledger_usd_low'])} to {wording.usd(row['ledger_usd_high'])})."
    )


def _claimed(row: Row) -> str:
    low, mid, high, unit = row["claimed_low"], row["claimed"], row["claimed_high"], row["unit"]
    if low is not None and high is not None:
        return f"{_amount(low, unit)} to {_amount(high, unit)}"
    ends = (
        f"at least {_amount(low, unit)}"
        if low is not None
        else f"under {_amount(high, unit)}"
        if high is not None
        else ""
    )
    if mid is None:
        return ends
    return f"{_amount(mid, unit)} ({ends})" if ends else _amount(mid, unit)


def _band(low: float | None, mid: float | None, high: float | None, unit: str) -> str:
    ends = f"{_amount(low, unit)} to {_amount(high, unit)}" if low is not None and high is not None else ""
    if mid is None:
        return ends or "".join(_amount(end, unit) for end in (low, high) if end is not None)
    return f"{_amount(mid, unit)} ({ends})" if ends else _amount(mid, unit)


def _amount(value: float, unit: str) -> str:
    if unit == "USD":
        return wording.usd_per_hour(value) if value < 100 else wording.usd(value)
    if unit == "EUR":
        return wording.usd(value).replace("$", "€")
    return f"{wording.quantity(value)}{wording.NO_BREAK}{unit}"
