-- Which whole snapshot of a source and series holds on each day to build and the one before. A table of its own, so that its few rows lead
-- the join with all offers.
-- grain: day, source, series
-- partition: transient
-- inputs: days_asked, whole_days, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   source: Source module.
--   series: What of the source it speaks of.
--   observed_day: UTC date of the snapshot.
--   snapshot_id: The snapshot.
--   next_day: Day of the series' next one; null for the newest.
--   next_snapshot_id: The series' next one.
SELECT d.day, w.source, w.series, w.observed_day, w.snapshot_id, w.next_day, w.next_snapshot_id
FROM days_asked AS d
JOIN whole_days AS w ON d.day >= w.observed_day AND (d.day < w.next_day OR w.next_day IS NULL)
WHERE d.day <= w.observed_day + (SELECT most_carry_days FROM intermediate.index_parameters) OR w.next_day IS NOT NULL
