-- No source has most of its offers replaced by others from one collection to the next.
-- severity: warn
SELECT d.source, observed_at, observed_before_at, offers_new, offers_gone, offers_before
FROM source_drift AS d
JOIN reference.providers AS p USING (provider)
WHERE offers_before >= 10 AND 2 * offers_gone > offers_before AND 2 * offers_new > offers AND p.segment NOT IN ('marketplace', 'aggregator')
ORDER BY d.source
