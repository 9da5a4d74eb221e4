-- Low, mid and high stand in that order, and nothing is known exactly. Hours that are an upper bound have no width above.
-- severity: error
SELECT 'training_hours' AS relation, run AS key, accelerator, precision AS detail
FROM training_hours
WHERE NOT (
    0 < accelerator_hours_low AND accelerator_hours_low <= accelerator_hours_mid AND accelerator_hours_mid <= accelerator_hours_high
    AND accelerator_hours_low < accelerator_hours_high
)
UNION ALL
SELECT 'basis_prices_daily', CAST(day AS VARCHAR), accelerator, basis
FROM basis_prices_daily
SEMI JOIN days_to_build USING (day)
WHERE NOT (
    0 < usd_per_accelerator_hour_low AND usd_per_accelerator_hour_low < usd_per_accelerator_hour_mid
    AND usd_per_accelerator_hour_mid < usd_per_accelerator_hour_high
)
