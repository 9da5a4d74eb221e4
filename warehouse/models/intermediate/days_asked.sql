-- The days to build and the day before them, for what holds a day against the one before.
-- grain: day
-- partition: transient
-- inputs:
-- columns:
--   day: UTC date.
SELECT day
FROM days_to_build
UNION ALL
SELECT min(day) - 1 AS day
FROM days_to_build
HAVING count(*) > 0
