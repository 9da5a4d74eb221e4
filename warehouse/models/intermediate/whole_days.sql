-- The last good whole snapshot of each source and day: what the source says on that day.
-- grain: source, observed_day
-- partition: transient
-- inputs: staging.snapshots
-- columns:
--   source: Source module.
--   observed_day: UTC date of the snapshot.
--   snapshot_id: The snapshot.
--   observed_at: When it was seen, UTC.
--   next_day: Day of the source's next one; null for the newest.
--   next_snapshot_id: The source's next one.
SELECT
    source,
    observed_day,
    arg_max(snapshot_id, (observed_at, snapshot_id)) AS snapshot_id,
    max(observed_at) AS observed_at,
    lead(observed_day) OVER (PARTITION BY source ORDER BY observed_day) AS next_day,
    lead(arg_max(snapshot_id, (observed_at, snapshot_id))) OVER (PARTITION BY source ORDER BY observed_day) AS next_snapshot_id
FROM staging.snapshots
WHERE is_good AND is_whole
GROUP BY source, observed_day
