-- The part that does each run cheapest on each day and basis, among those that could do it in the run's own time: on firm evidence, and in a
-- second row where weaker evidence has a cheaper one. One provider's own prices are left to training_costs.
-- grain: day, run, basis, is_relaxed
-- partition: day
-- inputs: training_hours, basis_prices_daily, intermediate.run_facts, reference.price_bases, reference.training_constants
-- columns:
--   day: UTC date of the prices.
--   run: Id of the run.
--   basis: Which price.
--   is_relaxed: Thin prices, assumed utilisation and clusters that no seller tells of count too; only where that changes the part.
--   accelerator: The cheapest part.
--   precision: Number format; the run's own or 16 bits.
--   as_run: It is the part that the run was run on.
--   accelerators: Accelerators it takes.
--   wall_clock_hours: Hours it takes on them.
--   accelerator_hours_mid: Accelerator-hours.
--   usd_per_accelerator_hour_mid: US dollars per accelerator and hour; of sellers of clusters where it takes more than one machine.
--   cost_usd_low: Lower end of the cost.
--   cost_usd_mid: Hours x price x overhead factor.
--   cost_usd_high: Upper end of the cost.
--   n_providers: Independent providers behind the price.
--   price_status: ok, thin or single_seller.
--   mfu_evidence: measured, same_family or assumed.
--   age_days: Age of the price in days.
--   source_kinds: Kinds of snapshot behind the price.
WITH constants AS (
    SELECT max(value) FILTER (name = 'largest_cluster_default') AS largest_cluster_default
    FROM reference.training_constants
),

candidates AS (
    SELECT
        b.basis,
        h.run,
        h.accelerator,
        h.precision,
        h.as_run,
        h.accelerators,
        h.nodes > 1 AS is_cluster,
        h.accelerator_hours_mid,
        h.accelerator_hours_mid * CASE WHEN b.basis = 'spot_median' THEN h.spot_overhead_mid ELSE 1 END AS paid_hours,
        h.log_half_width_low * h.log_half_width_low + CASE WHEN b.basis = 'spot_median' THEN h.spot_overhead_width_low ** 2 ELSE 0 END AS log_variance_low,
        h.log_half_width_high * h.log_half_width_high + CASE WHEN b.basis = 'spot_median' THEN h.spot_overhead_width_high ** 2 ELSE 0 END AS log_variance_high,
        h.mfu_evidence,
        h.mfu_evidence IN ('measured', 'same_family') AND h.accelerators <= coalesce(h.largest_cluster, c.largest_cluster_default) AS is_firm
    FROM training_hours AS h
    JOIN intermediate.run_facts AS r USING (run)
    CROSS JOIN reference.price_bases AS b
    CROSS JOIN constants AS c
    WHERE h.fits IS NOT FALSE
        AND (h.nodes = 1 OR (h.has_fabric AND b.rents_clusters))
        AND (h.accelerators <= h.largest_cluster OR h.largest_cluster IS NULL)
        AND (h.as_run OR h.precision IN ('bf16', 'fp16') OR h.precision = r.precision)
        AND (r.stated_accelerators IS NULL OR h.accelerator_hours_mid / h.accelerators <= 1.001 * h.deadline_hours)
),

prices AS (
    SELECT p.*, p.price_status <> 'thin' AS is_firm
    FROM basis_prices_daily AS p
    JOIN days_to_build USING (day)
    WHERE NOT starts_with(p.basis, 'provider:')
),

-- Most days ask what the day before asked: each set of prices is searched once. The last of several values hashed together would cancel
-- out over an even number of parts; hashed again it does not.
price_sets AS (
    SELECT day, basis, bit_xor(hash(hash(accelerator, usd_per_accelerator_hour_mid, cluster_usd_per_accelerator_hour, is_firm))) AS price_set
    FROM prices
    GROUP BY day, basis
),

first_days AS (
    SELECT basis, price_set, min(day) AS day
    FROM price_sets
    GROUP BY basis, price_set
),

costs AS (
    SELECT
        f.basis,
        f.price_set,
        h.run,
        p.is_firm AND h.is_firm AS is_firm,
        CASE WHEN h.is_cluster THEN p.cluster_usd_per_accelerator_hour ELSE p.usd_per_accelerator_hour_mid END * h.paid_hours AS cost_usd,
        {'cost_usd': cost_usd, 'accelerator': h.accelerator, 'precision': h.precision} AS part
    FROM first_days AS f
    JOIN prices AS p USING (basis, day)
    JOIN candidates AS h USING (basis, accelerator)
    WHERE cost_usd IS NOT NULL
),

cheapest AS (
    SELECT basis, price_set, run, min(part) FILTER (is_firm) AS firm, min(part) AS relaxed
    FROM costs
    GROUP BY basis, price_set, run
),

winners AS (
    SELECT basis, price_set, run, false AS is_relaxed, firm AS part
    FROM cheapest
    WHERE firm IS NOT NULL
    UNION ALL
    SELECT basis, price_set, run, true, relaxed
    FROM cheapest
    WHERE firm IS NULL OR firm <> relaxed
)

SELECT
    s.day,
    w.run,
    w.basis,
    w.is_relaxed,
    h.accelerator,
    h.precision,
    h.as_run,
    h.accelerators,
    h.accelerator_hours_mid / h.accelerators AS wall_clock_hours,
    h.accelerator_hours_mid,
    CASE WHEN h.is_cluster THEN p.cluster_usd_per_accelerator_hour ELSE p.usd_per_accelerator_hour_mid END AS usd_per_accelerator_hour_mid,
    w.part.cost_usd * exp(-sqrt(h.log_variance_low + p.log_half_width_low * p.log_half_width_low)) AS cost_usd_low,
    w.part.cost_usd AS cost_usd_mid,
    w.part.cost_usd * exp(sqrt(h.log_variance_high + p.log_half_width_high * p.log_half_width_high)) AS cost_usd_high,
    p.n_providers,
    p.price_status,
    h.mfu_evidence,
    p.age_days,
    p.source_kinds
FROM winners AS w
JOIN price_sets AS s USING (basis, price_set)
JOIN candidates AS h ON h.run = w.run AND h.basis = w.basis AND h.accelerator = w.part.accelerator AND h.precision = w.part.precision
JOIN prices AS p ON p.day = s.day AND p.basis = w.basis AND p.accelerator = w.part.accelerator
