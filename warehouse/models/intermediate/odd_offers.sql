-- Offers that are odd beside the others of their snapshot: what keeps them out of the aggregates, or what is to be known of them.
-- grain: day, snapshot_id, parser_version, ordinal
-- partition: read
-- inputs: intermediate.asked_offers
-- columns:
--   day: UTC date on which the price was seen.
--   snapshot_id: Collection it was seen in.
--   parser_version: Version of the parser that read it.
--   ordinal: Place in that collection.
--   odd_why_not: What keeps it out; null for nothing.
--   remark: What is odd about it, though it counts; null for nothing.
WITH offers AS (
    SELECT
        h.day, h.snapshot_id, h.parser_version, h.ordinal, h.source, h.provider, h.segment, h.sku, h.accelerator, h.model,
        h.accelerator_count, h.pricing_model,
        h.commitment_days, h.tier, h.region, h.zone, h.price, h.currency, h.per, h.price_scope, h.interconnect, h.lowest_usd_per_hour,
        CAST(h.price_per_hour AS DOUBLE) AS price_per_hour
    FROM intermediate.asked_offers AS h
    JOIN days_to_build USING (day)
    WHERE h.duplicate_of IS NULL AND h.pricing_model <> 'floor'
),

on_demand AS (
    SELECT
        snapshot_id, parser_version, provider, sku, region, currency, price_scope, coalesce(accelerator_count, 0) AS accelerators,
        concat_ws('/', coalesce(zone, ''), coalesce(tier, ''), coalesce(interconnect, '')) AS place,
        min(price_per_hour) AS on_demand_per_hour
    FROM offers
    WHERE pricing_model = 'on_demand'
    GROUP BY ALL
),

-- Prices at a discount, as a share of the price on demand of the same thing.
discounted AS (
    SELECT
        o.day, o.snapshot_id, o.parser_version, o.ordinal, o.provider, o.pricing_model, o.commitment_days,
        price_per_hour / on_demand_per_hour AS share
    FROM offers AS o
    JOIN on_demand AS d
        ON d.snapshot_id = o.snapshot_id AND d.parser_version = o.parser_version
        AND d.provider = o.provider AND d.sku = o.sku AND d.region = o.region AND d.currency = o.currency
        AND d.price_scope = o.price_scope AND d.accelerators = coalesce(o.accelerator_count, 0)
        AND d.place = concat_ws('/', coalesce(o.zone, ''), coalesce(o.tier, ''), coalesce(o.interconnect, ''))
    WHERE o.pricing_model IN ('spot', 'reserved')
),

usual_shares AS (
    SELECT
        *,
        count(*) OVER alike AS n_discounted,
        count(*) FILTER (share = 1) OVER alike AS n_repeated,
        median(share) OVER alike AS usual_share
    FROM discounted
    WINDOW alike AS (PARTITION BY snapshot_id, parser_version, provider, pricing_model, commitment_days)
),

shares AS (
    SELECT
        *,
        count(*) FILTER (abs(share / usual_share - 1) < 0.005)
            OVER (PARTITION BY snapshot_id, parser_version, provider, pricing_model, commitment_days) AS n_usual
    FROM usual_shares
),

odd_discounts AS (
    SELECT
        day,
        snapshot_id,
        parser_version,
        ordinal,
        CASE
            WHEN pricing_model = 'spot' AND share = 1 AND n_repeated >= 3 AND n_repeated >= 0.9 * n_discounted
                THEN format('repeats the price on demand, as {} of {} spot prices here do: no spot price is told', n_repeated, n_discounted)
            WHEN pricing_model = 'spot' AND share NOT BETWEEN 0.02 AND 4 OR pricing_model = 'reserved' AND share NOT BETWEEN 0.1 AND 1.5
                THEN format('{:.4g} times the price on demand: not in one unit with it', share)
        END AS odd_why_not,
        CASE
            WHEN pricing_model = 'spot' AND share >= 1 THEN format('spot at {:.4g} times the price on demand', share)
            WHEN pricing_model = 'spot' AND n_discounted >= 5 AND n_usual >= 0.9 * n_discounted AND abs(share / usual_share - 1) < 0.005
                THEN format(
                    'spot at {:.4g} % of the price on demand, as {} of {} here: a discount that is set, not a price that moves',
                    100 * share, n_usual, n_discounted
                )
        END AS remark
    FROM shares
),

-- Round amounts that stand in for a price: one of them for parts that cannot cost the same.
placeholders AS (
    SELECT snapshot_id, parser_version, provider, price, currency, per, count(DISTINCT model) AS n_models
    FROM offers
    WHERE price IN (0.01, 0.1, 0.5, 1, 9.99, 10, 99, 99.99, 100, 999, 999.99, 1000, 9999, 9999.99, 10000, 99999, 99999.99, 100000, 999999, 999999.99)
        AND (price_scope <> 'offer' OR accelerator_count = 1)
    GROUP BY ALL
    HAVING count(DISTINCT model) >= 3 AND max(lowest_usd_per_hour) >= 3 * min(lowest_usd_per_hour)
),

-- A price that does not grow with the machine is that of one accelerator, or of none. Hosts of a marketplace may agree by chance.
sizes AS (
    SELECT
        day, snapshot_id, parser_version, ordinal, accelerator_count,
        min(accelerator_count) OVER (
            PARTITION BY
                snapshot_id, parser_version, provider, accelerator, pricing_model, commitment_days, tier, region, zone, interconnect,
                currency, per, price
        ) AS smallest_count
    FROM offers
    WHERE price_scope = 'offer' AND segment <> 'marketplace' AND accelerator IS NOT NULL AND accelerator_count > 0
),

odd AS (
    SELECT day, snapshot_id, parser_version, ordinal, odd_why_not, remark
    FROM odd_discounts
    UNION ALL
    SELECT
        day, snapshot_id, parser_version, ordinal,
        format('{:.9g} is asked for {} different parts: it stands in for a price', CAST(price AS DOUBLE), n_models) AS odd_why_not,
        NULL AS remark
    FROM offers
    JOIN placeholders USING (snapshot_id, parser_version, provider, price, currency, per)
    UNION ALL
    SELECT
        day, snapshot_id, parser_version, ordinal,
        format('the price of {:.4g} accelerators is that of {:.4g}', CAST(accelerator_count AS DOUBLE), CAST(smallest_count AS DOUBLE)) AS odd_why_not,
        NULL AS remark
    FROM sizes
    WHERE accelerator_count >= 2 * smallest_count
)

SELECT
    day,
    snapshot_id,
    parser_version,
    ordinal,
    string_agg(odd_why_not, '; ' ORDER BY odd_why_not) AS odd_why_not,
    string_agg(remark, '; ' ORDER BY remark) AS remark
FROM odd
WHERE odd_why_not IS NOT NULL OR remark IS NOT NULL
GROUP BY day, snapshot_id, parser_version, ordinal
ORDER BY day, snapshot_id, parser_version, ordinal
