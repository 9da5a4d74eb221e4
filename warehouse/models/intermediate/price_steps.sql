-- Where the price of an offer begins, moves and ends, in its printed currency: what histories and changes are made of.
-- A gap in collection ends nothing; two whole collections in a row without the offer do, as of the first of them, known with the second.
-- grain: day, offer_key, series, changed_at
-- partition: day
-- inputs: intermediate.good_collections, intermediate.asked_offers
-- columns:
--   day: UTC date of the collection that showed it.
--   changed_at: When it was first seen so, UTC.
--   step: first (there from the first whole collection on, or of a list that is never whole), new, up, down or gone.
--   offer_key: What history follows.
--   series: List of the source that the offer stands in.
--   source: Source module.
--   source_kind: Kind of the collection that the new price was seen in; of the last one for what is gone.
--   source_kind_before: Kind of the last collection with the price before; null where there was none.
--   seen_before_at: When the price before was last seen, UTC.
--   price_before: Price before, as printed.
--   price_after: Price from then on; null for what is gone.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   sku: The provider's own name for the thing.
--   accelerator_name: As printed.
--   accelerator: Key of the accelerator.
--   accelerator_count: Accelerators in the offer.
--   pricing_model: on_demand, spot, reserved, flex or floor.
--   commitment_days: Days bound; 0 for none.
--   tier: The provider's own class.
--   region: As printed.
--   zone: As printed.
--   country: ISO 3166 alpha-2, where known.
--   currency: ISO 4217.
--   per: Unit of time of the price.
--   price_scope: What the price covers.
WITH wholes AS (
    SELECT source, series, whole_upto AS place, observed_at, observed_day
    FROM intermediate.good_collections
    WHERE is_whole
),

-- Lists that something was collected of in these days; before that it takes two whole collections to know what stands.
collected AS (
    SELECT c.source, c.series, min(c.whole_before) - 1 AS first_place, max(d.day) AS last_day
    FROM intermediate.good_collections AS c
    JOIN days_to_build AS d ON d.day = c.observed_day
    GROUP BY c.source, c.series
),

sightings AS (
    SELECT
        o.offer_key, c.series, c.source, c.source_kind, c.observed_at, c.observed_day, c.whole_before, c.whole_upto, o.snapshot_id,
        o.parser_version, o.ordinal, o.price
    FROM collected AS l
    JOIN intermediate.good_collections AS c
        ON c.source = l.source AND c.series = l.series AND c.whole_upto >= l.first_place AND c.observed_day <= l.last_day
    JOIN intermediate.asked_offers AS o
        ON o.day = c.observed_day AND o.snapshot_id = c.snapshot_id AND o.parser_version = c.parser_version AND o.duplicate_of IS NULL
),

followed AS (
    SELECT
        *,
        lag(price) OVER offer AS last_price,
        lag(observed_at) OVER offer AS last_seen_at,
        lag(source_kind) OVER offer AS last_source_kind,
        lag(whole_upto) OVER offer AS last_whole,
        lead(whole_before) OVER offer AS next_whole
    FROM sightings
    WINDOW offer AS (PARTITION BY offer_key, series ORDER BY observed_at)
),

judged AS (
    SELECT *, last_price IS NOT NULL AND whole_before - last_whole < 2 AS goes_on
    FROM followed
),

steps AS (
    SELECT
        j.observed_day AS day,
        j.observed_at AS changed_at,
        CASE
            WHEN j.goes_on THEN CASE WHEN j.price > j.last_price THEN 'up' ELSE 'down' END
            WHEN j.whole_before > 0 THEN 'new'
            ELSE 'first'
        END AS step,
        j.offer_key, j.series, j.source, j.source_kind, j.observed_day, j.snapshot_id, j.parser_version, j.ordinal,
        CASE WHEN j.goes_on THEN j.last_source_kind END AS source_kind_before,
        CASE WHEN j.goes_on THEN j.last_seen_at END AS seen_before_at,
        CASE WHEN j.goes_on THEN j.last_price END AS price_before,
        j.price AS price_after
    FROM judged AS j
    JOIN days_to_build AS d ON d.day = j.observed_day
    WHERE NOT j.goes_on OR j.price <> j.last_price
    UNION ALL BY NAME
    SELECT
        known.observed_day AS day,
        without.observed_at AS changed_at,
        'gone' AS step,
        j.offer_key, j.series, j.source, j.source_kind, j.observed_day, j.snapshot_id, j.parser_version, j.ordinal,
        j.source_kind AS source_kind_before,
        j.observed_at AS seen_before_at,
        j.price AS price_before,
        NULL AS price_after
    FROM judged AS j
    JOIN wholes AS without ON without.source = j.source AND without.series = j.series AND without.place = j.whole_upto + 1
    JOIN wholes AS known ON known.source = j.source AND known.series = j.series AND known.place = j.whole_upto + 2
    JOIN days_to_build AS d ON d.day = known.observed_day
    WHERE j.next_whole IS NULL OR j.next_whole - j.whole_upto >= 2
)

SELECT
    s.day, s.changed_at, s.step, s.offer_key, s.series, s.source, s.source_kind, s.source_kind_before, s.seen_before_at, s.price_before,
    s.price_after, o.provider, o.segment, o.sku, o.accelerator_name, o.accelerator, o.accelerator_count, o.pricing_model, o.commitment_days,
    o.tier, o.region, o.zone, o.country, o.currency, o.per, o.price_scope
FROM steps AS s
JOIN intermediate.asked_offers AS o
    ON o.day = s.observed_day AND o.snapshot_id = s.snapshot_id AND o.parser_version = s.parser_version AND o.ordinal = s.ordinal
ORDER BY s.day, s.source, s.offer_key
