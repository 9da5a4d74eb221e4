-- No source's newest collection has an accelerator name that no rule resolves and the collection before had not.
-- severity: info
SELECT source, names_unknown_new, names_unknown
FROM source_drift
WHERE names_unknown_new > 0
ORDER BY source
