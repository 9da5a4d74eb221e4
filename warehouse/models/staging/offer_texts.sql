-- A provider's words with their meaning: provider, place, accelerator, and what one unit of the price covers.
-- grain: offer_text_id
-- partition: none
-- inputs: raw.offer_texts, intermediate.offer_parts, staging.providers, reference.regions, reference.accelerators
-- columns:
--   offer_text_id: Hash of all the words.
--   offer_key: Hash of the words that tell one offer from another; what history follows.
--   source: Source module.
--   provider: Key of the provider; an aggregator's upstream where it names one.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   sku: The provider's own name for the thing.
--   accelerator_name: As printed.
--   accelerator: Key of the accelerator; null where the words do not tell.
--   vendor: Who makes it.
--   model: Model.
--   form_factor: Form factor; unstated where nobody printed one.
--   memory_gb: Memory of each accelerator.
--   accelerator_count: Accelerators in the offer, fractional for slices.
--   name_conflict: Words of the offer that contradict each other.
--   lowest_usd_per_hour: Lowest price per hour that this part can have had.
--   highest_usd_per_hour: Highest price per hour that this part can have had.
--   is_rentable: Whether anyone rents the part out.
--   pricing_model: on_demand, spot, reserved, flex or floor.
--   commitment_days: Days bound; 0 for none.
--   tier: The provider's own class.
--   region: As printed.
--   zone: As printed.
--   country: ISO 3166 alpha-2, where known.
--   is_home_region: Whether the region is one of the provider's home regions; null where it has none.
--   currency: ISO 4217.
--   per: Unit of time of the price.
--   price_scope: offer, accelerator, component, host_vcpu or host_gib.
--   hours_per_unit: Hours that the price pays for; a month is 730 hours, a term its commitment.
--   term_hours: Hours of the commitment; null for none.
--   upfront: Paid at the start, in the printed currency.
--   vcpus: Virtual processors of the machine.
--   ram_gb: Memory of the machine.
--   interconnect: As printed.
--   effective_at: From when the price holds, where the page says so.
WITH texts AS (
    SELECT t.*, regexp_replace(lower(t.provider), '[^a-z0-9]', '', 'g') AS printed_name
    FROM raw.offer_texts AS t
)

SELECT
    t.offer_text_id,
    t.offer_key,
    t.source,
    coalesce(p.provider, t.provider) AS provider,
    coalesce(p.segment, 'other') AS segment,
    t.sku,
    t.accelerator_name,
    n.accelerator,
    n.vendor,
    n.model,
    n.form_factor,
    n.memory_gb,
    n.accelerator_count,
    n.name_conflict,
    a.lowest_usd_per_hour,
    a.highest_usd_per_hour,
    a.is_rentable,
    t.pricing_model,
    t.commitment_days,
    t.tier,
    t.region,
    t.zone,
    coalesce(r.country, nullif(regexp_extract(t.region, '(?:^|, )([A-Z]{2})$', 1), '')) AS country,
    list_contains(p.home_regions, t.region) OR list_contains(p.home_regions, t.zone) AS is_home_region,
    t.currency,
    t.per,
    t.price_scope,
    CASE t.per
        WHEN 'second' THEN 1.0 / 3600
        WHEN 'minute' THEN 1.0 / 60
        WHEN 'hour' THEN 1.0
        WHEN 'day' THEN 24.0
        WHEN 'month' THEN 730.0
        WHEN 'year' THEN 8760.0
        WHEN 'term' THEN nullif(t.commitment_days, 0) * 24.0
    END AS hours_per_unit,
    nullif(t.commitment_days, 0) * 24.0 AS term_hours,
    t.upfront,
    t.vcpus,
    t.ram_gb,
    t.interconnect,
    t.effective_at
FROM texts AS t
LEFT JOIN intermediate.offer_parts AS n USING (offer_text_id)
LEFT JOIN staging.providers AS p USING (printed_name)
LEFT JOIN reference.regions AS r ON r.provider = coalesce(p.provider, t.provider) AND r.region = t.region
LEFT JOIN reference.accelerators AS a USING (accelerator)
