-- How each provider's prices of a part moved on each day, like held against like: cells that are priced on this day and were before.
-- What the price index and the parts of a cost's change are made of.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: day
-- inputs: standing_cells, previous_cells, returning_sightings
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cells: Cells priced on this day, seen or carried.
--   cells_matched: Of these, priced before too; one that comes back is held against its last price, later than some 180 days it is new.
--   cells_changed: Of these, at another price than last.
--   mean_log_relative: Mean over the matched cells of ln(price / last price); null where none is matched.
WITH pairs AS (
    SELECT
        c.*,
        -- What is carried stood yesterday at the same price.
        CASE WHEN c.age_days > 0 THEN 0.0 ELSE ln(c.usd / coalesce(p.last_usd, r.last_usd)) END AS log_relative
    FROM standing_cells AS c
    LEFT JOIN previous_cells AS p
        ON p.day = c.day AND p.provider = c.provider AND p.accelerator = c.accelerator AND p.pricing_model = c.pricing_model
        AND p.commitment_days = c.commitment_days AND p.cell = c.cell AND p.source = c.source
    LEFT JOIN returning_sightings AS r
        ON r.day = c.day AND r.provider = c.provider AND r.accelerator = c.accelerator AND r.pricing_model = c.pricing_model
        AND r.commitment_days = c.commitment_days AND r.cell = c.cell
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
