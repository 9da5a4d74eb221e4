-- The last good whole snapshot of each source, series and day: what they say on that day.
-- grain: source, series, observed_day
-- partition: transient
-- inputs: staging.snapshots
-- columns:
--   source: Source module.
--   series: What of the source it speaks of.
--   observed_day: UTC date of the snapshot.
--   snapshot_id: The snapshot.
--   observed_at: When it was seen, UTC.
--   next_day: Day of the series' next one; null for the newest.
--   next_snapshot_id: The series' next one.
SELECT
    source,
    series,
    observed_day,
    arg_max(snapshot_id, (observed_at, snapshot_id)) AS snapshot_id,
    max(observed_at) AS observed_at,
    lead(observed_day) OVER (PARTITION BY source, series ORDER BY observed_day) AS next_day,
    lead(arg_max(snapshot_id, (observed_at, snapshot_id))) OVER (PARTITION BY source, series ORDER BY observed_day) AS next_snapshot_id
FROM staging.snapshots
WHERE is_good AND is_whole
GROUP BY source, series, observed_day
