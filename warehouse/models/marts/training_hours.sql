-- Accelerator-hours of each training run on each part: as reported on its own and on the same die with other memory, by FLOP and
-- utilisation on every other.
-- grain: run, accelerator, precision
-- partition: none
-- inputs: intermediate.run_facts, intermediate.training_parts, reference.accelerators, reference.cluster_limits, reference.training_constants
-- columns:
--   run: Id of the run.
--   accelerator: Key of the part.
--   precision: Number format; bf16 and fp16 reckon at the same dense peak.
--   as_run: The part that the run was run on, by its reported hours.
--   route: reported (hours as published), same_die (the same hours on the same die with other memory) or flop (model FLOP / (dense peak x MFU x goodput)).
--   accelerator_hours_low: Lower end of the judgement range.
--   accelerator_hours_mid: Accelerator-hours of the final run.
--   accelerator_hours_high: Upper end.
--   log_half_width_low: ln(mid / low): root sum of squares of the independent inputs.
--   log_half_width_high: ln(high / mid).
--   dominant_uncertainty: The input with the largest share of it: hours, flop, mfu or form.
--   dominant_log_variance: Squares of that input's two half-widths, added.
--   model_flop: FLOP that are carried over; null by the reported route.
--   peak_tflops: Dense peak, 1e12 FLOP/s.
--   mfu_low: Least share of the peak to expect.
--   mfu_mid: Share to expect; by reported hours what FLOP and hours imply.
--   mfu_high: Most to expect.
--   share_of_hours: Share of all hours spent in steps, where MFU is counted per step; else 1.
--   mfu_evidence: measured, same_family or assumed; reported hours are measured, a third party's estimate of them is assumed.
--   flop_route_hours: What the FLOP route gives on the run's own part.
--   calibration_factor: Reported over FLOP-route hours, where both are independent; its spread is the error of every port.
--   memory_gb: Memory of each accelerator.
--   minimum_accelerators: Fewest accelerators that hold weights, gradients and optimiser, before activations; null where the size of the model is unknown.
--   fits: Can be held: in one machine, or over a fabric. True for the part it was run on; null where the size of the model is unknown.
--   accelerators: Cluster reckoned with: the run's own, else the one it states, else enough to hold the model and finish by the deadline; in whole machines.
--   nodes: Machines in that cluster.
--   has_fabric: The part is rented with a network made for training.
--   largest_cluster: Largest cluster of the part that a seller tells of; one machine without a fabric; null where nobody tells.
--   deadline_hours: Wall-clock time of the run itself, else the default.
--   wall_clock_hours: Hours that it would take on as many accelerators as the run itself used; null where that is not known.
--   spot_overhead_mid: What cost on spot capacity is multiplied by for lost work; null where more than the limit would be lost.
--   spot_overhead_width_low: ln(mid / its value at few interruptions).
--   spot_overhead_width_high: ln(its value at many interruptions / mid).
--   released_on: When the part came out.
--   source: Where hours, FLOP and MFU are from.
WITH constants AS (
    SELECT
        max(value) FILTER (name = 'usable_memory_share') AS usable_memory_share,
        max(value) FILTER (name = 'machine_size_default') AS machine_size_default,
        ln(max(value) FILTER (name = 'hours_spread_same_die')) AS same_die_width,
        max(value) FILTER (name = 'spot_interruptions_per_node_hour') AS interruptions,
        max(low) FILTER (name = 'spot_interruptions_per_node_hour') AS interruptions_low,
        max(high) FILTER (name = 'spot_interruptions_per_node_hour') AS interruptions_high,
        max(value) FILTER (name = 'checkpoint_hours') AS checkpoint_hours,
        max(value) FILTER (name = 'restart_hours') AS restart_hours,
        max(value) FILTER (name = 'spot_lost_share_limit') AS lost_share_limit
    FROM reference.training_constants
),

-- The parts on which reported hours count: the run's own, and those that differ from it in memory alone.
same_die AS (
    SELECT own.accelerator AS own_accelerator, other.accelerator
    FROM reference.accelerators AS own
    JOIN reference.accelerators AS other
        ON other.accelerator = own.accelerator
        OR (other.model = own.model AND other.form_factor = own.form_factor AND other.dense_16bit_tflops = own.dense_16bit_tflops)
),

