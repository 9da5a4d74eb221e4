-- Whole machines put together from parts that a provider prices apart: accelerators, virtual processors and memory of one snapshot and region.
-- Machines that come with local disks are left out: their disks are a price apart that no part here tells.
-- grain: day, snapshot_id, parser_version, ordinal
-- partition: read
-- inputs: raw.offers, raw.offer_texts, staging.offer_texts, reference.machines
-- columns:
--   snapshot_id: Collection the parts were seen in.
--   parser_version: Version of the parser that read it.
--   ordinal: That of the accelerator's offer, and a number for the machine, past all that were printed.
--   day: UTC date of the collection.
--   offer_text_id: Words of the accelerator's offer.
--   machine_offer_key: What history follows: the accelerator's offer and the machine type.
--   machine_type: The provider's name of the machine.
--   machine_accelerators: Accelerators in it.
--   machine_vcpus: Virtual processors in it.
--   machine_ram_gb: Memory in it, GiB.
--   machine_price: Price of all parts together, per hour, in the printed currency.
WITH parts AS (
    SELECT o.snapshot_id, o.parser_version, o.ordinal, o.observed_day AS day, o.offer_text_id, o.price, t.offer_key, r.provider, r.accelerator_name,
        r.price_scope, r.region, r.pricing_model, r.commitment_days, coalesce(r.tier, '') AS tier, r.currency
    FROM raw.offers AS o
    JOIN raw.offer_texts AS r USING (offer_text_id)
    JOIN staging.offer_texts AS t USING (offer_text_id)
    JOIN days_to_build AS d ON d.day = o.observed_day
    WHERE r.price_scope IN ('component', 'host_vcpu', 'host_gib') AND r.per = 'hour' AND o.duplicate_of IS NULL
        AND r.provider IN (SELECT provider FROM reference.machines)
),

machines AS (
    SELECT *, row_number() OVER (PARTITION BY provider, component ORDER BY machine_type) AS place
    FROM reference.machines
)

SELECT
    g.snapshot_id,
    g.parser_version,
    1000000 + g.ordinal * 100 + m.place AS ordinal,
    g.day,
    g.offer_text_id,
    CAST(md5(concat_ws('/', g.offer_key, m.machine_type)) AS UUID) AS machine_offer_key,
    m.machine_type,
    m.accelerators AS machine_accelerators,
    m.vcpus AS machine_vcpus,
    m.ram_gib AS machine_ram_gb,
    CAST(m.accelerators * g.price + m.vcpus * c.price + m.ram_gib * r.price AS DECIMAL(18, 9)) AS machine_price
FROM parts AS g
JOIN parts AS c USING (snapshot_id, parser_version, provider, region, pricing_model, commitment_days, tier, currency)
JOIN parts AS r USING (snapshot_id, parser_version, provider, region, pricing_model, commitment_days, tier, currency)
JOIN machines AS m ON m.provider = g.provider AND m.component = g.accelerator_name
WHERE g.price_scope = 'component'
    AND c.price_scope = 'host_vcpu' AND starts_with(c.accelerator_name, m.family || ' ')
    AND r.price_scope = 'host_gib' AND starts_with(r.accelerator_name, m.family || ' ')
QUALIFY count(*) OVER (PARTITION BY g.snapshot_id, g.parser_version, g.ordinal, m.machine_type) = 1
