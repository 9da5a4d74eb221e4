-- Every offer on every day to build on which its price stands: seen that day, or carried from its source's last good snapshot. Also on the
-- day before the first of them, for what holds a day against the one before; who wants only the days to build joins them.
-- grain: day, offer_key
-- partition: transient
-- inputs: snapshots_in_force, parts_in_force, staging.snapshots, intermediate.asked_offers, intermediate.priced_offers, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   seen_day: UTC date on which the price was seen.
--   snapshot_id: Collection it was seen in.
--   ordinal: Place in that collection.
--   age_days: Days since the price was seen.
--   is_bracketed: Carried past its limit, since the next sighting has the same price.
WITH long_gaps AS (
    SELECT DISTINCT next_day AS day, next_snapshot_id AS snapshot_id
    FROM snapshots_in_force
    WHERE next_day > observed_day + (SELECT carry_days_live FROM intermediate.index_parameters)
),

standing AS (
    SELECT w.day AS standing_day, coalesce(n.price = p.price, FALSE) AS is_unchanged_next, p.*
    FROM snapshots_in_force AS w
    JOIN intermediate.priced_offers AS p ON p.snapshot_id = w.snapshot_id AND p.day = w.observed_day
    -- Only a gap longer than any carry limit of a list needs the next sighting.
    LEFT JOIN (
        SELECT o.snapshot_id, o.offer_key, any_value(o.price) AS price
        FROM intermediate.asked_offers AS o
        JOIN long_gaps USING (day, snapshot_id)
        JOIN staging.snapshots AS s USING (snapshot_id, parser_version)
        WHERE o.segment = 'hyperscaler' AND o.duplicate_of IS NULL
        GROUP BY ALL
    ) AS n ON n.snapshot_id = w.next_snapshot_id AND n.offer_key = p.offer_key
    UNION ALL BY NAME
    SELECT f.day AS standing_day, f.is_unchanged_next, p.*
    FROM parts_in_force AS f
    JOIN intermediate.priced_offers AS p ON p.snapshot_id = f.snapshot_id AND p.ordinal = f.ordinal AND p.day = f.observed_day
),

aged AS (
    SELECT
        s.*,
        date_diff('day', s.day, s.standing_day) AS age_days,
        CASE
            WHEN s.segment = 'marketplace' THEN l.carry_days_marketplace
            WHEN s.pricing_model = 'spot' THEN l.carry_days_spot
            WHEN s.source_kind = 'live' THEN l.carry_days_live
            WHEN s.source_kind = 'dataset' THEN l.carry_days_dataset
            WHEN s.segment = 'hyperscaler' THEN l.carry_days_hyperscaler
            ELSE l.carry_days_other
        END AS carry_days
    FROM standing AS s
    CROSS JOIN intermediate.index_parameters AS l
)

-- Every row of a day is written and read again, so only what counting needs is in it; the rest stands where the price was seen.
SELECT
    standing_day AS day, day AS seen_day, snapshot_id, ordinal, offer_key, source, source_kind, provider, segment, sku, accelerator,
    accelerator_count, pricing_model, commitment_days, tier, region, zone, country, is_home_region, price_scope, usd_per_accelerator_hour,
    available, quantity, own_why_not, age_days, age_days > carry_days AS is_bracketed
FROM aged
WHERE age_days <= carry_days OR (segment = 'hyperscaler' AND pricing_model <> 'spot' AND is_unchanged_next)
QUALIFY row_number() OVER (PARTITION BY standing_day, offer_key ORDER BY observed_at DESC, snapshot_id DESC, duplicate_of IS NOT NULL, ordinal) = 1
