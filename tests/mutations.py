"""Switches off one rule of `docs/rules.md` after the other, in a copy of the project, and sees whether its test fails.

    python -m tests.mutations [--processes N] [RULE...]

A rule that says something is switched off where it says it: a model says null instead, a reader does not raise, a verdict is none. One that
says nothing has its change in `CHANGES`. Each change has to match exactly once. Prints a line for each rule, as a Markdown table; exit
status 1 where one lives on. Nothing is done in place: the copy has no history of versions, and is gone afterwards.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.conftest import ROOT
from tests.rules import Rule, Source, rules

COPIED = ("flows", "scrapers", "warehouse", "tests", "docs", "pyproject.toml")
SECONDS = 300

# What a rule that says nothing does, and what is done without it.
CHANGES: dict[str, tuple[str, str]] = {
    "longer-word": ("        if at == len(token):\n", "        if at > 2:\n"),
    "unknown-variant": ("    return behind in _VARIANTS\n", "    return False\n"),
    "unknown-generation": (" or (unnumbered and _GENERATION.fullmatch(behind) is not None)", ""),
    "snapped-memory": ("distance <= _MEMORY_TOLERANCE", "distance == 0"),
    "total-memory": ("    yield from [*divided, memory_gb] if scope == \"total\" else [memory_gb, *divided]\n", "    yield memory_gb\n"),
    "host-memory": ("        or behind[:1] in _RAM_BEHIND\n", ""),
    "host-counts": ("(bool(behind) and behind[0].text in _HOST_PARTS)", "False"),
    "bus-width": ("_BUS.sub(r\"\\1 \", fold(raw).replace(\"_\", \" \"))", "fold(raw).replace(\"_\", \" \")"),
    "type-decides": ("told = reading.count if reading.decides and reading.count is not None else count", "told = count"),
    "whole-counts": ("None if count > 1 and count % 1 else shortest(count)", "shortest(count)"),
    "host-parts": ("    WHERE t.price_scope NOT IN ('host_vcpu', 'host_gib')\n", ""),
    "whole-machines": ("m.accelerators * g.price + m.vcpus * c.price + m.ram_gib * r.price", "m.accelerators * g.price"),
    "outlier": ("d.market_providers >= p.outlier_providers", "FALSE"),
    "per-second": ("WHEN 'second' THEN 1.0 / 3600", "WHEN 'second' THEN 1.0"),
    "per-minute": ("WHEN 'minute' THEN 1.0 / 60", "WHEN 'minute' THEN 1.0"),
    "per-day": ("WHEN 'day' THEN 24.0", "WHEN 'day' THEN 1.0"),
    "per-month": ("WHEN 'month' THEN 730.0", "WHEN 'month' THEN 720.0"),
    "per-year": ("WHEN 'year' THEN 8760.0", "WHEN 'year' THEN 8766.0"),
    "per-term": ("WHEN 'term' THEN nullif(t.commitment_days, 0) * 24.0", "WHEN 'term' THEN 1.0"),
    "upfront": (" + coalesce(upfront / term_hours, 0)", ""),
    "per-accelerator": ("ELSE usd_per_priced_hour * accelerator_count END", "ELSE usd_per_priced_hour END"),
    "per-machine": ("THEN usd_per_priced_hour / accelerator_count ELSE", "THEN usd_per_priced_hour ELSE"),
    "rate-of-the-day": ("least(lead(fx_date) OVER (PARTITION BY currency ORDER BY fx_date) - 1, fx_date + 45)", "fx_date"),
    "struck-through": ("    return tag.name in STRUCK or", "    return False and tag.name in STRUCK or"),
    "price-of-an-offer": ("Field(ge=Decimal(\"1e-9\"), lt=Decimal(\"1e9\"), allow_inf_nan=False)", "Field()"),
    "count-of-an-offer": ("Field(gt=0, lt=Decimal(\"1e9\"), allow_inf_nan=False)", "Field()"),
    "currency-of-an-offer": ("Field(pattern=r\"^[A-Z]{3}$\")", "Field()"),
    "below-zero-available": ("0 if isinstance(count, int) and count < 0 else count", "count"),
    "several-places": ("    return [piece for piece in pieces if piece]\n", "    return [text] if text else []\n"),
    "challenge": ("    return any(mark in head for mark in _CHALLENGE_MARKS)\n", "    return False\n"),
    "duplicate-order": ("effective_at DESC NULLS LAST, price, ordinal", "effective_at DESC NULLS LAST, ordinal"),
    "spot-holds-between-changes": ("            for ahead in range((last - change.at.date()).days + 1):\n", "            for ahead in range(1):\n"),
    "newest-spot-change": ("sorted(filter(_is_wanted, whole), key=_at)", "filter(_is_wanted, whole)"),
    "accepted-by-a-person": ("verdict, reason, decided_by, load_number)", "verdict, reason, RULE, load_number)"),
    "home-regions": ("coalesce(o.is_home_region, FALSE) AS is_home", "TRUE AS is_home"),
    "sold-out-is-no-minimum": (" FILTER (WHERE available IS DISTINCT FROM FALSE)", ""),
    "carry-limits": ("WHERE age_days <= carry_days OR", "WHERE TRUE OR"),
    "gone-after-two": ("whole_before - last_whole < 2 AS goes_on", "whole_before - last_whole < 1 AS goes_on"),
    "longest-wait": ("MAX_RETRY_AFTER_SECONDS = 300.0", "MAX_RETRY_AFTER_SECONDS = 1e12"),
    "lambda-cents": ("Decimal(cents).scaleb(-2)", "Decimal(cents)"),
    "upcloud-cents": ("cents.scaleb(-2)", "cents"),
    "ovh-hundred-millionths": ("Decimal(whole(pricing[\"price\"])) / UNIT", "Decimal(whole(pricing[\"price\"]))"),
    "google-nanos": ("Decimal(nanos).scaleb(-9)", "Decimal(nanos).scaleb(-6)"),
    "novita-hundred-thousandths": ("amount and amount / A_DOLLAR", "amount"),
    "hyperbolic-cents": ("price=price / 100", "price=price"),
    "azure-windows": ("    if OTHER_PRODUCT.search(", "    if False and OTHER_PRODUCT.search("),
    "azure-dev-test": (" or record[\"type\"] == \"DevTestConsumption\"", ""),
    "azure-spot": ("{\"pricing_model\": \"spot\"} if \"Spot\" in names else ", ""),
    "azure-term": ("\"commitment_days\": days, \"per\": \"term\"}", "\"commitment_days\": days}"),
    "runpod-each": ("\"price_scope\": \"accelerator\",", "\"price_scope\": \"offer\","),
    "runpod-spot": ("if spot and spot != price:", "if spot:"),
    "vultr-fractions": ("fraction(str(count)) if count is not None else None", "Decimal(1)"),
    "verda-total": ("\"memory_scope\": \"total\",", "\"memory_scope\": \"each\","),
}  # fmt: skip
# The cases that hold a rule, where its test has others too.
CASES = {
    "lambda-cents": "lambda_api", "upcloud-cents": "upcloud", "ovh-hundred-millionths": "ovh", "google-nanos": "gcp_skus",
    "novita-hundred-thousandths": "novita-", "hyperbolic-cents": "hyperbolic", "azure-windows": "azure", "azure-spot": "azure",
    "azure-term": "azure", "runpod-each": "runpod-", "runpod-spot": "runpod-", "vultr-fractions": "vultr", "verda-total": "verda",
}  # fmt: skip

# Tests of the rules' own file that are for one rule.
ALONE = {
    "test_an_old_price_is_none_of_today", "test_records_without_a_price_are_told", "test_what_a_person_accepts_counts_and_is_on_record",
    "test_what_is_sold_out_is_no_minimum",
}  # fmt: skip


class MutationError(ValueError):
    """A change that does not match exactly once."""


def mutated(rule: Rule, text: str) -> str:
    """The text of the rule's file without the rule."""
    if rule.name in CHANGES:
        return _changed(rule, text, *CHANGES[rule.name])
    if not rule.says:
        raise MutationError(f"{rule.name} says nothing and has no change of its own")
    return _silent_model(rule, text) if rule.file.endswith(".sql") else _silent_python(rule, text)


