-- Why the cost of a run changed over a period: log-mean Divisia, so that the parts add up to the change whatever their order.
-- grain: run, path, basis, period
-- partition: none
-- inputs: training_cost_frontier, training_hours, reference.stand_ins, basis_prices_daily, cheapest_recipes, intermediate.run_facts, intermediate.change_periods, intermediate.matched_pairs, reference.price_bases
-- columns:
--   run: Id of the run; for the cheapest recipe, of the run that set the quality.
--   path: as_run (its own part), cheapest_part, cheapest_part_relaxed (weaker evidence counts too) or cheapest_recipe (of its quality, weaker evidence too).
--   basis: Which price; market bases only.
--   period: Calendar year, or all.
--   from_day: First day in the period on which it had a cost.
--   to_day: Last such day.
--   recipe_before: Run that was reckoned with at first.
--   recipe_after: Run at last; another only for the cheapest recipe.
--   accelerator_before: Part at first; as run the part whose price was used.
--   accelerator_after: Part at last.
--   cost_usd_before: Cost at first, nominal US dollars.
--   cost_usd_after: Cost at last.
--   change_usd: cost_usd_after less cost_usd_before; what the parts add up to.
--   price_usd: What sellers changed, like held against like: on the old part up to hardware_day, on the new one from there.
--   panel_usd: The rest of those parts' change in price: sellers who came, left or were not comparable.
--   hardware_usd: Going from the old part to the new one, by hours and price of both on hardware_day.
--   recipe_usd: Going to a cheaper recipe, each on its best part on the last day.
--   assumptions_usd: Going from reported hours to hours by FLOP and utilisation, or back.
--   unsplit_usd: All of the change, where on no day both parts had a price; else 0.
--   hardware_day: Day on whose prices the two parts were compared: the last on which both had one.
--   matched_days: Days of the period with a price of the followed part that could be held against an earlier one.
WITH
-- The run that set a quality is the first of its class.
classes AS (
    SELECT quality_class, arg_min(run, (published_on, run)) AS subject
    FROM intermediate.run_facts
    WHERE quality_class IS NOT NULL AND published_on IS NOT NULL
    GROUP BY quality_class
),

own_prices AS (
    SELECT s.run, s.rank, p.basis, p.day, p.accelerator, p.usd_per_accelerator_hour_mid AS usd
    FROM reference.stand_ins AS s
    JOIN basis_prices_daily AS p USING (accelerator)
    WHERE p.basis IN (SELECT basis FROM reference.price_bases)
),

recipes AS (
    SELECT c.subject, r.run, r.basis, r.day
    FROM cheapest_recipes AS r
    JOIN classes AS c USING (quality_class)
    WHERE r.is_relaxed
),

days AS (
    SELECT 'cheapest_part' AS path, run AS subject, basis, day FROM training_cost_frontier WHERE NOT is_relaxed
    UNION ALL SELECT 'cheapest_part_relaxed', run, basis, day FROM training_cost_frontier
    UNION ALL SELECT 'as_run', run, basis, day FROM own_prices
    UNION ALL SELECT 'cheapest_recipe', subject, basis, day FROM recipes
),

-- The days that a period can begin or end on: its own ends, and where it has no cost on those the first and last of a year.
candidates AS (
    SELECT path, subject, basis, unnest([min(day), max(day)]) AS day
    FROM days
    GROUP BY path, subject, basis, year(day)
    UNION ALL
    SELECT path, subject, basis, day
    FROM days
    WHERE day IN (SELECT from_day FROM intermediate.change_periods UNION ALL SELECT to_day FROM intermediate.change_periods)
),

ends AS (
    SELECT d.path, d.subject, d.basis, k.period, min(d.day) AS from_day, max(d.day) AS to_day
    FROM candidates AS d
    JOIN intermediate.change_periods AS k ON d.day BETWEEN k.from_day AND k.to_day
    GROUP BY d.path, d.subject, d.basis, k.period
    HAVING min(d.day) < max(d.day)
),

-- A recipe is followed by its run; the first one also to the last day, to tell the recipe's part from those of price and hardware.
wanted AS (
    SELECT e.*, unnest([
        {'point': 'before', 'run': coalesce(b.run, e.subject), 'day': e.from_day},
        {'point': 'step', 'run': coalesce(b.run, e.subject), 'day': e.to_day},
        {'point': 'after', 'run': coalesce(a.run, e.subject), 'day': e.to_day}
    ], recursive := true)
    FROM ends AS e
    LEFT JOIN recipes AS b ON e.path = 'cheapest_recipe' AND b.subject = e.subject AND b.basis = e.basis AND b.day = e.from_day
    LEFT JOIN recipes AS a ON e.path = 'cheapest_recipe' AND a.subject = e.subject AND a.basis = e.basis AND a.day = e.to_day
),

