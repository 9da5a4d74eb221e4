-- What the index follows from day to day: a SKU in a region of a list; on a marketplace, whose ads come and go, the median of five or
-- more ads of a tier and country. Source, unit and currency are part of a cell, so that no series is spliced onto another.
-- grain: day, accelerator, cell
-- partition: transient
-- inputs: offer_days, intermediate.preferred_sources, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   cell: What is followed.
--   price: US dollars per accelerator and hour.
--   is_seen: A price of the cell was seen on this day.
--   previous_day: The cell's last priced day before, among the days to build and their eve.
--   previous_price: Its price then.
--   next_day: Its next priced day.
WITH counted AS (
    SELECT
        o.day, o.provider, o.segment, o.accelerator, o.pricing_model, o.commitment_days, o.source, o.tier, o.country, o.offer_key,
        o.usd_per_accelerator_hour AS price, o.age_days = 0 AS is_seen
    FROM offer_days AS o
    JOIN intermediate.preferred_sources AS s USING (day, provider, accelerator, pricing_model, commitment_days)
    WHERE o.own_why_not IS NULL AND o.source = s.preferred_source
),

cells AS (
    SELECT
        day, accelerator, offer_key AS cell, provider, segment, pricing_model, commitment_days, CAST(price AS DOUBLE) AS price, is_seen
    FROM counted
    WHERE segment <> 'marketplace'
    UNION ALL
    SELECT
        day, accelerator,
        CAST(md5(concat_ws('/', provider, source, pricing_model, commitment_days, coalesce(tier, ''), coalesce(country, ''))) AS UUID) AS cell,
        provider, segment, pricing_model, commitment_days, CAST(median(price) AS DOUBLE) AS price, bool_or(is_seen) AS is_seen
    FROM counted
    WHERE segment = 'marketplace'
    GROUP BY day, accelerator, provider, segment, pricing_model, commitment_days, source, tier, country
    HAVING count(*) >= (SELECT marketplace_offers FROM intermediate.index_parameters)
)

SELECT
    *,
    lag(day) OVER followed AS previous_day,
    lag(price) OVER followed AS previous_price,
    lead(day) OVER followed AS next_day
FROM cells
WINDOW followed AS (PARTITION BY accelerator, cell ORDER BY day)
