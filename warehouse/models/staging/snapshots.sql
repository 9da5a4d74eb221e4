-- Every collection with its verdict; is_good says whether its offers count.
-- grain: snapshot_id
-- partition: view
-- inputs: raw.snapshots, raw.verdicts
-- columns:
--   snapshot_id: Hash of source, observed_at and content.
--   parser_version: Version of the parser whose reading holds, the one loaded last.
--   source: Source module.
--   provider: The source's provider.
--   source_kind: live, fixture, archived_page, dataset or curated.
--   scope: whole, or what of the source was seen.
--   series: What it may speak of as a whole: of a dataset its scope, such as one cloud; else the source.
--   observed_at: When the prices were seen, UTC.
--   observed_day: UTC date of observed_at.
--   loaded_at: When the warehouse learnt of it, UTC.
--   status: ok, partial, empty, failed or skipped.
--   reason: Why it is not ok.
--   offers: Offers read.
--   rejected: Records that did not read.
--   urls: Pages it was read from.
--   content_hash: SHA-256 over the pages.
--   is_whole: It lists everything on offer, so that an absence means something.
--   is_unproven: The source has not been seen to answer as its parser expects.
--   verdict: accepted or withheld; null where there was nothing to judge.
--   verdict_reason: Why it is withheld.
--   is_good: Its offers count: accepted, no fixture of a source that has a good live snapshot, and not taken in again from its dataset since.
WITH loads AS (
    SELECT snapshot_id, min(load_number) AS first_load_number, max(load_number) AS load_number
    FROM raw.snapshots
    GROUP BY snapshot_id
),

-- A person's verdict stands over the rule's.
verdicts AS (
    SELECT snapshot_id, arg_max({'verdict': verdict, 'reason': reason}, (decided_by <> 'rule', load_number)) AS said
    FROM raw.verdicts
    GROUP BY snapshot_id
),

judged AS MATERIALIZED (
    SELECT
        r.*, l.first_load_number, v.said.verdict AS verdict, v.said.reason AS verdict_reason,
        r.status IN ('ok', 'partial') AND coalesce(v.said.verdict = 'accepted', FALSE) AS is_accepted
    FROM raw.snapshots AS r
    JOIN loads AS l USING (snapshot_id, load_number)
    LEFT JOIN verdicts AS v USING (snapshot_id)
),

live AS (
    SELECT DISTINCT source
    FROM judged
    WHERE is_accepted AND source_kind = 'live'
),

-- A dataset or curated list that tells a moment otherwise than it did is corrected: its last word counts.
last_words AS (
    SELECT arg_max(snapshot_id, (first_load_number, snapshot_id)) AS snapshot_id
    FROM judged
    WHERE is_accepted AND source_kind IN ('dataset', 'curated')
    GROUP BY source, source_kind, scope, observed_at, CASE WHEN source_kind = 'dataset' THEN urls END
)

SELECT
    snapshot_id,
    parser_version,
    source,
    provider,
    source_kind,
    scope,
    CASE WHEN source_kind = 'dataset' THEN scope ELSE 'whole' END AS series,
    observed_at,
    observed_day,
    loaded_at,
    status,
    reason,
    offers,
    rejected,
    urls,
    content_hash,
    is_whole,
    is_unproven,
    verdict,
    verdict_reason,
    is_accepted AND CASE
        WHEN source_kind = 'fixture' THEN source NOT IN (FROM live)
        WHEN source_kind IN ('dataset', 'curated') THEN snapshot_id IN (FROM last_words)
        ELSE TRUE
    END AS is_good
FROM judged
