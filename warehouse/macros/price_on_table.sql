-- The price of an accelerator on a day and basis, with its range, the providers behind it, its status and its age; no row where nobody had one.
-- macro: price_on(for_accelerator, on_day, for_basis := 'on_demand_median')
-- kind: table
FROM basis_prices_daily
WHERE accelerator = for_accelerator AND day = CAST(on_day AS DATE) AND basis = for_basis
