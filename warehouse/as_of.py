"""The ledger as it would have been at a time: table macros that the models themselves are made into.

``offers_as_of(known_at)`` and the others say what today's rules and references make of the collections, verdicts and exchange rates that were
known then. Each is one query: the same SELECTs as the stored tables, upon the raw rows that were there at ``known_at``. What a build keeps that
no later knowledge changes (words and their meaning, odd offers, machines put together) is read as it lies.

What is asked for has to get down to the rows, or a question about a day reads years. So whatever is made of single offers stands in the
query wherever it is used, and not as a common table, which DuckDB makes whole before anyone takes a day of it.
"""

import itertools
from collections.abc import Iterator

import sqlglot
from sqlglot import TokenType, exp

from warehouse.macro import Macro
from warehouse.model import Model, all_models

PARAMETER = "known_at"
# What is learnt later than the day it speaks of, and when it was learnt.
LEARNT = {"raw.snapshots": "loaded_at", "raw.verdicts": "decided_at", "raw.exchange_rates": "loaded_at"}
_IN_PLACE = {
    "intermediate.asked_offers", "intermediate.hourly_offers", "intermediate.priced_offers", "intermediate.preferred_sources", "offers",
    "offer_days", "provider_prices_daily",
}  # fmt: skip
# DuckDB 2.0 makes one common plan of equal parts of a query, and that again reads all. A condition of its own, which always holds, keeps them apart.
_READ_APART = {"raw.offers", "intermediate.machine_offers"}

_ANSWERS = {
    "offers": "Every offer in the collections known at a time: offers as it would have been then, by today's rules and references.",
    "prices_daily": "The day's price of an accelerator from what was known at a time: prices_daily as it would have been then, by today's rules.",
    "training_costs": "What training runs cost at the prices known at a time: training_costs as it would have been then, by today's rules.",
}

_DAYS = """
    SELECT CAST(unnest(generate_series(CAST(min(observed_day) AS TIMESTAMP), CAST(max(observed_day) AS TIMESTAMP), INTERVAL 1 DAY)) AS DATE) AS day
    FROM staging__snapshots
    WHERE is_good AND offers > 0
"""


def macros() -> tuple[Macro, ...]:
    """One macro for each table that can be asked for as of a time, by name."""
    return tuple(
        Macro(f"{name}_as_of", PARAMETER, is_table=True, sql=_Query(name).text(), comment=comment)
        for name, comment in _ANSWERS.items()
    )


class _Query:
    """One model as a single query upon what was known."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.models = {model.name: model for model in all_models()}
        self.dependent = self._dependent()
        self.reads = itertools.count(1)

    def text(self) -> str:
        """The SELECT, with the parameter in it."""
        tables = [
            f"{_flat(name)} AS (SELECT * FROM {name} WHERE {learnt} <= CAST({PARAMETER} AS TIMESTAMPTZ))"
            for name, learnt in LEARNT.items()
        ]
        for model in self._upstream():
            if model.name not in _IN_PLACE:
                tables.append(f"{_flat(model.name)} AS ({self._resolved(model)}\n)")
            if model.name == "staging.snapshots":
                tables.append(f"days_to_build AS ({_DAYS})")
        return f"WITH {', '.join(tables)}\nSELECT * FROM {self._reference(self.target)} AS {_flat(self.target)}"

    def _dependent(self) -> set[str]:
        """What differs with the time, or is gone after a build."""
        found = set(LEARNT)
        for model in all_models():
            if model.inputs & found or model.partition == "transient":
                found.add(model.name)
        return found

    def _upstream(self) -> list[Model]:
        wanted: set[str] = set()
        queue = [self.target]
        while queue:
            name = queue.pop()
            if name in self.models and name in self.dependent | _IN_PLACE and name not in wanted:
                wanted.add(name)
                queue += self.models[name].inputs
        return [model for model in all_models() if model.name in wanted]

    def _resolved(self, model: Model) -> str:
        """A model's SELECT with every table that differs with the time replaced."""
        parts, end = [], 0
        for start, stop, name, is_named in _tables(model.sql):
            if name in self.dependent | _IN_PLACE | _READ_APART:
                alias = "" if is_named else f" AS {name.rpartition('.')[2]}"
                parts += [model.sql[end:start], self._reference(name), alias]
                end = stop
        return "".join([*parts, model.sql[end:]])

    def _reference(self, name: str) -> str:
        if name in _IN_PLACE:
            return f"({self._resolved(self.models[name])}\n)"
        if name in _READ_APART:
            return f"(SELECT * FROM {name} WHERE ordinal > -{next(self.reads)})"
        return _flat(name)


def _flat(name: str) -> str:
    """Name of the common table that stands for one of another schema."""
    return name.replace(".", "__")


def _tables(sql: str) -> Iterator[tuple[int, int, str, bool]]:
    """Where tables are read: start, end, name, and whether they have an alias. Common tables of the query's own are left out."""
    own = {cte.alias for cte in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.CTE)}
    tokens = sqlglot.tokenize(sql, read="duckdb")
    for place, token in enumerate(tokens[:-1]):
        first = tokens[place + 1]
        if token.token_type not in {TokenType.FROM, TokenType.JOIN} or first.token_type is TokenType.L_PAREN:
            continue
        last = place + 1
        while last + 2 < len(tokens) and tokens[last + 1].token_type is TokenType.DOT:
            last += 2
        name = sql[first.start : tokens[last].end + 1].removeprefix("main.")
        is_named = last + 1 < len(tokens) and tokens[last + 1].token_type is TokenType.ALIAS
        if name not in own:
            yield first.start, tokens[last].end + 1, name, is_named
