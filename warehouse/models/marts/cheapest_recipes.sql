-- Same quality, cheapest recipe: of the runs that gave models of like quality and were published by the day, the one that costs least.
-- Runs are like in quality as their authors say; see quality_class in training_runs.
-- grain: day, quality_class, basis, is_relaxed
-- partition: view
-- inputs: training_cost_frontier, intermediate.run_facts
-- columns:
--   day: UTC date of the prices.
--   quality_class: Which quality: named after the model that set it.
--   basis: Which price.
--   is_relaxed: Thin prices, assumed utilisation and clusters that no seller tells of count too.
--   run: Id of the cheapest recipe.
--   accelerator: The part that does it cheapest.
--   cost_usd_low: Lower end of the cost.
--   cost_usd_mid: Cost of the final run.
--   cost_usd_high: Upper end.
--   recipes: Recipes that had a cost on that day.
WITH recipes AS (
    SELECT *
    FROM training_cost_frontier
    WHERE run IN (SELECT run FROM intermediate.run_facts WHERE quality_class IS NOT NULL)
),

winners AS (
    SELECT day, run, basis, false AS is_relaxed, accelerator, cost_usd_low, cost_usd_mid, cost_usd_high
    FROM recipes
    WHERE NOT is_relaxed
    UNION ALL
    -- Where weaker evidence changes nothing, the firm row holds for both.
    SELECT day, run, basis, true AS is_relaxed, accelerator, cost_usd_low, cost_usd_mid, cost_usd_high
    FROM recipes
    QUALIFY row_number() OVER (PARTITION BY day, run, basis ORDER BY is_relaxed DESC) = 1
)

SELECT
    w.day,
    f.quality_class,
    w.basis,
    w.is_relaxed,
    w.run,
    w.accelerator,
    w.cost_usd_low,
    w.cost_usd_mid,
    w.cost_usd_high,
    count(*) OVER class AS recipes
FROM winners AS w
JOIN intermediate.run_facts AS f ON f.run = w.run AND f.published_on <= w.day
WHERE f.quality_class IS NOT NULL
WINDOW class AS (PARTITION BY w.day, f.quality_class, w.basis, w.is_relaxed)
QUALIFY row_number() OVER (
    PARTITION BY w.day, f.quality_class, w.basis, w.is_relaxed ORDER BY w.cost_usd_mid, w.run
) = 1
