-- Which offers of snapshots that are not whole hold on each day to build and the one before: each until it is seen again or a whole snapshot comes.
-- grain: day, snapshot_id, ordinal
-- partition: transient
-- inputs: days_asked, staging.snapshots, whole_days, intermediate.asked_offers, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   snapshot_id: Snapshot that shows the offer.
--   ordinal: Place in that snapshot.
--   observed_day: UTC date of the snapshot.
--   observed_at: When it was seen, UTC.
--   is_unchanged_next: The next sighting has the same price, and no whole snapshot lies between.
WITH good AS (
    SELECT source, series, snapshot_id, parser_version, observed_at, observed_day, is_whole
    FROM staging.snapshots
    WHERE is_good
),

part_sightings AS (
    SELECT p.snapshot_id, p.ordinal, g.observed_at, p.day AS observed_day, g.source, g.series, p.offer_key, p.price
    FROM intermediate.asked_offers AS p
    JOIN good AS g ON g.observed_day = p.day AND g.snapshot_id = p.snapshot_id AND g.parser_version = p.parser_version AND NOT g.is_whole
    WHERE p.duplicate_of IS NULL
    QUALIFY row_number() OVER (PARTITION BY p.offer_key, p.day ORDER BY g.observed_at DESC, p.snapshot_id DESC, p.price, p.ordinal) = 1
),

parts AS (
    SELECT
        s.*,
        lead(s.observed_day) OVER keyed AS next_day,
        lead(s.price) OVER keyed AS next_price,
        w.observed_day AS next_whole_day
    FROM part_sightings AS s
    ASOF LEFT JOIN whole_days AS w ON s.source = w.source AND s.series = w.series AND s.observed_at < w.observed_at
    WINDOW keyed AS (PARTITION BY s.offer_key ORDER BY s.observed_day)
)

SELECT
    d.day, p.snapshot_id, p.ordinal, p.observed_day, p.observed_at,
    p.next_price = p.price AND (p.next_whole_day IS NULL OR p.next_day <= p.next_whole_day) AS is_unchanged_next
FROM days_asked AS d
JOIN parts AS p
    ON d.day >= p.observed_day
    AND d.day < least(coalesce(p.next_day, DATE '9999-12-31'), coalesce(p.next_whole_day, DATE '9999-12-31'))
WHERE d.day <= p.observed_day + (SELECT most_carry_days FROM intermediate.index_parameters) OR p.next_day IS NOT NULL
