-- Whoever is kept out is told why; what counts says so before anything else.
-- severity: error
SELECT snapshot_id, ordinal, provider, sku, why_not
FROM offers
SEMI JOIN days_to_build USING (day)
WHERE NOT index_eligible AND why_not IS NULL
    OR index_eligible AND NOT starts_with(why_not, 'counts; ')
