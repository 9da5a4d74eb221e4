-- Every offer's prices one after the other: one row for each unbroken run of an unchanged price in its printed currency.
-- A gap in collection ends no run; two whole collections in a row without the offer do. Periods are half open, and never overlap.
-- grain: offer_key, series, valid_from
-- partition: view
-- inputs: intermediate.price_steps, intermediate.last_sightings, reference.sources
-- columns:
--   offer_key: What history follows: the words that tell one offer from another.
--   series: List of the source that the offer stands in: whole, or a part of a dataset.
--   valid_from: When the price was first seen, UTC.
--   valid_to: When another price was first seen, or the first whole collection without the offer, UTC; null while it stands.
--   last_seen_at: When the price was last seen, UTC.
--   began_as: How it came: up, down, new; first where nothing tells what was before.
--   ended_as: How it ended: up, down, gone; null while it stands.
--   price: As printed, in whole units of the currency.
--   currency: ISO 4217.
--   per: Unit of time of the price.
--   price_scope: What the price covers.
--   source: Source module.
--   source_kinds: Kinds of the first and the last collection with it: archived_page before live is a back-series that runs into a live one.
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
WITH runs AS (
    SELECT
        *,
        lead(changed_at) OVER offer AS valid_to,
        lead(step) OVER offer AS ended_as,
        lead(seen_before_at) OVER offer AS last_seen_at,
        lead(source_kind_before) OVER offer AS last_source_kind
    FROM intermediate.price_steps
    WINDOW offer AS (PARTITION BY offer_key, series ORDER BY changed_at)
)

SELECT
    r.offer_key,
    r.series,
    r.changed_at AS valid_from,
    r.valid_to,
    coalesce(r.last_seen_at, l.last_seen_at) AS last_seen_at,
    r.step AS began_as,
    r.ended_as,
    r.price_after AS price,
    r.currency,
    r.per,
    r.price_scope,
    r.source,
    list_sort(list_distinct([r.source_kind, coalesce(r.last_source_kind, l.source_kind)])) AS source_kinds,
    s.terms,
    r.provider,
    r.segment,
    r.sku,
    r.accelerator_name,
    r.accelerator,
    r.accelerator_count,
    r.pricing_model,
    r.commitment_days,
    r.tier,
    r.region,
    r.zone,
    r.country
FROM runs AS r
LEFT JOIN intermediate.last_sightings AS l ON r.valid_to IS NULL AND l.offer_key = r.offer_key AND l.series = r.series
LEFT JOIN reference.sources AS s ON s.source = r.source
WHERE r.step <> 'gone'
