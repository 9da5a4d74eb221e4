-- How each provider's prices of a part moved on each day, like held against like: cells that are priced on this day and were before.
-- A cell is a SKU in a region; on a marketplace, whose ads come and go, the median of five or more ads of a tier and country.
-- What the price index and the parts of a cost's change are made of.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: day
-- inputs: index_cells, intermediate.cell_departures, intermediate.index_parameters
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cells: Cells priced on this day, seen or carried.
--   cells_seen: Of these, seen on this day.
--   cells_matched: Of these, priced before too; one that comes back is held against its last price for as long as the parameters say.
--   cells_changed: Of these, at another price than last.
--   cells_screened: Cells that moved by more than a price can; they count as new.
--   mean_log_relative: Mean over the matched cells of ln(price / last price); null where none is matched.
--   parameters_version: Version of the parameters that it was made with.
WITH away AS (
    SELECT accelerator, cell, max(day) - 1 AS last_day, arg_max(last_price, day) AS last_price
    FROM intermediate.cell_departures
    CROSS JOIN intermediate.index_parameters
    WHERE day BETWEEN (SELECT min(day) FROM days_to_build) - return_days AND (SELECT min(day) FROM days_to_build)
    GROUP BY accelerator, cell
),

pairs AS (
    SELECT
        c.* EXCLUDE (previous_day, previous_price, next_day),
        p.relative_limit,
        p.parameters_version,
        CASE WHEN coalesce(c.previous_day, a.last_day) >= c.day - p.return_days THEN coalesce(c.previous_price, a.last_price) END AS last_price
    FROM index_cells AS c
    JOIN days_to_build USING (day)
    CROSS JOIN intermediate.index_parameters AS p
    -- What was away on the eve of the days to build.
    LEFT JOIN away AS a ON a.accelerator = c.accelerator AND a.cell = c.cell AND c.previous_day IS NULL
),

relatives AS (
    SELECT
        *,
        -- Decimals add up to the same in whatever order.
        CAST(ln(price / last_price) AS DECIMAL(18, 12)) AS log_relative,
        greatest(price / last_price, last_price / price) > relative_limit AS is_screened
    FROM pairs
)

SELECT
    day,
    provider,
    any_value(segment) AS segment,
    accelerator,
    pricing_model,
    commitment_days,
    count(*) AS cells,
    count(*) FILTER (is_seen) AS cells_seen,
    count(log_relative) FILTER (NOT is_screened) AS cells_matched,
    count(*) FILTER (NOT is_screened AND log_relative <> 0) AS cells_changed,
    count(*) FILTER (is_screened) AS cells_screened,
    avg(log_relative) FILTER (NOT is_screened) AS mean_log_relative,
    any_value(parameters_version) AS parameters_version
FROM relatives
GROUP BY day, provider, accelerator, pricing_model, commitment_days
ORDER BY day, accelerator, pricing_model, commitment_days, provider
