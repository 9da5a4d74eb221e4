-- One collection is one row for each parser version.
-- severity: error
SELECT snapshot_id, parser_version, count(*) AS rows
FROM raw.snapshots
GROUP BY ALL
HAVING count(*) > 1
