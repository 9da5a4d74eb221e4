-- How prices moved, like held against like: a matched-model chained Jevons index in two stages. Inside a provider the geometric mean over
-- its cells, each held against its own last price; then equal weight over the providers of the segment. Who comes or goes never moves it.
-- grain: day, accelerator, pricing_model, segment
-- partition: view
-- inputs: intermediate.matched_pairs, intermediate.index_parameters
-- columns:
--   day: UTC date. A day without any price has no row.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex; terms of a reservation are cells of their own.
--   segment: hyperscaler, neocloud, marketplace, aggregator, other, or all.
--   chain_id: Number of the chain, from 1; levels of two chains can't be compared.
--   chain_started_on: First day of the chain.
--   price_index: 100 on the first day of the chain.
--   change_percent: Against the row before in the chain; null on its first day.
--   n_providers: Providers with a matched price, whose changes are averaged.
--   n_providers_new: Providers that are priced and could not be matched.
--   n_providers_seen: Providers of which a price was seen on this day; the others' are carried.
--   cells_matched: Cells behind the change: SKUs in regions, medians of marketplaces.
--   cells_screened: Cells left out because they moved by more than a price can.
--   parameters_version: Version of the parameters that it was made with.
WITH providers AS (
    SELECT
        day,
        provider,
        segment,
        accelerator,
        pricing_model,
        sum(cells_seen) AS cells_seen,
        sum(cells_matched) AS cells_matched,
        sum(cells_screened) AS cells_screened,
        -- Terms of different length are cells of one provider.
        CAST(
            sum(CAST(mean_log_relative * cells_matched AS DECIMAL(30, 12))) / nullif(sum(cells_matched), 0) AS DECIMAL(18, 12)
        ) AS log_relative,
        any_value(parameters_version) AS parameters_version
    FROM intermediate.matched_pairs
    GROUP BY day, provider, segment, accelerator, pricing_model
),

segments AS (
    SELECT *
    FROM providers
    UNION ALL
    SELECT * REPLACE ('all' AS segment)
    FROM providers
),

changes AS (
    SELECT
        day,
        accelerator,
        pricing_model,
        segment,
        CAST(avg(log_relative) AS DECIMAL(18, 12)) AS log_change,
        count(log_relative) AS n_providers,
        count(*) - count(log_relative) AS n_providers_new,
        count(*) FILTER (cells_seen > 0) AS n_providers_seen,
        CAST(sum(cells_matched) AS BIGINT) AS cells_matched,
        CAST(sum(cells_screened) AS BIGINT) AS cells_screened,
        any_value(parameters_version) AS parameters_version
    FROM segments
    GROUP BY day, accelerator, pricing_model, segment
),

-- Where nobody is matched, all that is priced is new: a chain ends and the next one starts.
chains AS (
    SELECT
        *,
        CAST(sum(CASE WHEN log_change IS NULL THEN 1 ELSE 0 END) OVER series AS INTEGER) AS chain_id,
        sum(log_change) OVER series AS log_level
    FROM changes
    WINDOW series AS (PARTITION BY accelerator, pricing_model, segment ORDER BY day)
),

levels AS (
    SELECT
        *,
        first_value(day) OVER chain AS chain_started_on,
        coalesce(log_level, 0) - coalesce(first_value(log_level) OVER chain, 0) AS log_in_chain
    FROM chains
    WINDOW chain AS (PARTITION BY accelerator, pricing_model, segment, chain_id ORDER BY day)
)

SELECT
    day,
    accelerator,
    pricing_model,
    segment,
    chain_id,
    chain_started_on,
    p.base * exp(CAST(log_in_chain AS DOUBLE)) AS price_index,
    100 * (exp(CAST(log_change AS DOUBLE)) - 1) AS change_percent,
    n_providers,
    n_providers_new,
    n_providers_seen,
    cells_matched,
    cells_screened,
    levels.parameters_version
FROM levels
CROSS JOIN intermediate.index_parameters AS p
