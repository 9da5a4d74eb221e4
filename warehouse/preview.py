"""Pages to the columns of ``offers``, by the warehouse's own models, touching no warehouse."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scrapers import exchange_rates
from scrapers.archive import Manifest
from scrapers.source import Adapter, Page, Rejected, snapshot_id
from warehouse import build, database, load, parts, rates, reference
from warehouse.model import upstream_of

COLUMNS = """
day, observed_at, snapshot_id, source, source_kind, provider, segment, sku, CAST(offer_key AS VARCHAR) AS offer_key, accelerator_name, accelerator,
vendor, model, form_factor, memory_gb, accelerator_count, pricing_model, commitment_days, tier, region, zone, country, price, currency,
per, price_scope, usd_per_hour, usd_per_accelerator_hour, fx_date, available, quantity, vcpus, ram_gb, interconnect, effective_at,
own_why_not IS NULL AS index_eligible,
nullif(concat_ws('; ', coalesce(own_why_not, CASE WHEN own_remark IS NOT NULL THEN 'counts' END), own_remark), '') AS why_not
"""


def preview(
    adapter: Adapter, pages: Sequence[Page], observed_at: datetime
) -> tuple[list[dict[str, Any]], list[Rejected]]:
    """One row per offer on the pages, as ``offers`` would show it, and the records that do not read or ask no price.

    Raises PageError when the pages are not this source's.
    """
    parsed = adapter.parse(pages)
    manifest = Manifest(
        snapshot_id(adapter.name, observed_at, "preview"),
        adapter.name,
        "live",
        observed_at,
        "collected",
        "",
        (),
        "whole",
    )
    with database.connect_memory() as connection:
        load.write_unjudged(connection, load.read(adapter, manifest, lambda: parsed))
        if any(offer.currency != "USD" for offer in parsed.offers):
            rates.insert(connection, _recent(exchange_rates.history(), observed_at), "history", 0)
        reference.load(connection, ("accelerators", "known_errors", "machines", "providers", "regions"))
        parts.name_texts(connection)
        connection.execute("CREATE TEMP TABLE days_to_build AS SELECT CAST(? AS DATE) AS day", [observed_at.date()])
        build.run_views(connection, upstream_of(["intermediate.priced_offers"]))
        found = connection.execute(f"SELECT {COLUMNS} FROM intermediate.priced_offers ORDER BY ordinal")
        names = [column[0] for column in found.description or []]
        provenance = {"dataset": None, "terms": adapter.source.terms}
        return [dict(zip(names, row, strict=True)) | provenance for row in found.fetchall()], [
            *parsed.rejected,
            *parsed.unpriced,
        ]


def _recent(history: pa.Table, observed_at: datetime) -> pa.Table:
    """The rates that could hold on that day; the newest known ones where the history ends before it."""
    newest = pc.max(history["day"]).as_py()
    day = min(observed_at.date(), newest)
    return history.filter((pc.field("day") <= day) & (pc.field("day") >= day - timedelta(days=45)))
