"""Parts of the report that need no ledger: halving times, overlaps, what a scope leaves."""

import math
from datetime import date

import pytest

from warehouse.explain import Node
from warehouse.reports import coverage, explained, index_figures
from warehouse.reports.halving import FEWEST_QUARTERS, halving
from warehouse.reports.links import Links
from warehouse.reports.scope import Scope
from warehouse.reports.wording import NO_BREAK, Names

NAMES = Names({}, {}, {})
QUARTERS_A_YEAR = 365.25 / 91


def test_what_halves_in_two_years_is_said_to() -> None:
    quarters = [100 * 0.5 ** (n / (2 * QUARTERS_A_YEAR)) for n in range(20)]
    found = halving(quarters)
    assert found is not None
    assert found.years == pytest.approx(2)
    assert found.years_low == pytest.approx(2, abs=1e-6)
    assert found.years_high == pytest.approx(2, abs=1e-6)
    assert found.change_a_year == pytest.approx(0.5**0.5 - 1)


def test_the_interval_is_student_s() -> None:
    """Nine changes, mean -0.1 and standard deviation 0.3, by hand: t of 0.95 with 8 degrees is 1.8595."""
    changes = [-0.4, 0.2] * 4 + [-0.1]
    levels = [100.0]
    for change in changes:
        levels.append(levels[-1] * math.exp(change))
    found = halving(levels)
    assert found is not None
    spread = math.sqrt(sum((change + 0.1) ** 2 for change in changes) / 8)
    reach = 1.8595 * spread / 3
    assert math.log1p(found.change_a_year_low) / QUARTERS_A_YEAR == pytest.approx(-0.1 - reach, abs=1e-4)
    assert math.log1p(found.change_a_year_high) / QUARTERS_A_YEAR == pytest.approx(-0.1 + reach, abs=1e-4)
    assert found.years_high is None
    assert index_figures.told_halving(found).endswith(" to no end)")


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ([100.0] * 20, "unchanged"),
        ([100 * 1.1**n for n in range(20)], "does not fall"),
        ([100.0, 50.0, 25.0], "too short to say"),
        ([], "too short to say"),
        ([100 * 0.999**n for n in range(20)], "over 50 years (over 50 years to over 50 years)"),
    ],
)
def test_what_does_not_halve_is_not_said_to(levels: list[float], told: str) -> None:
    assert index_figures.told_halving(halving(levels)) == told


def test_too_few_quarters_say_nothing() -> None:
    assert halving([100 * 0.9**n for n in range(FEWEST_QUARTERS)]) is None
    assert halving([100 * 0.9**n for n in range(FEWEST_QUARTERS + 1)]) is not None


def test_an_overlap_says_by_how_much() -> None:
    row = {
        "provider": "aws", "accelerator": "h100-sxm-80gb", "pricing_model": "on_demand", "commitment_days": 0, "back_source": "a_dataset",
        "back_kinds": ["dataset"], "source": "aws_page", "source_kinds": ["live"], "first_day": date(2026, 1, 1), "last_day": date(2026, 1, 9),
        "days": 9, "days_matched": 8, "difference_percent": -2.0, "largest_difference_percent": 5.0, "level_difference_percent": 40.0,
    }  # fmt: skip
    figure = coverage.overlaps_figure([row, row | {"days_matched": 0, "difference_percent": None}], NAMES, Links())
    same, level = figure.table.rows[0][6], figure.table.rows[0][7]
    assert same.text.replace(NO_BREAK, " ") == "−2.0 %"
    assert same.note.replace(NO_BREAK, " ") == "at most +5.0 % in 8 days"
    assert level.text.replace(NO_BREAK, " ") == "+40.0 %"
    assert figure.table.rows[1][6].note == "none the same"
    assert figure.rows[0][figure.columns.index("back_source")] == "a_dataset"


def test_only_addresses_of_the_web_and_of_the_site_are_links() -> None:
    for url, href in (
        ("https://arxiv.org/abs/1", "https://arxiv.org/abs/1"),
        ("javascript:alert(1)", ""),
        ("http://plain.example/", ""),
        ("explain/a.html", "../explain/a.html"),
    ):
        shown = explained.branch(Node("a", 1, url=url), "../")
        assert shown.href == href
        assert bool(href) != (url in shown.note)


def test_a_scope_cuts_stretches() -> None:
    rows = [
        {"accelerator": "a", "from_day": date(2025, 1, 1), "to_day": date(2025, 6, 1)},
        {"accelerator": "a", "from_day": date(2025, 6, 2), "to_day": date(2026, 6, 1)},
        {"accelerator": "b", "from_day": date(2026, 1, 1), "to_day": date(2026, 6, 1)},
    ]
    scope = Scope(since=date(2026, 1, 1), accelerators=frozenset("a"))
    assert scope.clipped(rows) == [{"accelerator": "a", "from_day": date(2026, 1, 1), "to_day": date(2026, 6, 1)}]
    assert Scope().clipped(rows) == rows
