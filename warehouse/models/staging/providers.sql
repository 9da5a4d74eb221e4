-- Providers with every name they are printed under; renamed firms are one provider.
-- grain: printed_name
-- partition: none
-- inputs: reference.providers
-- columns:
--   printed_name: Name in lower case without anything but letters and digits.
--   provider: Key of the provider.
--   provider_name: Name for people.
--   segment: hyperscaler, neocloud, marketplace, aggregator or other.
--   home_regions: Regions whose median stands for the provider; null for all.
WITH names AS (
    SELECT provider, name, segment, home_regions, unnest(list_concat([provider, name], string_split(coalesce(former_names, ''), '|'))) AS printed
    FROM reference.providers
)

SELECT
    regexp_replace(lower(printed), '[^a-z0-9]', '', 'g') AS printed_name,
    provider,
    name AS provider_name,
    segment,
    string_split(home_regions, '|') AS home_regions
FROM names
WHERE trim(printed) <> ''
QUALIFY row_number() OVER (PARTITION BY printed_name ORDER BY provider = printed DESC, provider) = 1
