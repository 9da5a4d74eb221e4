-- Which source speaks for a provider on a day: live API, live page, archived page, dataset, curated, fixture; an aggregator last.
-- grain: day, provider, accelerator, pricing_model, commitment_days
-- partition: view
-- inputs: provider_prices_daily
-- columns:
--   day: UTC date.
--   provider: Key of the provider.
--   accelerator: Key of the accelerator.
--   pricing_model: on_demand, spot, reserved or flex.
--   commitment_days: Days bound.
--   preferred_source: The one source that counts.
SELECT day, provider, accelerator, pricing_model, commitment_days, source AS preferred_source
-- Where the file is attached under another name, a view finds unqualified tables in its own schema only.
FROM main.provider_prices_daily