by_flop AS (
    SELECT
        r.run,
        r.accelerator AS own_accelerator,
        r.precision_bits AS own_bits,
        r.accelerator_hours_mid AS reported_hours,
        r.is_calibration,
        r.model_flop,
        ln(r.model_flop / r.flop_low) AS flop_width_low,
        ln(r.flop_high / r.model_flop) AS flop_width_high,
        r.source AS run_source,
        p.* EXCLUDE (mfu_low, mfu_mid, mfu_high, share_of_hours, mfu_evidence),
        -- A utilisation that a run of one's own states counts for all hours.
        coalesce(r.stated_mfu, p.mfu_low * r.utilisation_low) AS mfu_low,
        coalesce(r.stated_mfu, p.mfu_mid * r.utilisation_mid) AS mfu_mid,
        coalesce(r.stated_mfu, p.mfu_high * r.utilisation_high) AS mfu_high,
        CASE WHEN r.stated_mfu IS NULL THEN p.share_of_hours ELSE 1.0 END AS share_of_hours,
        CASE WHEN r.stated_mfu IS NULL AND r.utilisation_mid = 1 THEN p.mfu_evidence ELSE 'assumed' END AS mfu_evidence,
        r.model_flop / (p.peak_tflops * 1e12 * (CASE
            WHEN r.stated_mfu IS NULL THEN p.mfu_mid * r.utilisation_mid * p.share_of_hours
            ELSE r.stated_mfu
        END) * 3600) AS hours
    FROM intermediate.run_facts AS r
    CROSS JOIN intermediate.training_parts AS p
    WHERE r.has_flop_route
),

-- An MFU taken from total hours was taken from runs like these, and tests nothing.
on_own_part AS (
    SELECT run, avg(hours) AS flop_route_hours, any_value(reported_hours / hours) FILTER (is_calibration AND share_of_hours < 1) AS calibration_factor
    FROM by_flop
    WHERE form = own_accelerator AND precision_bits = own_bits AND reported_hours IS NOT NULL
    GROUP BY run
),

-- The middle two thirds of reported over FLOP-route hours, each side from the FLOP route itself: its bias counts as error.
port_error AS (
    SELECT
        coalesce(greatest(0, -quantile_cont(ln(calibration_factor), 0.16)), 0) AS width_low,
        coalesce(greatest(0, quantile_cont(ln(calibration_factor), 0.84)), 0) AS width_high
    FROM on_own_part
),

ported AS (
    SELECT
        b.run,
        b.accelerator,
        b.precision,
        false AS as_run,
        'flop' AS route,
        exp(avg(ln(b.hours))) AS hours,
        0.0 AS hours_width_low,
        0.0 AS hours_width_high,
        any_value(b.flop_width_low) AS flop_width_low,
        any_value(b.flop_width_high) AS flop_width_high,
        greatest(max(ln(b.mfu_high / b.mfu_mid)), any_value(e.width_low)) AS mfu_width_low,
        greatest(max(ln(b.mfu_mid / b.mfu_low)), any_value(e.width_high)) AS mfu_width_high,
        avg(ln(b.hours)) - min(ln(b.hours)) AS form_width_low,
        max(ln(b.hours)) - avg(ln(b.hours)) AS form_width_high,
        any_value(b.model_flop) AS model_flop,
        exp(avg(ln(b.peak_tflops))) AS peak_tflops,
        min(b.mfu_low) AS mfu_low,
        exp(avg(ln(b.mfu_mid))) AS mfu_mid,
        max(b.mfu_high) AS mfu_high,
        avg(b.share_of_hours) AS share_of_hours,
        arg_max(b.mfu_evidence, list_position(['measured', 'same_family', 'assumed'], b.mfu_evidence)) AS mfu_evidence,
        NULL AS flop_route_hours,
        NULL AS calibration_factor,
        any_value(b.run_source) || '; MFU: ' || string_agg(DISTINCT b.source, '; ' ORDER BY b.source) AS source
    FROM by_flop AS b
    CROSS JOIN port_error AS e
    LEFT JOIN same_die AS d ON d.own_accelerator = b.own_accelerator AND d.accelerator = b.accelerator AND b.reported_hours IS NOT NULL
    WHERE d.accelerator IS NULL OR b.precision_bits <> b.own_bits
    GROUP BY b.run, b.accelerator, b.precision
),

