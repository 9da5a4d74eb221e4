-- What is on offer now: the newest day's standing offers, each with its age.
-- grain: offer_key
-- partition: none
-- inputs: offer_days, intermediate.preferred_sources, reference.sources, intermediate.priced_offers
-- columns:
--   day: The newest day in the ledger, UTC.
--   seen_day: UTC date on which the price was seen.
--   age_days: Days between the two.
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
    o.day,
    o.seen_day,
    o.age_days,
    p.* EXCLUDE (day, is_home_region, is_good, is_whole, duplicate_of, own_why_not, own_remark),
    p.own_why_not IS NULL AND coalesce(p.source = preferred_source, TRUE) AS index_eligible,
    nullif(concat_ws(
        '; ',
        coalesce(
            p.own_why_not,
            CASE
                WHEN p.source <> preferred_source THEN 'for this provider and day ' || preferred_source || ' counts'
                WHEN p.own_remark IS NOT NULL THEN 'counts'
            END
        ),
        p.own_remark
    ), '') AS why_not,
    CASE WHEN p.source_kind = 'dataset' THEN p.source END AS dataset,
    s.terms
FROM (SELECT * FROM offer_days WHERE day = (SELECT max(day) FROM days_to_build)) AS o
JOIN intermediate.priced_offers AS p ON p.day = o.seen_day AND p.snapshot_id = o.snapshot_id AND p.ordinal = o.ordinal
LEFT JOIN intermediate.preferred_sources AS c
    ON c.day = o.day AND c.provider = o.provider AND c.accelerator = o.accelerator AND c.pricing_model = o.pricing_model
    AND c.commitment_days = o.commitment_days
LEFT JOIN (SELECT source, terms FROM reference.sources) AS s ON s.source = o.source
ORDER BY p.accelerator, p.usd_per_accelerator_hour, p.offer_key
