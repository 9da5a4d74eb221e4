"""What of the raw archive may go: old live collections whose reading is in the warehouse, which holds them alone from then on."""

from dataclasses import dataclass
from datetime import datetime

from scrapers.archive import Archive
from warehouse.database import Connection


@dataclass(frozen=True)
class Pruned:
    """What was taken out of the archive, or would be."""

    collections: int
    """Taken out."""
    kept_undecided: int
    """Old ones that are withheld and wait for a decision."""
    kept_unread: int
    """Old ones that the warehouse has not loaded."""
    freed_bytes: int
    """Of the disk; 0 when nothing was to be changed."""


def prune(connection: Connection, archive: Archive, before: datetime, *, dry_run: bool) -> Pruned:
    """Take live collections seen before a time out of the archive, but for each source's newest, and newest good one.

    What was backfilled (archived pages, datasets), curated rows and fixtures stay: they are few. Callers hold the writer's lock. Raises
    ArchiveError.
    """
    stored = archive.stored_ids()
    rows = connection.execute(
        """
        WITH verdicts AS (
            SELECT snapshot_id, verdict, decided_by
            FROM raw.verdicts
            QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY decided_by <> 'rule' DESC, load_number DESC) = 1
        ),
        live AS (
            SELECT DISTINCT snapshot_id, source, observed_at, verdict, decided_by
            FROM raw.snapshots
            LEFT JOIN verdicts USING (snapshot_id)
            WHERE source_kind = 'live'
        )
        SELECT snapshot_id, verdict = 'withheld' AND decided_by = 'rule' AS is_undecided
        FROM live
        QUALIFY observed_at < $before
            AND observed_at < max(observed_at) OVER (PARTITION BY source)
            AND observed_at IS DISTINCT FROM max(observed_at) FILTER (verdict = 'accepted') OVER (PARTITION BY source)
        """,
        {"before": before},
    ).fetchall()
    gone = [snapshot for snapshot, is_undecided in rows if snapshot in stored and not is_undecided]
    undecided = sum(bool(is_undecided) and snapshot in stored for snapshot, is_undecided in rows)
    loaded = {row[0] for row in connection.execute("SELECT DISTINCT snapshot_id FROM raw.snapshots").fetchall()}
    unread = sum(
        archive.manifest(path).observed_at < before for snapshot, path in stored.items() if snapshot not in loaded
    )
    return Pruned(len(gone), undecided, unread, 0 if dry_run else archive.remove(gone))