reported AS (
    SELECT
        r.run,
        d.accelerator,
        coalesce(r.precision, 'bf16') AS precision,
        d.accelerator = r.accelerator AS as_run,
        CASE WHEN as_run THEN 'reported' ELSE 'same_die' END AS route,
        r.accelerator_hours_mid AS hours,
        greatest(ln(r.accelerator_hours_mid / r.accelerator_hours_low), CASE WHEN as_run THEN 0 ELSE c.same_die_width END) AS hours_width_low,
        greatest(ln(r.accelerator_hours_high / r.accelerator_hours_mid), CASE WHEN as_run THEN 0 ELSE c.same_die_width END) AS hours_width_high,
        0.0 AS flop_width_low,
        0.0 AS flop_width_high,
        0.0 AS mfu_width_low,
        0.0 AS mfu_width_high,
        0.0 AS form_width_low,
        0.0 AS form_width_high,
        NULL AS model_flop,
        CASE r.precision_bits WHEN 8 THEN a.dense_fp8_tflops WHEN 32 THEN a.dense_fp32_tflops ELSE a.dense_16bit_tflops END AS peak_tflops,
        NULL AS mfu_low,
        r.model_flop / (r.accelerator_hours_mid * peak_tflops * 1e12 * 3600) AS mfu_mid,
        NULL AS mfu_high,
        1.0 AS share_of_hours,
        CASE
            WHEN r.how_known NOT IN ('reported', 'reported_elsewhere', 'profile') THEN 'assumed'
            WHEN as_run THEN 'measured'
            ELSE 'same_family'
        END AS mfu_evidence,
        CASE WHEN as_run THEN o.flop_route_hours END AS flop_route_hours,
        CASE WHEN as_run THEN o.calibration_factor END AS calibration_factor,
        r.source
    FROM intermediate.run_facts AS r
    JOIN same_die AS d ON d.own_accelerator = r.accelerator
    JOIN reference.accelerators AS a ON a.accelerator = d.accelerator
    LEFT JOIN on_own_part AS o USING (run)
    CROSS JOIN constants AS c
    WHERE r.accelerator_hours_mid IS NOT NULL
),

-- An unstated form has what every form that it may be has.
machines AS (
    SELECT
        a.accelerator,
        min(CAST(f.memory_gb AS DOUBLE)) AS memory_gb,
        min(CASE WHEN f.has_fabric OR f.node_size > 1 THEN coalesce(f.node_size, 1) ELSE c.machine_size_default END) AS node_size,
        bool_and(coalesce(f.has_fabric, false)) AS has_fabric,
        any_value(a.released_on) AS released_on,
        any_value(l.largest_cluster) AS told_cluster
    FROM reference.accelerators AS a
    JOIN reference.accelerators AS f ON f.accelerator = a.accelerator OR list_contains(string_split(a.may_be, '|'), f.accelerator)
    LEFT JOIN reference.cluster_limits AS l ON l.accelerator = a.accelerator
    CROSS JOIN constants AS c
    WHERE a.may_be IS NULL OR f.accelerator <> a.accelerator
    GROUP BY a.accelerator
),

