"""What moved: the changes of prices that the command shows, as SQL on the published copy."""

from collections.abc import Sequence
from datetime import date

from warehouse.ask import Answer, ask
from warehouse.database import Connection

# Without a first day, the newest days of the ledger are shown.
SHOWN_DAYS = 7


def changes(connection: Connection, *, since: date | None, provider: str | None, keys: Sequence[str] | None) -> Answer:
    """What came, went, rose and fell since a day, newest first; of one provider or some accelerators only, if told."""
    return ask(
        connection,
        """
        SELECT
            day, change, provider, accelerator, accelerator_count, sku, region, price_before, price_after, change_percent, currency, per,
            pricing_model, commitment_days, tier, source, source_kind, source_kind_before, changed_at, seen_before_at
        FROM price_changes
        WHERE day >= coalesce($since, (SELECT max(last_day) FROM builds) - $days)
            AND ($provider IS NULL OR provider = $provider)
            AND ($keys IS NULL OR list_contains($keys, accelerator))
        ORDER BY day DESC, changed_at DESC, provider, accelerator, sku, region
        """,
        {"since": since, "days": SHOWN_DAYS, "provider": provider, "keys": None if keys is None else list(keys)},
    )
