-- Every record of the days built reads.
-- severity: info
SELECT source, observed_at, rejected, reason
FROM staging.snapshots
SEMI JOIN days_to_build ON observed_day = day
WHERE rejected > 0 AND status = 'partial'
ORDER BY observed_at, source
