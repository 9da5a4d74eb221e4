"""The week's letter: what it says of quiet weeks, of one thing, of many, and of thin data."""

import dataclasses
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.command import within
from tests.market import Market, offer
from warehouse.reports.digest import COLUMNS, Digest, rows
from warehouse.reports.letter import letter
from warehouse.reports.wording import Names

NAMES = Names(
    {"h100-sxm-80gb": "H100 SXM 80 GB", "a100-sxm-80gb": "A100 SXM 80 GB", "l4-24gb": "L4 24 GB"},
    {"aws": "Amazon Web Services", "lambda": "Lambda"},
    {"gpt-3-175b": "GPT-3 175B"},
)
DAYS = (date(2026, 9, 29), date(2026, 10, 6))
QUIET = Digest(None, NAMES, DAYS, True, [], date(2026, 8, 22), [], [], [], False)


def move(key: str = "h100-sxm-80gb", change: float | None = -0.1, **more: Any) -> dict[str, Any]:
    return {
        "accelerator": key, "change_index": change, "usd_before": 4.0, "usd": 3.6, "change_usd": -0.1, "n_providers": 5, "status": "ok", "up": 0,
        "down": 1, "new": 0, "gone": 0, "providers_in": [], "providers_out": [],
    } | more  # fmt: skip


def still(key: str = "l4-24gb", **more: Any) -> dict[str, Any]:
    return move(key, 0.0, usd=4.0, change_usd=0.0, down=0) | more


def cost(**more: Any) -> dict[str, Any]:
    return {
        "run": "gpt-3-175b", "accelerator": "h100-sxm-80gb", "cost_usd_low": 400_000.0, "cost_usd_mid": 540_000.0, "cost_usd_high": 900_000.0,
        "price_status": "ok", "n_providers": 5, "accelerator_before": "h100-sxm-80gb", "cost_usd_before": 600_000.0,
    } | more  # fmt: skip


def told(**facts: Any) -> str:
    return letter(dataclasses.replace(QUIET, **facts))


def lead(**facts: Any) -> str:
    return told(**facts).split("\n\n")[1]


def test_a_quiet_week_is_one_sentence_and_says_since_when() -> None:
    assert lead(moves=[still()]) == (
        "A quiet week: no price moved, and no provider came or went. The last price to change did so on 22 August 2026."
    )
    text = told(moves=[still()])
    assert text.startswith("# Accelerator prices, week to 6 October 2026\n")
    for heading in ("Also moved", "Who sells", "Cheapest", "What training runs"):
        assert heading not in text


def test_a_quiet_ledger_that_never_changed_claims_no_day() -> None:
    assert lead(last_change=None).endswith("came or went.")


def test_one_thing_is_called_one_thing() -> None:
    assert lead(moves=[move(), still()]) == (
        "One thing moved: **H100 SXM 80 GB** fell 10.0 % like for like; the median went from $4.00 to $3.60 an hour."
    )
    assert "Also moved" not in told(moves=[move(), still()])


def test_many_things_are_counted_and_the_largest_is_named() -> None:
    text = told(moves=[move(), move("a100-sxm-80gb", 0.2), still()])
    assert (
        "Two accelerators moved like for like: 1 rose and 1 fell. The largest move: **A100 SXM 80 GB** rose 20.0 %"
        in text
    )
    assert "## Also moved\n\n* **H100 SXM 80 GB** fell 10.0 %" in text


def test_a_long_list_is_cut_and_says_so() -> None:
    text = told(moves=[move(f"part-{n}", -0.01 * n) for n in range(1, 13)])
    assert text.startswith("# Accelerator prices")
    assert "12 accelerators moved like for like: 12 fell." in text
    assert text.count("\n* ") == 9
    assert "* And three smaller moves." in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"status": "thin", "n_providers": 2}, "(only 2 providers, so each of them moves it)"),
        ({"status": "thin", "n_providers": 1}, "(one provider: its list, not a market)"),
        ({"status": "single_seller", "n_providers": 1}, "(sold by one firm only)"),
        ({"usd": None, "change_usd": None, "status": None}, "it has no price today"),
        ({"usd_before": None, "change_usd": None}, "the median is $3.60 an hour"),
    ],
)
def test_thin_data_is_said_to_be_thin(more: dict[str, Any], words: str) -> None:
    assert words in lead(moves=[move(**more)])


def test_sellers_that_come_and_go_move_no_price() -> None:
    gained = [still(f"part-{n}", providers_in=["aws"]) for n in range(5)]
    text = told(moves=[*gained, still("h100-sxm-80gb", providers_out=["lambda"], change_usd=0.2)])
    assert (
        "No price moved like for like. What changed is who sells: six accelerators gained or lost a provider, and medians moved with them."
        in text
    )
    assert "* Amazon Web Services is in with part-0, part-1, part-2 and 2 more." in text
    assert "* Lambda is out with H100 SXM 80 GB: gone, or not seen for too long." in text


