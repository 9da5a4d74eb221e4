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
--   price_usd: What sellers changed, like held against like, on the parts that were followed.
--   panel_usd: The rest of those parts' change in price: sellers who came, left or were not comparable.
--   hardware_usd: Going from part to part, by the hours of the old and the new one and the prices of the days of going.
--   recipe_usd: Going to a cheaper recipe, each on its best part on the last day.
--   assumptions_usd: Going from reported hours to hours by FLOP and utilisation, or back.
--   unsplit_usd: All of the change, where no part's prices lead from the old one to the last day; else 0.
--   hardware_day: Day of going from the old part: the last on which both it and the next had a price.
--   accelerators_followed: Parts whose prices were followed, one after the other. Between parts that never had a price on one day stand those that did the run cheapest then; as run, stand-ins.
--   matched_days: Days of the period with a price of the followed part that could be held against an earlier one.
WITH RECURSIVE
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

-- The last price of each part up to the end of a period.
last_prices AS (
    SELECT e.to_day, p.basis, p.accelerator, p.is_cluster, max(p.day) AS last_day, arg_max(p.usd, p.day) AS last_usd
    FROM (SELECT DISTINCT to_day FROM routed) AS e
    JOIN prices AS p ON p.day <= e.to_day
    GROUP BY e.to_day, p.basis, p.accelerator, p.is_cluster
),

-- A chain goes on from a last day only; of all days with all runs there would be millions.
prices_on_last_days AS MATERIALIZED (
    SELECT p.*
    FROM prices AS p
    SEMI JOIN last_prices AS l ON l.basis = p.basis AND l.last_day = p.day
),

-- Parts that never met: each is followed to its last price, then the part that does the run cheapest on that day and is priced for longer;
-- as run, only parts that stand in for its own.
chains AS (
    SELECT
        r.path, r.subject, r.basis, r.period, r.to_day, r.before.run AS run, r.step.accelerator AS new_accelerator, 1 AS leg,
        r.before.accelerator AS accelerator, r.from_day AS start_day, r.before.usd AS start_usd, l.last_day AS end_day, l.last_usd AS end_usd
    FROM routed AS r
    ANTI JOIN met AS m
        ON m.basis = r.basis AND m.from_day = r.from_day AND m.to_day = r.to_day
        AND m.old_accelerator = r.before.accelerator AND m.old_is_cluster = coalesce(r.old_is_cluster, false)
        AND m.new_accelerator = r.step.accelerator AND m.new_is_cluster = coalesce(r.new_is_cluster, false)
    JOIN last_prices AS l
        ON l.to_day = r.to_day AND l.basis = r.basis AND l.accelerator = r.before.accelerator AND l.is_cluster = coalesce(r.old_is_cluster, false)
    WHERE r.step.accelerator IS NOT NULL
    UNION ALL
    SELECT * EXCLUDE (place)
    FROM (
        SELECT
            c.path, c.subject, c.basis, c.period, c.to_day, c.run, c.new_accelerator, c.leg + 1 AS leg,
            h.accelerator, c.end_day AS start_day, f.usd AS start_usd, l.last_day AS end_day, l.last_usd AS end_usd,
            row_number() OVER (
                PARTITION BY c.path, c.subject, c.basis, c.period
                ORDER BY h.accelerator <> c.new_accelerator, h.accelerator_hours_mid * f.usd, h.accelerator, h.precision
            ) AS place
        FROM chains AS c
        JOIN training_hours AS h ON h.run = c.run AND h.fits IS NOT FALSE
        JOIN prices_on_last_days AS f ON f.basis = c.basis AND f.day = c.end_day AND f.accelerator = h.accelerator AND f.is_cluster = (c.path <> 'as_run' AND h.nodes > 1)
        JOIN last_prices AS l
            ON l.to_day = c.to_day AND l.basis = c.basis AND l.accelerator = h.accelerator AND l.is_cluster = f.is_cluster AND l.last_day > c.end_day
        WHERE c.end_day < c.to_day
            AND (c.path <> 'as_run' OR EXISTS (FROM reference.stand_ins AS s WHERE s.run = c.run AND s.accelerator = h.accelerator))
    )
    WHERE place = 1
),