points AS (
    SELECT w.*, f.accelerator, f.precision, f.usd_per_accelerator_hour_mid AS usd, f.cost_usd_mid AS cost_usd
    FROM wanted AS w
    JOIN training_cost_frontier AS f ON f.run = w.run AND f.basis = w.basis AND f.day = w.day AND (w.path <> 'cheapest_part' OR NOT f.is_relaxed)
    WHERE w.path <> 'as_run'
    -- Where weaker evidence changes nothing, the firm row holds for both.
    QUALIFY row_number() OVER (PARTITION BY w.path, w.subject, w.basis, w.period, w.point ORDER BY f.is_relaxed DESC) = 1
    UNION ALL
    SELECT
        w.*, p.accelerator, h.precision, p.usd,
        h.accelerator_hours_mid * p.usd * CASE WHEN w.basis = 'spot_median' THEN h.spot_overhead_mid ELSE 1 END AS cost_usd
    FROM wanted AS w
    JOIN own_prices AS p ON p.run = w.run AND p.basis = w.basis AND p.day = w.day
    JOIN training_hours AS h ON h.run = w.run AND h.as_run
    WHERE w.path = 'as_run'
    QUALIFY row_number() OVER (PARTITION BY w.path, w.subject, w.basis, w.period, w.point ORDER BY p.rank) = 1
),

steps AS (
    SELECT
        path, subject, basis, period, from_day, to_day,
        max({'run': run, 'accelerator': accelerator, 'precision': precision, 'usd': usd, 'cost_usd': cost_usd}) FILTER (point = 'before') AS before,
        max({'run': run, 'accelerator': accelerator, 'precision': precision, 'usd': usd, 'cost_usd': cost_usd}) FILTER (point = 'step') AS step,
        max({'run': run, 'accelerator': accelerator, 'precision': precision, 'usd': usd, 'cost_usd': cost_usd}) FILTER (point = 'after') AS after
    FROM points
    GROUP BY path, subject, basis, period, from_day, to_day
),

-- What a cluster pays is what sellers of clusters ask; reported hours are not hours by FLOP.
routed AS (
    SELECT
        s.*,
        s.path <> 'as_run' AND old.nodes > 1 AS old_is_cluster,
        s.path <> 'as_run' AND new.nodes > 1 AS new_is_cluster,
        CASE
            WHEN s.path = 'as_run' THEN NULL
            WHEN old.route = 'flop' AND new.route <> 'flop' THEN ln(own.accelerator_hours_mid / own.flop_route_hours)
            WHEN old.route <> 'flop' AND new.route = 'flop' THEN ln(own.flop_route_hours / own.accelerator_hours_mid)
        END AS route_log
    FROM steps AS s
    LEFT JOIN training_hours AS old ON old.run = s.before.run AND old.accelerator = s.before.accelerator AND old.precision = s.before.precision
    LEFT JOIN training_hours AS new ON new.run = s.before.run AND new.accelerator = s.step.accelerator AND new.precision = s.step.precision
    LEFT JOIN training_hours AS own ON own.run = s.before.run AND own.as_run
    WHERE s.before.cost_usd > 0 AND s.after.cost_usd > 0
),

prices AS (
    SELECT basis, accelerator, day, false AS is_cluster, usd_per_accelerator_hour_mid AS usd
    FROM basis_prices_daily
    WHERE basis IN (SELECT basis FROM reference.price_bases)
    UNION ALL
    SELECT basis, accelerator, day, true, cluster_usd_per_accelerator_hour
    FROM basis_prices_daily
    WHERE basis IN (SELECT basis FROM reference.price_bases) AND cluster_usd_per_accelerator_hour IS NOT NULL
),

-- The last day on which old and new part both have a price.
pairs AS (
    SELECT DISTINCT
        basis, from_day, to_day, before.accelerator AS old_accelerator, coalesce(old_is_cluster, false) AS old_is_cluster,
        step.accelerator AS new_accelerator, coalesce(new_is_cluster, false) AS new_is_cluster
    FROM routed
    WHERE step.accelerator IS NOT NULL
),

changed_pairs AS (
    SELECT DISTINCT basis, old_accelerator, old_is_cluster, new_accelerator, new_is_cluster
    FROM pairs
),

old_prices AS MATERIALIZED (
    SELECT c.*, p.day, p.usd AS old_usd
    FROM changed_pairs AS c
    JOIN prices AS p ON p.basis = c.basis AND p.accelerator = c.old_accelerator AND p.is_cluster = c.old_is_cluster
),

meetings AS (
    SELECT o.*, n.usd AS new_usd
    FROM old_prices AS o
    JOIN prices AS n ON n.basis = o.basis AND n.accelerator = o.new_accelerator AND n.is_cluster = o.new_is_cluster AND n.day = o.day
),

