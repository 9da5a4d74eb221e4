-- US dollars for one unit of each other currency on each day: the latest ECB rate on or before it, at most 45 days old.
-- grain: day, currency
-- partition: day
-- inputs: raw.exchange_rates
-- columns:
--   day: UTC date.
--   currency: ISO 4217.
--   usd_per_unit: US dollars for one unit.
--   fx_date: Date of the rate.
WITH rates AS (
    SELECT day AS fx_date, currency, CAST(arg_max(units_per_eur, load_number) AS DOUBLE) AS units_per_eur
    FROM raw.exchange_rates
    GROUP BY ALL
),

usd AS (
    SELECT fx_date, units_per_eur AS usd_per_eur
    FROM rates
    WHERE currency = 'USD'
),

per_unit AS (
    SELECT fx_date, currency, usd_per_eur / units_per_eur AS usd_per_unit
    FROM rates
    JOIN usd USING (fx_date)
    WHERE currency <> 'USD'
    UNION ALL
    SELECT fx_date, 'EUR', usd_per_eur
    FROM usd
),

wanted AS (
    SELECT day, currency
    FROM days_to_build
    CROSS JOIN (SELECT DISTINCT currency FROM per_unit)
)

SELECT wanted.day, wanted.currency, usd_per_unit, fx_date
FROM wanted
ASOF JOIN per_unit ON wanted.currency = per_unit.currency AND wanted.day >= per_unit.fx_date
WHERE date_diff('day', fx_date, day) <= 45
ORDER BY wanted.day, wanted.currency
