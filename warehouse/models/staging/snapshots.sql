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
WITH latest AS (
    SELECT *, min(load_number) OVER (PARTITION BY snapshot_id) AS first_load_number
    FROM raw.snapshots
    QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY load_number DESC) = 1
),

-- A person's verdict stands over the rule's.
verdicts AS (
    SELECT snapshot_id, verdict, reason AS verdict_reason
    FROM raw.verdicts
    QUALIFY row_number() OVER (PARTITION BY snapshot_id ORDER BY decided_by <> 'rule' DESC, load_number DESC) = 1
),

judged AS (
    SELECT *, status IN ('ok', 'partial') AND coalesce(verdict = 'accepted', FALSE) AS is_accepted
    FROM latest
    LEFT JOIN verdicts USING (snapshot_id)
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
        WHEN source_kind = 'fixture' THEN NOT bool_or(is_accepted AND source_kind = 'live') OVER (PARTITION BY source)
        -- A dataset or curated list that tells a moment otherwise than it did is corrected: its last word counts.
        WHEN source_kind IN ('dataset', 'curated') THEN snapshot_id = arg_max(snapshot_id, (first_load_number, snapshot_id)) FILTER (is_accepted) OVER (
            PARTITION BY source, source_kind, scope, observed_at, CASE WHEN source_kind = 'dataset' THEN urls END
        )
        ELSE TRUE
    END AS is_good
FROM judged
