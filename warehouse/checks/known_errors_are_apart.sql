-- Two rows about one offer on one day would double it.
-- severity: error
SELECT a.in_source, a.sku_pattern, b.sku_pattern AS other_pattern, a.first_day, b.first_day AS other_first_day
FROM reference.known_errors AS a
JOIN reference.known_errors AS b USING (in_source)
WHERE (a.sku_pattern, a.first_day, a.mistake) < (b.sku_pattern, b.first_day, b.mistake)
    AND (a.sku_pattern LIKE b.sku_pattern OR b.sku_pattern LIKE a.sku_pattern)
    AND a.first_day <= b.last_day AND b.first_day <= a.last_day
    AND coalesce(a.in_region = b.in_region, TRUE) AND coalesce(a.of_pricing_model = b.of_pricing_model, TRUE)
UNION ALL
SELECT in_source, sku_pattern, sku_pattern, first_day, last_day
FROM reference.known_errors
WHERE first_day > last_day
