-- The day's price of an accelerator: the equal-weight median of its providers, per segment and over all, in US dollars.
-- grain: day, accelerator, pricing_model, commitment_days, segment
-- partition: day
-- inputs: series_spans, provider_prices_daily, reference.accelerators, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex; never blended.
--   commitment_days: Days bound; never blended.
--   segment: hyperscaler, neocloud, marketplace, other, or all.
--   usd_per_accelerator_hour_min: Lowest offer that is not known to be unavailable, screened providers aside.
--   usd_per_accelerator_hour_p25: Lower quartile of the providers' medians.
--   usd_per_accelerator_hour_median: Median of the providers' medians.
--   usd_per_accelerator_hour_p75: Upper quartile of the providers' medians.
--   n_providers: Providers that count.
--   n_screened: Providers left out as outliers.
--   usd_per_dense_bf16_pflop_hour: Median over the dense 16-bit peak, per PFLOP/s and hour.
--   usd_per_gb_hour: Median over the memory, per GB and hour.
--   status: ok (three or more providers), thin (one or two), single_seller, withheld.
--   reason: Why it is withheld.
--   age_days: Days since the youngest of the prices was seen.
--   source_kinds: Kinds of snapshot behind the price.
--   sources: Sources behind the price; their terms and licences are in reference.sources.
--   parameters_version: Version of the parameters that it was made with.
WITH whole_or_part AS (
    -- Each segment by itself, and all of them.
    SELECT unnest([FALSE, TRUE]) AS is_all
),

segments AS (
    SELECT p.*, CASE WHEN w.is_all THEN 'all' ELSE p.segment END AS priced_segment
    FROM provider_prices_daily AS p
    JOIN days_to_build USING (day)
    CROSS JOIN whole_or_part AS w
),

logs AS (
    SELECT
        *,
        ln(CAST(usd_per_accelerator_hour_median AS DOUBLE)) AS log_price,
        count(*) OVER market AS market_providers,
        median(ln(CAST(usd_per_accelerator_hour_median AS DOUBLE))) OVER market AS log_median
    FROM segments
    -- A list price is no outlier because neoclouds are cheaper: providers are held against their own segment only.
    WINDOW market AS (PARTITION BY day, accelerator, pricing_model, commitment_days, priced_segment, segment)
),

deviations AS (
    SELECT
        *,
        median(abs(log_price - log_median)) OVER (PARTITION BY day, accelerator, pricing_model, commitment_days, priced_segment, segment) AS mad
    FROM logs
),

screened AS (
    SELECT
        d.*,
        d.market_providers >= p.outlier_providers
        -- So many scaled MADs; where half of the market asks one price, beyond a factor.
        AND abs(d.log_price - d.log_median) > CASE
            WHEN d.mad > 1e-9 THEN greatest(p.outlier_mads * 1.4826 * d.mad, ln(p.outlier_least_ratio))
            ELSE ln(p.outlier_ratio_without_spread)
        END AS is_outlier
    FROM deviations AS d
    CROSS JOIN intermediate.index_parameters AS p
),

priced AS (
    SELECT
        day,
        accelerator,
        pricing_model,
        commitment_days,
        priced_segment AS segment,
        CAST(min(usd_per_accelerator_hour_min) FILTER (WHERE NOT is_outlier) AS DOUBLE) AS usd_per_accelerator_hour_min,
        quantile_cont(CAST(usd_per_accelerator_hour_median AS DOUBLE), 0.25) FILTER (WHERE NOT is_outlier) AS usd_per_accelerator_hour_p25,
        median(CAST(usd_per_accelerator_hour_median AS DOUBLE)) FILTER (WHERE NOT is_outlier) AS usd_per_accelerator_hour_median,
        quantile_cont(CAST(usd_per_accelerator_hour_median AS DOUBLE), 0.75) FILTER (WHERE NOT is_outlier) AS usd_per_accelerator_hour_p75,
        count(*) FILTER (WHERE NOT is_outlier) AS n_providers,
        count(*) FILTER (WHERE is_outlier) AS n_screened,
        min(age_days) AS age_days,
        list_sort(list_distinct(flatten(list(source_kinds)))) AS source_kinds,
        list_sort(list_distinct(list(source))) AS sources
    FROM screened
    GROUP BY day, accelerator, pricing_model, commitment_days, priced_segment
),

-- A series that was there before and is not today stays visible, without a value.
series AS (
    SELECT
        s.accelerator, s.pricing_model, s.commitment_days, CASE WHEN w.is_all THEN 'all' ELSE s.segment END AS segment,
        min(s.first_day) AS first_day
    FROM series_spans AS s
    CROSS JOIN whole_or_part AS w
    GROUP BY ALL
),

expected AS (
    SELECT d.day, s.* EXCLUDE (first_day)
    FROM days_to_build AS d
    JOIN series AS s ON d.day >= s.first_day
)

SELECT
    e.day,
    e.accelerator,
    e.pricing_model,
    e.commitment_days,
    e.segment,
    usd_per_accelerator_hour_min,
    usd_per_accelerator_hour_p25,
    usd_per_accelerator_hour_median,
    usd_per_accelerator_hour_p75,
    coalesce(n_providers, 0) AS n_providers,
    coalesce(n_screened, 0) AS n_screened,
    usd_per_accelerator_hour_median / (a.dense_16bit_tflops / 1000) AS usd_per_dense_bf16_pflop_hour,
    usd_per_accelerator_hour_median / a.memory_gb AS usd_per_gb_hour,
    CASE
        WHEN p.day IS NULL THEN 'withheld'
        WHEN a.single_seller THEN 'single_seller'
        WHEN n_providers >= v.ok_providers THEN 'ok'
        ELSE 'thin'
    END AS status,
    CASE WHEN p.day IS NULL THEN 'no price within its age limit' END AS reason,
    age_days,
    source_kinds,
    sources,
    v.parameters_version
FROM expected AS e
CROSS JOIN intermediate.index_parameters AS v
LEFT JOIN priced AS p USING (day, accelerator, pricing_model, commitment_days, segment)
LEFT JOIN reference.accelerators AS a ON a.accelerator = e.accelerator
ORDER BY e.day, e.accelerator, e.pricing_model, e.commitment_days, e.segment
