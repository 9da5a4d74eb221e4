-- No source's newest collection waits for a person's decision.
-- severity: warn
WITH decided AS (
    SELECT DISTINCT snapshot_id FROM raw.verdicts WHERE decided_by <> 'rule'
)

SELECT source, observed_at, snapshot_id, verdict_reason
FROM (
    SELECT *
    FROM staging.snapshots
    WHERE source_kind = 'live' AND verdict IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY source ORDER BY observed_at DESC, snapshot_id DESC) = 1
)
ANTI JOIN decided USING (snapshot_id)
WHERE verdict = 'withheld'
ORDER BY source
