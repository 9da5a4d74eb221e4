-- What each provider asks per accelerator and hour on each day, in US dollars.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: day
-- inputs: offer_days, reference.sources, reference.accelerators
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   usd_per_accelerator_hour_min: Lowest offer that is not known to be unavailable.
--   usd_per_accelerator_hour_median: Median over the home regions, of whole nodes where the part is sold as nodes.
--   usd_per_accelerator_hour_max: Highest offer.
--   usd_per_accelerator_hour_median_all_regions: Median over all regions.
--   offers: Offers that count.
--   offers_available: Of these, known to be available.
--   offers_not_told: Of these, availability not told.
--   accelerators_available: Accelerators known to be rentable, one count per machine; null is not told.
--   largest_count: Most accelerators in one offer.
--   age_days: Days since the youngest of the prices was seen.
--   is_carried: None of the prices was seen on this day.
--   is_bracketed: A price is carried over a gap between two equal sightings.
--   source: The source that counts.
--   source_kinds: Kinds of snapshot behind the price.
--   terms: What the terms of the source say, or the licence of the dataset.
WITH standing AS (
    SELECT
        o.day, o.provider, o.segment, o.accelerator, o.pricing_model, o.commitment_days, o.source, o.source_kind, o.sku, o.region, o.zone, o.tier,
        o.accelerator_count, o.available, o.usd_per_accelerator_hour, o.age_days, o.is_bracketed,
        CASE WHEN o.available THEN o.accelerator_count * coalesce(o.quantity, 1) END AS rentable,
        coalesce(o.is_home_region, FALSE) AS is_home,
        coalesce(a.node_size, 1) > 1 AND o.segment <> 'marketplace' AND o.price_scope = 'offer' AND o.accelerator_count >= a.node_size AS is_node
    FROM offer_days AS o
    JOIN days_to_build USING (day)
    LEFT JOIN reference.accelerators AS a USING (accelerator)
    WHERE o.own_why_not IS NULL
),

-- One machine lists its accelerators in several sizes at once: the largest is what can be rented. What is not known to be available is of no machine.
machines AS (
    SELECT
        day, provider, accelerator, pricing_model, commitment_days, source,
        any_value(segment) AS segment,
        list(usd_per_accelerator_hour) AS prices,
        list(usd_per_accelerator_hour) FILTER (WHERE is_home) AS home_prices,
        list(usd_per_accelerator_hour) FILTER (WHERE is_node) AS node_prices,
        list(usd_per_accelerator_hour) FILTER (WHERE is_home AND is_node) AS home_node_prices,
        min(usd_per_accelerator_hour) FILTER (WHERE available IS DISTINCT FROM FALSE) AS lowest,
        max(usd_per_accelerator_hour) AS highest,
        count(*) AS offers,
        count(*) FILTER (WHERE available) AS offers_available,
        count(*) FILTER (WHERE available IS NULL) AS offers_not_told,
        max(rentable) AS rentable,
        max(accelerator_count) AS largest_count,
        min(age_days) AS age_days,
        bool_or(is_bracketed) AS is_bracketed,
        list(DISTINCT source_kind) AS source_kinds
    FROM standing
    GROUP BY
        day, provider, accelerator, pricing_model, commitment_days, source,
        CASE WHEN rentable IS NOT NULL THEN struct_pack(machine := split_part(sku, '/', 1), region := region, zone := zone, tier := tier) END
),

told AS (
    SELECT
        day, provider, accelerator, pricing_model, commitment_days, source,
        any_value(segment) AS segment,
        flatten(list(prices)) AS prices,
        flatten(list(home_prices) FILTER (WHERE home_prices IS NOT NULL)) AS home_prices,
        flatten(list(node_prices) FILTER (WHERE node_prices IS NOT NULL)) AS node_prices,
        flatten(list(home_node_prices) FILTER (WHERE home_node_prices IS NOT NULL)) AS home_node_prices,
        min(lowest) AS lowest,
        max(highest) AS highest,
        CAST(sum(offers) AS BIGINT) AS offers,
        CAST(sum(offers_available) AS BIGINT) AS offers_available,
        CAST(sum(offers_not_told) AS BIGINT) AS offers_not_told,
        sum(rentable) AS accelerators_available,
        max(largest_count) AS largest_count,
        min(age_days) AS age_days,
        bool_or(is_bracketed) AS is_bracketed,
        list_sort(list_distinct(flatten(list(source_kinds)))) AS source_kinds
    FROM machines
    GROUP BY day, provider, accelerator, pricing_model, commitment_days, source
)

SELECT
    t.day,
    t.provider,
    t.segment,
    t.accelerator,
    t.pricing_model,
    t.commitment_days,
    t.lowest AS usd_per_accelerator_hour_min,
    -- Forty regions must not outvote one neocloud, nor eight sizes of a machine the node that people train on.
    CAST(list_aggregate(
        coalesce(t.home_node_prices, CASE WHEN t.home_prices IS NULL THEN t.node_prices END, t.home_prices, t.prices), 'median'
    ) AS DECIMAL(18, 9)) AS usd_per_accelerator_hour_median,
    t.highest AS usd_per_accelerator_hour_max,
    CAST(list_aggregate(t.prices, 'median') AS DECIMAL(18, 9)) AS usd_per_accelerator_hour_median_all_regions,
    t.offers,
    t.offers_available,
    t.offers_not_told,
    t.accelerators_available,
    t.largest_count,
    t.age_days,
    t.age_days > 0 AS is_carried,
    t.is_bracketed,
    t.source,
    t.source_kinds,
    s.terms
FROM told AS t
LEFT JOIN reference.sources AS s ON s.source = t.source
-- One source speaks for a provider: live API, live page, archived page, dataset, curated, fixture; an aggregator last.
QUALIFY row_number() OVER (
    PARTITION BY t.day, t.provider, t.accelerator, t.pricing_model, t.commitment_days
    ORDER BY
        -- Where a source of ours covers the provider, an aggregator's word does not count; curated rows and datasets resell nothing.
        coalesce(s.is_aggregator AND s.kind NOT IN ('curated', 'dataset'), FALSE),
        CASE
            WHEN list_contains(t.source_kinds, 'live') THEN CASE s.kind WHEN 'page' THEN 2 ELSE 1 END
            WHEN list_contains(t.source_kinds, 'archived_page') THEN 3
            WHEN list_contains(t.source_kinds, 'dataset') THEN 4
            WHEN list_contains(t.source_kinds, 'curated') THEN 5
            ELSE 6
        END,
        CASE s.kind WHEN 'page' THEN 2 ELSE 1 END,
        t.source
) = 1
ORDER BY t.day, t.accelerator, t.pricing_model, t.commitment_days, t.provider
