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
SELECT o.day, o.provider, o.accelerator, o.pricing_model, o.commitment_days, o.source AS preferred_source
FROM offer_days AS o
JOIN days_to_build USING (day)
LEFT JOIN reference.sources AS s USING (source)
WHERE o.own_why_not IS NULL
QUALIFY row_number() OVER (
    PARTITION BY o.day, o.provider, o.accelerator, o.pricing_model, o.commitment_days
    ORDER BY
        -- Where a source of ours covers the provider, an aggregator's word does not count; curated rows and datasets resell nothing.
        coalesce(s.is_aggregator AND s.kind NOT IN ('curated', 'dataset'), FALSE),
        CASE o.source_kind
            WHEN 'live' THEN CASE s.kind WHEN 'page' THEN 2 ELSE 1 END
            WHEN 'archived_page' THEN 3
            WHEN 'dataset' THEN 4
            WHEN 'curated' THEN 5
            ELSE 6
        END,
        CASE s.kind WHEN 'page' THEN 2 ELSE 1 END,
        o.source
) = 1
ORDER BY o.day, o.provider, o.accelerator
