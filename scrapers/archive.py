"""The raw archive: every answer, byte for byte, before anything reads it.

Bodies are stored once each by their SHA-256 (``objects/ab/<sha256>.gz``); a manifest per collection says which bodies, from where,
when, and how it went (``snapshots/<source>/<observed_at>-<id>.json``). The manifest is written last and by rename, so a kill
leaves either a whole snapshot or none.
"""

import contextlib
import fcntl
import functools
import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from scrapers.breaker import NO_STREAK, Streak
from scrapers.source import MAX_PAGE_BYTES, Page, snapshot_id
from scrapers.unchanged import NO_VALIDATORS, KnownPage, Validators

SourceKind = Literal["live", "fixture", "archived_page", "dataset", "curated"]
Outcome = Literal["collected", "failed", "skipped"]
STAMP = "%Y-%m-%dT%H%M%SZ"
LOOKED_BACK = 50
"""Collections of a source among which its last one that brought something is looked for."""
_ALWAYS = frozenset({"url", "name", "sha256", "size_bytes"})


class ArchiveError(RuntimeError):
    """The archive can't be written or read; the message says which file and what to do."""


@dataclass(frozen=True)
class StoredPage:
    """Where one page of a snapshot came from and which body it had."""

    url: str
    name: str
    sha256: str
    size_bytes: int
    etag: str = ""
    last_modified: str = ""
    received_at: str = ""
    """When the body came in full, where the host gave something to ask by whether it has changed."""


@dataclass(frozen=True)
class Manifest:
    """One collection of one source: what was asked, when, and how it went."""

    snapshot_id: str
    source: str
    source_kind: SourceKind
    observed_at: datetime
    outcome: Outcome
    reason: str
    pages: tuple[StoredPage, ...]
    scope: str = "whole"
    """``whole``, or what of the source was seen."""
    streak: Streak = NO_STREAK
    """How often the source has failed in a row up to this one."""

    @property
    def content_hash(self) -> str:
        """Hash over the bodies, in page order."""
        return _content_hash(self.pages)


def _content_hash(pages: Sequence[StoredPage]) -> str:
    return hashlib.sha256("\n".join(f"{page.name} {page.sha256}" for page in pages).encode()).hexdigest()


