-- Every offer seen, with its price in US dollars per hour and the facts that decide whether it counts.
-- grain: snapshot_id, ordinal
-- partition: view
-- inputs: intermediate.asked_offers, staging.snapshots, intermediate.usd_rates
-- columns:
--   day: UTC date on which the price was seen.
--   observed_at: When it was seen, UTC.
--   snapshot_id: Collection it was seen in.
--   parser_version: Version of the parser whose reading holds.
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
--   is_unproven: The source has not been seen to answer as its parser expects.
--   verdict_reason: Why the snapshot is withheld.
--   usd_per_unit: US dollars for one unit of the currency; null where no rate is known.
--   lowest_usd_per_hour: Lowest price per hour that this part can have had.
--   highest_usd_per_hour: Highest price per hour that this part can have had.
--   words_why_not: What in the words keeps the offer out of the aggregates; null for nothing.
WITH seen AS (
    SELECT
        o.*, s.observed_at, s.source_kind, s.is_good, s.is_whole, s.is_unproven, s.verdict_reason,
        CASE WHEN o.currency = 'USD' THEN 1 ELSE x.usd_per_unit END AS usd_per_unit,
        x.fx_date
    FROM intermediate.asked_offers AS o
    JOIN staging.snapshots AS s USING (snapshot_id, parser_version)
    LEFT JOIN intermediate.usd_rates AS x ON x.day = o.day AND x.currency = o.currency
),

priced AS (
    SELECT
        *,
        price_per_hour * usd_per_unit AS usd_per_priced_hour,
        CASE WHEN price_scope = 'offer' THEN usd_per_priced_hour ELSE usd_per_priced_hour * accelerator_count END AS usd_per_hour,
        CASE WHEN price_scope = 'offer' THEN usd_per_priced_hour / accelerator_count ELSE usd_per_priced_hour END AS usd_per_accelerator_hour
    FROM seen
)

SELECT
    day,
    observed_at,
    snapshot_id,
    parser_version,
    ordinal,
    source,
    source_kind,
    provider,
    segment,
    sku,
    offer_key,
    accelerator_name,
    accelerator,
    vendor,
    model,
    form_factor,
    memory_gb,
    accelerator_count,
    pricing_model,
    commitment_days,
    tier,
    region,
    zone,
    country,
    is_home_region,
    price,
    currency,
    per,
    price_scope,
    CAST(round(usd_per_hour, 9) AS DECIMAL(18, 9)) AS usd_per_hour,
    CAST(round(usd_per_accelerator_hour, 9) AS DECIMAL(18, 9)) AS usd_per_accelerator_hour,
    fx_date,
    available,
    quantity,
    vcpus,
    ram_gb,
    interconnect,
    effective_at,
    is_good,
    is_whole,
    duplicate_of,
    is_unproven,
    verdict_reason,
    usd_per_unit,
    lowest_usd_per_hour,
    highest_usd_per_hour,
    words_why_not
FROM priced
