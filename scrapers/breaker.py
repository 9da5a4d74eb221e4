"""Leaving alone a source that keeps failing: it is tried less and less often, and each time that it is not, that is on record.

What is remembered stands in the manifests of the archive, so that it survives whatever process collects. A failure counts where the host, or
something in its place, answered or fell silent; that its name does not resolve, nobody listens, or this machine is offline says nothing of it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from scrapers.failures import FetchErrorKind

FAILURES_IN_A_ROW = 5
FIRST_REST = timedelta(hours=6)
LONGEST_REST = timedelta(days=7)
UNCOUNTED: frozenset[FetchErrorKind] = frozenset({"unreachable", "no_key", "clock"})


@dataclass(frozen=True)
class Streak:
    """How often a source has failed without a success between, and when it was last asked."""

    failures: int = 0
    tried_at: datetime | None = None

    def rests_until(self, now: datetime) -> datetime | None:
        """Until when it is left alone; None when it is to be asked now. A try by a clock that was ahead holds up nothing."""
        if self.failures < FAILURES_IN_A_ROW or self.tried_at is None or self.tried_at > now:
            return None
        doublings = min(self.failures - FAILURES_IN_A_ROW, 10)
        until = self.tried_at + min(FIRST_REST * 2**doublings, LONGEST_REST)
        return until if until > now else None

    def told(self, source: str, until: datetime) -> str:
        """Why it is not asked, in one line."""
        return (
            f"failed {self.failures} times in a row, so it is next asked after {until:%Y-%m-%d %H:%M} UTC;"
            f" at once with: gpuledger collect {source}"
        )


NO_STREAK = Streak()
