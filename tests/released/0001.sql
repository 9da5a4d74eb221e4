-- The schema that version 1 released, and a few rows: what a migration has to bring forward. Never changed.
CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at TIMESTAMPTZ NOT NULL, migration VARCHAR NOT NULL);
INSERT INTO schema_version VALUES (1, TIMESTAMPTZ '2026-03-01 00:00:00+00', '0001_raw.sql');
CREATE SCHEMA raw;
CREATE SCHEMA reference;
CREATE SCHEMA staging;
CREATE SCHEMA intermediate;
CREATE SEQUENCE raw.load_numbers;
CREATE TABLE raw.snapshots (
    snapshot_id VARCHAR NOT NULL,
    parser_version VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    source_kind VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    observed_day DATE NOT NULL,
    loaded_at TIMESTAMPTZ NOT NULL,
    load_number BIGINT NOT NULL,
    content_hash VARCHAR NOT NULL,
    urls VARCHAR[] NOT NULL,
    status VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    offers INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    is_whole BOOLEAN NOT NULL,
    is_unproven BOOLEAN NOT NULL
);
CREATE TABLE raw.offer_texts (
    offer_text_id UUID NOT NULL,
    offer_key UUID NOT NULL,
    load_number BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    sku VARCHAR NOT NULL,
    accelerator_name VARCHAR NOT NULL,
    accelerator_count DECIMAL(18, 9),
    memory_gb DECIMAL(18, 9),
    memory_scope VARCHAR,
    currency VARCHAR NOT NULL,
    per VARCHAR NOT NULL,
    price_scope VARCHAR NOT NULL,
    pricing_model VARCHAR NOT NULL,
    commitment_days INTEGER NOT NULL,
    tier VARCHAR,
    region VARCHAR NOT NULL,
    zone VARCHAR,
    minimum_accelerators DECIMAL(18, 9),
    minimum_days INTEGER,
    upfront DECIMAL(18, 9),
    tax VARCHAR NOT NULL,
    vcpus DECIMAL(18, 9),
    ram_gb DECIMAL(18, 9),
    storage_gb DECIMAL(18, 9),
    interconnect VARCHAR,
    effective_at DATE
);
CREATE TABLE raw.offers (
    snapshot_id VARCHAR NOT NULL,
    parser_version VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    observed_day DATE NOT NULL,
    offer_text_id UUID NOT NULL,
    price DECIMAL(18, 9) NOT NULL,
    price_text VARCHAR,
    available BOOLEAN,
    quantity INTEGER,
    duplicate_of INTEGER
);
CREATE TABLE raw.rejected (
    snapshot_id VARCHAR NOT NULL,
    parser_version VARCHAR NOT NULL,
    record VARCHAR NOT NULL,
    reason VARCHAR NOT NULL
);
CREATE TABLE raw.verdicts (
    snapshot_id VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    decided_at TIMESTAMPTZ NOT NULL,
    decided_by VARCHAR NOT NULL,
    load_number BIGINT NOT NULL
);
CREATE TABLE raw.exchange_rates (
    day DATE NOT NULL,
    currency VARCHAR NOT NULL,
    units_per_eur DECIMAL(18, 9) NOT NULL,
    source VARCHAR NOT NULL,
    loaded_at TIMESTAMPTZ NOT NULL,
    load_number BIGINT NOT NULL
);
INSERT INTO raw.snapshots VALUES (
    'aaaaaaaaaaaaaaaaaaaa', 'v1', 'vultr', 'vultr', 'live', 'whole', TIMESTAMPTZ '2026-03-01 12:00:00+00', DATE '2026-03-01',
    TIMESTAMPTZ '2026-03-01 12:01:00+00', nextval('raw.load_numbers'), 'hash', ['https://prices.example/'], 'ok', '', 1, 1, TRUE, FALSE
);
INSERT INTO raw.offer_texts BY NAME
SELECT
    UUID '00000000-0000-0000-0000-000000000001' AS offer_text_id, UUID '00000000-0000-0000-0000-000000000002' AS offer_key, 1 AS load_number,
    'vultr' AS source, 'vultr' AS provider, 'h100-1' AS sku, 'H100 SXM 80GB' AS accelerator_name, 1 AS accelerator_count, 'USD' AS currency,
    'hour' AS per, 'offer' AS price_scope, 'on_demand' AS pricing_model, 0 AS commitment_days, 'global' AS region, 'unknown' AS tax;
INSERT INTO raw.offers BY NAME
SELECT
    'aaaaaaaaaaaaaaaaaaaa' AS snapshot_id, 'v1' AS parser_version, 0 AS ordinal, DATE '2026-03-01' AS observed_day,
    UUID '00000000-0000-0000-0000-000000000001' AS offer_text_id, 2.123456789 AS price;
INSERT INTO raw.rejected VALUES ('aaaaaaaaaaaaaaaaaaaa', 'v1', 'h100-2', 'price: not a number');
INSERT INTO raw.verdicts VALUES ('aaaaaaaaaaaaaaaaaaaa', 'accepted', '', TIMESTAMPTZ '2026-03-01 12:01:00+00', 'rule', 1);
INSERT INTO raw.exchange_rates VALUES (DATE '2026-03-01', 'USD', 1.1, 'ecb', TIMESTAMPTZ '2026-03-01 12:01:00+00', 1);
