-- What a training run would cost on a day and basis: the part it was run on first, then cheapest first.
-- macro: run_cost(for_run, on_day, for_basis := 'on_demand_median')
-- kind: table
SELECT
    accelerator, precision, as_run, priced_on, accelerator_hours_mid, usd_per_accelerator_hour_mid, cost_usd_low, cost_usd_mid, cost_usd_high,
    n_providers, price_status, mfu_evidence, dominant_uncertainty
FROM training_costs
WHERE run = for_run AND day = CAST(on_day AS DATE) AND basis = for_basis AND cost_usd_mid IS NOT NULL
ORDER BY as_run DESC, cost_usd_mid, accelerator, precision
