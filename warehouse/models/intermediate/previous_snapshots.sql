-- The whole snapshot before, for each source seen on a day to build. A table of its own, so that its few rows lead the join with all offers.
-- grain: day, source
-- partition: transient
-- inputs: whole_days
-- columns:
--   day: UTC date on which the source was seen.
--   source: Source module.
--   observed_day: UTC date of the snapshot before.
--   snapshot_id: That snapshot.
SELECT d.day, w.source, w.observed_day, w.snapshot_id
FROM days_to_build AS d
JOIN whole_days AS w ON w.next_day = d.day
