-- Parts that a model can be trained on, in each number format, with the dense peak and the share of it that training reaches.
-- A part whose form nobody printed has one row for each form that it may be.
-- grain: accelerator, form, precision
-- partition: none
-- inputs: reference.accelerators, reference.mfu, reference.training_constants
-- columns:
--   accelerator: Key of the part.
--   form: Key of the part it is reckoned as; another only where the form is unstated.
--   precision: Number format.
--   precision_bits: Its width: 8, 16 or 32.
--   peak_tflops: Dense peak, 1e12 FLOP/s; at the FP32-accumulate rate where a GeForce has two.
--   mfu_low: Least share of the peak to expect, of the time spent in steps or of all hours as mfu_of says.
--   mfu_mid: Share to expect.
--   mfu_high: Most to expect.
--   share_of_hours: What mfu is multiplied by to count for all hours: goodput for a figure per step, 1 for one taken from total hours.
--   mfu_evidence: measured, same_family or assumed.
--   source: Where the MFU is from.
WITH constants AS (
    SELECT max(value) FILTER (name = 'goodput') AS goodput
    FROM reference.training_constants
),

forms AS (
    SELECT accelerator, unnest(string_split(coalesce(may_be, accelerator), '|')) AS form, length(string_split(coalesce(may_be, accelerator), '|')) AS n_forms
    FROM reference.accelerators
)

SELECT
    f.accelerator,
    f.form,
    m.precision,
    CASE m.precision WHEN 'fp8' THEN 8 WHEN 'fp32' THEN 32 ELSE 16 END AS precision_bits,
    CAST(CASE m.precision WHEN 'fp8' THEN a.dense_fp8_tflops WHEN 'fp32' THEN a.dense_fp32_tflops ELSE a.dense_16bit_tflops END AS DOUBLE) AS peak_tflops,
    m.mfu_low,
    m.mfu_mid,
    m.mfu_high,
    CASE m.mfu_of WHEN 'step' THEN c.goodput ELSE 1.0 END AS share_of_hours,
    m.evidence AS mfu_evidence,
    m.source
FROM forms AS f
JOIN reference.accelerators AS a ON a.accelerator = f.form
JOIN reference.mfu AS m ON m.accelerator = f.form
CROSS JOIN constants AS c
WHERE peak_tflops IS NOT NULL
-- A range over some of the forms would be none.
QUALIFY count(*) OVER (PARTITION BY f.accelerator, m.precision) = f.n_forms
ORDER BY ALL
