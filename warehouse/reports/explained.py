"""What costs and prices are made of, as trees on pages: from the number down to the archived page and its hash.

A price stands behind many costs, so it has a page of its own and costs link to it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from warehouse import explain
from warehouse.cost_questions import ImpossibleQuestionError
from warehouse.database import Connection
from warehouse.explain import Node, Pages
from warehouse.reports.links import file_stem
from warehouse.reports.marts import Row, present
from warehouse.reports.runs import AS_RUN_BASES, FRONTIER_BASIS

# On a page so many offers of one provider; gpuledger explain --all has all.
MOST_OFFERS = 1
CONSTANTS = "explain/constants.html"
_NAME = re.compile(r"[a-z][a-z0-9_]+")
_NEEDS = {"training_costs", "training_hours", "basis_prices_daily", "provider_prices_daily", "prices_daily"}
PriceKey = tuple[str, str, date]
"""Accelerator, basis, day."""


@dataclass(frozen=True)
class Question:
    """A cost to explain."""

    run: str
    accelerator: str
    basis: str
    day: date
    is_as_run: bool


@dataclass(frozen=True)
class Explained:
    """Trees of costs by run, and of the prices behind them."""

    costs: dict[str, list[tuple[Question, Node]]]
    prices: dict[PriceKey, Node]

    @property
    def constants(self) -> list[Node]:
        """Every constant of the trees, by name."""
        found: dict[str, Node] = {}
        for answers in self.costs.values():
            for _, node in answers:
                _gather(node, found)
        return [found[name] for name in sorted(found)]

    def price_stem(self, accelerator: str, basis: str) -> str:
        """File name of a price's newest page; empty where there is none."""
        days = [day for key, of, day in self.prices if (key, of) == (accelerator, basis)]
        return price_stem((accelerator, basis, max(days))) if days else ""


def price_stem(key: PriceKey) -> str:
    """File name of a price's page."""
    accelerator, basis, day = key
    return file_stem(f"{accelerator}-{basis.replace('_', '-')}-{day}")


def newest_questions(as_run: dict[Any, list[Row]], frontier: dict[Any, list[Row]]) -> list[Question]:
    """Of every run the newest cost as run, on the first basis that has one, and the newest on the cheapest part, on firm evidence first."""
    questions = []
    for run in sorted({*as_run, *frontier}):
        rows = as_run.get(run, [])
        for basis in AS_RUN_BASES:
            if found := [row for row in rows if row["basis"] == basis]:
                questions.append(Question(run, "", basis, found[-1]["to_day"], is_as_run=True))
                break
        ranked = sorted(frontier.get(run, []), key=lambda row: (row["to_day"], not row["is_relaxed"]))
        if ranked:
            questions.append(Question(run, ranked[-1]["told"], FRONTIER_BASIS, ranked[-1]["to_day"], is_as_run=False))
    return questions


def explained(
    connection: Connection, questions: Sequence[Question], priced: Iterable[PriceKey], pages: Pages | None
) -> Explained:
    """The trees; what can't be explained, since the ledger has no such cost any more, is left out."""
    prices: dict[PriceKey, Node] = {}
    costs: dict[str, list[tuple[Question, Node]]] = {}
    if not present(connection) >= _NEEDS:
        return Explained(costs, prices)

    def price(accelerator: str, basis: str, day: date) -> Node:
        key = (accelerator, basis, day)
        if key not in prices:
            prices[key] = explain.price(connection, accelerator, basis, day, pages=pages, most=MOST_OFFERS)
        told = prices[key]
        return Node(told.what, told.value, told.unit, told.how, url=f"explain/{price_stem(key)}.html")

    # Days and bases are named, since the view works out whatever is not ruled out before.
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE explained_costs AS
        SELECT *
        FROM training_costs
        WHERE list_contains($days, day) AND list_contains($bases, basis) AND list_contains($runs, run)
        """,
        {
            "days": sorted({one.day for one in questions}),
            "bases": sorted({one.basis for one in questions}),
            "runs": sorted({one.run for one in questions}),
        },
    )
    asked: list[tuple[date, Question | PriceKey]] = [(one.day, one) for one in questions] + [
        (one[2], one) for one in priced
    ]
    # Days in order, since the offers of a day are found once.
    for _, one in sorted(asked, key=lambda item: item[0]):
        try:
            if isinstance(one, Question):
                node = explain.cost(
                    connection, one.run, on=one.day, basis=one.basis, key=one.accelerator or None, precision=None,
                    costs="explained_costs", priced=price,
                )  # fmt: skip
                costs.setdefault(one.run, []).append((one, node))
            else:
                price(*one)
        except ImpossibleQuestionError:
            continue
    return Explained(costs, prices)


@dataclass(frozen=True)
class Branch:
    """A node as a page shows it."""

    what: str
    value: str
    note: str
    href: str
    link: str
    """Words of the link."""
    parts: tuple["Branch", ...]


def branch(node: Node, root: str) -> Branch:
    """A node for a page that lies ``root`` below the front page. Only addresses of the web and of this site become links."""
    value = "" if node.value is None else explain.text(node.value)
    if is_constant(node):
        href = f"{root}{CONSTANTS}#{node.how}"
        return Branch(node.how, f"{value} {node.unit}".strip(), "", href, "source", ())
    is_own = node.url.startswith("explain/")
    is_web = node.url.startswith("https://") and " " not in node.url
    href = f"{root}{node.url}" if is_own else node.url if is_web else ""
    plain = "" if href else node.url
    return Branch(
        node.what,
        f"{value} {node.unit}".strip(),
        "; ".join(filter(None, (node.how, node.source, plain))),
        href,
        "providers, offers and pages" if is_own else _shown(node.url),
        tuple(branch(part, root) for part in node.parts),
    )


def is_constant(node: Node) -> bool:
    """A row of the constants, whose citation many trees need; they have a page together."""
    return bool(_NAME.fullmatch(node.how)) and not node.parts and bool(node.source or node.url)


def _gather(node: Node, found: dict[str, Node]) -> None:
    if is_constant(node):
        found[node.how] = node
    for part in node.parts:
        _gather(part, found)


def _shown(address: str) -> str:
    """Whose page it is."""
    return address.removeprefix("https://").removeprefix("www.").partition("/")[0]
