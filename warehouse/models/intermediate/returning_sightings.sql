-- Where a returning cell was last seen before: within 180 days, or 400 where a hyperscaler's archived or curated price stands that long.
-- grain: day, provider, accelerator, pricing_model, commitment_days, cell
-- partition: transient
-- inputs: returning_cells, whole_days, intermediate.priced_offers
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cell: Which cell of these.
--   last_day: When it was seen before.
--   last_usd: US dollars per accelerator and hour then.
WITH sightings AS (
    SELECT offer_key, accelerator, source_kind, day AS last_day, CAST(usd_per_accelerator_hour AS DOUBLE) AS last_usd
    FROM intermediate.priced_offers
    WHERE offer_key IN (SELECT offer_key FROM returning_cells WHERE segment <> 'marketplace') AND is_good AND own_why_not IS NULL
    QUALIFY row_number() OVER (PARTITION BY offer_key, day ORDER BY observed_at DESC, snapshot_id DESC, price, ordinal) = 1
),

lists AS (
    SELECT r.day, r.provider, r.accelerator, r.pricing_model, r.commitment_days, r.cell, p.last_day, p.last_usd
    FROM returning_cells AS r
    ASOF JOIN sightings AS p ON p.offer_key = r.offer_key AND p.accelerator = r.accelerator AND p.last_day < r.day
    WHERE r.segment <> 'marketplace'
        AND p.last_day >= r.day - CASE
            WHEN r.segment = 'hyperscaler' AND r.pricing_model <> 'spot' AND p.source_kind IN ('archived_page', 'curated') THEN 400
            ELSE 180
        END
),

-- The last whole snapshots of a day of marketplaces of which a cell came back.
marketplace_days AS (
    SELECT DISTINCT r.day, w.source, w.observed_day, w.snapshot_id
    FROM returning_cells AS r
    JOIN whole_days AS w ON w.source = r.source AND w.observed_day < r.day AND w.observed_day >= r.day - 180
    WHERE r.segment = 'marketplace'
),

marketplace_cells AS (
    SELECT
        m.day, p.provider, p.accelerator, p.pricing_model, p.commitment_days, concat_ws('/', coalesce(p.tier, ''), coalesce(p.country, '')) AS cell,
        m.observed_day AS last_day, CAST(median(p.usd_per_accelerator_hour) AS DOUBLE) AS last_usd
    FROM marketplace_days AS m
    JOIN intermediate.priced_offers AS p ON p.snapshot_id = m.snapshot_id AND p.day = m.observed_day
    WHERE p.own_why_not IS NULL
    GROUP BY m.day, m.observed_day, p.provider, p.accelerator, p.pricing_model, p.commitment_days, cell
    HAVING count(*) >= 5
)

SELECT day, provider, accelerator, pricing_model, commitment_days, cell, last_day, last_usd
FROM lists
UNION ALL
SELECT m.day, m.provider, m.accelerator, m.pricing_model, m.commitment_days, m.cell, m.last_day, m.last_usd
FROM marketplace_cells AS m
JOIN returning_cells AS r USING (day, provider, accelerator, pricing_model, commitment_days, cell)
WHERE r.segment = 'marketplace'
QUALIFY row_number() OVER (
    PARTITION BY m.day, m.provider, m.accelerator, m.pricing_model, m.commitment_days, m.cell ORDER BY m.last_day DESC
) = 1
