-- Training runs with their FLOP checked against their hours: what may be carried over to other parts, and why the rest may not.
-- grain: run
-- partition: none
-- inputs: reference.training_runs, reference.accelerators, reference.training_constants
-- columns:
--   run: Id of the run.
--   published_on: Date of publication.
--   parameters: All parameters; what memory must hold.
--   active_parameters: Parameters that a token passes through; fewer than all in a mixture of experts.
--   tokens: Training tokens.
--   model_flop: FLOP that the model needs, without recomputed activations.
--   flop_low: Lower end of its band.
--   flop_high: Upper end of its band.
--   flop_basis: reported, 6nd, 6nd_active, estimate, from_hours, or own for a run of one's own.
--   accelerator: Part it was run on; null where nobody said.
--   accelerator_count: Accelerators used.
--   precision: Number format of the run.
--   precision_bits: Its width: 8, 16 or 32.
--   accelerator_hours_low: Lower end of the hours on that part.
--   accelerator_hours_mid: Hours on that part; null where nobody said.
--   accelerator_hours_high: Upper end.
--   how_known: reported, reported_elsewhere, profile, estimate, speculative or flop_only.
--   deadline_hours: Time that the run may take elsewhere: its own wall-clock, else the default.
--   implied_mfu: Model FLOP over what the part could have done in those hours, at the dense rate of 16 bits, or of 32 where run in them.
--   has_flop_route: Its FLOP may be carried over to other parts.
--   why_no_flop_route: Why not.
--   is_calibration: Its reported hours test the FLOP route.
--   quality_class: Runs of one class give models of like quality; null for none.
--   stated_mfu: Utilisation over all hours that a run of one's own states, for every part.
--   stated_accelerators: Accelerators that a run of one's own states, for every part.
--   bytes_per_parameter: What has to be held for each parameter: weights, gradients and optimiser.
--   utilisation_low: Least that it reaches of the MFU of pre-training; less than 1 for fine-tuning.
--   utilisation_mid: Share of it to expect.
--   utilisation_high: Most of it to expect.
--   source: Where the facts are from.
WITH constants AS (
    SELECT
        max(value) FILTER (name = 'implied_mfu_limit') AS implied_mfu_limit,
        max(value) FILTER (name = 'deadline_default') AS deadline_default_days
    FROM reference.training_constants
),

memory_settings AS (
    SELECT CASE name WHEN 'bytes_per_parameter' THEN 'adam' ELSE replace(name, 'bytes_per_parameter_', '') END AS setting, value AS bytes_per_parameter
    FROM reference.training_constants
    WHERE starts_with(name, 'bytes_per_parameter')
),

hours_spreads AS (
    SELECT replace(name, 'hours_spread_', '') AS how_known, value AS factor
    FROM reference.training_constants
    WHERE starts_with(name, 'hours_spread_')
),

-- An unstated form is given the fastest that it may be.
peaks AS (
    SELECT a.accelerator, max(f.dense_16bit_tflops) AS dense_16bit_tflops, max(f.dense_fp32_tflops) AS dense_fp32_tflops
    FROM reference.accelerators AS a
    JOIN reference.accelerators AS f ON f.accelerator = a.accelerator OR list_contains(string_split(a.may_be, '|'), f.accelerator)
    GROUP BY a.accelerator
),

runs AS (
    SELECT
        r.*,
        CASE r.precision WHEN 'fp8' THEN 8 WHEN 'fp32' THEN 32 ELSE 16 END AS precision_bits,
        CAST(r.model_flop AS DOUBLE) / (
            CAST(r.accelerator_hours AS DOUBLE) * 3600 * 1e12 * CASE WHEN r.precision = 'fp32' THEN p.dense_fp32_tflops ELSE p.dense_16bit_tflops END
        ) AS implied_mfu
    FROM reference.training_runs AS r
    LEFT JOIN peaks AS p USING (accelerator)
),

judged AS (
    SELECT
        *,
        CASE
            WHEN model_flop IS NULL THEN 'the FLOP are not known'
            WHEN implied_mfu > implied_mfu_limit
                THEN format('FLOP and hours together mean {:.0f} % of the dense peak, more than any run reached', 100 * implied_mfu)
            WHEN model_flop NOT BETWEEN flop_low AND flop_high THEN 'the FLOP lie outside their own band'
        END AS why_no_flop_route
    FROM runs
    CROSS JOIN constants
)

SELECT
    run,
    published_on,
    CAST(parameters AS DOUBLE) AS parameters,
    CAST(active_parameters AS DOUBLE) AS active_parameters,
    CAST(tokens AS DOUBLE) AS tokens,
    CAST(model_flop AS DOUBLE) AS model_flop,
    CAST(flop_low AS DOUBLE) AS flop_low,
    CAST(flop_high AS DOUBLE) AS flop_high,
    flop_basis,
    accelerator,
    accelerator_count,
    precision,
    precision_bits,
    coalesce(accelerator_hours_low, accelerator_hours / factor) AS accelerator_hours_low,
    CAST(accelerator_hours AS DOUBLE) AS accelerator_hours_mid,
    coalesce(accelerator_hours_high, accelerator_hours * factor) AS accelerator_hours_high,
    how_known,
    coalesce(wall_clock_hours, accelerator_hours / accelerator_count, 24 * deadline_default_days) AS deadline_hours,
    implied_mfu,
    why_no_flop_route IS NULL AS has_flop_route,
    why_no_flop_route,
    coalesce(why_no_flop_route IS NULL AND how_known = 'reported' AND flop_basis NOT IN ('from_hours', 'estimate', 'own'), false) AS is_calibration,
    quality_class,
    stated_mfu,
    stated_accelerators,
    m.bytes_per_parameter,
    coalesce(utilisation_low, 1.0) AS utilisation_low,
    coalesce(utilisation_mid, 1.0) AS utilisation_mid,
    coalesce(utilisation_high, 1.0) AS utilisation_high,
    concat_ws('; ', source, source_url) AS source
FROM judged
LEFT JOIN hours_spreads USING (how_known)
LEFT JOIN memory_settings AS m ON m.setting = coalesce(memory_setting, 'adam')
ORDER BY run
