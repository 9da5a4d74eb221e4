"""The documents say what is so: links lead somewhere, commands and settings exist, the example source works."""

import functools
import importlib
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from decimal import Decimal
from itertools import chain
from pathlib import Path

import pytest

from scrapers import providers
from scrapers.source import Page, load
from tests.conftest import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
CODE = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("flows", "scrapers", "warehouse", "tests")
    for path in (ROOT / folder).rglob("*.py")
)


@functools.cache
def commands() -> set[str]:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(re.findall(r"^  ([a-z-]+)  ", done.stdout.partition("Commands:")[2], re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_names_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link and not link.endswith(".png")]
    assert [link for link in links if not (document.parent / link).exists()] == []
    named = set(re.findall(r"gpuledger ([a-z]+)\b", text))
    assert named <= commands()
    settings = set(re.findall(r"GPULEDGER_[A-Z0-9_]+[A-Z0-9]", text))
    assert {setting for setting in settings if setting not in CODE} == set()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = {
        target
        for line in re.findall(r"(?:^|`)make ([a-z -]+?)(?:`|\s{2,}|$)", text, re.MULTILINE)
        for target in line.split()
    }
    assert used <= targets


def test_each_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *chain.from_iterable(project["dependency-groups"].values())]
    names = {re.split(r"[<>=~!\[ ]", one)[0] for one in asked}
    reasons = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    given = {name for row in re.findall(r"^\| (.*?) \|", reasons, re.MULTILINE) for name in row.split(", ")}
    assert names - given == set()
    assert given - names == {"package"}


def test_the_example_source_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [block] = re.findall(
        r"^ +```python\n(.*?)^ +```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "example.py").write_text(textwrap.dedent(block), encoding="utf-8")
    monkeypatch.setattr(providers, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "scrapers.providers.example", raising=False)
    importlib.invalidate_caches()
    types = [
        {"name": "g1", "gpu": "H100 SXM", "gpus": 8, "cents_per_hour": 1999},
        {"name": "c1", "gpu": None, "gpus": 0, "cents_per_hour": 10},
    ]
    parsed = load("example").parse([Page("https://api.example.com/v1/types", json.dumps({"types": types}).encode())])
    assert [(offer.sku, offer.price, offer.accelerator_count) for offer in parsed.offers] == [
        ("g1", Decimal("19.99"), 8)
    ]
    assert parsed.rejected == []
    sys.modules.pop("scrapers.providers.example")