clusters AS (
    SELECT
        h.*,
        m.* EXCLUDE (accelerator, told_cluster),
        CASE WHEN m.has_fabric THEN m.told_cluster ELSE m.node_size END AS largest_cluster,
        r.deadline_hours,
        h.hours / r.accelerator_count AS wall_clock_hours,
        ceil(r.bytes_per_parameter * r.parameters / (c.usable_memory_share * m.memory_gb * 1e9)) AS minimum_accelerators,
        greatest(coalesce(minimum_accelerators, 1), ceil(h.hours / r.deadline_hours * 0.999)) AS accelerators_by_deadline,
        CAST(CASE
            WHEN h.route <> 'flop' AND r.accelerator_count IS NOT NULL THEN r.accelerator_count
            WHEN coalesce(r.stated_accelerators, accelerators_by_deadline) <= m.node_size
                THEN coalesce(r.stated_accelerators, accelerators_by_deadline)
            ELSE ceil(coalesce(r.stated_accelerators, accelerators_by_deadline) / m.node_size) * m.node_size
        END AS BIGINT) AS accelerators,
        CAST(ceil(accelerators / m.node_size) AS BIGINT) AS nodes,
        h.as_run OR (
            (minimum_accelerators <= m.node_size OR (minimum_accelerators IS NOT NULL AND m.has_fabric))
            AND (r.stated_accelerators IS NULL OR minimum_accelerators <= accelerators)
        ) AS fits
    FROM (SELECT * FROM reported UNION ALL BY NAME SELECT * FROM ported) AS h
    JOIN intermediate.run_facts AS r USING (run)
    JOIN machines AS m ON m.accelerator = h.accelerator
    CROSS JOIN constants AS c
),

-- Young and Daly: checkpoint every sqrt(2 x checkpoint x time between interruptions); lost are the checkpoints, half an interval and a restart.
interrupted AS (
    SELECT
        k.*,
        c.lost_share_limit,
        sqrt(2 * c.checkpoint_hours * c.interruptions_low * k.nodes) + c.restart_hours * c.interruptions_low * k.nodes AS lost_share_low,
        sqrt(2 * c.checkpoint_hours * c.interruptions * k.nodes) + c.restart_hours * c.interruptions * k.nodes AS lost_share_mid,
        sqrt(2 * c.checkpoint_hours * c.interruptions_high * k.nodes) + c.restart_hours * c.interruptions_high * k.nodes AS lost_share_high
    FROM clusters AS k
    CROSS JOIN constants AS c
),

weighed AS (
    SELECT
        *,
        sqrt(hours_width_low ** 2 + flop_width_low ** 2 + mfu_width_low ** 2 + form_width_low ** 2) AS log_half_width_low,
        sqrt(hours_width_high ** 2 + flop_width_high ** 2 + mfu_width_high ** 2 + form_width_high ** 2) AS log_half_width_high,
        hours_width_low ** 2 + hours_width_high ** 2 AS hours_variance,
        flop_width_low ** 2 + flop_width_high ** 2 AS flop_variance,
        mfu_width_low ** 2 + mfu_width_high ** 2 AS mfu_variance,
        form_width_low ** 2 + form_width_high ** 2 AS form_variance
    FROM interrupted
)

SELECT
    run,
    accelerator,
    precision,
    as_run,
    route,
    hours * exp(-log_half_width_low) AS accelerator_hours_low,
    hours AS accelerator_hours_mid,
    hours * exp(log_half_width_high) AS accelerator_hours_high,
    log_half_width_low,
    log_half_width_high,
    CASE greatest(hours_variance, flop_variance, mfu_variance, form_variance)
        WHEN hours_variance THEN 'hours'
        WHEN mfu_variance THEN 'mfu'
        WHEN flop_variance THEN 'flop'
        ELSE 'form'
    END AS dominant_uncertainty,
    greatest(hours_variance, flop_variance, mfu_variance, form_variance) AS dominant_log_variance,
    model_flop,
    peak_tflops,
    mfu_low,
    mfu_mid,
    mfu_high,
    share_of_hours,
    mfu_evidence,
    flop_route_hours,
    calibration_factor,
    memory_gb,
    CAST(minimum_accelerators AS BIGINT) AS minimum_accelerators,
    fits,
    accelerators,
    nodes,
    has_fabric,
    CAST(largest_cluster AS BIGINT) AS largest_cluster,
    deadline_hours,
    wall_clock_hours,
    CASE WHEN lost_share_mid <= lost_share_limit THEN 1 / (1 - lost_share_mid) END AS spot_overhead_mid,
    ln(spot_overhead_mid * (1 - lost_share_low)) AS spot_overhead_width_low,
    ln(1 / (1 - least(lost_share_high, lost_share_limit)) / spot_overhead_mid) AS spot_overhead_width_high,
    released_on,
    source
FROM weighed
ORDER BY run, accelerator, precision
