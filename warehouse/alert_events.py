"""What of the alerts is so on the newest day of the published copy.

Texts hold keys, numbers and dates of the ledger, nothing that others wrote.
"""

import difflib
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from warehouse import ask, database
from warehouse.alerts import (
    Alert,
    Alerts,
    AlertsError,
    CheaperElsewhere,
    CostBelow,
    IndexMoved,
    PriceBelow,
    SourceStale,
)
from warehouse.ask import UnknownNameError
from warehouse.database import Connection
from warehouse.run_names import known_runs, run_id


@dataclass(frozen=True)
class Event:
    """Something that someone wants to be told of, and is so."""

    key: str
    """The same as long as it lasts, another when it is another."""
    kind: str
    text: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class _Found:
    subject: str
    """What tells one event of an alert from another."""
    text: str
    facts: dict[str, Any]


def events(connection: Connection, path: Path, alerts: Alerts) -> list[Event]:
    """Every event of the alerts in the file. Raises AlertsError for a name that the ledger does not know."""
    found = []
    for number, alert in enumerate(alerts.alert, start=1):
        try:
            for one in _of(connection, alert):
                mark = hashlib.sha256(f"{alert.model_dump_json()} {one.subject}".encode()).hexdigest()[:16]
                found.append(Event(mark, alert.kind, one.text, one.facts))
        except UnknownNameError as error:
            raise AlertsError(f"{path}: alert {number} ({alert.kind}): {error}") from None
    return found


def _of(connection: Connection, alert: Alert) -> Iterator[_Found]:
    match alert:
        case PriceBelow():
            return _price_below(connection, alert)
        case IndexMoved():
            return _index_moved(connection, alert)
        case CheaperElsewhere():
            return _cheaper_elsewhere(connection, alert)
        case SourceStale():
            return _source_stale(connection, alert)
        case CostBelow():
            return _cost_below(connection, alert)


def _price_below(connection: Connection, alert: PriceBelow) -> Iterator[_Found]:
    _check_basis(connection, alert.basis)
    rows = connection.execute(
        """
        SELECT day, accelerator, usd_per_accelerator_hour_mid, price_status
        FROM basis_prices_daily
        WHERE day = (SELECT max(day) FROM basis_prices_daily) AND basis = $basis AND list_contains($keys, accelerator)
            AND usd_per_accelerator_hour_mid < $limit
        ORDER BY accelerator
        """,
        {
            "basis": alert.basis, "limit": alert.usd_per_accelerator_hour,
            "keys": ask.accelerators(connection, alert.accelerator),
        },
    ).fetchall()  # fmt: skip
    for day, accelerator, usd, status in rows:
        yield _Found(
            accelerator,
            f"{accelerator} is at {usd:.4g} USD an hour on {day} ({alert.basis}, {status}), below {alert.usd_per_accelerator_hour:.4g}",
            {
                "day": day,
                "accelerator": accelerator,
                "basis": alert.basis,
                "usd_per_accelerator_hour": usd,
                "status": status,
            },
        )


def _index_moved(connection: Connection, alert: IndexMoved) -> Iterator[_Found]:
    for accelerator in ask.accelerators(connection, alert.accelerator):
        rows = connection.execute(
            """
            SELECT day, chain_id, price_index
            FROM price_index_daily
            WHERE accelerator = ? AND segment = ? AND pricing_model = ?
            ORDER BY day DESC
            """,
            [accelerator, alert.segment, alert.pricing_model],
        ).fetchall()
        if not rows:
            continue
        day, chain, level = rows[0]
        since = day - timedelta(days=alert.within_days)
        in_chain = [row for row in rows if row[1] == chain]
        # The last level on or before the first day of the period; a younger chain is followed from its start.
        start, _, first = next((row for row in in_chain if row[0] <= since), in_chain[-1])
        percent = 100 * (level / first - 1)
        if abs(percent) >= alert.percent:
            direction = "fell" if percent < 0 else "rose"
            yield _Found(
                f"{accelerator} {direction} {chain}",
                f"the index of {accelerator} ({alert.segment}, {alert.pricing_model}) {direction} {abs(percent):.1f} % from {start} to {day}",
                {
                    "day": day, "since": start, "accelerator": accelerator, "segment": alert.segment,
                    "pricing_model": alert.pricing_model, "percent": percent,
                },
            )  # fmt: skip


