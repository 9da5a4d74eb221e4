CREATE SCHEMA raw;
CREATE SCHEMA reference;
CREATE SCHEMA staging;
CREATE SCHEMA intermediate;

-- One number per transaction that adds facts; a build knows by it what is new.
CREATE SEQUENCE raw.load_numbers;

-- One row per collection and parser version. Append-only, as everything in raw.
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

-- One row per distinct set of a provider's words: all fields of an offer but price, availability and quantity.
CREATE TABLE raw.offer_texts (
    offer_text_id UUID NOT NULL,
    -- What history follows: the words that tell one offer from another, whatever else is reworded.
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

-- One row per offer seen. observed_day repeats the snapshot's, so that a scan for a few days reads only their blocks.
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
    -- Ordinal of the row that stands for this one: the same offer_key in the same snapshot, the lowest price.
    duplicate_of INTEGER
);

CREATE TABLE raw.rejected (
    snapshot_id VARCHAR NOT NULL,
    parser_version VARCHAR NOT NULL,
    record VARCHAR NOT NULL,
    reason VARCHAR NOT NULL
);

-- Whether a snapshot counts. Rows are added, never changed; the newest of a snapshot holds.
CREATE TABLE raw.verdicts (
    snapshot_id VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    decided_at TIMESTAMPTZ NOT NULL,
    decided_by VARCHAR NOT NULL,
    load_number BIGINT NOT NULL
);

-- The ECB's reference rates: units of the currency for one euro.
CREATE TABLE raw.exchange_rates (
    day DATE NOT NULL,
    currency VARCHAR NOT NULL,
    units_per_eur DECIMAL(18, 9) NOT NULL,
    source VARCHAR NOT NULL,
    loaded_at TIMESTAMPTZ NOT NULL,
    load_number BIGINT NOT NULL
);
