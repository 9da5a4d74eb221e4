-- What each collection lists a price of, by whatever version of its parser; whether it counts is for the snapshot's verdict to say.
-- grain: day, snapshot_id, parser_version, provider, accelerator, pricing_model, commitment_days
-- partition: read
-- inputs: intermediate.asked_offers
-- columns:
--   day: UTC date on which it was seen.
--   snapshot_id: Collection.
--   parser_version: Version of the parser that read it.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
SELECT
    o.day, o.snapshot_id, o.parser_version, o.provider, any_value(o.segment) AS segment, o.accelerator, o.pricing_model, o.commitment_days
FROM intermediate.asked_offers AS o
JOIN days_to_build USING (day)
WHERE o.words_why_not IS NULL AND o.duplicate_of IS NULL
GROUP BY o.day, o.snapshot_id, o.parser_version, o.provider, o.accelerator, o.pricing_model, o.commitment_days
ORDER BY o.day, o.snapshot_id, o.provider, o.accelerator