def test_costs_are_held_against_the_week_before() -> None:
    assert (
        "* GPT-3 175B: $540,000 on H100 SXM 80 GB (range $400,000 to $900,000), 10.0 % less than a week ago."
        in told(costs=[cost()])
    )
    assert ", as a week ago." in told(costs=[cost(cost_usd_before=540_000.0)])
    assert ", with nothing to compare it with." in told(costs=[cost(cost_usd_before=None, accelerator_before=None)])
    assert ", 10.0 % less than a week ago, when A100 SXM 80 GB was the cheapest." in told(
        costs=[cost(accelerator_before="a100-sxm-80gb")]
    )


def test_what_is_missing_is_said() -> None:
    gone = {"source": "vast", "status": "failed", "reason": "a login page", "last_good_at": None}
    text = told(missing=[gone, gone | {"source": "runpod"}], has_fixtures=True)
    assert "Nothing usable came from two sources: vast, runpod." in text
    assert "recorded examples" in text


def test_without_prices_there_is_nothing_to_tell() -> None:
    assert letter(dataclasses.replace(QUIET, days=None)).endswith(
        "There are no daily prices yet, so there is nothing to tell.\n"
    )


def test_words_from_outside_are_no_markup() -> None:
    text = told(moves=[still(providers_in=["[x](http://evil.example)\u202e\n# big"])])
    assert "\\[x\\](http://evil.example)" in text
    assert "\u202e" not in text
    assert "\n# big" not in text


def test_every_number_is_a_row() -> None:
    found = [
        dict(zip(COLUMNS, row, strict=True)) for row in rows(dataclasses.replace(QUIET, moves=[move()], costs=[cost()]))
    ]
    assert [(row["key"], row["measure"], row["value"]) for row in found] == [
        ("h100-sxm-80gb", "index_change", -0.1),
        ("h100-sxm-80gb", "median", 3.6),
        ("gpt-3-175b", "cost_on_cheapest_part", 540_000.0),
    ]
    assert found[2]["change"] == pytest.approx(-0.1)


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two providers, of which one takes a fifth off."""
    folder = tmp_path_factory.mktemp("letter")
    with pytest.MonkeyPatch.context() as patch:
        made = Market(folder, patch)
        for provider in ("aws", "azure"):
            source = made.source(f"{provider}_page", provider, "page")
            made.says(source, "2026-01-01T06:00:00", [offer("a", "5.00")])
            made.says(source, "2026-01-08T06:00:00", [offer("a", "4.00" if provider == "aws" else "5.00")])
        made.update()
    return folder / "data"


def test_the_command_prints_the_letter(market: Path) -> None:
    done = within("report", "--format", "md", "--accelerators", "H100", "--runs", "llama-3.1-405b", data=market)
    assert done.returncode == 0, done.stderr
    fall = (1 - 0.8**0.5) * 100
    assert (
        f"One thing moved: **H100 SXM 80 GB** fell {fall:.1f} % like for like; the median went from $5.00 to $4.50 an hour"
        in done.stdout
    )
    assert "only 2 providers" in done.stdout
    quiet = within("report", "--format", "md", "--accelerators", "a100-sxm-80gb", data=market)
    assert "A quiet week" in quiet.stdout


def test_the_command_prints_the_numbers(market: Path) -> None:
    lines = within("report", "--format", "json", data=market).stdout.splitlines()
    found = {(row["key"], row["measure"]): row for row in map(json.loads, lines)}
    median = found["h100-sxm-80gb", "median"]
    assert (median["value"], median["value_before"], median["day"], median["since_day"]) == (
        4.5,
        5,
        "2026-01-08",
        "2026-01-01",
    )
    csv = within("report", "--format", "csv", "--since", "2026-01-05", data=market).stdout
    assert csv.splitlines()[0] == ",".join(COLUMNS)
    assert ",2026-01-05,2026-01-08" in csv


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--since", "soon"), "write it like 2023-03-01"),
        (("--since", "2026-01-08"), "name an earlier one"),
        (("--accelerators", ","), "an empty list of names"),
        (("--accelerators", "H999"), "no accelerator 'H999'"),
        (("--runs", "gpt-99"), "no training run 'gpt-99'"),
        (("--format", "md", "--to", "x"), "redirect it into a file"),
    ],
)
def test_what_can_not_be_reported_is_one_line(market: Path, arguments: tuple[str, ...], says: str) -> None:
    done = within("report", *arguments, data=market)
    assert done.returncode in {1, 2}
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_part_of_the_site_leaves_the_whole_one_alone(market: Path) -> None:
    done = within("report", "--accelerators", "H100", "--runs", "gpt-3", "--since", "2026-01-05", data=market)
    assert done.returncode == 0, done.stderr
    assert not (market / "site").exists()
    part = market / "site-part"
    assert [path.stem for path in (part / "runs").glob("gpt*.html")] == ["gpt-3-175b"]
    assert len(list((part / "runs").glob("*.html"))) == 2
    text = (part / "csv" / "accelerator-h100-sxm-80gb-segments.csv").read_text()
    assert "2026-01-05" in text
    assert "2026-01-01" not in text
