-- No part loses half or more of its providers, of four or more, in one day.
-- severity: warn
WITH days AS (
    SELECT day, accelerator, n_providers
    FROM prices_daily
    WHERE day >= (SELECT max(day) - 1 FROM days_to_build) AND segment = 'all' AND pricing_model = 'on_demand' AND commitment_days = 0
)

SELECT l.day, l.accelerator, b.n_providers AS n_providers_before, l.n_providers
FROM days AS l
JOIN days AS b ON b.accelerator = l.accelerator AND b.day = l.day - 1
WHERE b.n_providers >= 4 AND 2 * l.n_providers <= b.n_providers
ORDER BY l.day, l.accelerator
