-- The screens, limits and the base that prices and index are made with: the newest version of the reference rows, as one row.
-- grain: parameters_version
-- partition: view
-- inputs: reference.index_parameters
-- columns:
--   parameters_version: Version of the parameters; recorded in every row made with them.
--   base: Value with which a chain of the index starts.
--   return_days: Days for which a cell's last price is remembered.
--   relative_limit: Factor beyond which a cell's price has not moved but become that of another thing.
--   marketplace_offers: Fewest offers whose median is a cell of a marketplace.
--   ok_providers: Fewest providers of a price that is not thin.
--   outlier_providers: Fewest providers among which one can be an outlier.
--   outlier_mads: Scaled MADs beyond which a provider is left out.
--   outlier_least_ratio: Factor from the median within which nobody is.
--   outlier_ratio_without_spread: Factor from the median beyond which a provider is left out where the MAD is 0.
--   carry_days_marketplace: Longest that a marketplace's price stands unseen.
--   carry_days_spot: Longest that a spot price stands unseen.
--   carry_days_live: Longest that a price of a live list stands unseen.
--   carry_days_dataset: Longest that a dataset's price stands unseen.
--   carry_days_hyperscaler: Longest that a hyperscaler's archived or curated price stands unseen.
--   carry_days_other: Longest that another's archived or curated price stands unseen.
--   most_carry_days: The longest of these.
SELECT
    CAST(max(version) AS INTEGER) AS parameters_version,
    CAST(max(value) FILTER (name = 'base') AS DOUBLE) AS base,
    CAST(max(value) FILTER (name = 'return_days') AS INTEGER) AS return_days,
    CAST(max(value) FILTER (name = 'relative_limit') AS DOUBLE) AS relative_limit,
    CAST(max(value) FILTER (name = 'marketplace_offers') AS INTEGER) AS marketplace_offers,
    CAST(max(value) FILTER (name = 'ok_providers') AS INTEGER) AS ok_providers,
    CAST(max(value) FILTER (name = 'outlier_providers') AS INTEGER) AS outlier_providers,
    CAST(max(value) FILTER (name = 'outlier_mads') AS DOUBLE) AS outlier_mads,
    CAST(max(value) FILTER (name = 'outlier_least_ratio') AS DOUBLE) AS outlier_least_ratio,
    CAST(max(value) FILTER (name = 'outlier_ratio_without_spread') AS DOUBLE) AS outlier_ratio_without_spread,
    CAST(max(value) FILTER (name = 'carry_days_marketplace') AS INTEGER) AS carry_days_marketplace,
    CAST(max(value) FILTER (name = 'carry_days_spot') AS INTEGER) AS carry_days_spot,
    CAST(max(value) FILTER (name = 'carry_days_live') AS INTEGER) AS carry_days_live,
    CAST(max(value) FILTER (name = 'carry_days_dataset') AS INTEGER) AS carry_days_dataset,
    CAST(max(value) FILTER (name = 'carry_days_hyperscaler') AS INTEGER) AS carry_days_hyperscaler,
    CAST(max(value) FILTER (name = 'carry_days_other') AS INTEGER) AS carry_days_other,
    CAST(max(value) FILTER (starts_with(name, 'carry_days_')) AS INTEGER) AS most_carry_days
FROM reference.index_parameters
WHERE version = (SELECT max(version) FROM reference.index_parameters)
