"""The weekly digest as Markdown, fit for a mail or an issue, in the words of a person who looked."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from warehouse.reports import wording
from warehouse.reports.digest import Digest
from warehouse.reports.marts import Row, grouped

MOST_TOLD = 8
# A change that rounds to 0.0 percent is none.
_LEAST = 0.0005
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def letter(of: Digest) -> str:
    """The digest in words. Without prices it says so, in one line."""
    if of.days is None:
        return "# Accelerator prices\n\nThere are no daily prices yet, so there is nothing to tell.\n"
    since, until = of.days
    span = f"week to {day(until)}" if of.is_week else f"{day(since)} to {day(until)}"
    parts = [
        f"# Accelerator prices, {span}",
        _lead(of, since),
        *_moved(of),
        *_sellers(of),
        *_cheapest(of),
        *_runs(of),
        _small_print(of),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def day(of: date) -> str:
    """A date as people write it."""
    return f"{of.day} {_MONTHS[of.month - 1]} {of.year}"


def _lead(of: Digest, since: date) -> str:
    """The first paragraph: what a person who reads no further should know."""
    what = "A quiet week" if of.is_week else f"Quiet since {day(since)}"
    repriced, sellers = _repriced(of), _with_sellers(of)
    if not repriced and not sellers:
        last = (
            ""
            if of.last_change is None or of.last_change > since
            else f" The last price to change did so on {day(of.last_change)}."
        )
        return f"{what}: no price moved, and no provider came or went.{last}"
    if not repriced:
        medians = any(abs(row["change_usd"] or 0) >= _LEAST for row in sellers)
        which = "it" if len(sellers) == 1 else "them"
        return (
            f"No price moved like for like. What changed is who sells: {_counted(len(sellers), 'accelerator')} gained or lost a provider"
            + (f", and medians moved with {which}." if medians else ".")
        )
    first, *others = repriced
    if not others:
        return f"One thing moved: {_move(first, of)}"
    ups = sum(1 for row in repriced if row["change_index"] > 0)
    counted = " and ".join(
        filter(None, (f"{ups} rose" if ups else "", f"{len(repriced) - ups} fell" if ups < len(repriced) else ""))
    )
    return f"{_first_upper(_counted(len(repriced), 'accelerator'))} moved like for like: {counted}. The largest move: {_move(first, of)}"


def _repriced(of: Digest) -> list[Row]:
    """Whose own prices moved, the largest move first."""
    moved = [row for row in of.moves if abs(row["change_index"] or 0) >= _LEAST]
    return sorted(moved, key=lambda row: (-abs(row["change_index"]), row["accelerator"]))


def _with_sellers(of: Digest) -> list[Row]:
    return [row for row in of.moves if row["providers_in"] or row["providers_out"]]


def _move(row: Row, of: Digest) -> str:
    """One accelerator in a sentence: like for like first, then what a buyer sees, then how firm it is."""
    name, change = _name(row, of), row["change_index"]
    told = f"**{name}** {'rose' if change > 0 else 'fell'} {_percent(change)} like for like"
    if row["usd"] is not None and row["usd_before"] is not None and abs(row["change_usd"]) >= _LEAST:
        told += f"; the median went from {wording.usd_per_hour(row['usd_before'])} to {wording.usd_per_hour(row['usd'])} an hour"
    elif row["usd"] is not None:
        told += f"; the median is {wording.usd_per_hour(row['usd'])} an hour"
    else:
        told += "; it has no price today"
    return f"{told}{_firmness(row)}."


def _firmness(row: Row) -> str:
    """What a reader has to know before leaning on the number."""
    if row["status"] == "single_seller":
        return " (sold by one firm only)"
    if row["status"] == "thin":
        count = row["n_providers"]
        return (
            " (one provider: its list, not a market)"
            if count == 1
            else f" (only {count} providers, so each of them moves it)"
        )
    return ""


def _moved(of: Digest) -> list[str]:
    """The others, a line each; the first one stands in the lead."""
    rest = _repriced(of)[1:]
    if not rest:
        return []
    lines = [f"* {_move(row, of)}" for row in rest[:MOST_TOLD]]
    left = len(rest) - MOST_TOLD
    return ["## Also moved", "\n".join([*lines, *([f"* And {_counted(left, 'smaller move')}."] if left > 0 else [])])]


def _sellers(of: Digest) -> list[str]:
    """Who came and who went, provider by provider: one that lists ten parts is one sentence."""
    came: dict[str, list[str]] = {}
    went: dict[str, list[str]] = {}
    for row in _with_sellers(of):
        for kind, providers in ((came, row["providers_in"]), (went, row["providers_out"])):
            for provider in providers:
                kind.setdefault(provider, []).append(_name(row, of))
    if not came and not went:
        return []
    lines = [
        f"* {_plain(of.names.provider(provider))} is in with {_some(parts)}."
        for provider, parts in sorted(came.items())
    ]
    lines += [
        f"* {_plain(of.names.provider(provider))} is out with {_some(parts)}: gone, or not seen for too long."
        for provider, parts in sorted(went.items())
    ]
    shown = lines[:MOST_TOLD]
    left = len(lines) - len(shown)
    return ["## Who sells", "\n".join([*shown, *([f"* {left} more came or went."] if left else [])])]


def _cheapest(of: Digest) -> list[str]:
    """A line for each accelerator that people ask about."""
    if not of.cheapest:
        return []
    lines = ["| accelerator | on demand | spot |", "|---|---|---|"]
    parts = grouped(of.cheapest, "accelerator")
    for key in sorted(parts, key=lambda key: of.names.accelerator(key).lower()):
        by_model = {row["pricing_model"]: row for row in parts[key]}
        cells = [_offer(by_model.get(model), of) for model in ("on_demand", "spot")]
        if any(cells):
            lines.append(f"| {_plain(of.names.accelerator(key))} | {cells[0]} | {cells[1]} |")
    if len(lines) == 2:
        return []
    return ["## Cheapest today, per hour", "\n".join(lines)]


def _offer(row: Row | None, of: Digest) -> str:
    if row is None:
        return ""
    age = f", {wording.days_old(row['age_days'])}" if (row["age_days"] or 0) > 7 else ""
    return f"{wording.usd_per_hour(row['usd'])} ({_plain(of.names.provider(row['provider']))}{age})"


def _runs(of: Digest) -> list[str]:
    """What the known runs would cost now, and whether that moved."""
    if not of.costs:
        return []
    lines = []
    for row in of.costs:
        cost = f"{_soft(wording.usd(row['cost_usd_mid']))} on {_plain(of.names.accelerator(row['accelerator']))}"
        span = f"{_soft(wording.usd(row['cost_usd_low']))} to {_soft(wording.usd(row['cost_usd_high']))}"
        lines.append(f"* {_plain(of.names.run(row['run']))}: {cost} (range {span}){_against(row, of)}.")
    head = "On the cheapest part that fits and finishes in time, on demand, final run only; ranges are judgement."
    return ["## What training runs would cost", head, "\n".join(lines)]


def _against(row: Row, of: Digest) -> str:
    before = row["cost_usd_before"]
    if before is None:
        return ", with nothing to compare it with"
    change = row["cost_usd_mid"] / before - 1
    when = "a week ago" if of.is_week else "then"
    told = (
        f", as {when}"
        if abs(change) < _LEAST
        else f", {_percent(change)} {'more' if change > 0 else 'less'} than {when}"
    )
    if row["accelerator_before"] != row["accelerator"]:
        told += f", when {_plain(of.names.accelerator(row['accelerator_before']))} was the cheapest"
    return told


def _small_print(of: Digest) -> str:
    """What the numbers are, and what is missing from them."""
    told = []
    if of.missing:
        names = ", ".join(_plain(row["source"]) for row in of.missing[:MOST_TOLD])
        told.append(f"Nothing usable came from {_counted(len(of.missing), 'source')}: {names}.")
    if of.has_fixtures:
        told.append("Part of these prices are recorded examples that ship with the program, not today's market.")
    told.append(
        "US dollars per accelerator and hour, nominal. Like for like: the same offers on both days; medians also move when sellers come or go."
    )
    if of.build is not None:
        told.append(f"GPU Ledger, build {of.build.build_id}.")
    return f"---\n\n{' '.join(told)}"


def _name(row: Row, of: Digest) -> str:
    return _plain(of.names.accelerator(row["accelerator"]))


def _some(names: Sequence[str]) -> str:
    """Up to three names, and how many more."""
    shown = list(names[:3])
    if len(names) > 3:
        return f"{', '.join(shown)} and {len(names) - 3} more"
    return _and(shown)


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _counted(number: int, thing: str) -> str:
    told = wording.count(number, thing)
    return told if number > 9 else told.replace(str(number), _SMALL[number], 1)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _percent(share: float) -> str:
    return f"{abs(share) * 100:,.1f} %"


def _soft(text: str) -> str:
    return text.replace(wording.NO_BREAK, " ")


def _plain(text: str) -> str:
    """Words from outside as words: nothing in them is markup, a control character or a turn of direction."""
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return _SPECIAL.sub(r"\\\1", shown)
