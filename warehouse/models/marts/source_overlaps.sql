-- Where a back-series and another series of one provider's price overlap, and by how much they differ: nothing is spliced unseen.
-- grain: provider, accelerator, pricing_model, commitment_days, back_source, source
-- partition: view
-- inputs: intermediate.source_pairs_daily
-- columns:
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound; 0 for none.
--   back_source: The source further from what is live, such as a dataset.
--   back_kinds: Its kinds of snapshot: archived_page, dataset, curated or fixture; live for two live sources.
--   source: The other.
--   source_kinds: Its kinds of snapshot.
--   first_day: First UTC date on which both tell prices.
--   last_day: Last one.
--   days: Days on which both tell prices; prices may be a week old.
--   days_matched: Days on which both tell one of the same thing: count, region, zone and tier.
--   difference_percent: By how much the back source is above the other on the same things: median of days, per cent; null where none is the same.
--   largest_difference_percent: The largest difference of one thing on one day, either way.
--   level_difference_percent: By how much the median of its prices is above the other's, median of days: the jump where one takes over.
SELECT
    provider,
    accelerator,
    pricing_model,
    commitment_days,
    back_source,
    list_sort(list_distinct(list(back_kind))) AS back_kinds,
    source,
    list_sort(list_distinct(list(source_kind))) AS source_kinds,
    min(day) AS first_day,
    max(day) AS last_day,
    count(*) AS days,
    count(*) FILTER (WHERE matched > 0) AS days_matched,
    median(difference_percent) AS difference_percent,
    arg_max(largest_difference_percent, abs(largest_difference_percent)) AS largest_difference_percent,
    median(level_difference_percent) AS level_difference_percent
FROM intermediate.source_pairs_daily
GROUP BY provider, accelerator, pricing_model, commitment_days, back_source, source
