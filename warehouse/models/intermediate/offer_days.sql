-- Every offer on every day to build on which its price stands: seen that day, or carried from its source's last good snapshot.
-- grain: day, offer_key
-- partition: transient
-- inputs: staging.snapshots, intermediate.priced_offers
-- columns:
--   day: UTC date.
--   age_days: Days since the price was seen.
--   is_bracketed: Carried past its limit, since the next sighting has the same price.
WITH good AS (
    SELECT source, source_kind, snapshot_id, observed_at, observed_day, is_whole
    FROM staging.snapshots
    WHERE is_good
),

-- The last whole snapshot of a source and day is what the source says on that day.
whole_days AS (
    SELECT
        source,
        observed_day,
        arg_max(snapshot_id, (observed_at, snapshot_id)) AS snapshot_id,
        max(observed_at) AS observed_at,
        lead(observed_day) OVER (PARTITION BY source ORDER BY observed_day) AS next_day,
        lead(arg_max(snapshot_id, (observed_at, snapshot_id))) OVER (PARTITION BY source ORDER BY observed_day) AS next_snapshot_id
    FROM good
    WHERE is_whole
    GROUP BY source, observed_day
),

whole_in_force AS (
    SELECT d.day, w.*
    FROM days_to_build AS d
    JOIN whole_days AS w ON d.day >= w.observed_day AND (d.day < w.next_day OR w.next_day IS NULL)
    WHERE d.day <= w.observed_day + 400 OR w.next_day IS NOT NULL
),

-- Snapshots that are not whole speak only of the offers they show, each until it is seen again or a whole one comes.
part_sightings AS (
    SELECT p.snapshot_id, p.ordinal, p.observed_at, p.day AS observed_day, p.source, p.offer_key, p.price
    FROM intermediate.priced_offers AS p
    JOIN good AS g ON g.snapshot_id = p.snapshot_id AND NOT g.is_whole
    WHERE p.is_good AND NOT p.is_whole
    QUALIFY row_number() OVER (PARTITION BY p.offer_key, p.day ORDER BY p.observed_at DESC, p.snapshot_id DESC, p.price, p.ordinal) = 1
),

parts AS (
    SELECT
        s.*,
        lead(s.observed_day) OVER keyed AS next_day,
        lead(s.price) OVER keyed AS next_price,
        w.observed_day AS next_whole_day
    FROM part_sightings AS s
    ASOF LEFT JOIN whole_days AS w ON s.source = w.source AND s.observed_at < w.observed_at
    WINDOW keyed AS (PARTITION BY s.offer_key ORDER BY s.observed_day)
),

parts_in_force AS (
    SELECT
        d.day, p.snapshot_id, p.ordinal, p.observed_day, p.observed_at,
        p.next_price = p.price AND (p.next_whole_day IS NULL OR p.next_day <= p.next_whole_day) AS is_unchanged_next
    FROM days_to_build AS d
    JOIN parts AS p
        ON d.day >= p.observed_day
        AND d.day < least(coalesce(p.next_day, DATE '9999-12-31'), coalesce(p.next_whole_day, DATE '9999-12-31'))
    WHERE d.day <= p.observed_day + 400 OR p.next_day IS NOT NULL
),

standing AS (
    SELECT w.day AS standing_day, coalesce(n.price = p.price, FALSE) AS is_unchanged_next, p.*
    FROM whole_in_force AS w
    JOIN intermediate.priced_offers AS p ON p.snapshot_id = w.snapshot_id AND p.day = w.observed_day
    -- Only a gap longer than any carry limit of a list needs the next sighting.
    LEFT JOIN (
        SELECT snapshot_id, offer_key, min(price) AS price
        FROM intermediate.priced_offers
        WHERE segment = 'hyperscaler' AND snapshot_id IN (SELECT next_snapshot_id FROM whole_days WHERE next_day > observed_day + 14)
        GROUP BY ALL
    ) AS n ON n.snapshot_id = w.next_snapshot_id AND n.offer_key = p.offer_key
    UNION ALL BY NAME
    SELECT f.day AS standing_day, f.is_unchanged_next, p.*
    FROM parts_in_force AS f
    JOIN intermediate.priced_offers AS p ON p.snapshot_id = f.snapshot_id AND p.ordinal = f.ordinal AND p.day = f.observed_day
),

aged AS (
    SELECT
        *,
        date_diff('day', day, standing_day) AS age_days,
        CASE
            WHEN segment = 'marketplace' OR pricing_model = 'spot' THEN 3
            WHEN source_kind = 'live' THEN 14
            WHEN source_kind = 'dataset' THEN 35
            WHEN segment = 'hyperscaler' THEN 400
            ELSE 120
        END AS carry_days
    FROM standing
)

SELECT
    * EXCLUDE (day, standing_day, carry_days, is_unchanged_next),
    standing_day AS day,
    day AS seen_day,
    age_days > carry_days AS is_bracketed
FROM aged
WHERE age_days <= carry_days OR (segment = 'hyperscaler' AND pricing_model <> 'spot' AND is_unchanged_next)
QUALIFY row_number() OVER (PARTITION BY standing_day, offer_key ORDER BY observed_at DESC, snapshot_id DESC, price, ordinal) = 1
