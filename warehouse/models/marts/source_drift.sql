-- Each source's last good collection against the one before it: what came, what went, what moved, what nobody can name.
-- grain: source
-- partition: none
-- inputs: staging.snapshots, raw.offers, staging.offer_texts
-- columns:
--   source: Source module.
--   provider: Its provider.
--   observed_at: When the last good collection was seen, UTC.
--   observed_before_at: When the one before it was.
--   offers: Offers of the last.
--   offers_before: Offers of the one before.
--   offers_new: Offers that the one before had not.
--   offers_gone: Offers that the last has no more.
--   prices_compared: Offers that both have.
--   prices_changed: Those of them at another price, in the printed currency.
--   prices_leapt: Those of them dearer by more than a third or cheaper by more than a quarter.
--   median_change_percent: Median change of the prices that both have, unchanged ones counted.
--   names_unknown: Distinct accelerator names of the last that no rule resolves.
--   names_unknown_new: Those of them that the one before had not.
WITH good AS (
    SELECT
        source, provider, snapshot_id, parser_version, observed_at, observed_day,
        row_number() OVER (PARTITION BY source ORDER BY observed_at DESC, snapshot_id DESC) AS place
    FROM staging.snapshots
    WHERE is_good AND source_kind = 'live' AND offers > 0
),

-- What was not collected for a fortnight before the newest day has no run to compare with.
pairs AS (
    SELECT
        last.source, last.provider, last.observed_at, before.observed_at AS observed_before_at,
        last.snapshot_id, last.parser_version, last.observed_day,
        before.snapshot_id AS snapshot_before_id, before.parser_version AS parser_version_before, before.observed_day AS observed_before_day
    FROM good AS last
    JOIN good AS before USING (source)
    WHERE last.place = 1 AND before.place = 2
        AND before.observed_day >= (SELECT max(observed_day) FROM staging.snapshots) - 14
),

read AS (
    SELECT p.source, o.price, t.offer_key, CASE WHEN t.accelerator IS NULL THEN t.accelerator_name END AS unknown_name
    FROM pairs AS p
    JOIN raw.offers AS o ON o.snapshot_id = p.snapshot_id AND o.parser_version = p.parser_version AND o.observed_day = p.observed_day
    JOIN staging.offer_texts AS t USING (offer_text_id)
    WHERE o.duplicate_of IS NULL AND t.price_scope NOT IN ('host_vcpu', 'host_gib')
),

read_before AS (
    SELECT p.source, o.price, t.offer_key, CASE WHEN t.accelerator IS NULL THEN t.accelerator_name END AS unknown_name
    FROM pairs AS p
    JOIN raw.offers AS o
        ON o.snapshot_id = p.snapshot_before_id AND o.parser_version = p.parser_version_before AND o.observed_day = p.observed_before_day
    JOIN staging.offer_texts AS t USING (offer_text_id)
    WHERE o.duplicate_of IS NULL AND t.price_scope NOT IN ('host_vcpu', 'host_gib')
),

compared AS (
    SELECT
        coalesce(l.source, b.source) AS source,
        count(l.offer_key) AS offers,
        count(b.offer_key) AS offers_before,
        count(*) FILTER (b.offer_key IS NULL) AS offers_new,
        count(*) FILTER (l.offer_key IS NULL) AS offers_gone,
        count(*) FILTER (l.offer_key IS NOT NULL AND b.offer_key IS NOT NULL) AS prices_compared,
        count(*) FILTER (l.price <> b.price) AS prices_changed,
        count(*) FILTER (3 * l.price > 4 * b.price OR 4 * l.price < 3 * b.price) AS prices_leapt,
        100 * median(CAST(l.price AS DOUBLE) / nullif(CAST(b.price AS DOUBLE), 0) - 1) AS median_change_percent
    FROM read AS l
    FULL JOIN read_before AS b ON b.source = l.source AND b.offer_key = l.offer_key
    GROUP BY coalesce(l.source, b.source)
),

unknown AS (
    SELECT l.source, count(DISTINCT l.unknown_name) AS names, count(DISTINCT l.unknown_name) FILTER (b.unknown_name IS NULL) AS names_new
    FROM read AS l
    LEFT JOIN (SELECT DISTINCT source, unknown_name FROM read_before) AS b ON b.source = l.source AND b.unknown_name = l.unknown_name
    GROUP BY l.source
)

SELECT
    p.source,
    p.provider,
    p.observed_at,
    p.observed_before_at,
    coalesce(c.offers, 0) AS offers,
    coalesce(c.offers_before, 0) AS offers_before,
    coalesce(c.offers_new, 0) AS offers_new,
    coalesce(c.offers_gone, 0) AS offers_gone,
    coalesce(c.prices_compared, 0) AS prices_compared,
    coalesce(c.prices_changed, 0) AS prices_changed,
    coalesce(c.prices_leapt, 0) AS prices_leapt,
    c.median_change_percent,
    coalesce(u.names, 0) AS names_unknown,
    coalesce(u.names_new, 0) AS names_unknown_new
FROM pairs AS p
LEFT JOIN compared AS c USING (source)
LEFT JOIN unknown AS u USING (source)
ORDER BY p.source
