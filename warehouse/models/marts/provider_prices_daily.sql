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
WITH counted AS (
    SELECT
        o.day, o.provider, o.segment, o.accelerator, o.pricing_model, o.commitment_days, o.source, o.source_kind, o.sku, o.region, o.zone, o.tier,
        o.is_home_region, o.price_scope, o.accelerator_count, o.available, o.quantity, o.usd_per_accelerator_hour, o.age_days, o.is_bracketed,
        coalesce(a.node_size, 1) AS node_size, s.terms
    FROM offer_days AS o
    JOIN days_to_build USING (day)
    LEFT JOIN reference.sources AS s USING (source)
    LEFT JOIN reference.accelerators AS a USING (accelerator)
    WHERE o.own_why_not IS NULL
    -- One source speaks for a provider: live API, live page, archived page, dataset, curated, fixture; an aggregator last.
    QUALIFY o.source = first_value(o.source) OVER (
        PARTITION BY o.day, o.provider, o.accelerator, o.pricing_model, o.commitment_days
        ORDER BY
            -- Where a source of ours covers the provider, an aggregator's word does not count; curated rows and datasets resell nothing.
            coalesce(s.is_aggregator AND s.kind NOT IN ('curated', 'dataset'), FALSE),
            CASE o.source_kind
                WHEN 'live' THEN CASE s.kind WHEN 'page' THEN 2 ELSE 1 END
                WHEN 'archived_page' THEN 3
                WHEN 'dataset' THEN 4
                WHEN 'curated' THEN 5
                ELSE 6
            END,
            CASE s.kind WHEN 'page' THEN 2 ELSE 1 END,
            o.source
    )
),

-- Forty regions must not outvote one neocloud, nor eight sizes of a machine the node that people train on.
marked AS (
    SELECT
        *,
        coalesce(is_home_region, FALSE) AS is_home,
        node_size > 1 AND segment <> 'marketplace' AND price_scope = 'offer' AND accelerator_count >= node_size AS is_node,
        bool_or(coalesce(is_home_region, FALSE)) OVER series AS has_home,
        bool_or(node_size > 1 AND segment <> 'marketplace' AND price_scope = 'offer' AND accelerator_count >= node_size) OVER series AS has_node,
        bool_or(
            coalesce(is_home_region, FALSE)
            AND node_size > 1 AND segment <> 'marketplace' AND price_scope = 'offer' AND accelerator_count >= node_size
        ) OVER series AS has_home_node
    FROM counted
    WINDOW series AS (PARTITION BY day, provider, accelerator, pricing_model, commitment_days)
),

voting AS (
    SELECT
        *,
        CASE
            WHEN has_home_node THEN is_home AND is_node
            WHEN has_node AND NOT has_home THEN is_node
            WHEN has_home THEN is_home
            ELSE TRUE
        END AS is_voting
    FROM marked
),

-- One machine lists its accelerators in several sizes at once: the largest is what can be rented.
sized AS (
    SELECT
        *,
        CASE WHEN available THEN accelerator_count * coalesce(quantity, 1) END AS rentable,
        row_number() OVER (
            PARTITION BY day, provider, accelerator, pricing_model, commitment_days, split_part(sku, '/', 1), region, zone, tier
            ORDER BY rentable DESC NULLS LAST
        ) = 1 AS is_largest
    FROM voting
)

SELECT
    v.day,
    v.provider,
    any_value(v.segment) AS segment,
    v.accelerator,
    v.pricing_model,
    v.commitment_days,
    min(usd_per_accelerator_hour) FILTER (WHERE available IS DISTINCT FROM FALSE) AS usd_per_accelerator_hour_min,
    CAST(median(usd_per_accelerator_hour) FILTER (WHERE is_voting) AS DECIMAL(18, 9)) AS usd_per_accelerator_hour_median,
    max(usd_per_accelerator_hour) AS usd_per_accelerator_hour_max,
    CAST(median(usd_per_accelerator_hour) AS DECIMAL(18, 9)) AS usd_per_accelerator_hour_median_all_regions,
    count(*) AS offers,
    count(*) FILTER (WHERE available) AS offers_available,
    count(*) FILTER (WHERE available IS NULL) AS offers_not_told,
    sum(v.rentable) FILTER (WHERE v.is_largest) AS accelerators_available,
    max(v.accelerator_count) AS largest_count,
    min(age_days) AS age_days,
    min(age_days) > 0 AS is_carried,
    bool_or(is_bracketed) AS is_bracketed,
    any_value(v.source) AS source,
    list_sort(list_distinct(list(v.source_kind))) AS source_kinds,
    any_value(v.terms) AS terms
FROM sized AS v
GROUP BY v.day, v.provider, v.accelerator, v.pricing_model, v.commitment_days
ORDER BY v.day, v.accelerator, v.pricing_model, v.commitment_days, v.provider
