-- No part's median over the whole market moves by more than two fifths in one day, where three or more providers stand behind it.
-- severity: warn
WITH days AS (
    SELECT day, accelerator, usd_per_accelerator_hour_median AS usd, n_providers
    FROM prices_daily
    WHERE day >= (SELECT max(day) - 1 FROM days_to_build) AND segment = 'all' AND pricing_model = 'on_demand' AND commitment_days = 0
        AND status = 'ok'
)

SELECT l.day, l.accelerator, b.usd AS usd_before, l.usd, b.n_providers AS n_providers_before, l.n_providers
FROM days AS l
JOIN days AS b ON b.accelerator = l.accelerator AND b.day = l.day - 1
WHERE abs(ln(l.usd / b.usd)) > ln(1.4)
ORDER BY l.day, l.accelerator
