-- Every offer seen, with its price in US dollars per hour and what keeps it out of the aggregates.
-- grain: snapshot_id, ordinal
-- partition: view
-- inputs: intermediate.hourly_offers, intermediate.odd_offers, reference.known_errors
-- columns:
--   day: UTC date on which the price was seen.
--   observed_at: When it was seen, UTC.
--   snapshot_id: Collection it was seen in.
--   ordinal: Place in that collection.
--   source: Source module.
--   source_kind: live, fixture, archived_page, dataset or curated.
--   provider: Key of the provider.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   sku: The provider's own name for the thing.
--   offer_key: What history follows.
--   accelerator_name: As printed.
--   accelerator: Key of the accelerator.
--   vendor: Who makes it.
--   model: Model.
--   form_factor: Form factor.
--   memory_gb: Memory of each accelerator.
--   accelerator_count: Accelerators in the offer.
--   pricing_model: on_demand, spot, reserved, flex or floor.
--   commitment_days: Days bound.
--   tier: The provider's own class.
--   region: As printed.
--   zone: As printed.
--   country: ISO 3166 alpha-2.
--   is_home_region: Whether the region is one of the provider's home regions.
--   price: As printed, in whole units of the currency.
--   currency: ISO 4217.
--   per: Unit of time of the price.
--   price_scope: What the price covers.
--   usd_per_hour: US dollars per hour of the whole offer; null where the count or the rate is unknown.
--   usd_per_accelerator_hour: US dollars per accelerator and hour.
--   fx_date: Date of the exchange rate; null for dollars.
--   available: Rentable when seen; null is not told.
--   quantity: How many were rentable; null is not told.
--   vcpus: Virtual processors.
--   ram_gb: Memory of the machine.
--   interconnect: As printed.
--   effective_at: From when the price holds.
--   is_good: The snapshot counts.
--   is_whole: The snapshot lists everything on offer.
--   duplicate_of: Ordinal of the offer that stands for this one in its snapshot.
--   own_why_not: What in the offer itself, or its snapshot, keeps it out of the aggregates; null for nothing.
--   own_remark: What is odd about it, though it counts.
SELECT
    h.* EXCLUDE (
        parser_version, is_unproven, verdict_reason, usd_per_unit, lowest_usd_per_hour, highest_usd_per_hour, words_why_not
    ),
    nullif(concat_ws(
        '; ',
        CASE
            WHEN NOT is_good AND verdict_reason <> '' THEN 'snapshot withheld: ' || verdict_reason
            WHEN NOT is_good AND source_kind = 'fixture' THEN 'a fixture that a live snapshot has replaced'
            WHEN NOT is_good THEN 'told otherwise by its source since'
        END,
        CASE WHEN duplicate_of IS NOT NULL THEN 'the same offer stands in this snapshot, more recent or at a lower or equal price' END,
        CASE WHEN is_unproven THEN 'source not proven by a real answer yet' END,
        words_why_not,
        CASE WHEN is_good AND usd_per_unit IS NULL THEN 'no exchange rate for ' || currency || ' within 45 days' END,
        CASE WHEN effective_at > day THEN 'holds only from ' || effective_at END,
        CASE
            WHEN usd_per_accelerator_hour NOT BETWEEN lowest_usd_per_hour AND highest_usd_per_hour
                THEN format('outside what this part can cost, {} to {} USD an hour', lowest_usd_per_hour, highest_usd_per_hour)
        END,
        'a known mistake of ' || in_source || ': ' || mistake,
        o.odd_why_not
    ), '') AS own_why_not,
    o.remark AS own_remark
FROM intermediate.hourly_offers AS h
LEFT JOIN intermediate.odd_offers AS o USING (day, snapshot_id, parser_version, ordinal)
LEFT JOIN reference.known_errors AS k
    ON k.in_source = h.source AND h.day BETWEEN k.first_day AND k.last_day AND h.sku LIKE k.sku_pattern
    AND h.region = coalesce(k.in_region, h.region) AND h.pricing_model = coalesce(k.of_pricing_model, h.pricing_model)
