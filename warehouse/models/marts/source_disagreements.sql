-- Where two sources tell different prices of one provider's same machine in the same region and week: two datasets by more than 0.1 percent,
-- others by more than 2.
-- Each source's last word of the week is taken. It is a list to look into: which of them counts is said by preferred_sources.
-- grain: week, provider, sku, accelerator_count, region, pricing_model, commitment_days, tier, source_a, source_b
-- partition: view
-- inputs: intermediate.priced_offers
-- columns:
--   week: Monday of the week, UTC.
--   provider: Key of the provider.
--   sku: The provider's own name for the thing.
--   accelerator: Key of the accelerator.
--   accelerator_count: Accelerators in the offer.
--   region: As printed.
--   pricing_model: on_demand or reserved; spot prices change within a week.
--   commitment_days: Days bound.
--   tier: The provider's own class.
--   source_a: The source first in the alphabet.
--   source_b: The other.
--   source_kind_a: Kind of the first's snapshot: live, archived_page, dataset or curated.
--   source_kind_b: Kind of the other's.
--   usd_per_hour_a: What the first says of the whole offer.
--   usd_per_hour_b: What the other says.
--   difference_percent: How far the second is above the first.
--   why_not_a: What keeps the first's word out of the aggregates; null for nothing.
--   why_not_b: The same of the other.
WITH said AS (
    SELECT
        CAST(date_trunc('week', day) AS DATE) AS week, provider, sku, accelerator, accelerator_count, region, pricing_model, commitment_days, tier,
        source, arg_max(usd_per_hour, (day, observed_at, -usd_per_hour)) AS usd_per_hour,
        arg_max(coalesce(own_why_not, ''), (day, observed_at, -usd_per_hour)) AS why_not,
        arg_max(source_kind, (day, observed_at, -usd_per_hour)) AS source_kind
    FROM intermediate.priced_offers
    WHERE is_good AND source_kind <> 'fixture' AND pricing_model IN ('on_demand', 'reserved') AND price_scope <> 'component'
        AND usd_per_hour IS NOT NULL AND zone IS NULL
    GROUP BY ALL
)

SELECT
    a.week, a.provider, a.sku, a.accelerator, a.accelerator_count, a.region, a.pricing_model, a.commitment_days, a.tier,
    a.source AS source_a,
    b.source AS source_b,
    a.source_kind AS source_kind_a,
    b.source_kind AS source_kind_b,
    a.usd_per_hour AS usd_per_hour_a,
    b.usd_per_hour AS usd_per_hour_b,
    round(100 * (b.usd_per_hour / a.usd_per_hour - 1), 3) AS difference_percent,
    nullif(a.why_not, '') AS why_not_a,
    nullif(b.why_not, '') AS why_not_b
FROM said AS a
JOIN said AS b
    ON a.week = b.week AND a.provider = b.provider AND a.sku = b.sku AND a.accelerator_count = b.accelerator_count AND a.region = b.region
    AND a.pricing_model = b.pricing_model AND a.commitment_days = b.commitment_days AND a.tier IS NOT DISTINCT FROM b.tier
    AND a.source < b.source
WHERE abs(b.usd_per_hour / a.usd_per_hour - 1) > CASE WHEN a.source_kind = 'dataset' AND b.source_kind = 'dataset' THEN 0.001 ELSE 0.02 END
