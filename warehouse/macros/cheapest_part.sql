-- The accelerator that does a training run cheapest on a day and basis, in the run's own time, on firm evidence.
-- macro: cheapest_part(for_run, on_day, for_basis := 'on_demand_median')
-- kind: table
SELECT accelerator, precision, accelerators, wall_clock_hours, usd_per_accelerator_hour_mid, cost_usd_low, cost_usd_mid, cost_usd_high, price_status, mfu_evidence
FROM training_cost_frontier
WHERE run = for_run AND day = CAST(on_day AS DATE) AND basis = for_basis AND NOT is_relaxed
