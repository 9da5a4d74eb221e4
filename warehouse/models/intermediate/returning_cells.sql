-- Cells seen on a day that the whole snapshot before does not have: new, back, or of a source that shows parts only.
-- grain: day, provider, accelerator, pricing_model, commitment_days, cell
-- partition: transient
-- inputs: standing_cells, previous_cells
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cell: Which cell of these.
--   source: The source that counts.
--   offer_key: An offer of the cell.
SELECT c.day, c.provider, c.segment, c.accelerator, c.pricing_model, c.commitment_days, c.cell, c.source, c.offer_key
FROM standing_cells AS c
ANTI JOIN previous_cells AS p USING (day, provider, accelerator, pricing_model, commitment_days, cell, source)
WHERE c.age_days = 0
