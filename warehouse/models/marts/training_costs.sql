-- What each training run would have cost on each day, part and named basis, with a judgement range: nominal US dollars, final run only.
-- grain: day, run, accelerator, precision, basis
-- partition: view
-- inputs: training_hours, basis_prices_daily, intermediate.basis_spans, reference.stand_ins
-- columns:
--   day: UTC date of the prices.
--   run: Id of the run.
--   accelerator: Key of the part.
--   precision: Number format.
--   basis: Which price: see price_bases; provider:<id> for one provider's own.
--   as_run: Reported hours on the part it was run on; else carried over by FLOP.
--   priced_on: Part whose price was used: as run the nearest that has one, elsewhere the part itself; null when no longer listed.
--   accelerator_hours_low: Lower end of the hours.
--   accelerator_hours_mid: Accelerator-hours of the final run.
--   accelerator_hours_high: Upper end of the hours.
--   usd_per_accelerator_hour_low: Lower end of the price.
--   usd_per_accelerator_hour_mid: US dollars per accelerator and hour.
--   usd_per_accelerator_hour_high: Upper end of the price.
--   cost_usd_low: Lower end of the cost: log half-widths of independent inputs, root sum of squares.
--   cost_usd_mid: Hours x price x overhead factor; null where it does not fit, has no price, or spot would lose more than the limit.
--   cost_usd_high: Upper end of the cost.
--   committed_usd: What the term obliges to: accelerators x price x whole term; null where nothing is bound.
--   n_providers: Independent providers behind the price.
--   price_status: ok, thin, single_seller or provider; as run also withheld (no price that day) and no_longer_listed (after the last price).
--   mfu_evidence: measured, same_family or assumed.
--   age_days: Age of the price in days.
--   source_kinds: Kinds of snapshot behind the price.
--   fits: Model and optimiser fit in the memory of a cluster of these; null where the size of the model is unknown.
--   before_release: The day lies before the part came out.
--   dominant_uncertainty: The input with the largest share of the range: price, hours, mfu, flop, form or interruptions.
--   overhead_factor: What hours x price is multiplied by: lost work on spot, else 1.
--   accelerators: Size of the cluster reckoned with.
WITH as_run_prices AS (
    SELECT s.run, p.*
    FROM reference.stand_ins AS s
    JOIN basis_prices_daily AS p USING (accelerator)
    QUALIFY row_number() OVER (PARTITION BY s.run, p.day, p.basis ORDER BY s.rank) = 1
),

days AS (
    SELECT CAST(unnest(generate_series(CAST(min(first_day) AS TIMESTAMP), CAST(max(ledger_day) AS TIMESTAMP), INTERVAL 1 DAY)) AS DATE) AS day
    FROM intermediate.basis_spans
),

-- A series as run never turns into a port: a day without a price says so, from the first day on which the part is listed.
as_run_spans AS (
    SELECT r.run, s.basis, min(s.first_day) AS first_day, max(s.last_day) AS last_day
    FROM reference.stand_ins AS r
    JOIN intermediate.basis_spans AS s USING (accelerator)
    GROUP BY r.run, s.basis
),

as_run_days AS (
    SELECT d.day, s.run, s.basis, s.last_day
    FROM days AS d
    JOIN as_run_spans AS s ON d.day >= s.first_day
),

priced AS (
    SELECT
        d.day, d.run, d.basis, p.accelerator AS priced_on,
        p.usd_per_accelerator_hour_low, p.usd_per_accelerator_hour_mid, p.usd_per_accelerator_hour_high,
        p.log_half_width_low AS price_width_low, p.log_half_width_high AS price_width_high, p.commitment_days, p.n_providers, p.age_days, p.source_kinds,
        coalesce(p.price_status, CASE WHEN d.day > d.last_day THEN 'no_longer_listed' ELSE 'withheld' END) AS price_status,
        h.* EXCLUDE (run)
    FROM as_run_days AS d
    LEFT JOIN as_run_prices AS p ON p.run = d.run AND p.basis = d.basis AND p.day = d.day
    JOIN training_hours AS h ON h.run = d.run AND h.as_run
    UNION ALL BY NAME
    SELECT
        p.day, h.run, p.basis, p.accelerator AS priced_on,
        p.usd_per_accelerator_hour_low, p.usd_per_accelerator_hour_mid, p.usd_per_accelerator_hour_high,
        p.log_half_width_low AS price_width_low, p.log_half_width_high AS price_width_high, p.commitment_days, p.n_providers, p.age_days, p.source_kinds,
        p.price_status,
        h.* EXCLUDE (run)
    FROM training_hours AS h
    JOIN basis_prices_daily AS p USING (accelerator)
    WHERE NOT h.as_run
),

costed AS (
    SELECT
        *,
        CASE WHEN basis = 'spot_median' THEN spot_overhead_mid ELSE 1.0 END AS overhead_factor,
        CASE WHEN basis = 'spot_median' THEN spot_overhead_width_low ELSE 0.0 END AS overhead_width_low,
        CASE WHEN basis = 'spot_median' THEN spot_overhead_width_high ELSE 0.0 END AS overhead_width_high,
        CASE WHEN fits IS NOT FALSE THEN accelerator_hours_mid * usd_per_accelerator_hour_mid * overhead_factor END AS cost_usd_mid,
        price_width_low * price_width_low + price_width_high * price_width_high AS price_variance,
        overhead_width_low * overhead_width_low + overhead_width_high * overhead_width_high AS overhead_variance
    FROM priced
)

SELECT
    day,
    run,
    accelerator,
    precision,
    basis,
    as_run,
    priced_on,
    accelerator_hours_low,
    accelerator_hours_mid,
    accelerator_hours_high,
    usd_per_accelerator_hour_low,
    usd_per_accelerator_hour_mid,
    usd_per_accelerator_hour_high,
    cost_usd_mid * exp(-sqrt(
        log_half_width_low * log_half_width_low + price_width_low * price_width_low + overhead_width_low * overhead_width_low
    )) AS cost_usd_low,
    cost_usd_mid,
    cost_usd_mid * exp(sqrt(
        log_half_width_high * log_half_width_high + price_width_high * price_width_high + overhead_width_high * overhead_width_high
    )) AS cost_usd_high,
    CASE
        WHEN commitment_days > 0 AND fits IS NOT FALSE
            THEN accelerators * usd_per_accelerator_hour_mid
                * CASE WHEN commitment_days % 30 = 0 THEN commitment_days / 30 * 730 ELSE commitment_days * 24 END
    END AS committed_usd,
    n_providers,
    price_status,
    mfu_evidence,
    age_days,
    source_kinds,
    fits,
    day < released_on AS before_release,
    CASE
        WHEN cost_usd_mid IS NULL THEN NULL
        WHEN price_variance >= greatest(overhead_variance, dominant_log_variance) THEN 'price'
        WHEN overhead_variance > dominant_log_variance THEN 'interruptions'
        ELSE dominant_uncertainty
    END AS dominant_uncertainty,
    overhead_factor,
    accelerators
FROM costed
