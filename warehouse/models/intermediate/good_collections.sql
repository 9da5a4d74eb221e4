-- Collections that count, in their order, each with how many whole ones of its list came before it.
-- grain: source, series, observed_at
-- partition: view
-- inputs: staging.snapshots
-- columns:
--   snapshot_id: Collection.
--   parser_version: Version of the parser whose reading holds.
--   source: Source module.
--   series: List of the source that it belongs to.
--   source_kind: live, fixture, archived_page, dataset or curated.
--   observed_at: When it was seen, UTC.
--   observed_day: UTC date of observed_at.
--   is_whole: It lists everything on offer, so that an absence means something.
--   whole_before: Whole collections of the list before it.
--   whole_upto: The same with itself, where it is whole.
WITH good AS (
    SELECT snapshot_id, parser_version, source, series, source_kind, observed_at, observed_day, is_whole
    FROM staging.snapshots
    WHERE is_good
    -- Of two at one instant one counts, the whole one if only one is.
    QUALIFY row_number() OVER (PARTITION BY source, series, observed_at ORDER BY is_whole DESC, snapshot_id DESC) = 1
)

SELECT
    *,
    count(*) FILTER (WHERE is_whole) OVER (PARTITION BY source, series ORDER BY observed_at) - CAST(is_whole AS INTEGER) AS whole_before,
    count(*) FILTER (WHERE is_whole) OVER (PARTITION BY source, series ORDER BY observed_at) AS whole_upto
FROM good
