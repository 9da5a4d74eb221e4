-- The questions that started this: what was claimed, what its own inputs give, what this ledger gives for the same run, and what explains the difference.
-- grain: claim
-- partition: none
-- inputs: reference.claims, intermediate.recomputed_estimates, training_costs
-- columns:
--   claim: Id of the claim.
--   topic: What it is about.
--   statement: The claim or question.
--   claimed_by: Who made it.
--   claimed_on: When.
--   unit: Unit of claimed and recomputed.
--   claimed_low: Lower end of what was claimed; the floor of an "at least".
--   claimed: What was claimed; null where nothing was.
--   claimed_high: Upper end; the ceiling of a "less than".
--   recomputed_low: Lower end of what its inputs give.
--   recomputed: What its inputs give; null where it can't be recomputed.
--   recomputed_high: Upper end.
--   difference: Recomputed over claimed, less one; over the floor or the ceiling where only that was claimed.
--   verdict: holds, differs, not_met, derived (nothing was claimed), not_recomputable; yes or no for a question.
--   why: What explains it.
--   derivation: The arithmetic.
--   run: Id of our run; null where it is about none.
--   ledger_basis: Basis of the ledger's own figure.
--   ledger_day: Day of its prices: the nearest to the claim that has one.
--   ledger_priced_on: Part whose price was used.
--   ledger_usd_low: Lower end of what the run cost by reported hours at that price.
--   ledger_usd_mid: What it cost.
--   ledger_usd_high: Upper end.
--   source: Where the claim is from.
--   source_url: Address.
WITH sides AS (
    SELECT
        estimate AS claim,
        max(recomputed) FILTER (side = 'low') AS recomputed_low,
        max(recomputed) FILTER (side = 'mid') AS recomputed,
        max(recomputed) FILTER (side = 'high') AS recomputed_high,
        string_agg(derivation, '; ' ORDER BY list_position(['low', 'mid', 'high'], side)) AS derivation
    FROM intermediate.recomputed_estimates
    GROUP BY estimate
),

priced AS (
    SELECT c.claim, t.basis, t.day, t.priced_on, t.cost_usd_low, t.cost_usd_mid, t.cost_usd_high
    FROM reference.claims AS c
    JOIN training_costs AS t USING (run)
    WHERE t.as_run AND t.basis = 'hyperscaler_median' AND t.cost_usd_mid IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY c.claim ORDER BY abs(date_diff('day', c.claimed_on, t.day)), t.day) = 1
)

SELECT
    c.claim,
    c.topic,
    c.statement,
    c.claimed_by,
    c.claimed_on,
    c.unit,
    CAST(c.claimed_low AS DOUBLE) AS claimed_low,
    CAST(c.claimed AS DOUBLE) AS claimed,
    CAST(c.claimed_high AS DOUBLE) AS claimed_high,
    s.recomputed_low,
    s.recomputed,
    s.recomputed_high,
    s.recomputed / coalesce(c.claimed, c.claimed_low, c.claimed_high) - 1 AS difference,
    c.verdict,
    c.why,
    s.derivation,
    c.run,
    p.basis AS ledger_basis,
    p.day AS ledger_day,
    p.priced_on AS ledger_priced_on,
    p.cost_usd_low AS ledger_usd_low,
    p.cost_usd_mid AS ledger_usd_mid,
    p.cost_usd_high AS ledger_usd_high,
    c.source,
    c.source_url
FROM reference.claims AS c
LEFT JOIN sides AS s USING (claim)
LEFT JOIN priced AS p USING (claim)
ORDER BY c.topic, c.claim
