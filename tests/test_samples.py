"""Real answers of the providers, where they lie beside the project: taken in at their dates, in any order, they give one warehouse."""

import csv
import importlib.util
import random
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from flows import steps
from scrapers.source import Page, source_names
from tests.market import Market

pytestmark = pytest.mark.slow

DATE = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)?(?:T?(\d\d)(\d\d)(\d\d))?")


def conformance(shared: Path) -> ModuleType:
    """The checker, for its reader of recorded answers."""
    spec = importlib.util.spec_from_file_location("conformance_check", shared / "conformance" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def observed_at(sample: str) -> datetime:
    """When a sample was captured, by its file name; a month stands for its first day, none for the start of 2024."""
    found = DATE.search(Path(sample.partition("#")[0]).name)
    if not found:
        return datetime(2024, 1, 1, tzinfo=UTC)
    year, month, day, *clock = (int(part) if part else 0 for part in found.groups())
    return datetime(year, month, day or 1, *clock, tzinfo=UTC)


def real_captures(shared: Path, scratch: Path) -> list[tuple[str, list[Page], datetime, steps.SourceKind]]:
    """Every sample that the cases name for a source of ours."""
    check = conformance(shared)
    with (shared / "cases" / "known_offers.csv").open(newline="", encoding="utf-8") as file:
        wanted = sorted({(row["source"], row["sample"]) for row in csv.DictReader(file)})
    ours = source_names()
    captures = []
    for source, sample in wanted:
        files = check.sample_files(sample, [shared / "samples"], scratch)
        if source in ours and files:
            kind: steps.SourceKind = "archived_page" if source.endswith("_page") else "live"
            pages = [Page(f"file:{path.name}", path.read_bytes(), path.name) for path in files]
            captures.append((source, pages, observed_at(sample), kind))
    return captures


def test_real_answers_in_any_order_give_the_same_warehouse(shared: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_DATA", str(tmp_path / "unused"))
        captures = real_captures(shared, tmp_path)
    assert len(captures) > 20
    seed = random.randrange(10**6)
    found = []
    for order in ("sorted", "shuffled"):
        chosen = list(captures)
        if order == "shuffled":
            random.Random(seed).shuffle(chosen)
        with pytest.MonkeyPatch.context() as patch:
            market = Market(tmp_path / order, patch, own_sources=True)
            for source, pages, moment, kind in chosen:
                steps.take_in(source, pages, moment, kind)
                if order == "shuffled":
                    market.load()
            market.load()
            market.build()
            tables = market.tables()
            tables.pop("raw.verdicts")
            found.append(
                (
                    tables,
                    market.sql(
                        "SELECT snapshot_id, verdict, verdict_reason, is_good FROM staging.snapshots ORDER BY 1"
                    ),
                )
            )
    for name, rows in found[0][0].items():
        assert rows == found[1][0][name], f"{name}, seed {seed}"
    assert found[0][1] == found[1][1], f"seed {seed}"
    offers = found[0][0]["raw.offers"]
    assert len(offers) > 5000
