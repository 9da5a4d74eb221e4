-- From when to when each provider lists a price of an accelerator, in collections that count. A table of its own, since views read more.
-- grain: provider, segment, accelerator, pricing_model, commitment_days
-- partition: transient
-- inputs: intermediate.listed_series, staging.snapshots
-- columns:
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   first_day: UTC date on which it was first seen.
--   last_day: UTC date on which it was last seen.
--   ledger_day: The newest day of the ledger.
SELECT
    l.provider, l.segment, l.accelerator, l.pricing_model, l.commitment_days, min(l.day) AS first_day, max(l.day) AS last_day,
    (SELECT max(observed_day) FROM staging.snapshots WHERE is_good AND offers > 0) AS ledger_day
FROM intermediate.listed_series AS l
JOIN staging.snapshots AS s USING (snapshot_id, parser_version)
WHERE s.is_good AND NOT s.is_unproven
GROUP BY l.provider, l.segment, l.accelerator, l.pricing_model, l.commitment_days
