-- No price stands longer than its kind allows, unless the next sighting showed it unchanged.
-- severity: error
SELECT day, provider, accelerator, pricing_model, age_days
FROM provider_prices_daily
SEMI JOIN days_to_build USING (day)
CROSS JOIN intermediate.index_parameters
WHERE age_days > most_carry_days AND NOT is_bracketed
    OR segment = 'marketplace' AND age_days > carry_days_marketplace
    OR pricing_model = 'spot' AND age_days > carry_days_spot
