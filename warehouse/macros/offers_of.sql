-- What a provider sells now, cheapest first, with why an offer does not count where it does not.
-- macro: offers_of(for_provider)
-- kind: table
SELECT
    accelerator, sku, accelerator_count, pricing_model, commitment_days, tier, region, usd_per_accelerator_hour, price, currency, available, age_days,
    why_not
FROM offers_current
WHERE provider = for_provider
ORDER BY accelerator, usd_per_accelerator_hour, sku, region
