-- Quartiles stand in order, and a row has a value or says why not.
-- severity: error
SELECT day, accelerator, pricing_model, commitment_days, segment, status
FROM prices_daily
SEMI JOIN days_to_build USING (day)
WHERE (status = 'withheld') <> (usd_per_accelerator_hour_median IS NULL)
    OR (status = 'withheld' AND reason IS NULL)
    OR NOT usd_per_accelerator_hour_p25 <= usd_per_accelerator_hour_median + 1e-9
    OR NOT usd_per_accelerator_hour_median <= usd_per_accelerator_hour_p75 + 1e-9
