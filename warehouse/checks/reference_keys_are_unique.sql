-- A doubled reference row would double every offer that meets it.
-- severity: error
SELECT 'accelerators' AS reference, accelerator AS key, count(*) AS rows FROM reference.accelerators GROUP BY accelerator HAVING count(*) > 1
UNION ALL
SELECT 'providers', provider, count(*) FROM reference.providers GROUP BY provider HAVING count(*) > 1
UNION ALL
SELECT 'regions', concat_ws(' ', provider, region), count(*) FROM reference.regions GROUP BY provider, region HAVING count(*) > 1
