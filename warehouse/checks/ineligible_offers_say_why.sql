-- Whoever is kept out is told why.
SELECT snapshot_id, ordinal, provider, sku, why_not
FROM offers
SEMI JOIN days_to_build USING (day)
WHERE index_eligible <> (why_not IS NULL)
