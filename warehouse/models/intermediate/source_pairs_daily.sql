-- Where two sources tell prices of one provider's accelerator on a day: how many of the same things, and how far apart.
-- Same are count, region, zone and tier; prices may be a week old.
-- grain: day, provider, accelerator, pricing_model, commitment_days, back_source, source
-- partition: day
-- inputs: offer_days
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   back_source: The source further from what is live.
--   back_kind: Its kind of snapshot.
--   source: The other.
--   source_kind: Its kind of snapshot.
--   matched: Things that both tell a price of.
--   difference_percent: By how much the back source is above the other: median over these, per cent; null where none is the same.
--   largest_difference_percent: The largest difference, either way.
--   level_difference_percent: By how much the median of all its prices is above the other's: the jump where one takes over from the other.
WITH several AS (
    SELECT day, provider, accelerator, pricing_model, commitment_days
    FROM offer_days
    WHERE own_why_not IS NULL AND age_days <= 7
    GROUP BY day, provider, accelerator, pricing_model, commitment_days
    HAVING min(source) <> max(source)
),

told AS (
    SELECT
        o.day, o.provider, o.accelerator, o.pricing_model, o.commitment_days, o.source, o.accelerator_count, o.region, coalesce(o.zone, '') AS zone,
        coalesce(o.tier, '') AS tier, any_value(o.source_kind) AS source_kind,
        CAST(median(o.usd_per_accelerator_hour) AS DOUBLE) AS usd
    FROM offer_days AS o
    JOIN days_to_build USING (day)
    SEMI JOIN several USING (day, provider, accelerator, pricing_model, commitment_days)
    WHERE o.own_why_not IS NULL AND o.age_days <= 7
    GROUP BY o.day, o.provider, o.accelerator, o.pricing_model, o.commitment_days, o.source, o.accelerator_count, o.region, o.zone, o.tier
),

levels AS (
    SELECT
        day, provider, accelerator, pricing_model, commitment_days, source, any_value(source_kind) AS source_kind, median(usd) AS usd,
        list_position(['live', 'archived_page', 'dataset', 'curated', 'fixture'], any_value(source_kind)) AS distance
    FROM told
    GROUP BY day, provider, accelerator, pricing_model, commitment_days, source
),

pairs AS (
    SELECT
        b.day, b.provider, b.accelerator, b.pricing_model, b.commitment_days, b.source AS back_source, b.source_kind AS back_kind,
        a.source, a.source_kind, 100 * (b.usd / a.usd - 1) AS level_difference_percent
    FROM levels AS a
    JOIN levels AS b USING (day, provider, accelerator, pricing_model, commitment_days)
    WHERE (b.distance, b.source) > (a.distance, a.source)
),

same AS (
    SELECT p.*, 100 * (tb.usd / ta.usd - 1) AS difference_percent
    FROM pairs AS p
    JOIN told AS ta
        ON ta.day = p.day AND ta.provider = p.provider AND ta.accelerator = p.accelerator AND ta.pricing_model = p.pricing_model
        AND ta.commitment_days = p.commitment_days AND ta.source = p.source
    LEFT JOIN told AS tb
        ON tb.day = p.day AND tb.provider = p.provider AND tb.accelerator = p.accelerator AND tb.pricing_model = p.pricing_model
        AND tb.commitment_days = p.commitment_days AND tb.source = p.back_source AND tb.accelerator_count = ta.accelerator_count
        AND tb.region = ta.region AND tb.zone = ta.zone AND tb.tier = ta.tier
)

SELECT
    day,
    provider,
    accelerator,
    pricing_model,
    commitment_days,
    back_source,
    any_value(back_kind) AS back_kind,
    source,
    any_value(source_kind) AS source_kind,
    count(difference_percent) AS matched,
    round(median(difference_percent), 6) AS difference_percent,
    round(arg_max(difference_percent, abs(difference_percent)), 6) AS largest_difference_percent,
    round(any_value(level_difference_percent), 6) AS level_difference_percent
FROM same
GROUP BY day, provider, accelerator, pricing_model, commitment_days, back_source, source
ORDER BY day, provider, accelerator, pricing_model, commitment_days, back_source, source
