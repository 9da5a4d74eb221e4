-- What the index is made of: no more cells matched than priced, a mean where any is matched, and the parameters it was made with.
-- severity: error
SELECT day, provider, accelerator, pricing_model, commitment_days, cells, cells_matched, mean_log_relative
FROM intermediate.matched_pairs
SEMI JOIN days_to_build USING (day)
WHERE cells_matched + cells_screened > cells
    OR cells_changed > cells_matched
    OR (cells_matched > 0) <> (mean_log_relative IS NOT NULL)
    OR parameters_version IS NULL
