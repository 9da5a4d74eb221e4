-- What the whole snapshot before said of each cell, if that was within 180 days, or 400 where a hyperscaler's archived or curated price
-- stands that long.
-- grain: day, provider, accelerator, pricing_model, commitment_days, cell
-- partition: transient
-- inputs: previous_snapshots, intermediate.priced_offers
-- columns:
--   day: UTC date on which the source was seen again.
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   cell: Which cell of these.
--   source: Whose snapshot it was.
--   last_day: When it was seen before.
--   last_usd: US dollars per accelerator and hour then.
SELECT
    w.day,
    p.provider,
    p.accelerator,
    p.pricing_model,
    p.commitment_days,
    CASE
        WHEN p.segment = 'marketplace' THEN concat_ws('/', coalesce(p.tier, ''), coalesce(p.country, ''))
        ELSE concat_ws('/', p.sku, p.accelerator_count, p.region, coalesce(p.zone, ''), coalesce(p.tier, ''))
    END AS cell,
    w.source,
    any_value(w.observed_day) AS last_day,
    CAST(median(p.usd_per_accelerator_hour) AS DOUBLE) AS last_usd
FROM previous_snapshots AS w
JOIN intermediate.priced_offers AS p ON p.snapshot_id = w.snapshot_id AND p.day = w.observed_day
WHERE p.own_why_not IS NULL
    AND w.observed_day >= w.day - CASE
        WHEN p.segment = 'hyperscaler' AND p.pricing_model <> 'spot' AND p.source_kind IN ('archived_page', 'curated') THEN 400
        ELSE 180
    END
GROUP BY w.day, w.source, p.provider, p.accelerator, p.pricing_model, p.commitment_days, cell
HAVING any_value(p.segment) <> 'marketplace' OR count(*) >= 5
