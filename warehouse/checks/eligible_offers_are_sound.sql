-- What enters the aggregates is a known part at a price that it can have.
-- severity: error
SELECT snapshot_id, ordinal, provider, sku, accelerator, usd_per_accelerator_hour
FROM offers
SEMI JOIN days_to_build USING (day)
WHERE
    -- Told as a constant, the bound reaches down to the scan.
    day >= coalesce(getvariable('first_day_to_build'), DATE '0001-01-01')
    AND index_eligible
    AND (
        accelerator IS NULL
        OR usd_per_accelerator_hour IS NULL
        OR usd_per_accelerator_hour <= 0
        OR pricing_model = 'floor'
        OR price_scope NOT IN ('offer', 'accelerator')
    )
