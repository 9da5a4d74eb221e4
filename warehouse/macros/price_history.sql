-- How an accelerator's price moved on a basis: the last priced day of each month.
-- macro: price_history(for_accelerator, for_basis := 'on_demand_median')
-- kind: table
SELECT
    date_trunc('month', day) AS month,
    max(day) AS last_day,
    arg_max(usd_per_accelerator_hour_low, day) AS usd_per_accelerator_hour_low,
    arg_max(usd_per_accelerator_hour_mid, day) AS usd_per_accelerator_hour_mid,
    arg_max(usd_per_accelerator_hour_high, day) AS usd_per_accelerator_hour_high,
    arg_max(n_providers, day) AS n_providers,
    arg_max(price_status, day) AS price_status
FROM basis_prices_daily
WHERE accelerator = for_accelerator AND basis = for_basis
GROUP BY month
ORDER BY month
