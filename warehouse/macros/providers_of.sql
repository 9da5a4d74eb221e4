-- Who has sold an accelerator, since when, until when, and at what price last: one row per provider, pricing model and term.
-- macro: providers_of(for_accelerator)
-- kind: table
SELECT
    provider,
    any_value(segment) AS segment,
    pricing_model,
    commitment_days,
    min(day) AS first_day,
    max(day) AS last_day,
    arg_max(usd_per_accelerator_hour_median, day) AS last_usd_per_accelerator_hour_median
FROM provider_prices_daily
WHERE accelerator = for_accelerator
GROUP BY provider, pricing_model, commitment_days
ORDER BY first_day, provider, pricing_model, commitment_days