def _changed(rule: Rule, text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise MutationError(f"{rule.name}: {old!r} is there {text.count(old)} times")
    return text.replace(old, new)


def _silent_model(rule: Rule, text: str) -> str:
    """A model that says null in the place of the rule's text."""
    found = list(re.finditer(rf"(format\(\s*)?'(?:[^'\n]|'')*?{re.escape(rule.says)}", text))
    if len(found) != 1:
        raise MutationError(f"{rule.name}: {rule.says!r} is there {len(found)} times")
    return text[: found[0].start()] + "NULL || " + text[found[0].start() :]


def _silent_python(rule: Rule, text: str) -> str:
    """A file of Python that does not raise the rule's text, or says nothing in its place."""
    tree, source = ast.parse(text), Source(text)
    above = {id(inner): node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant)
        and not isinstance(above.get(id(node)), ast.JoinedStr | ast.FormattedValue | ast.Expr)
        and rule.says in source.segment(node)
    ]
    if len(found) != 1:
        raise MutationError(f"{rule.name}: {rule.says!r} is there {len(found)} times")
    node: ast.AST = found[0]
    while not isinstance(node, ast.Raise | ast.Return | ast.stmt):
        node = above[id(node)]
    if isinstance(node, ast.Raise):
        # Without a cause nothing is raised; with one the clear line is missing.
        start = source.start(node)
        if node.cause is None:
            return text[:start] + text[start:].replace("raise ", "", 1)
        return text[:start] + re.sub("raise [A-Za-z]+", "raise NotImplementedError", text[start:], count=1)
    literal, start = source.segment(found[0]), source.start(found[0])
    nothing = "None" if rule.file == "warehouse/names.py" else '""'
    return f"{text[:start]}({nothing} and {literal}){text[start + len(literal) :]}"