met AS (
    SELECT p.*, m.day AS hardware_day, m.old_usd, m.new_usd
    FROM pairs AS p
    ASOF JOIN meetings AS m
        ON m.basis = p.basis AND m.old_accelerator = p.old_accelerator AND m.old_is_cluster = p.old_is_cluster
        AND m.new_accelerator = p.new_accelerator AND m.new_is_cluster = p.new_is_cluster AND m.day <= p.to_day
    WHERE m.day >= p.from_day
),

-- Equal weight over the providers that a basis counts.
relatives AS (
    SELECT b.basis, m.accelerator, m.day, avg(m.mean_log_relative) AS log_relative
    FROM intermediate.matched_pairs AS m
    JOIN reference.price_bases AS b
        ON b.pricing_model = m.pricing_model AND b.commitment_days = m.commitment_days AND (b.segment = 'all' OR b.segment = m.segment)
    WHERE m.mean_log_relative IS NOT NULL
    GROUP BY b.basis, m.accelerator, m.day
),

running AS (
    SELECT basis, accelerator, day, sum(log_relative) OVER series AS log_index, count(*) OVER series AS matched_days
    FROM relatives
    WINDOW series AS (PARTITION BY basis, accelerator ORDER BY day)
),

followed AS (
    SELECT
        m.*,
        round(
            coalesce(old_last.log_index, 0) - coalesce(old_first.log_index, 0) + coalesce(new_last.log_index, 0) - coalesce(new_first.log_index, 0),
            12
        ) AS price_log,
        coalesce(old_last.matched_days, 0) - coalesce(old_first.matched_days, 0) + coalesce(new_last.matched_days, 0)
            - coalesce(new_first.matched_days, 0) AS matched_days
    FROM met AS m
    ASOF LEFT JOIN running AS old_first
        ON old_first.basis = m.basis AND old_first.accelerator = m.old_accelerator AND old_first.day <= m.from_day
    ASOF LEFT JOIN running AS old_last
        ON old_last.basis = m.basis AND old_last.accelerator = m.old_accelerator AND old_last.day <= m.hardware_day
    ASOF LEFT JOIN running AS new_first
        ON new_first.basis = m.basis AND new_first.accelerator = m.new_accelerator AND new_first.day <= m.hardware_day
    ASOF LEFT JOIN running AS new_last
        ON new_last.basis = m.basis AND new_last.accelerator = m.new_accelerator AND new_last.day <= m.to_day
),

-- Each part as a logarithm; what a change of a thousandth of a millionth weighs is its mean.
weighed AS (
    SELECT
        r.*,
        f.hardware_day,
        f.price_log,
        f.matched_days,
        r.after.cost_usd - r.before.cost_usd AS change_usd,
        CASE
            WHEN abs(ln(r.after.cost_usd / r.before.cost_usd)) < 1e-9 THEN r.after.cost_usd
            ELSE (r.after.cost_usd - r.before.cost_usd) / ln(r.after.cost_usd / r.before.cost_usd)
        END AS weight_usd,
        ln(r.after.cost_usd / r.step.cost_usd) AS recipe_log,
        coalesce(r.route_log, 0) AS assumptions_log,
        ln(r.step.cost_usd / r.before.cost_usd) - ln(f.old_usd / r.before.usd) - ln(r.step.usd / f.new_usd) - coalesce(r.route_log, 0) AS hardware_log
    FROM routed AS r
    LEFT JOIN followed AS f
        ON f.basis = r.basis AND f.from_day = r.from_day AND f.to_day = r.to_day
        AND f.old_accelerator = r.before.accelerator AND f.old_is_cluster = coalesce(r.old_is_cluster, false)
        AND f.new_accelerator = r.step.accelerator AND f.new_is_cluster = coalesce(r.new_is_cluster, false)
),

parts AS (
    SELECT
        *,
        coalesce(weight_usd * price_log, 0) AS price_usd,
        CASE WHEN hardware_day IS NULL THEN 0 ELSE weight_usd * hardware_log END AS hardware_usd,
        CASE WHEN hardware_day IS NULL THEN 0 ELSE weight_usd * recipe_log END AS recipe_usd,
        CASE WHEN hardware_day IS NULL THEN 0 ELSE weight_usd * assumptions_log END AS assumptions_usd,
        CASE WHEN hardware_day IS NULL THEN change_usd ELSE 0 END AS unsplit_usd
    FROM weighed
)

SELECT
    subject AS run,
    path,
    basis,
    period,
    from_day,
    to_day,
    before.run AS recipe_before,
    after.run AS recipe_after,
    before.accelerator AS accelerator_before,
    after.accelerator AS accelerator_after,
    before.cost_usd AS cost_usd_before,
    after.cost_usd AS cost_usd_after,
    change_usd,
    price_usd,
    change_usd - price_usd - hardware_usd - recipe_usd - assumptions_usd - unsplit_usd AS panel_usd,
    hardware_usd,
    recipe_usd,
    assumptions_usd,
    unsplit_usd,
    hardware_day,
    coalesce(matched_days, 0) AS matched_days
FROM parts
ORDER BY run, path, basis, period
