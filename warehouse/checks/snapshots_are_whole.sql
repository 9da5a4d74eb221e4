-- A collection has as many offers as it was read to have.
-- severity: error
SELECT s.snapshot_id, s.offers AS said, count(o.ordinal) AS stored
FROM raw.snapshots AS s
SEMI JOIN days_to_build ON observed_day = day
LEFT JOIN raw.offers AS o USING (snapshot_id, parser_version, observed_day)
GROUP BY s.snapshot_id, s.parser_version, s.offers
HAVING count(o.ordinal) <> s.offers
