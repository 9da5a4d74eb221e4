-- Published training costs, each recomputed from its own stated inputs, with the error and how much that proves.
-- grain: published_cost
-- partition: none
-- inputs: reference.published_costs, intermediate.recomputed_estimates
-- columns:
--   published_cost: Id of the estimate.
--   run: Id of our run; null where it is none of ours.
--   name: What was priced.
--   published_by: Who published it.
--   published_on: When.
--   published_usd: The figure, in the dollars of its publisher.
--   published_low_usd: Lower end, where one was published.
--   published_high_usd: Upper end.
--   recomputed_usd: What its inputs give; null where they are not published.
--   recomputed_low_usd: Lower end.
--   recomputed_high_usd: Upper end.
--   error: Recomputed over published, less one; of the end that is further off where only ends are published.
--   class: independent (hours and price stated apart from the result), price_read_back (price found from the result), reconstructed, or band.
--   tolerance: Largest relative error that its own rounding explains.
--   is_within_tolerance: The error is no larger; for a band both ends. Null where nothing could be recomputed.
--   method: hours x price, FLOP route, cloud (Epoch AI's, deflated) or amortised (hardware written off, plus energy).
--   derivation: The arithmetic.
--   verified: How well the published figure and its inputs are known: yes, partly or memory.
--   note: What to know about it.
--   source: Where it was published.
--   source_url: Address.
WITH sides AS (
    SELECT
        estimate AS published_cost,
        max(recomputed) FILTER (side = 'low') AS recomputed_low_usd,
        max(recomputed) FILTER (side = 'mid') AS recomputed_usd,
        max(recomputed) FILTER (side = 'high') AS recomputed_high_usd,
        string_agg(derivation, '; ' ORDER BY list_position(['low', 'mid', 'high'], side)) AS derivation
    FROM intermediate.recomputed_estimates
    GROUP BY estimate
),

errors AS (
    SELECT
        *,
        recomputed_usd / published_usd - 1 AS mid_error,
        recomputed_low_usd / published_low_usd - 1 AS low_error,
        recomputed_high_usd / published_high_usd - 1 AS high_error,
        CASE WHEN abs(low_error) > abs(high_error) THEN low_error ELSE high_error END AS worst_end
    FROM reference.published_costs
    LEFT JOIN sides USING (published_cost)
)

SELECT
    published_cost,
    run,
    name,
    published_by,
    published_on,
    CAST(published_usd AS DOUBLE) AS published_usd,
    CAST(published_low_usd AS DOUBLE) AS published_low_usd,
    CAST(published_high_usd AS DOUBLE) AS published_high_usd,
    recomputed_usd,
    recomputed_low_usd,
    recomputed_high_usd,
    CASE WHEN class = 'band' THEN worst_end ELSE coalesce(mid_error, worst_end) END AS error,
    class,
    tolerance,
    abs(CASE WHEN class = 'band' THEN worst_end ELSE coalesce(mid_error, worst_end) END) <= tolerance AS is_within_tolerance,
    method,
    derivation,
    verified,
    note,
    source,
    source_url
FROM errors
ORDER BY published_on, published_cost
