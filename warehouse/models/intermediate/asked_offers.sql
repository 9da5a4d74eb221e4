-- Every offer as read, by whatever version of its parser, with what its words mean: no verdict, no exchange rate.
-- grain: snapshot_id, parser_version, ordinal
-- partition: view
-- inputs: raw.offers, intermediate.machine_offers, staging.offer_texts
-- columns:
--   day: UTC date on which the price was seen.
--   snapshot_id: Collection it was seen in.
--   parser_version: Version of the parser that read it.
--   ordinal: Place in that collection.
--   price: As printed, in whole units of the currency.
--   price_text: The price as sent, where it was scaled or cut out of text.
--   available: Rentable when seen; null is not told.
--   quantity: How many were rentable; null is not told.
--   duplicate_of: Ordinal of the offer that stands for this one in its snapshot.
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
--   price_per_hour: In the printed currency, of what the price covers, with its share of what is paid at the start.
--   words_why_not: What in the words keeps the offer out of the aggregates; null for nothing.
WITH asked AS (
    SELECT o.*, t.* EXCLUDE (offer_text_id)
    FROM raw.offers AS o
    JOIN staging.offer_texts AS t USING (offer_text_id)
    WHERE t.price_scope NOT IN ('host_vcpu', 'host_gib')
    UNION ALL BY NAME
    -- Parts priced apart, put together to the machines that people rent.
    SELECT
        m.snapshot_id, m.parser_version, m.ordinal, m.day AS observed_day, m.offer_text_id, m.machine_price AS price,
        t.* EXCLUDE (offer_text_id)
            REPLACE (
                m.machine_offer_key AS offer_key,
                m.machine_type AS sku,
                CAST(m.machine_accelerators AS DECIMAL(18, 9)) AS accelerator_count,
                'offer' AS price_scope,
                CAST(m.machine_vcpus AS DECIMAL(18, 9)) AS vcpus,
                CAST(m.machine_ram_gb AS DECIMAL(18, 9)) AS ram_gb
            )
    FROM intermediate.machine_offers AS m
    JOIN staging.offer_texts AS t USING (offer_text_id)
)

SELECT
    observed_day AS day,
    * EXCLUDE (observed_day, offer_text_id),
    price / hours_per_unit + coalesce(upfront / term_hours, 0) AS price_per_hour,
    nullif(concat_ws(
        '; ',
        CASE WHEN accelerator IS NULL THEN 'unknown accelerator' END,
        CASE WHEN NOT is_rentable THEN 'nobody rents this part out' END,
        name_conflict,
        CASE WHEN accelerator_count IS NULL AND accelerator IS NOT NULL AND price_scope = 'offer' THEN 'the number of accelerators is not told' END,
        CASE WHEN accelerator_count < 1 THEN 'a slice, not a whole accelerator' END,
        CASE WHEN price_scope = 'component' THEN 'accelerator only, the host is billed on top' END,
        CASE WHEN pricing_model = 'floor' THEN 'a "from" price or a bid floor' END,
        CASE
            WHEN regexp_matches(lower(tier), '(^|[^a-z])(serverless|dedicated[ _-]?inference|dev[ _/-]?test|low[ _-]?priority|windows)([^a-z]|$)')
                THEN 'tier ' || tier
        END,
        CASE WHEN hours_per_unit IS NULL THEN 'a price per term without the length of the term' END
    ), '') AS words_why_not
FROM asked
