"""What accelerators cost over time: by segment, by pricing model and by provider."""

from warehouse.database import Connection
from warehouse.reports.marts import Row, fetch
from warehouse.reports.scope import WHOLE, Scope
from warehouse.reports.series import thinned

# What people ask about; those that have prices are shown.
ASKED_ABOUT = (
    "k80-12gb",
    "v100-sxm-16gb",
    "a100-sxm-40gb",
    "a100-sxm-80gb",
    "h100-sxm-80gb",
    "h200-sxm-141gb",
    "b200-sxm-180gb",
    "mi300x-oam-192gb",
    "rtx-4090-24gb",
    "l40s-48gb",
    "tpu-v3",
    "tpu-v4",
    "tpu-v5e",
    "tpu-v5p",
    "tpu-v6e",
)

# Points that all lines of a kind may take together: the site has to fit into five megabytes.
_MOST_BY_SEGMENT, _MOST_BY_MODEL, _MOST_BY_PROVIDER = 2000, 1400, 1500


def by_segment(connection: Connection) -> list[Row]:
    """On-demand prices of every accelerator in every segment but the blend of all."""
    days = """
        SELECT
            accelerator, segment, day, round(usd_per_accelerator_hour_median, 6) AS usd, NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high,
            status, '' AS told, n_providers, source_kinds
        FROM prices_daily
        WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND segment <> 'all' AND status <> 'withheld'
    """
    return fetch(
        connection,
        thinned(
            days,
            ("accelerator", "segment"),
            most_rows=_MOST_BY_SEGMENT,
            favoured=f"accelerator IN {ASKED_ABOUT}",
        ),
        needs=["prices_daily"],
    )


def by_pricing_model(connection: Connection) -> list[Row]:
    """Prices over all providers of every accelerator, pricing model and commitment of whole years."""
    days = """
        SELECT
            accelerator, pricing_model, commitment_days, day, round(usd_per_accelerator_hour_median, 6) AS usd,
            NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high, status, '' AS told, n_providers, source_kinds
        FROM prices_daily
        WHERE segment = 'all' AND status <> 'withheld'
            AND (pricing_model IN ('on_demand', 'spot') OR pricing_model = 'reserved' AND commitment_days IN (365, 1095))
    """
    keys = ("accelerator", "pricing_model", "commitment_days")
    return fetch(connection, thinned(days, keys, most_rows=_MOST_BY_MODEL), needs=["prices_daily"])


def by_provider(connection: Connection) -> list[Row]:
    """On-demand prices of every accelerator at every provider."""
    days = """
        SELECT
            accelerator, provider, segment, day, round(CAST(usd_per_accelerator_hour_median AS DOUBLE), 6) AS usd,
            NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high, '' AS status, '' AS told, NULL::BIGINT AS n_providers, source_kinds
        FROM provider_prices_daily
        WHERE pricing_model = 'on_demand' AND commitment_days = 0
    """
    keys = ("accelerator", "provider", "segment")
    return fetch(connection, thinned(days, keys, most_rows=_MOST_BY_PROVIDER), needs=["provider_prices_daily"])


def provider_spans(connection: Connection, scope: Scope = WHOLE) -> list[Row]:
    """When each provider's price of each accelerator was first and last in the ledger, on demand, and the newest one."""
    rows = fetch(
        connection,
        """
        SELECT
            accelerator, provider, arg_max(segment, day) AS segment, min(day) AS first_day, max(day) AS last_day,
            CAST(arg_max(usd_per_accelerator_hour_median, day) AS DOUBLE) AS usd, arg_max(age_days, day) AS age_days,
            arg_max(source, day) AS source, arg_max(source_kinds, day) AS source_kinds
        FROM provider_prices_daily
        WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND day >= coalesce($since, DATE '0001-01-01')
        GROUP BY accelerator, provider
        ORDER BY accelerator, last_day DESC, usd, provider
        """,
        {"since": scope.since},
        needs=["provider_prices_daily"],
    )
    return scope.of_parts(rows)


def newest_prices(connection: Connection) -> list[Row]:
    """The newest on-demand price of each accelerator over all providers, and what it was a month and a year before.

    The earlier prices are those of the very days; a day without one leaves a gap.
    """
    return fetch(
        connection,
        """
        WITH priced AS (
            SELECT * FROM prices_daily WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND segment = 'all' AND status <> 'withheld'
        ),
        newest AS (SELECT * FROM priced WHERE day = (SELECT max(day) FROM prices_daily))
        SELECT
            n.accelerator, n.day, n.usd_per_accelerator_hour_median AS usd, n.n_providers, n.status, n.usd_per_dense_bf16_pflop_hour,
            n.usd_per_gb_hour, n.age_days, n.source_kinds,
            n.usd_per_accelerator_hour_median / month_before.usd_per_accelerator_hour_median - 1 AS change_30_days,
            n.usd_per_accelerator_hour_median / year_before.usd_per_accelerator_hour_median - 1 AS change_365_days
        FROM newest AS n
        LEFT JOIN priced AS month_before ON month_before.accelerator = n.accelerator AND month_before.day = n.day - 30
        LEFT JOIN priced AS year_before ON year_before.accelerator = n.accelerator AND year_before.day = n.day - 365
        ORDER BY n.accelerator
        """,
        needs=["prices_daily"],
    )
