"""Whether a snapshot tells its prices in another unit than the last accepted one: most of them moved by one factor.

Offers are matched by their words without unit, scope and currency, so that a label that moved alone shows as well. Where too few match
(a shop that renamed its plans, a marketplace), the medians of accelerators are held against each other.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from warehouse.database import Connection

CHANGE_OF_UNIT = "a change of unit"
# A factor as large as this is no change of prices, if more than half of them share it; roughly, since prices go on moving
# while a list in another unit is withheld.
LARGE_FACTOR, MOST, ROUGHLY_ALIKE = 3.0, 0.5, 0.25
# A smaller one is none either, if nearly all share it: everything doubled or halved.
SMALL_FACTOR, NEARLY_ALL, NEARLY_ALL_OF = 1.9, 0.9, 5
ALIKE = 0.02
FEWEST_MATCHES = 3
# Of the offers of a snapshot, so many have to match, or accelerators are compared.
MATCHED_SHARE = 0.2
# The currencies that most lists are in: a list in euros read as dollars moves by the rate of the day.
USUAL_CURRENCIES = ("EUR", "GBP")
RATE_TOLERANCE, RATE_DAYS = 0.004, 10
NEAR_PARITY = 0.02


@dataclass(frozen=True)
class Reading:
    """A snapshot as one version of the parser read it."""

    snapshot_id: str
    parser_version: str
    day: date


@dataclass(frozen=True)
class _Move:
    factor: float
    """Price per accelerator and hour now over then, both at the rates of now."""
    accelerator_count: float
    currencies: frozenset[str]
    """The two labels, where they differ."""


def unit_moved(connection: Connection, now: Reading, then: Reading) -> str:
    """Why the two cannot be in one unit, in words that end in CHANGE_OF_UNIT; empty where nothing says so."""
    moves = _matched(connection, now, then)
    if not moves:
        return ""
    told = _by_one_factor(moves) or _by_counts(moves) or _by_a_rate(connection, moves, now.day)
    return f"{told}: {CHANGE_OF_UNIT}" if told else ""


def unit_stayed(connection: Connection, now: Reading, then: Reading) -> bool:
    """Whether most prices are still those of the other reading, which are then in one unit."""
    moves = _matched(connection, now, then)
    return sum(abs(move.factor - 1) <= ALIKE for move in moves) > MOST * len(moves)


def _matched(connection: Connection, now: Reading, then: Reading) -> list[_Move]:
    """How prices moved; nothing where there are too few to say."""
    offers = _offers(connection, now)
    if offers < FEWEST_MATCHES:
        return []
    moves = _moves(connection, now, then, _OFFERS)
    return (
        moves
        if len(moves) >= max(FEWEST_MATCHES, MATCHED_SHARE * offers)
        else _moves(connection, now, then, _ACCELERATORS)
    )


def _by_one_factor(moves: Sequence[_Move]) -> str:
    factor = statistics.median(move.factor for move in moves)
    size = max(factor, 1 / factor)
    tolerance = ROUGHLY_ALIKE if size >= LARGE_FACTOR else ALIKE
    alike = sum(abs(move.factor / factor - 1) <= tolerance for move in moves)
    is_large = size >= LARGE_FACTOR and alike > MOST * len(moves)
    is_shared = size >= SMALL_FACTOR and alike >= NEARLY_ALL * len(moves) and len(moves) >= NEARLY_ALL_OF
    if not (is_large or is_shared):
        return ""
    return f"{alike} of {len(moves)} prices moved by the same factor {factor:.4g}"


def _by_counts(moves: Sequence[_Move]) -> str:
    """Per machine against per accelerator: each price moves by its own number of accelerators."""
    several = [move for move in moves if move.accelerator_count >= 2]
    for way in (1, -1):
        alike = sum(abs(move.factor / move.accelerator_count**way - 1) <= ALIKE for move in several)
        if alike >= FEWEST_MATCHES and alike > MOST * len(several):
            return f"{alike} of {len(several)} prices moved by their number of accelerators"
    return ""


def _by_a_rate(connection: Connection, moves: Sequence[_Move], day: date) -> str:
    """One currency taken for another: nearly all prices move by the exchange rate, or the label moves and the numbers do not."""
    labels = frozenset[str]().union(*(move.currencies for move in moves))
    if len(moves) < (FEWEST_MATCHES if labels else NEARLY_ALL_OF):
        return ""
    for currency, low, high in _rates(connection, sorted({*USUAL_CURRENCIES, *labels} - {"USD"}), day):
        if abs(high - 1) < NEAR_PARITY:
            continue
        for least, most in ((low, high), (1 / high, 1 / low)):
            span = (least * (1 - RATE_TOLERANCE), most * (1 + RATE_TOLERANCE))
            alike = sum(span[0] <= move.factor <= span[1] for move in moves)
            if alike >= NEARLY_ALL * len(moves):
                return f"{alike} of {len(moves)} prices moved by the {currency}/USD rate"
    return ""


def _offers(connection: Connection, now: Reading) -> int:
    [(count,)] = connection.execute(
        "SELECT count(*) FROM raw.offers WHERE snapshot_id = ? AND parser_version = ? AND observed_day = ?",
        [now.snapshot_id, now.parser_version, now.day],
    ).fetchall()
    return int(count)


def _moves(connection: Connection, now: Reading, then: Reading, matched: str) -> list[_Move]:
    rows = connection.execute(
        _MOVES.format(matched=matched),
        {
            "now": now.snapshot_id, "now_version": now.parser_version, "now_day": now.day,
            "then": then.snapshot_id, "then_version": then.parser_version, "then_day": then.day,
        },
    ).fetchall()  # fmt: skip
    return [_Move(factor, count, frozenset(labels)) for factor, count, labels in rows]


def _rates(connection: Connection, currencies: list[str], day: date) -> list[tuple[str, float, float]]:
    """US dollars for one unit of each currency: the lowest and the highest of the last days."""
    return connection.execute(
        f"""
        WITH {_USD_RATES}
        SELECT currency, min(usd_per_unit), max(usd_per_unit)
        FROM usd_rates
        WHERE day BETWEEN CAST($day AS DATE) - {RATE_DAYS} AND CAST($day AS DATE) AND list_contains($currencies, currency)
        GROUP BY currency
        ORDER BY currency
        """,
        {"day": day, "currencies": currencies},
    ).fetchall()


_USD_RATES = """
rates AS (
    SELECT day, currency, CAST(arg_max(units_per_eur, load_number) AS DOUBLE) AS units_per_eur
    FROM raw.exchange_rates
    WHERE day BETWEEN CAST($day AS DATE) - 45 AND CAST($day AS DATE)
    GROUP BY ALL
),
usd_rates AS (
    SELECT r.day, unnest([r.currency, 'EUR']) AS currency, unnest([u.units_per_eur / r.units_per_eur, u.units_per_eur]) AS usd_per_unit
    FROM rates AS r
    JOIN rates AS u ON u.day = r.day AND u.currency = 'USD'
)
"""


def _same(*words: str) -> str:
    """SQL for the words by which offers are matched."""
    return f"concat_ws(chr(31), {', '.join(f'coalesce(CAST({word} AS VARCHAR), chr(30))' for word in words)})"


_PARTS = ("provider", "pricing_model", "commitment_days", "part")
# Within one set of words the n-th cheapest answers the n-th cheapest, where there are as many.
_OFFERS = f"""
SELECT
    is_now, words, hourly, currency, accelerator_count, ordinal,
    row_number() OVER (PARTITION BY is_now, words ORDER BY hourly, ordinal) AS place,
    count(*) OVER (PARTITION BY is_now, words) AS places
