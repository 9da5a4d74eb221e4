-- No source has half or more of its prices leap from one collection to the next.
-- severity: warn
SELECT source, observed_at, observed_before_at, prices_leapt, prices_compared, median_change_percent
FROM source_drift
WHERE prices_compared >= 5 AND 2 * prices_leapt >= prices_compared
ORDER BY source
