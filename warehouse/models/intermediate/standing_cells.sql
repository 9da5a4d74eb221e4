-- Cells that are priced on each day to build: what an index holds against itself over time. A cell is a SKU in a region; on a marketplace,
-- whose ads come and go, the median of five or more ads of a tier and country.
-- grain: day, provider, accelerator, pricing_model, commitment_days, cell
-- partition: transient
-- inputs: offer_days, intermediate.preferred_sources
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cell: Which cell of these.
--   source: The source that counts.
--   offer_key: An offer of the cell; of a list's cell the only one, as a rule.
--   age_days: Days since it was seen.
--   usd: US dollars per accelerator and hour.
SELECT
    day,
    provider,
    any_value(segment) AS segment,
    accelerator,
    pricing_model,
    commitment_days,
    CASE
        WHEN segment = 'marketplace' THEN concat_ws('/', coalesce(tier, ''), coalesce(country, ''))
        ELSE concat_ws('/', sku, accelerator_count, region, coalesce(zone, ''), coalesce(tier, ''))
    END AS cell,
    any_value(source) AS source,
    min(offer_key) AS offer_key,
    min(age_days) AS age_days,
    CAST(median(usd_per_accelerator_hour) AS DOUBLE) AS usd
FROM offer_days
JOIN intermediate.preferred_sources USING (day, provider, accelerator, pricing_model, commitment_days)
WHERE own_why_not IS NULL AND source = preferred_source
GROUP BY day, provider, accelerator, pricing_model, commitment_days, cell
HAVING any_value(segment) <> 'marketplace' OR count(*) >= 5
