"""How numbers, dates and keys are written for people. Nothing here looks anything up but names."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from warehouse.database import Connection
from warehouse.reports import marts

Number = int | float | Decimal

NO_BREAK = "\u00a0"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

SEGMENTS = {
    "hyperscaler": "Hyperscalers",
    "neocloud": "Neoclouds",
    "marketplace": "Marketplaces",
    "aggregator": "Aggregators",
    "other": "Others",
    "all": "All providers",
}
STATUSES = {
    "ok": "three or more providers",
    "thin": "one or two providers",
    "single_seller": "sold by one firm only",
    "provider": "one named provider",
    "withheld": "withheld",
    "no_longer_listed": "no longer listed",
}
BASES = {
    "on_demand_median": "on demand, median of all providers",
    "on_demand_min": "on demand, cheapest offer",
    "hyperscaler_median": "on demand, median of hyperscalers",
    "neocloud_median": "on demand, median of neoclouds",
    "marketplace_median": "on demand, median of marketplaces",
    "spot_median": "spot, median of all providers, lost work included",
    "reserved_1y_median": "reserved for one year, median of all providers",
    "reserved_3y_median": "reserved for three years, median of all providers",
}
_FORMS = {
    "sxm": "SXM",
    "pcie": "PCIe",
    "nvl": "NVL",
    "oam": "OAM",
    "superchip": "superchip",
    "mobile": "laptop",
    "unstated": "form unstated",
}
_UNITS = ((1e9, "billion"), (1e6, "million"))


def usd_per_hour(value: Number | None) -> str:
    """A price per accelerator and hour, US dollars: cents, and thousandths below ten cents."""
    if value is None:
        return ""
    amount = float(value)
    return f"${amount:,.3f}" if abs(amount) < 0.1 else f"${amount:,.2f}"


def usd(value: Number | None) -> str:
    """A sum of US dollars to three digits that count, in words from a million up."""
    if value is None:
        return ""
    amount = _rounded(float(value), 3)
    for size, unit in _UNITS:
        if abs(amount) >= size:
            return f"${_trimmed(amount / size)}{NO_BREAK}{unit}"
    return f"${amount:,.0f}" if abs(amount) >= 10 or amount == int(amount) else f"${amount:,.2f}"


def quantity(value: Number | None) -> str:
    """A large amount to three digits that count: in words from a million up, in powers of ten from a thousand billion up."""
    if value is None:
        return ""
    amount = _rounded(float(value), 3)
    if abs(amount) >= 1e12:
        mantissa, exponent = f"{amount:e}".split("e+")
        return f"{float(mantissa):g}{NO_BREAK}×{NO_BREAK}10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    for size, unit in _UNITS:
        if abs(amount) >= size:
            return f"{_trimmed(amount / size)}{NO_BREAK}{unit}"
    return whole(amount) if amount == int(amount) else f"{amount:,.10g}"


def whole(value: Number | None) -> str:
    """A count, or hours, to the last digit."""
    return "" if value is None else f"{round(value):,}"


def percent(share: Number | None, digits: int = 0) -> str:
    """A relative difference with its sign; none where it rounds to nothing."""
    if share is None:
        return ""
    rounded = round(float(share) * 100, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded):,.{digits}f}{NO_BREAK}%"


def days_old(days: int | None) -> str:
    """An age, seen from the newest day."""
    if days is None:
        return ""
    return {0: "that day", 1: "1 day old"}.get(days, f"{days:,} days old")


def count(number: int, thing: str) -> str:
    """So many of a thing."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def one_of(segment: str) -> str:
    """What one provider of a segment is called."""
    return SEGMENTS.get(segment, segment).lower().removesuffix("s")


def on_day(moment: date | datetime | None) -> str:
    """A date, ISO 8601."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def pricing(model: str, commitment_days: int | None) -> str:
    """A pricing model and its term."""
    if model != "reserved" or not commitment_days:
        return model.replace("_", " ")
    years, rest = divmod(commitment_days, 365)
    return f"reserved {count(commitment_days, 'day') if rest else count(years, 'year')}"


def basis(name: str) -> str:
    """A basis in words."""
    return BASES.get(name, name)


def listed(words: Iterable[str]) -> str:
    """Words in a row, without repeats, in order."""
    return ", ".join(sorted({word.replace("_", " ") for word in words}))


def _rounded(value: float, digits: int) -> float:
    return value if value == 0 else round(value, digits - 1 - math.floor(math.log10(abs(value))))


def _trimmed(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Names:
    """Keys to what people call them; a key without a name stands for itself."""

    accelerators: dict[str, str]
    providers: dict[str, str]
    runs: dict[str, str]

    def accelerator(self, key: str) -> str:
        """Such as H100 SXM 80 GB."""
        return self.accelerators.get(key, key)

    def provider(self, key: str) -> str:
        """Such as Amazon Web Services."""
        return self.providers.get(key, key)

    def run(self, key: str) -> str:
        """Such as GPT-3 175B."""
        return self.runs.get(key, key)


def names(connection: Connection) -> Names:
    """The names that the reference rows give."""
    parts = marts.fetch(
        connection,
        """
        SELECT accelerator, model, form_factor, memory_gb, kind, count(DISTINCT form_factor) OVER (PARTITION BY model) AS forms
        FROM reference.accelerators
        """,
        needs=["reference.accelerators"],
    )
    providers = marts.fetch(connection, "SELECT provider, name FROM reference.providers", needs=["reference.providers"])
    runs = marts.fetch(connection, "SELECT run, name FROM reference.training_runs", needs=["reference.training_runs"])
    return Names(
        {row["accelerator"]: _part(row) for row in parts},
        {row["provider"]: row["name"] for row in providers},
        {row["run"]: row["name"] for row in runs},
    )


def _part(row: marts.Row) -> str:
    """The form is named where the model has several; other accelerators than GPUs have one form and memory, which nobody names."""
    if row["kind"] not in {"gpu", "superchip"}:
        return str(row["model"])
    form = _FORMS.get(row["form_factor"], "") if row["forms"] > 1 else ""
    memory = f"{float(row['memory_gb']):g} GB" if row["memory_gb"] is not None else ""
    if row["form_factor"] == "unstated":
        return f"{' '.join(filter(None, (row['model'], memory)))} ({form})"
    return " ".join(filter(None, (row["model"], form, memory)))
