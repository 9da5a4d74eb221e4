-- Every reference row that a training cost rests on names known parts and runs, and its numbers can be true.
-- severity: error
WITH parts AS (
    SELECT 'training_runs' AS reference, run AS key, accelerator FROM reference.training_runs WHERE accelerator IS NOT NULL
    UNION ALL SELECT 'stand_ins', run || ' ' || rank, accelerator FROM reference.stand_ins
    UNION ALL SELECT 'mfu', accelerator || ' ' || precision, accelerator FROM reference.mfu
    UNION ALL SELECT 'cluster_limits', accelerator, accelerator FROM reference.cluster_limits
)

SELECT reference, key, 'unknown accelerator ' || accelerator AS problem
FROM parts
ANTI JOIN reference.accelerators USING (accelerator)
UNION ALL
SELECT 'stand_ins', run, 'unknown run'
FROM reference.stand_ins
ANTI JOIN reference.training_runs USING (run)
UNION ALL
SELECT 'training_runs', run, 'run on a part without a price series of its own in stand_ins'
FROM reference.training_runs AS r
ANTI JOIN reference.stand_ins AS s ON s.run = r.run AND s.accelerator = r.accelerator AND s.rank = 1
WHERE r.accelerator_hours IS NOT NULL
UNION ALL
SELECT 'training_runs', run, 'a number that cannot be'
FROM reference.training_runs
WHERE parameters <= 0 OR active_parameters <= 0 OR active_parameters > parameters OR tokens <= 0 OR model_flop <= 0
    OR flop_low > flop_high OR hardware_flop < model_flop OR accelerator_count < 1 OR wall_clock_hours <= 0 OR accelerator_hours <= 0
    OR accelerator_hours_low > accelerator_hours OR accelerator_hours_high < accelerator_hours OR mfu NOT BETWEEN 0.01 AND 0.99 OR hfu < mfu
    OR (accelerator_hours IS NOT NULL AND accelerator IS NULL) OR (model_flop IS NOT NULL AND (flop_low IS NULL OR flop_high IS NULL))
UNION ALL
SELECT 'training_runs', run, 'accelerators x wall-clock is more than accelerator-hours'
FROM reference.training_runs
WHERE accelerator_count * wall_clock_hours > 1.05 * accelerator_hours
UNION ALL
SELECT 'accelerators', accelerator, 'a peak that is not in TFLOP/s'
FROM reference.accelerators
WHERE dense_16bit_tflops NOT BETWEEN 1 AND 20000
UNION ALL
SELECT 'mfu', accelerator || ' ' || precision, 'not 0 < low <= mid <= high < 1, or evidence unknown'
FROM reference.mfu
WHERE NOT (0 < mfu_low AND mfu_low <= mfu_mid AND mfu_mid <= mfu_high AND mfu_high < 1)
    OR evidence NOT IN ('measured', 'same_family', 'assumed')
    OR mfu_of NOT IN ('step', 'hours')
UNION ALL
SELECT 'training_runs', run, 'given twice'
FROM reference.training_runs
GROUP BY run
HAVING count(*) > 1
UNION ALL
SELECT 'mfu', accelerator || ' ' || precision, 'given twice'
FROM reference.mfu
GROUP BY accelerator, precision
HAVING count(*) > 1
UNION ALL
SELECT 'stand_ins', run || ' ' || rank, 'given twice'
FROM reference.stand_ins
GROUP BY run, rank
HAVING count(*) > 1
