-- What changed on the market: offers that came, went, rose and fell, in their printed currency.
-- What was there from a source's first collection on is no news, and only a source that lists everything on offer tells of comings and goings.
-- grain: day, offer_key, series, changed_at
-- partition: view
-- inputs: intermediate.price_steps, reference.sources
-- columns:
--   day: UTC date of the collection that showed it; of what is gone, the second one without it.
--   changed_at: When it was first seen so, UTC; of what is gone, the first collection without it.
--   change: new, gone, up or down.
--   offer_key: What history follows.
--   series: List of the source that the offer stands in: whole, or a part of a dataset.
--   source: Source module.
--   source_kind: Kind of the collection: live, fixture, archived_page, dataset or curated.
--   source_kind_before: Kind of the last collection with the price before, where it is another: a change between a back-series and a live one.
--   terms: What the source's terms say about reading it.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   sku: The provider's own stable name for the thing.
--   accelerator_name: As printed.
--   accelerator: Key of the accelerator; null where the words do not tell.
--   accelerator_count: Accelerators in the offer.
--   pricing_model: on_demand, spot, reserved, flex or floor.
--   commitment_days: Days bound; 0 for none.
--   tier: The provider's own class.
--   region: As printed.
--   zone: As printed.
--   country: ISO 3166 alpha-2, where known.
--   price_before: Price before, as printed; null for what is new.
--   price_after: Price after, as printed; null for what is gone.
--   change_percent: By how much it rose (positive) or fell, per cent; null for what is new or gone.
--   currency: ISO 4217.
--   per: Unit of time of the prices.
--   price_scope: What the prices cover.
--   seen_before_at: When the price before was last seen, UTC: the change came after that.
SELECT
    p.day,
    p.changed_at,
    p.step AS change,
    p.offer_key,
    p.series,
    p.source,
    p.source_kind,
    nullif(p.source_kind_before, p.source_kind) AS source_kind_before,
    s.terms,
    p.provider,
    p.segment,
    p.sku,
    p.accelerator_name,
    p.accelerator,
    p.accelerator_count,
    p.pricing_model,
    p.commitment_days,
    p.tier,
    p.region,
    p.zone,
    p.country,
    p.price_before,
    p.price_after,
    round(100 * (CAST(p.price_after AS DOUBLE) / CAST(p.price_before AS DOUBLE) - 1), 3) AS change_percent,
    p.currency,
    p.per,
    p.price_scope,
    p.seen_before_at
FROM intermediate.price_steps AS p
LEFT JOIN reference.sources AS s ON s.source = p.source
WHERE p.step <> 'first'
