-- The periods over which the changes of training costs are taken apart: each calendar year, and all of them.
-- grain: period
-- partition: none
-- inputs: basis_prices_daily
-- columns:
--   period: The year, or all.
--   from_day: Last day of the year before, so that years follow on each other.
--   to_day: Last day of the year, or of all.
WITH ends AS (
    SELECT min(day) AS first_day, max(day) AS last_day
    FROM basis_prices_daily
)

SELECT 'all' AS period, first_day AS from_day, last_day AS to_day
FROM ends
WHERE first_day < last_day
UNION ALL
SELECT
    CAST(y.year AS VARCHAR) AS period,
    greatest(first_day, make_date(CAST(y.year - 1 AS BIGINT), 12, 31)) AS from_day,
    least(last_day, make_date(CAST(y.year AS BIGINT), 12, 31)) AS to_day
FROM ends
CROSS JOIN generate_series(year(first_day), year(last_day)) AS y(year)
ORDER BY from_day, period
