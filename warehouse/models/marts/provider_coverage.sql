-- How each source fared on each day it was collected, and what it last gave.
-- grain: day, source
-- partition: none
-- inputs: staging.snapshots, raw.rejected
-- columns:
--   day: UTC date.
--   source: Source module.
--   provider: Its provider.
--   source_kind: live, fixture, archived_page, dataset or curated.
--   snapshots: Collections of the day.
--   offers: Offers in the last good one.
--   status: Of the day's last collection: ok, partial, empty, failed, skipped or withheld.
--   reason: Why it is not ok, or what is odd about it though it is.
--   rejected: Records of the day's last collection that do not read.
--   unpriced: Records of it without a price: zero, null or a word in its place.
--   snapshot_id: Id of the day's last collection, for gpuledger accept and reject.
--   last_good_at: When the newest good snapshot up to this day was seen, UTC.
WITH records AS (
    SELECT snapshot_id, parser_version, count(*) FILTER (WHERE starts_with(reason, 'no price: ')) AS unpriced
    FROM raw.rejected
    GROUP BY ALL
),

days AS (
    SELECT
        observed_day AS day,
        source,
        arg_max(provider, (observed_at, snapshot_id)) AS provider,
        arg_max(source_kind, (observed_at, snapshot_id)) AS source_kind,
        count(*) AS snapshots,
        arg_max(offers, (observed_at, snapshot_id)) FILTER (WHERE is_good) AS offers,
        arg_max(CASE WHEN verdict = 'withheld' AND status <> 'empty' THEN 'withheld' ELSE status END, (observed_at, snapshot_id)) AS status,
        arg_max(concat_ws('; ', nullif(reason, ''), nullif(verdict_reason, '')), (observed_at, snapshot_id)) AS reason,
        arg_max(rejected, (observed_at, snapshot_id)) AS rejected,
        arg_max(coalesce(unpriced, 0), (observed_at, snapshot_id)) AS unpriced,
        arg_max(snapshot_id, (observed_at, snapshot_id)) AS last_snapshot_id,
        max(observed_at) FILTER (WHERE is_good) AS good_at
    FROM staging.snapshots
    LEFT JOIN records USING (snapshot_id, parser_version)
    GROUP BY observed_day, source
)

SELECT
    day,
    source,
    provider,
    source_kind,
    snapshots,
    offers,
    status,
    nullif(reason, '') AS reason,
    rejected,
    unpriced,
    last_snapshot_id AS snapshot_id,
    max(good_at) OVER (PARTITION BY source ORDER BY day) AS last_good_at
FROM days
ORDER BY day, source
