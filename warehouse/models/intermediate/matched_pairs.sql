-- How each provider's prices of a part moved on each day, like held against like: cells that are priced on this day and were before.
-- A cell is a SKU in a region; on a marketplace, whose ads come and go, the median of five or more ads of a tier and country.
-- What the price index and the parts of a cost's change are made of.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: day
-- inputs: offer_days, intermediate.preferred_sources, intermediate.priced_offers
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cells: Cells priced on this day, seen or carried.
--   cells_matched: Of these, priced before too; one that comes back is held against its last price for 180 days, 400 where a hyperscaler's archived or curated price stands that long.
--   cells_changed: Of these, at another price than last.
--   mean_log_relative: Mean over the matched cells of ln(price / last price); null where none is matched.
WITH standing AS (
    SELECT
        o.day, o.provider, o.segment, o.accelerator, o.pricing_model, o.commitment_days, o.age_days, o.usd_per_accelerator_hour,
        CASE
            WHEN o.segment = 'marketplace' THEN concat_ws('/', coalesce(o.tier, ''), coalesce(o.country, ''))
            ELSE concat_ws('/', o.sku, o.accelerator_count, o.region, coalesce(o.zone, ''), coalesce(o.tier, ''))
        END AS cell
    FROM offer_days AS o
    JOIN intermediate.preferred_sources AS s USING (day, provider, accelerator, pricing_model, commitment_days)
    WHERE o.own_why_not IS NULL AND o.source = s.preferred_source
),

cells AS (
    SELECT
        day, provider, any_value(segment) AS segment, accelerator, pricing_model, commitment_days, cell,
        min(age_days) AS age_days, CAST(median(usd_per_accelerator_hour) AS DOUBLE) AS usd
    FROM standing
    GROUP BY day, provider, accelerator, pricing_model, commitment_days, cell
    HAVING any_value(segment) <> 'marketplace' OR count(*) >= 5
),

-- What the last whole snapshot of a source and day says, and what parts say beside it.
seen AS (
    SELECT
        p.day, p.provider, p.segment, p.accelerator, p.pricing_model, p.commitment_days, p.source_kind, p.usd_per_accelerator_hour,
        CASE
            WHEN p.segment = 'marketplace' THEN concat_ws('/', coalesce(p.tier, ''), coalesce(p.country, ''))
            ELSE concat_ws('/', p.sku, p.accelerator_count, p.region, coalesce(p.zone, ''), coalesce(p.tier, ''))
        END AS cell
    FROM intermediate.priced_offers AS p
    JOIN intermediate.preferred_sources AS s USING (day, provider, accelerator, pricing_model, commitment_days)
    WHERE p.is_good AND p.own_why_not IS NULL AND p.source = s.preferred_source
        AND p.day >= (SELECT min(day) - 400 FROM days_to_build)
    QUALIFY (NOT p.is_whole OR p.observed_at = max(CASE WHEN p.is_whole THEN p.observed_at END) OVER (PARTITION BY p.source, p.day))
        AND row_number() OVER (PARTITION BY p.offer_key, p.day ORDER BY p.observed_at DESC, p.snapshot_id DESC, p.price, p.ordinal) = 1
),

sightings AS (
    SELECT
        day AS seen_day, provider, accelerator, pricing_model, commitment_days, cell,
        CASE
            WHEN any_value(segment) = 'hyperscaler' AND pricing_model <> 'spot' AND bool_and(source_kind IN ('archived_page', 'curated')) THEN 400
            ELSE 180
        END AS holds_days,
        CAST(median(usd_per_accelerator_hour) AS DOUBLE) AS seen_usd
    FROM seen
    GROUP BY day, provider, accelerator, pricing_model, commitment_days, cell
    HAVING any_value(segment) <> 'marketplace' OR count(*) >= 5
),

-- What is carried stood yesterday at the same price; what is seen is held against the sighting before.
pairs AS (
    SELECT
        c.*,
        CASE
            WHEN c.age_days > 0 THEN 0.0
            WHEN s.seen_day >= c.day - s.holds_days THEN ln(c.usd / s.seen_usd)
        END AS log_relative
    FROM cells AS c
    ASOF LEFT JOIN sightings AS s
        ON s.provider = c.provider AND s.accelerator = c.accelerator AND s.pricing_model = c.pricing_model
        AND s.commitment_days = c.commitment_days AND s.cell = c.cell AND s.seen_day < c.day
)

SELECT
    day,
    provider,
    any_value(segment) AS segment,
    accelerator,
    pricing_model,
    commitment_days,
    count(*) AS cells,
    count(log_relative) AS cells_matched,
    count(*) FILTER (log_relative <> 0) AS cells_changed,
    round(avg(log_relative), 12) AS mean_log_relative
FROM pairs
GROUP BY day, provider, accelerator, pricing_model, commitment_days
ORDER BY day, accelerator, pricing_model, commitment_days, provider
