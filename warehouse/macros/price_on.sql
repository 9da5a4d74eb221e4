-- US dollars per accelerator and hour on a day and basis; null where nobody had a price. FROM price_on(...) tells its range and status too.
-- macro: price_on(for_accelerator, on_day, for_basis := 'on_demand_median')
-- kind: scalar
SELECT usd_per_accelerator_hour_mid
FROM basis_prices_daily
WHERE accelerator = for_accelerator AND day = CAST(on_day AS DATE) AND basis = for_basis