FROM (SELECT *, {_same(*_PARTS, "sku", "accelerator_count", "region", "zone", "tier")} AS words FROM said WHERE hourly > 0)
"""
_ACCELERATORS = f"""
SELECT is_now, words, median(hourly) AS hourly, mode(currency) AS currency, 1 AS accelerator_count, min(ordinal) AS ordinal, 1 AS place, 1 AS places
FROM (SELECT *, {_same(*_PARTS, "accelerator_name")} AS words FROM said WHERE hourly > 0)
GROUP BY is_now, words
"""

_MOVES = f"""
WITH {_USD_RATES.replace("$day", "$now_day")},

rates_now AS (
    SELECT currency, arg_max(usd_per_unit, day) AS usd_per_unit
    FROM usd_rates
    GROUP BY currency
),

said AS (
    SELECT
        o.snapshot_id = $now AS is_now,
        t.*,
        CASE WHEN t.price_scope IN ('host_vcpu', 'host_gib') THEN t.price_scope ELSE '' END AS part,
        o.ordinal,
        o.price
            / CASE t.per
                WHEN 'second' THEN 1.0 / 3600
                WHEN 'minute' THEN 1.0 / 60
                WHEN 'hour' THEN 1.0
                WHEN 'day' THEN 24.0
                WHEN 'month' THEN 730.0
                WHEN 'year' THEN 8760.0
                ELSE nullif(t.commitment_days, 0) * 24.0
            END
            / CASE WHEN t.price_scope = 'offer' THEN coalesce(t.accelerator_count, 1) ELSE 1 END AS hourly
    FROM raw.offers AS o
    JOIN raw.offer_texts AS t USING (offer_text_id)
    WHERE (
            o.snapshot_id = $now AND o.observed_day = $now_day AND o.parser_version = $now_version
            OR o.snapshot_id = $then AND o.observed_day = $then_day AND o.parser_version = $then_version
        )
        AND o.duplicate_of IS NULL
),

matched AS ({{matched}})

SELECT
    CAST(n.hourly AS DOUBLE) / CAST(p.hourly AS DOUBLE)
        * CASE WHEN n.currency = p.currency THEN 1 ELSE coalesce(r.usd_per_unit, 1) / coalesce(q.usd_per_unit, 1) END AS factor,
    CAST(coalesce(n.accelerator_count, p.accelerator_count, 1) AS DOUBLE) AS accelerator_count,
    CASE WHEN n.currency = p.currency THEN [] ELSE [n.currency, p.currency] END AS labels
FROM matched AS n
JOIN matched AS p ON p.words = n.words AND p.place = n.place AND p.places = n.places AND NOT p.is_now
LEFT JOIN rates_now AS r ON r.currency = n.currency AND n.currency <> 'USD'
LEFT JOIN rates_now AS q ON q.currency = p.currency AND p.currency <> 'USD'
WHERE n.is_now
ORDER BY n.ordinal
"""
