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
    WHERE day BETWEEN (SELECT min(day) - 45 FROM days_to_build) AND (SELECT max(day) FROM days_to_build)
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

holding AS (
    SELECT *, least(lead(fx_date) OVER (PARTITION BY currency ORDER BY fx_date) - 1, fx_date + 45) AS last_day
    FROM per_unit
),

held AS (
    SELECT CAST(unnest(generate_series(fx_date, last_day, INTERVAL 1 DAY)) AS DATE) AS day, currency, usd_per_unit, fx_date
    FROM holding
)

SELECT day, currency, usd_per_unit, fx_date
FROM held
SEMI JOIN days_to_build USING (day)
ORDER BY day, currency
