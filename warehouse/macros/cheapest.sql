-- Who sells an accelerator on a day, cheapest first and what is known to be unavailable last: one row per provider, pricing model and term.
-- A key, or a model such as H100; without a day the newest.
-- macro: cheapest(for_accelerator, on_day := NULL)
-- kind: table
SELECT
    p.accelerator,
    p.provider,
    p.segment,
    p.pricing_model,
    p.commitment_days,
    p.usd_per_accelerator_hour_min,
    p.usd_per_accelerator_hour_median,
    p.offers,
    p.offers_available,
    p.largest_count,
    p.age_days,
    p.source
FROM provider_prices_daily AS p
JOIN reference.accelerators AS a USING (accelerator)
WHERE (p.accelerator = for_accelerator OR lower(a.model) = lower(for_accelerator))
    AND p.day = coalesce(CAST(on_day AS DATE), (SELECT max(newest.day) FROM provider_prices_daily AS newest))
ORDER BY p.usd_per_accelerator_hour_min IS NULL, p.usd_per_accelerator_hour_min, p.provider, p.pricing_model, p.commitment_days
