-- Which source speaks for a provider on a day: live API, live page, archived page, dataset, curated, fixture; an aggregator last.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: day
-- inputs: offer_days, reference.sources
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound.
--   preferred_source: The one source that counts.
SELECT day, provider, accelerator, pricing_model, commitment_days, source AS preferred_source
FROM offer_days
LEFT JOIN reference.sources USING (source)
WHERE own_why_not IS NULL
QUALIFY row_number() OVER (
    PARTITION BY day, provider, accelerator, pricing_model, commitment_days
    ORDER BY
        coalesce(is_aggregator, FALSE),
        CASE source_kind
            WHEN 'live' THEN CASE kind WHEN 'page' THEN 2 ELSE 1 END
            WHEN 'archived_page' THEN 3
            WHEN 'dataset' THEN 4
            WHEN 'curated' THEN 5
            ELSE 6
        END,
        CASE kind WHEN 'page' THEN 2 ELSE 1 END,
        source
) = 1
ORDER BY day, provider, accelerator