def _cheaper_elsewhere(connection: Connection, alert: CheaperElsewhere) -> Iterator[_Found]:
    _check_known(connection, alert.provider, "provider", "SELECT provider FROM reference.providers")
    rows = connection.execute(
        """
        WITH newest AS (
            SELECT *
            FROM provider_prices_daily
            WHERE day = (SELECT max(day) FROM provider_prices_daily) AND list_contains($keys, accelerator)
                AND pricing_model = $pricing_model AND commitment_days = $commitment_days
        )
        SELECT
            o.day, o.accelerator, o.provider, CAST(o.usd_per_accelerator_hour_min AS DOUBLE), CAST(m.usd_per_accelerator_hour_median AS DOUBLE)
        FROM newest AS m
        JOIN newest AS o USING (accelerator)
        WHERE m.provider = $provider AND o.provider <> $provider AND list_contains($segments, o.segment)
            AND o.usd_per_accelerator_hour_min <= m.usd_per_accelerator_hour_median * (1 - $percent / 100)
        QUALIFY row_number() OVER (PARTITION BY accelerator ORDER BY o.usd_per_accelerator_hour_min, o.provider) = 1
        ORDER BY accelerator
        """,
        alert.model_dump(include={"pricing_model", "commitment_days", "provider", "segments", "percent"})
        | {"keys": ask.accelerators(connection, alert.accelerator)},
    ).fetchall()
    for day, accelerator, provider, usd, own in rows:
        less = 100 * (1 - usd / own)
        yield _Found(
            f"{accelerator} {provider}",
            f"{accelerator}: {provider} asks {usd:.4g} USD an hour on {day}, {less:.0f} % less than {alert.provider}'s {own:.4g}",
            {
                "day": day, "accelerator": accelerator, "provider": provider, "usd_per_accelerator_hour": usd,
                "than": alert.provider, "than_usd_per_accelerator_hour": own, "percent": less,
            },
        )  # fmt: skip


def _source_stale(connection: Connection, alert: SourceStale) -> Iterator[_Found]:
    if alert.source is not None:
        _check_known(connection, alert.source, "source", "SELECT source FROM reference.sources")
    rows = connection.execute(
        """
        SELECT source, max(last_good_at)
        FROM provider_coverage
        WHERE source_kind = 'live' AND ($source IS NULL OR source = $source)
        GROUP BY source
        HAVING max(last_good_at) < $now - $days * INTERVAL 1 DAY
        ORDER BY source
        """,
        {"source": alert.source, "now": database.now(), "days": alert.days},
    ).fetchall()
    for source, good_at in rows:
        days = (database.now() - good_at) / timedelta(days=1)
        yield _Found(
            source,
            f"{source}: no good collection since {good_at:%Y-%m-%d %H:%M} UTC, {days:.1f} days",
            {"source": source, "last_good_at": good_at, "days": days},
        )


def _cost_below(connection: Connection, alert: CostBelow) -> Iterator[_Found]:
    _check_basis(connection, alert.basis)
    run = run_id(alert.run, known_runs(connection))
    keys = None if alert.accelerator is None else ask.accelerators(connection, alert.accelerator)
    costs = "training_cost_frontier" if keys is None else "training_costs"
    rows = connection.execute(
        f"""
        SELECT day, accelerator, cost_usd_low, cost_usd_mid, cost_usd_high
        FROM {costs}
        WHERE day = (SELECT max(day) FROM basis_prices_daily) AND run = $run AND basis = $basis AND cost_usd_mid < $limit
            AND {"NOT is_relaxed" if keys is None else "list_contains($keys, accelerator)"}
        ORDER BY cost_usd_mid, accelerator
        LIMIT 1
        """,
        {"run": run, "basis": alert.basis, "limit": alert.cost_usd} | ({} if keys is None else {"keys": keys}),
    ).fetchall()
    for day, accelerator, low, mid, high in rows:
        yield _Found(
            "",
            f"{run} costs {mid:,.0f} USD ({low:,.0f} to {high:,.0f}) on {accelerator} on {day} ({alert.basis}), below {alert.cost_usd:,.0f}",
            {
                "day": day, "run": run, "accelerator": accelerator, "basis": alert.basis, "cost_usd_low": low, "cost_usd_mid": mid,
                "cost_usd_high": high,
            },
        )  # fmt: skip


def _check_basis(connection: Connection, basis: str) -> None:
    provider = basis.removeprefix("provider:")
    if provider != basis:
        _check_known(connection, provider, "provider", "SELECT provider FROM reference.providers")
    else:
        _check_known(connection, basis, "basis", "SELECT basis FROM reference.price_bases")


def _check_known(connection: Connection, name: str, what: str, query: str) -> None:
    known: Iterable[str] = [row[0] for row in connection.execute(query).fetchall()]
    if name not in known:
        near = ", ".join(difflib.get_close_matches(name, known, n=4, cutoff=0.3))
        raise UnknownNameError(f"no {what} {name!r}{f'; near it: {near}' if near else ''}")