@dataclass(frozen=True)
class Outcome:
    rule: str
    killed: bool
    by: str
    """The first test that failed; or what went wrong instead."""


def kill(rule: Rule, folder: Path) -> Outcome:
    """Whether the rule's test fails without it, in that copy of the project, which is left as it was."""
    file = folder / rule.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(mutated(rule, whole), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-m",
        "",
        *_selected(rule),
    ]
    try:
        # No code is kept compiled: what was written a moment ago may have the size and time of what it replaces.
        fresh = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command, cwd=folder, env=fresh, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(rule.name, killed=False, by=f"not done in {SECONDS} s")
    finally:
        file.write_text(whole, encoding="utf-8")
    failed = re.search(r"^(?:FAILED|ERROR) (tests/\S+?::.+?)(?: - |$)", done.stdout, re.MULTILINE)
    if done.returncode == 1 and failed:
        return Outcome(rule.name, killed=True, by=failed[1])
    last = (done.stdout + done.stderr).strip().splitlines()[-1:]
    return Outcome(rule.name, killed=False, by=f"exit status {done.returncode}: {''.join(last)}")


def _selected(rule: Rule) -> Iterator[str]:
    file, _, test = rule.test.partition("::")
    yield rule.test
    if rule.name in CASES:
        yield from ("-k", CASES[rule.name])
    elif file == "tests/test_rules.py" and test not in ALONE:
        yield from ("-k", f"[{rule.name}]")


def run(names: Iterable[str], processes: int = 1) -> Iterator[Outcome]:
    """The outcome of each rule, in the order of the names."""
    known = rules()
    with tempfile.TemporaryDirectory(prefix="gpu-ledger-mutations-") as base:
        copies: SimpleQueue[Path] = SimpleQueue()
        for place in range(processes):
            copies.put(_copy(Path(base) / str(place) / "project"))

        def one(name: str) -> Outcome:
            folder = copies.get()
            try:
                return kill(known[name], folder)
            finally:
                copies.put(folder)

        with ThreadPoolExecutor(processes) as pool:
            yield from pool.map(one, names)


def _copy(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="Switch off one rule after the other; each time its test has to fail.")
    parser.add_argument("rules", nargs="*", help="only these")
    parser.add_argument("--processes", type=int, default=1)
    told = parser.parse_args()
    print("| rule | killed by |\n|---|---|")
    alive = 0
    for outcome in run(told.rules or rules(), told.processes):
        print(
            f"| `{outcome.rule}` | {f'`{outcome.by}`' if outcome.killed else f'**lives**: {outcome.by}'} |", flush=True
        )
        alive += not outcome.killed
    sys.exit(alive > 0)


if __name__ == "__main__":
    main()
