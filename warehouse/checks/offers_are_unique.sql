-- Every offer of a collection stands once, in what is stored and in what is shown.
-- severity: error
SELECT 'raw.offers' AS relation, snapshot_id, ordinal, count(*) AS rows
FROM raw.offers
SEMI JOIN days_to_build ON observed_day = day
GROUP BY snapshot_id, parser_version, ordinal
HAVING count(*) > 1
UNION ALL
SELECT 'offers', snapshot_id, ordinal, count(*)
FROM offers
SEMI JOIN days_to_build USING (day)
-- Told as a constant, the bound reaches down to the scan.
WHERE day >= coalesce(getvariable('first_day_to_build'), DATE '0001-01-01')
GROUP BY snapshot_id, ordinal
HAVING count(*) > 1
