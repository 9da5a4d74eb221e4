"""Without one of its rules the project has a test that fails; here a few of them, other ones each week. All: `python -m tests.mutations`."""

from datetime import UTC, datetime

import pytest

from tests.conftest import ROOT
from tests.mutations import CHANGES, mutated, run
from tests.rules import rules

SAMPLE = 6


@pytest.mark.parametrize("name", rules())
def test_each_rule_can_be_switched_off(name: str) -> None:
    rule = rules()[name]
    text = (ROOT / rule.file).read_text(encoding="utf-8")
    assert mutated(rule, text) != text


def test_no_change_is_of_a_rule_that_is_gone() -> None:
    assert CHANGES.keys() - rules().keys() == set()


def of_this_week() -> list[str]:
    """As many rules as go into two minutes; week by week it is the turn of the next ones."""
    names = list(rules())
    first = datetime.now(UTC).isocalendar().week * SAMPLE
    return [names[(first + place * 23) % len(names)] for place in range(SAMPLE)]


@pytest.mark.slow
def test_rules_that_are_switched_off_fail_their_tests() -> None:
    outcomes = list(run(of_this_week()))
    assert [one for one in outcomes if not one.killed] == []
    assert len(outcomes) == SAMPLE
