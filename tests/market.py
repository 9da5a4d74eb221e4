"""A made-up market for tests: sources whose pages are lists of offers, loaded and built by the real pipeline."""

import json
import sys
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows import steps
from scrapers import exchange_rates, providers
from scrapers.archive import Archive, Manifest
from scrapers.exchange_rates import history as exchange_rates_history
from scrapers.source import Page
from warehouse import build as builder
from warehouse import database

MODULE = '''"""A made-up source."""
from scrapers.offer import Offer
from scrapers.shapes import each
from scrapers.source import PageError, Source

SOURCE = Source(provider={provider!r}, url="https://made-up.example/", kind={kind!r}, offers={offers}, terms="made up", whole=True,
                is_aggregator={is_aggregator}, unproven={unproven})


def parse(pages):
    for page in pages:
        if not isinstance(page.json, list):
            raise PageError("not a list of offers")
        yield from each(page.json, "sku", lambda row: [Offer(**row)])
'''


def offer(sku: str = "a", price: object = "2.00", **words: Any) -> dict[str, Any]:
    """One offer of a made-up page: one H100 SXM by the hour, unless told otherwise."""
    return {
        "sku": sku,
        "accelerator_name": "H100 SXM 80GB",
        "accelerator_count": "1",
        "price": str(price),
        "currency": "USD",
    } | words


def at(text: str) -> datetime:
    """A UTC time."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@cache
def _rates_of_now() -> pa.Table:
    """The history of exchange rates without the years that no test reaches."""
    return exchange_rates_history().filter(pc.field("day") >= date(2023, 1, 1))


def forget_afterwards(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Whatever module of that source is imported from here on is gone after the test."""
    name = f"scrapers.providers.{source}"
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    del sys.modules[name]


class Market:
    """Sources, what they said when, and the ledger that comes of it. One data folder each."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, own_sources: bool = False) -> None:
        self.modules = folder / "modules"
        self.modules.mkdir(parents=True)
        monkeypatch.setenv("GPULEDGER_DATA", str(folder / "data"))
        if not own_sources:
            monkeypatch.setattr(providers, "__path__", [str(self.modules)])
        # A made-up source may have the name of a real one. What else is imported meanwhile has to stay: of a library
        # that is loaded twice, one half does not know the other's exceptions.
        self._monkeypatch = monkeypatch
        for name in [name for name in sys.modules if name.startswith("scrapers.providers.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(exchange_rates, "history", _rates_of_now)

    def source(
        self, name: str, provider: str = "lambda", kind: str = "api", offers: range = range(1, 100_000), *,
        is_aggregator: bool = False, unproven: bool = False,
    ) -> str:  # fmt: skip
        """Add a source."""
        text = MODULE.format(
            provider=provider, kind=kind, offers=repr(offers), is_aggregator=is_aggregator, unproven=unproven
        )
        (self.modules / f"{name}.py").write_text(text, encoding="utf-8")
        forget_afterwards(self._monkeypatch, name)
        return name

    def says(
        self, source: str, when: str, offers: list[dict[str, Any]] | bytes, kind: str = "live", **more: Any
    ) -> Manifest:
        """Archive what a source showed at a time."""
        body = offers if isinstance(offers, bytes) else json.dumps(offers).encode()
        page = Page("https://made-up.example/", body, "page.json")
        return self.archive.write(source, [page], observed_at=at(when), source_kind=kind, **more)

    @property
    def archive(self) -> Archive:
        """The raw archive."""
        return steps.archive()

    def load(self) -> list[steps.Outcome]:
        """Load what is archived."""
        return steps.load_archive()

    def build(self, *, full: bool = False) -> builder.Built | None:
        """Build and publish."""
        return steps.build(full=full)

    def update(self) -> list[steps.Outcome]:
        """Load and build."""
        outcomes = self.load()
        self.build()
        return outcomes

    def sql(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Ask the published copy."""
        with database.connect_published() as connection:
            return connection.execute(query, list(parameters)).fetchall()

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every stored row of the working file in a fixed order, but for when and under which number it was learnt."""
        with database.connect_working(read_only=True) as connection:
            names = connection.execute(
                """
                SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index)
                FROM duckdb_columns()
                JOIN duckdb_tables() USING (schema_name, table_name)
                WHERE table_name NOT IN ('builds', 'gate_results', 'schema_version') AND NOT duckdb_tables.internal
                GROUP BY ALL
                """
            ).fetchall()
            late = {"load_number", "loaded_at", "decided_at"}
            found = {}
            for name, columns in names:
                kept = ", ".join(column for column in columns if column not in late)
                found[name] = connection.execute(f"SELECT {kept} FROM {name} ORDER BY ALL").fetchall()
            return found
