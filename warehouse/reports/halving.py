"""How fast a series halves: the mean of its quarterly log changes, with an interval.

The series is taken for a random walk with drift. Days that follow each other are not independent, most say nothing new, and a line laid
through them would promise far too much; changes from quarter to quarter are nearly so. The interval is Student's, on as many changes as
there are quarters.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

QUARTER_DAYS = 91
FEWEST_QUARTERS = 8
CONFIDENCE = 0.90
_DAYS_A_YEAR = 365.25


@dataclass(frozen=True)
class Halving:
    """Change a year, and the time in which the level halves. ``None`` for a time: it does not halve at that rate."""

    quarters: int
    change_a_year: float
    """Relative: -0.2 is a fifth less each year."""
    change_a_year_low: float
    change_a_year_high: float

    @property
    def years(self) -> float | None:
        """At the mean rate."""
        return _years(self.change_a_year)

    @property
    def years_low(self) -> float | None:
        """At the fastest fall of the interval."""
        return _years(self.change_a_year_low)

    @property
    def years_high(self) -> float | None:
        """At the slowest fall of the interval; None where it may not fall at all."""
        return _years(self.change_a_year_high)


def halving(levels: Sequence[float]) -> Halving | None:
    """From levels a quarter (91 days) apart, oldest first; None for fewer than two years of them."""
    changes = [math.log(later / earlier) for earlier, later in itertools.pairwise(levels)]
    if len(changes) < FEWEST_QUARTERS:
        return None
    mean = statistics.fmean(changes)
    error = statistics.stdev(changes) / math.sqrt(len(changes))
    reach = _student(len(changes) - 1) * error
    low, mid, high = (_a_year(change) for change in (mean - reach, mean, mean + reach))
    return Halving(len(changes), mid, low, high)


def _a_year(log_change_a_quarter: float) -> float:
    return math.expm1(log_change_a_quarter * _DAYS_A_YEAR / QUARTER_DAYS)


def _years(change_a_year: float) -> float | None:
    return math.log(2) / -math.log1p(change_a_year) if -1 < change_a_year < -1e-9 else None


def _student(freedom: int) -> float:
    """Quantile of Student's t by its expansion around the normal (Abramowitz and Stegun 26.7.5); four digits hold from 7 on."""
    z = statistics.NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
