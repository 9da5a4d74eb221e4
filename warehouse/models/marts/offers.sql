-- Every offer seen in a snapshot, as printed and with its meaning.
-- grain: snapshot_id, ordinal
-- partition: view
-- inputs: intermediate.priced_offers, intermediate.preferred_sources, reference.sources
-- columns:
--   day: UTC date on which the price was seen.
--   observed_at: When it was seen, UTC.
--   snapshot_id: Collection it was seen in.
--   ordinal: Place in that collection.
--   source: Source module.
--   source_kind: live, fixture, archived_page, dataset or curated.
--   provider: Key of the provider; an aggregator's upstream where it names one.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   sku: The provider's own stable name for the thing.
--   offer_key: Hash of the words that tell one offer from another; what history follows.
--   accelerator_name: As printed.
--   accelerator: Key of the accelerator, such as h100-sxm-80gb; null where the words do not tell.
--   vendor: Who makes it.
--   model: Model.
--   form_factor: sxm, pcie, nvl, oam, superchip, mobile, unstated; null where the part has none.
--   memory_gb: Memory of each accelerator, GB.
--   accelerator_count: Accelerators in the offer, fractional for slices.
--   pricing_model: on_demand, spot, reserved, flex or floor.
--   commitment_days: Days bound; 0 for on-demand and spot.
--   tier: The provider's own class.
--   region: As printed; global where the page names none.
--   zone: As printed.
--   country: ISO 3166 alpha-2, where known.
--   price: As printed, in whole units of the currency.
--   currency: ISO 4217.
--   per: Unit of time of the price.
--   price_scope: offer (the whole machine), accelerator (each), component (accelerator only).
--   usd_per_hour: US dollars per hour of the whole offer, at the day's rate; a month is 730 hours.
--   usd_per_accelerator_hour: US dollars per accelerator and hour.
--   fx_date: Date of the exchange rate; null for dollars.
--   available: Rentable when seen; null is not told.
--   quantity: How many were rentable; null is not told.
--   vcpus: Virtual processors of the machine.
--   ram_gb: Memory of the machine, GB.
--   interconnect: As printed.
--   effective_at: From when the price holds, where the page says so.
--   index_eligible: It enters the aggregates.
--   why_not: Why it does not; of one that does, after "counts", what is odd about it; null for nothing.
--   dataset: Published history that it is out of; null for what we saw ourselves.
--   terms: What the source's terms or the dataset's licence say.
SELECT
    p.* EXCLUDE (is_home_region, is_good, is_whole, duplicate_of, own_why_not, own_remark),
    own_why_not IS NULL AND coalesce(source = preferred_source, TRUE) AS index_eligible,
    nullif(concat_ws(
        '; ',
        coalesce(
            own_why_not,
            CASE
                WHEN source <> preferred_source THEN 'for this provider and day ' || preferred_source || ' counts'
                WHEN own_remark IS NOT NULL THEN 'counts'
            END
        ),
        own_remark
    ), '') AS why_not,
    CASE WHEN source_kind = 'dataset' THEN source END AS dataset,
    s.terms
FROM intermediate.priced_offers AS p
LEFT JOIN intermediate.preferred_sources USING (day, provider, accelerator, pricing_model, commitment_days)
LEFT JOIN (SELECT source, terms FROM reference.sources) AS s USING (source)
