-- From when to when each accelerator is listed on each named basis.
-- grain: accelerator, basis
-- partition: none
-- inputs: series_spans, reference.price_bases
-- columns:
--   accelerator: Key of the accelerator.
--   basis: Name of the basis; provider:<id> for one provider's own price.
--   first_day: UTC date on which it was first listed.
--   last_day: UTC date on which it was last listed.
--   ledger_day: The newest day of the ledger.
SELECT s.accelerator, b.basis, min(s.first_day) AS first_day, max(s.last_day) AS last_day, max(s.ledger_day) AS ledger_day
FROM series_spans AS s
JOIN reference.price_bases AS b ON b.pricing_model = s.pricing_model AND b.commitment_days = s.commitment_days AND b.segment IN ('all', s.segment)
GROUP BY s.accelerator, b.basis
UNION ALL
SELECT accelerator, 'provider:' || provider AS basis, min(first_day), max(last_day), max(ledger_day)
FROM series_spans
WHERE pricing_model = 'on_demand' AND commitment_days = 0 OR pricing_model = 'reserved' AND commitment_days <= 31
GROUP BY accelerator, provider
ORDER BY accelerator, basis
