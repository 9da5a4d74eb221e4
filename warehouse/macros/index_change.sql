-- Change of the price index between two days, in percent: like held against like. Null where the two days are in different chains or have no level.
-- macro: index_change(for_accelerator, since_day, until_day, for_segment := 'all', for_pricing_model := 'on_demand')
-- kind: scalar
SELECT 100 * (later.price_index / earlier.price_index - 1)
FROM price_index_daily AS earlier
JOIN price_index_daily AS later USING (accelerator, pricing_model, segment, chain_id)
WHERE earlier.accelerator = for_accelerator AND earlier.segment = for_segment AND earlier.pricing_model = for_pricing_model
    AND earlier.day = CAST(since_day AS DATE) AND later.day = CAST(until_day AS DATE)
