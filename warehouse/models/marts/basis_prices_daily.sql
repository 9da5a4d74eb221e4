-- What an accelerator-hour costs on each named basis, with a judgement range: the prices that training costs are reckoned with.
-- A day without a price has no row; prices_daily says why.
-- grain: day, accelerator, basis
-- partition: day
-- inputs: prices_daily, provider_prices_daily, reference.price_bases, reference.training_constants, reference.accelerators
-- columns:
--   day: UTC date.
--   accelerator: Key of the accelerator.
--   basis: Name of the basis; provider:<id> for one provider's own price.
--   usd_per_accelerator_hour_low: Lower end: first quartile of providers; the segment's pooled spread where fewer than three sell it.
--   usd_per_accelerator_hour_mid: The price.
--   usd_per_accelerator_hour_high: Upper end.
--   log_half_width_low: ln(mid / low).
--   log_half_width_high: ln(high / mid).
--   cluster_usd_per_accelerator_hour: What a run of more than one machine pays on this basis: null on spot and marketplaces, which don't rent clusters.
--   commitment_days: Days bound; 0 for none.
--   n_providers: Independent providers behind it.
--   price_status: ok, thin or single_seller, as prices_daily says; provider for one named provider's price.
--   age_days: Age of the price in days.
--   source_kinds: Kinds of snapshot behind the price.
WITH constants AS (
    SELECT ln(max(value) FILTER (name = 'price_spread_floor')) AS floor_width
    FROM reference.training_constants
),

market AS (
    SELECT
        *,
        usd_per_accelerator_hour_median AS median,
        n_providers >= 3 AS is_ok,
        ln(usd_per_accelerator_hour_median / usd_per_accelerator_hour_p25) AS own_width_low,
        ln(usd_per_accelerator_hour_p75 / usd_per_accelerator_hour_median) AS own_width_high
    FROM prices_daily
    JOIN days_to_build USING (day)
    WHERE status <> 'withheld'
),

pooled AS (
    SELECT
        *,
        -- Half of the parts that three or more providers sell in this segment spread less than this, that day.
        median(own_width_low) FILTER (WHERE is_ok) OVER pool AS pooled_width_low,
        median(own_width_high) FILTER (WHERE is_ok) OVER pool AS pooled_width_high,
        -- What sellers of clusters ask, apart from the marketplaces that may set the price of all.
        min(usd_per_accelerator_hour_min) FILTER (WHERE segment IN ('hyperscaler', 'neocloud')) OVER part AS cluster_min
    FROM market
    WINDOW
        pool AS (PARTITION BY day, pricing_model, commitment_days, segment),
        part AS (PARTITION BY day, accelerator, pricing_model, commitment_days)
),

spread AS (
    SELECT
        m.*,
        CASE WHEN m.is_ok AND m.own_width_low > 0 THEN m.own_width_low ELSE greatest(coalesce(m.pooled_width_low, 0), c.floor_width) END AS width_low,
        CASE WHEN m.is_ok AND m.own_width_high > 0 THEN m.own_width_high ELSE greatest(coalesce(m.pooled_width_high, 0), c.floor_width) END AS width_high
    FROM pooled AS m
    CROSS JOIN constants AS c
),

by_market AS (
    SELECT
        s.day,
        s.accelerator,
        b.basis,
        CASE b.statistic
            WHEN 'min' THEN s.usd_per_accelerator_hour_min * exp(-c.floor_width)
            ELSE s.median * exp(-s.width_low)
        END AS low,
        CASE b.statistic WHEN 'min' THEN s.usd_per_accelerator_hour_min ELSE s.median END AS mid,
        CASE b.statistic
            WHEN 'min' THEN greatest(s.usd_per_accelerator_hour_p25, s.usd_per_accelerator_hour_min * exp(c.floor_width))
            ELSE s.median * exp(s.width_high)
        END AS high,
        CASE WHEN NOT b.rents_clusters THEN NULL WHEN b.statistic = 'min' THEN s.cluster_min WHEN s.cluster_min IS NOT NULL THEN mid END AS cluster_mid,
        s.commitment_days,
        s.n_providers,
        s.status AS price_status,
        s.age_days,
        s.source_kinds
    FROM spread AS s
    JOIN reference.price_bases AS b USING (pricing_model, commitment_days, segment)
    CROSS JOIN constants AS c
),

-- One provider's own price: on demand, else its shortest term up to a month.
own_prices AS (
    SELECT p.*
    FROM provider_prices_daily AS p
    JOIN days_to_build USING (day)
    WHERE p.pricing_model = 'on_demand' AND p.commitment_days = 0 OR p.pricing_model = 'reserved' AND p.commitment_days <= 31
    QUALIFY row_number() OVER (PARTITION BY p.day, p.provider, p.accelerator ORDER BY p.pricing_model = 'on_demand' DESC, p.commitment_days) = 1
),

by_provider AS (
    SELECT
        p.day,
        p.accelerator,
        'provider:' || p.provider AS basis,
        CAST(p.usd_per_accelerator_hour_median AS DOUBLE) AS mid,
        least(CAST(p.usd_per_accelerator_hour_min AS DOUBLE), mid * exp(-c.floor_width)) AS low,
        greatest(CAST(p.usd_per_accelerator_hour_max AS DOUBLE), mid * exp(c.floor_width)) AS high,
        CASE WHEN p.segment IN ('hyperscaler', 'neocloud') THEN mid END AS cluster_mid,
        p.commitment_days,
        1 AS n_providers,
        CASE WHEN a.single_seller THEN 'single_seller' ELSE 'provider' END AS price_status,
        p.age_days,
        p.source_kinds
    FROM own_prices AS p
    JOIN reference.accelerators AS a USING (accelerator)
    CROSS JOIN constants AS c
)

SELECT
    day,
    accelerator,
    basis,
    CAST(low AS DOUBLE) AS usd_per_accelerator_hour_low,
    CAST(mid AS DOUBLE) AS usd_per_accelerator_hour_mid,
    CAST(high AS DOUBLE) AS usd_per_accelerator_hour_high,
    CAST(ln(mid / low) AS DOUBLE) AS log_half_width_low,
    CAST(ln(high / mid) AS DOUBLE) AS log_half_width_high,
    CAST(cluster_mid AS DOUBLE) AS cluster_usd_per_accelerator_hour,
    CAST(commitment_days AS INTEGER) AS commitment_days,
    CAST(n_providers AS INTEGER) AS n_providers,
    price_status,
    CAST(age_days AS INTEGER) AS age_days,
    source_kinds
FROM (SELECT * FROM by_market UNION ALL BY NAME SELECT * FROM by_provider)
WHERE mid IS NOT NULL
ORDER BY accelerator, day, basis
