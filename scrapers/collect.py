"""Collects one source into the raw archive: from the network, from recorded fixtures, or from a file of captures."""

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scrapers.archive import STAMP, Archive, Manifest, Outcome, SourceKind
from scrapers.breaker import NO_STREAK, UNCOUNTED, Streak
from scrapers.source import Adapter, Capture, Missed, Page, one_line

if TYPE_CHECKING:
    from scrapers.fetch import Client

EXPECTED = "offers.json"
"""What a fixture's pages must parse to; not a page itself."""


class NoFixturesError(FileNotFoundError):
    """There is no folder of fixtures."""


def fixtures_dir() -> Path:
    """Where the recorded fixtures are: ``GPULEDGER_FIXTURES``, else ``tests/fixtures`` of this checkout.

    Raises NoFixturesError: an installed program carries none.
    """
    told = os.environ.get("GPULEDGER_FIXTURES")
    folder = Path(told) if told else Path(__file__).parent.parent / "tests" / "fixtures"
    if not folder.is_dir():
        raise NoFixturesError(
            f"no fixtures at {folder}; run from a clone, or set GPULEDGER_FIXTURES to its tests/fixtures"
        )
    return folder


def from_network(
    adapter: Adapter,
    archive: Archive,
    client: Callable[[], "Client"],
    now: Callable[[], datetime],
    *,
    is_asked_for: bool = False,
) -> Manifest:
    """One live collection of a source of offers."""
    return pages_from_network(adapter.name, adapter.fetch, archive, client, now, is_asked_for=is_asked_for)


def pages_from_network(
    name: str,
    fetch: Callable[["Client"], Iterable[Page | Missed]],
    archive: Archive,
    client: Callable[[], "Client"],
    now: Callable[[], datetime],
    *,
    is_asked_for: bool = False,
) -> Manifest:
    """One live collection. What goes wrong is archived with its reason, so that one source never stops another.

    A source that keeps failing is left alone for a while, which is archived too, unless a person asks for it.
    Raises ArchiveError only.
    """
    observed_at = now()
    last = archive.latest_live(name)
    streak = last.streak if last else NO_STREAK
    if not is_asked_for and (until := streak.rests_until(observed_at)):
        return archive.write(
            name, [], observed_at=observed_at, source_kind="live", outcome="skipped",
            reason=streak.told(name, until), streak=streak,
        )  # fmt: skip
    pages, scope, outcome, told, is_counted = _fetched(fetch, client)
    if outcome == "collected":
        streak = NO_STREAK
    elif is_counted:
        streak = Streak(streak.failures + 1, observed_at)
    # What fares badly is listed under its source's name; it need not be said twice.
    reason = told.replace(f"{name}: ", "").replace("FetchError: ", "")
    scope = scope.replace(f"{name}: ", "").replace("FetchError: ", "")
    return archive.write(
        name,
        pages,
        observed_at=observed_at,
        source_kind="live",
        outcome=outcome,
        reason=reason,
        scope=scope,
        streak=streak,
    )


def _fetched(
    fetch: Callable[["Client"], Iterable[Page | Missed]], client: Callable[[], "Client"]
) -> tuple[list[Page], str, Outcome, str, bool]:
    """Pages, scope, outcome and reason of one collection, and whether its failure is one that the host has a part in."""
    from scrapers.fetch import FetchError, MissingKeyError

    try:
        with client() as session:
            answers = list(fetch(session))
    except MissingKeyError as error:
        return [], "whole", "skipped", str(error), False
    except FetchError as error:
        # What a challenge or error page said is kept, to see later what stood in the way.
        sample = [Page("", error.sample, "refused-answer")] if error.sample else []
        return sample, "whole", "failed", str(error), error.kind not in UNCOUNTED
    except Exception as error:  # noqa: BLE001  # the one place: whatever a source does, the others go on
        return [], "whole", "failed", one_line(error), True
    pages = [one for one in answers if isinstance(one, Page)]
    missed = [one for one in answers if isinstance(one, Missed)]
    if not pages:
        return [], "whole", "failed", _in_short(missed) or "no answer", True
    return pages, f"all but {_in_short(missed)}" if missed else "whole", "collected", "", False


def _in_short(missed: list[Missed]) -> str:
    """The parts that did not answer, those of one reason together."""
    parts: dict[str, list[str]] = {}
    for one in missed:
        parts.setdefault(one.reason, []).append(one.part)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in parts.items())[:500]


def from_fixtures(name: str, archive: Archive) -> list[Manifest]:
    """Every recorded fixture of a source, at the time in its folder's name; none where it has no fixtures."""
    folder = fixtures_dir() / name
    manifests = []
    for stamped in sorted(folder.iterdir()) if folder.is_dir() else []:
        observed_at = datetime.strptime(stamped.name, STAMP).replace(tzinfo=UTC)
        pages = [Page(f"fixture:{name}/{path.name}", path.read_bytes(), path.name) for path in fixture_files(stamped)]
        manifests.append(archive.write(name, pages, observed_at=observed_at, source_kind="fixture"))
    return manifests


def fixture_age_days(name: str, now: datetime) -> int | None:
    """Days since the newest fixture of a source was recorded; None where it has none."""
    try:
        stamps = [
            datetime.strptime(path.name, STAMP).replace(tzinfo=UTC) for path in (fixtures_dir() / name).glob("*Z")
        ]
    except NoFixturesError:
        return None
    return (now - max(stamps)).days if stamps else None


def fixture_files(folder: Path) -> Iterator[Path]:
    """The pages of one fixture, in name order."""
    return (path for path in sorted(folder.iterdir()) if path.is_file() and path.name != EXPECTED)


def from_captures(name: str, captures: Iterable[Capture], archive: Archive, *, curated: bool) -> list[Manifest]:
    """Every capture of a published history."""
    kind: SourceKind = "curated" if curated else "dataset"
    return [
        archive.write(name, capture.pages, observed_at=capture.observed_at, source_kind=kind, scope=capture.scope)
        for capture in captures
    ]
