-- Whoever is kept out is told why; what counts says so before anything else.
-- severity: error
SELECT snapshot_id, ordinal, provider, sku, why_not
FROM offers
SEMI JOIN days_to_build USING (day)
WHERE
    -- Told as a constant, the bound reaches down to the scan.
    day >= coalesce(getvariable('first_day_to_build'), DATE '0001-01-01')
    AND (NOT index_eligible AND why_not IS NULL OR index_eligible AND NOT starts_with(why_not, 'counts; '))
