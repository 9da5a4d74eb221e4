"""What of the ledger a report tells: from a day on, of some accelerators or runs, or everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from warehouse.reports.marts import Row


@dataclass(frozen=True)
class Scope:
    """Bounds of a report; None is no bound."""

    since: date | None = None
    accelerators: frozenset[str] | None = None
    runs: frozenset[str] | None = None

    @property
    def is_whole(self) -> bool:
        """No bound at all."""
        return self.since is None and self.accelerators is None and self.runs is None

    def of_parts(self, rows: Sequence[Row]) -> list[Row]:
        """Rows of the accelerators."""
        return [row for row in rows if self.accelerators is None or row["accelerator"] in self.accelerators]

    def of_runs(self, rows: Sequence[Row]) -> list[Row]:
        """Rows of the runs."""
        return [row for row in rows if self.runs is None or row["run"] in self.runs]

    def since_only(self, rows: Sequence[Row]) -> list[Row]:
        """Stretches that reach into the time, cut to it."""
        if self.since is None:
            return list(rows)
        return [row | {"from_day": max(row["from_day"], self.since)} for row in rows if row["to_day"] >= self.since]

    def clipped(self, rows: Sequence[Row]) -> list[Row]:
        """Stretches of the accelerators, where they are of accelerators, within the time."""
        return self.since_only(self.of_parts(rows) if rows and "accelerator" in rows[0] else rows)


WHOLE = Scope()
