-- Published estimates and claims multiplied out again from their own stated inputs.
-- grain: estimate, side
-- partition: none
-- inputs: reference.estimate_inputs
-- columns:
--   estimate: Id of the claim or published cost.
--   side: low, mid or high.
--   recomputed: Product of the inputs.
--   derivation: The same in words.
SELECT
    estimate,
    side,
    product(value ** power) AS recomputed,
    string_agg(
        CASE WHEN position = 1 THEN '' WHEN power > 0 THEN ' x ' ELSE ' / ' END
        || CASE
            WHEN abs(value) >= 1e12 THEN format('{:.5g}', CAST(value AS DOUBLE))
            WHEN value = floor(value) THEN format('{:,}', CAST(value AS BIGINT))
            ELSE CAST(value AS VARCHAR)
        END
        || ' ' || coalesce(unit || ' ', '') || '(' || factor || ')',
        '' ORDER BY position
    ) AS derivation
FROM reference.estimate_inputs
GROUP BY estimate, side
ORDER BY estimate, side