class Archive:
    """The archive under one folder. Raises ArchiveError on anything the disk refuses."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(
        self,
        source: str,
        pages: Sequence[Page],
        *,
        observed_at: datetime,
        source_kind: SourceKind,
        outcome: Outcome = "collected",
        reason: str = "",
        scope: str = "whole",
        streak: Streak = NO_STREAK,
    ) -> Manifest:
        """Store one collection; storing it again changes nothing. ``observed_at`` is cut to whole seconds, in UTC."""
        if observed_at.tzinfo is None:
            raise ValueError("observed_at needs a time zone")
        observed_at = observed_at.astimezone(UTC).replace(microsecond=0)
        try:
            with self._locked(fcntl.LOCK_SH):
                stored = tuple(self._write_body(page) for page in pages)
                identity = _content_hash(stored) if outcome == "collected" else f"{outcome}: {reason}"
                manifest = Manifest(
                    snapshot_id(source, observed_at, identity),
                    source,
                    source_kind,
                    observed_at,
                    outcome,
                    reason,
                    stored,
                    scope,
                    streak,
                )
                path = self._manifest_path(manifest)
                if not path.exists():
                    _write_whole(path, json.dumps(_to_json(manifest), indent=1).encode())
        except OSError as error:
            raise ArchiveError(f"cannot write the archive at {self.root}: {error.strerror or error}") from error
        return manifest

    def remove(self, snapshot_ids: Collection[str]) -> int:
        """Take collections out, and then every body that no collection has any more; returns the bytes of those bodies.

        A kill in between leaves bodies that the next call takes out.
        """
        try:
            with self._locked(fcntl.LOCK_EX):
                stored = self.stored_ids()
                for one in snapshot_ids:
                    stored[one].unlink()
                kept = {page.sha256 for manifest in self.manifests() for page in manifest.pages}
                spare = [path for path in self._bodies() if path.stem not in kept]
                freed = sum(path.stat().st_size for path in spare)
                for path in spare:
                    path.unlink()
        except OSError as error:
            raise ArchiveError(f"cannot take out of the archive at {self.root}: {error.strerror or error}") from error
        return freed

    def copy_to(self, other: "Archive") -> int:
        """Copy what the other archive has not; returns how many collections. Bodies go first, so that none there lacks one."""
        there = other.stored_ids()
        new = [path for stored, path in self.stored_ids().items() if stored not in there]
        try:
            with self._locked(fcntl.LOCK_SH):
                for path in new:
                    for page in self.manifest(path).pages:
                        body = self._body_path(page.sha256)
                        target = other.root / body.relative_to(self.root)
                        if not target.exists():
                            _write_whole(target, body.read_bytes())
                    _write_whole(other.root / path.relative_to(self.root), path.read_bytes())
        except OSError as error:
            raise ArchiveError(f"cannot copy {self.root} to {other.root}: {error.strerror or error}") from error
        return len(new)

    def _bodies(self) -> Iterator[Path]:
        return (self.root / "objects").glob("*/*.gz")

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Many write at once; nothing is taken out while one does, since a body may be there already that it counts on."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("a") as file:
            fcntl.flock(file, how)
            yield

    def manifests(self, source: str | None = None) -> Iterator[Manifest]:
        """All collections, oldest first within a source. A damaged manifest raises ArchiveError."""
        root = self.root / "snapshots"
        folders = [root / source] if source else sorted(root.iterdir()) if root.is_dir() else []
        for folder in folders:
            for name in _manifest_names(folder):
                yield _from_json(folder / name)

    def stored_ids(self, known: Collection[str] = ()) -> dict[str, Path]:
        """Snapshot id to manifest file of all but those ``known``, from the file names alone: finding what is new opens nothing old."""
        root = self.root / "snapshots"
        return {
            stored: folder / name
            for folder in (sorted(root.iterdir()) if root.is_dir() else [])
            for name in _manifest_names(folder)
            if (stored := name.removesuffix(".json").rpartition("-")[2]) not in known
        }

    def newest_at(self, source: str) -> datetime | None:
        """When a source was last collected, whatever came of it, from the file names alone; fixtures count as well."""
        names = _manifest_names(self.root / "snapshots" / source)
        return datetime.strptime(names[-1].rpartition("-")[0], STAMP).replace(tzinfo=UTC) if names else None

    def manifest(self, path: Path) -> Manifest:
        """The manifest kept in one file."""
        return _from_json(path)

    def latest_live(self, source: str, *, collected: bool = False) -> Manifest | None:
        """The newest live collection of a source, or the newest that brought pages; None where there is none that reads.

        What it is needed for (how often to ask, and what has changed) can do without, and must not hold up a collection.
        """
        folder = self.root / "snapshots" / source
        for name in _manifest_names(folder)[: -LOOKED_BACK - 1 : -1]:
            with contextlib.suppress(ArchiveError):
                found = _from_json(folder / name)
                if found.source_kind == "live" and (not collected or found.outcome == "collected"):
                    return found
        return None

    def known_pages(self, source: str) -> dict[str, KnownPage]:
        """The answers of the last live collection by URL, for those that have validators; not for a URL that had two."""
        last = self.latest_live(source, collected=True)
        pages = last.pages if last else ()
        urls = [page.url for page in pages]
        return {
            page.url: KnownPage(_validators(page), functools.partial(self._read_body, page))
            for page in pages
            if urls.count(page.url) == 1 and _validators(page)
        }

    def pages(self, manifest: Manifest) -> list[Page]:
        """The bodies of a collection, checked against their hashes."""
        return [Page(page.url, self._read_body(page), page.name) for page in manifest.pages]

    def _write_body(self, page: Page) -> StoredPage:
        digest = hashlib.sha256(page.body).hexdigest()
        path = self._body_path(digest)
        if not path.exists():
            _write_whole(path, gzip.compress(page.body, compresslevel=6, mtime=0))
        stored = StoredPage(page.url, page.name, digest, len(page.body))
        told = page.validators
        if not told or told.received_at is None:
            return stored
        return replace(
            stored, etag=told.etag, last_modified=told.last_modified, received_at=told.received_at.isoformat()
        )

    def _read_body(self, page: StoredPage) -> bytes:
        path = self._body_path(page.sha256)
        try:
            with gzip.open(path) as file:
                body = file.read(MAX_PAGE_BYTES + 1)
        except (OSError, EOFError) as error:
            raise ArchiveError(f"cannot read {path}: {error}; restore it from a back-up") from error
        if hashlib.sha256(body).hexdigest() != page.sha256:
            raise ArchiveError(f"{path} does not hold what its name says; restore it from a back-up")
        return body

    def _body_path(self, digest: str) -> Path:
        return self.root / "objects" / digest[:2] / f"{digest}.gz"

    def _manifest_path(self, manifest: Manifest) -> Path:
        stamp = manifest.observed_at.strftime(STAMP)
        return self.root / "snapshots" / manifest.source / f"{stamp}-{manifest.snapshot_id}.json"


def _manifest_names(folder: Path) -> list[str]:
    """Names of the manifests in a source's folder, oldest first; names alone, since a Path of each file costs more every day."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".json"))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def _write_whole(path: Path, content: bytes) -> None:
    """All of the file or nothing of it, also across a kill."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _to_json(manifest: Manifest) -> dict[str, object]:
    fields: dict[str, object] = {**vars(manifest), "observed_at": manifest.observed_at.isoformat()}
    # Most have neither validators nor failures before them.
    pages = [{name: value for name, value in vars(page).items() if value or name in _ALWAYS} for page in manifest.pages]
    del fields["streak"]
    if (streak := manifest.streak).failures:
        fields["failures_in_a_row"] = streak.failures
        fields["tried_at"] = streak.tried_at and streak.tried_at.isoformat()
    return {**fields, "pages": pages}


def _validators(page: StoredPage) -> Validators:
    try:
        return Validators(page.etag, page.last_modified, datetime.fromisoformat(page.received_at))
    except ValueError:
        return NO_VALIDATORS


def _from_json(path: Path) -> Manifest:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        pages = tuple(StoredPage(**page) for page in fields.pop("pages"))
        observed_at = datetime.fromisoformat(fields.pop("observed_at"))
        tried_at = fields.pop("tried_at", None)
        streak = Streak(fields.pop("failures_in_a_row", 0), datetime.fromisoformat(tried_at) if tried_at else None)
        return Manifest(**fields, observed_at=observed_at, pages=pages, streak=streak)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"cannot read the manifest {path}: {error}") from error
