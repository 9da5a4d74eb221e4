-- Lowest, median and highest stand in that order.
-- severity: error
SELECT day, provider, accelerator, usd_per_accelerator_hour_min, usd_per_accelerator_hour_median, usd_per_accelerator_hour_max
FROM provider_prices_daily
SEMI JOIN days_to_build USING (day)
WHERE usd_per_accelerator_hour_median > usd_per_accelerator_hour_max
    OR usd_per_accelerator_hour_min > usd_per_accelerator_hour_max
    OR usd_per_accelerator_hour_median <= 0
    OR usd_per_accelerator_hour_median IS NULL
