-- No price stands longer than its kind allows, unless the next sighting showed it unchanged.
SELECT day, provider, accelerator, pricing_model, age_days
FROM provider_prices_daily
SEMI JOIN days_to_build USING (day)
WHERE age_days > 400 AND NOT is_bracketed
    OR (segment = 'marketplace' OR pricing_model = 'spot') AND age_days > 3
