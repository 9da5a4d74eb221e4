-- When each offer that still stands was last seen.
-- grain: offer_key, series
-- partition: none
-- inputs: intermediate.good_collections, intermediate.asked_offers
-- columns:
--   offer_key: What history follows.
--   series: List of the source that the offer stands in.
--   last_seen_at: When it was last seen, UTC.
--   source_kind: Kind of that collection.
WITH newest AS (
    SELECT source, series, max(whole_upto) AS places
    FROM intermediate.good_collections
    GROUP BY source, series
)

SELECT o.offer_key, c.series, max(c.observed_at) AS last_seen_at, arg_max(c.source_kind, c.observed_at) AS source_kind
FROM newest AS n
JOIN intermediate.good_collections AS c ON c.source = n.source AND c.series = n.series AND c.whole_upto >= n.places - 1
JOIN intermediate.asked_offers AS o ON o.day = c.observed_day AND o.snapshot_id = c.snapshot_id AND o.parser_version = c.parser_version
GROUP BY o.offer_key, c.series
ORDER BY o.offer_key, c.series