-- The parts followed one after the other, the old one first, with their prices where each is taken up and left.
legs AS (
    SELECT r.path, r.subject, r.basis, r.period, unnest([
        {'leg': 1, 'accelerator': r.before.accelerator, 'start_day': r.from_day, 'start_usd': r.before.usd, 'end_day': m.hardware_day, 'end_usd': m.old_usd},
        {'leg': 2, 'accelerator': r.step.accelerator, 'start_day': m.hardware_day, 'start_usd': m.new_usd, 'end_day': r.to_day, 'end_usd': r.step.usd}
    ], recursive := true)
    FROM routed AS r
    JOIN met AS m
        ON m.basis = r.basis AND m.from_day = r.from_day AND m.to_day = r.to_day
        AND m.old_accelerator = r.before.accelerator AND m.old_is_cluster = coalesce(r.old_is_cluster, false)
        AND m.new_accelerator = r.step.accelerator AND m.new_is_cluster = coalesce(r.new_is_cluster, false)
    UNION ALL
    SELECT path, subject, basis, period, leg, accelerator, start_day, start_usd, end_day, end_usd
    FROM chains
    QUALIFY max(end_day) OVER (PARTITION BY path, subject, basis, period) = to_day
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

-- Where each series stands on the days on which a part is taken up or left.
stands AS (
    SELECT d.basis, d.accelerator, d.day, coalesce(r.log_index, 0) AS log_index, coalesce(r.matched_days, 0) AS matched_days
    FROM (
        SELECT basis, accelerator, start_day AS day FROM legs
        UNION SELECT basis, accelerator, end_day FROM legs
    ) AS d
    ASOF LEFT JOIN running AS r ON r.basis = d.basis AND r.accelerator = d.accelerator AND r.day <= d.day
),

followed AS (
    SELECT
        l.path, l.subject, l.basis, l.period,
        sum(ln(l.end_usd / l.start_usd) ORDER BY l.leg) AS level_log,
        round(sum(e.log_index - s.log_index ORDER BY l.leg), 12) AS price_log,
        CAST(sum(e.matched_days - s.matched_days) AS BIGINT) AS matched_days,
        min(l.end_day) AS hardware_day,
        string_agg(l.accelerator, '|' ORDER BY l.leg) AS accelerators_followed
    FROM legs AS l
    JOIN stands AS s ON s.basis = l.basis AND s.accelerator = l.accelerator AND s.day = l.start_day
    JOIN stands AS e ON e.basis = l.basis AND e.accelerator = l.accelerator AND e.day = l.end_day
    GROUP BY l.path, l.subject, l.basis, l.period
),

-- Each part as a logarithm, and what a logarithm of one weighs in dollars.
weighed AS (
    SELECT
        r.*,
        f.* EXCLUDE (path, subject, basis, period),
        r.after.cost_usd - r.before.cost_usd AS change_usd,
        CASE
            WHEN abs(ln(r.after.cost_usd / r.before.cost_usd)) < 1e-9 THEN r.after.cost_usd
            ELSE (r.after.cost_usd - r.before.cost_usd) / ln(r.after.cost_usd / r.before.cost_usd)
        END AS weight_usd,
        ln(r.after.cost_usd / r.step.cost_usd) AS recipe_log,
        coalesce(r.route_log, 0) AS assumptions_log,
        ln(r.step.cost_usd / r.before.cost_usd) - f.level_log - coalesce(r.route_log, 0) AS hardware_log
    FROM routed AS r
    LEFT JOIN followed AS f ON f.path = r.path AND f.subject = r.subject AND f.basis = r.basis AND f.period = r.period
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
    accelerators_followed,
    coalesce(matched_days, 0) AS matched_days
FROM parts
ORDER BY run, path, basis, period
