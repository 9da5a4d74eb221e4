"""The shape of the project: who may import whom, how large things are, and what never gets into the repository."""

import ast
import functools
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("flows", "scrapers", "warehouse")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers", "shared", "core", "base"}

# Of the warehouse, the modules between the archive and the raw tables. What comes after them knows tables only.
MEETS_SCRAPERS = {
    "warehouse.backup",
    "warehouse.health",
    "warehouse.load",
    "warehouse.preview",
    "warehouse.rates",
    "warehouse.reference",
    "warehouse.replay",
    "warehouse.retention",
    "warehouse.status",
    "warehouse.verdicts",
}
MOST_LINES_OF_A_PROVIDER = 150
LARGEST_FILE_BYTES = 200_000
LARGEST_FACTS_BYTES = 400_000
LARGEST_FIXTURE_BYTES = 50_000

# Written in two parts, or this file would hold what it looks for.
MACHINE_PATHS = [first + second for first, second in (("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/"))]
REGISTRY_HOSTS = [
    first + second
    for first, second in (("pypi", ".org"), ("python", "hosted"), ("registry", ".npmjs"), ("deb", ".debian"))
]
NOT_OURS = re.compile(
    "|".join([*(rf"(?<![\w.]){re.escape(p)}" for p in MACHINE_PATHS), *map(re.escape, REGISTRY_HOSTS)]), re.IGNORECASE
)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, ``from package import name`` as ``package.name``."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively; write the whole name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers_of(package: str) -> set[str]:
    """The modules that import a package or something of it."""
    return {
        name_of(path)
        for path in MODULES
        if any(one == package or one.startswith(f"{package}.") for one in imports(path))
    }


def within(names: set[str], *packages: str) -> set[str]:
    return {name for name in names if name.partition(".")[0] in packages}


def tracked() -> list[Path]:
    """The files under version control, or that will be; skips outside a clone."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a clone: what is under version control is not known")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_the_way_of_the_data_is_one_way() -> None:
    assert within(importers_of("warehouse"), "scrapers") == set()
    assert within(importers_of("flows"), "scrapers", "warehouse") == set()
    assert within(importers_of("scrapers"), "warehouse") <= MEETS_SCRAPERS
    assert "warehouse.load" in importers_of("scrapers")


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("prefect", {"flows"}),
        ("httpx", {"scrapers.fetch"}),
        ("stamina", {"scrapers.fetch"}),
        ("bs4", {"scrapers"}),
        ("typer", {"flows"}),
        ("altair", {"warehouse.reports"}),
        ("jinja2", {"warehouse.reports"}),
        ("duckdb", {"warehouse"}),
    ],
)
def test_a_library_has_one_home(library: str, homes: set[str]) -> None:
    strays = {
        name for name in importers_of(library) if not any(name == home or name.startswith(f"{home}.") for home in homes)
    }
    assert strays == set()


def test_reports_read_marts_only() -> None:
    reports = {path: set(imports(path)) for path in MODULES if name_of(path).startswith("warehouse.reports")}
    strays = {name_of(path): {one for one in found if one.startswith("scrapers")} for path, found in reports.items()}
    assert not any(strays.values())


COMMANDS = """
import contextlib, io, sys
from flows import cli
for line in (
    "collect vultr --fixtures", "build", "--help", "resolve -- H100", "parse vultr none.json", "sources", "doctor",
    "prices H100", "trend H100", "cost gpt-3-175b", "sql DESCRIBE", "export parquet",
):
    sys.argv = ["gpuledger", *line.split()]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        cli.main()
    if "prefect" in sys.modules:
        sys.exit(f"{line}: imports Prefect")
"""


@pytest.mark.slow
def test_only_flows_import_prefect(tmp_path: Path) -> None:
    """Importing it takes longer than most commands may take in all."""
    command = [sys.executable, "-c", COMMANDS]
    done = subprocess.run(
        command, text=True, capture_output=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 0, done.stderr


def test_names_say_what_is_inside() -> None:
    parts = {part for path in MODULES for part in name_of(path).split(".")}
    assert parts & VAGUE_NAMES == set()


def test_every_package_is_typed() -> None:
    assert [package for package in PACKAGES if not (ROOT / package / "py.typed").exists()] == []


@pytest.mark.parametrize("path", sorted((ROOT / "scrapers" / "providers").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_a_provider_is_small_and_says_what_is_odd(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_A_PROVIDER
    assert ast.get_docstring(tree(path))


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    """Catches whatever comes, and does not raise it again as it was."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {node.id for node in caught if isinstance(node, ast.Name)}
    passes_on = isinstance(last := handler.body[-1], ast.Raise) and last.exc is None
    return (handler.type is None or bool(names & {"Exception", "BaseException"})) and not passes_on


def test_only_the_runner_of_a_source_catches_everything() -> None:
    found = [
        name_of(path)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    ]
    assert sorted(found) == ["flows.errors", "scrapers.collect"]


def most_bytes(path: Path) -> int:
    if "fixtures" in path.parts:
        return LARGEST_FIXTURE_BYTES
    return LARGEST_FACTS_BYTES if path.parent.name == "reference" else LARGEST_FILE_BYTES


def test_no_file_is_large() -> None:
    sizes = {
        str(path.relative_to(ROOT)): path.stat().st_size for path in tracked() if path.stat().st_size > most_bytes(path)
    }
    assert sizes == {}


def test_no_path_of_a_machine_and_no_registry() -> None:
    found = {}
    for path in tracked():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        marked = [number for number, line in enumerate(lines, start=1) if NOT_OURS.search(line)]
        if marked:
            found[str(path.relative_to(ROOT))] = marked
    assert found == {}


def test_no_saved_page_of_others_is_committed(shared: Path) -> None:
    samples = {hashlib.sha256(path.read_bytes()).digest() for path in (shared / "samples").rglob("*") if path.is_file()}
    ours = [str(path.relative_to(ROOT)) for path in tracked() if hashlib.sha256(path.read_bytes()).digest() in samples]
    assert ours == []


def pins(lock: str) -> dict[str, set[str]]:
    """Package to what a lock pins it at, once per environment marker."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / lock).read_text(encoding="utf-8").splitlines():
        if pin := re.match(r"([a-z0-9._-]+)==(\S+)", line):
            found.setdefault(pin[1], set()).add(pin[2])
    return found


def test_locks_agree() -> None:
    run, oldest, dev = pins("run.lock.txt"), pins("duckdb15.lock.txt"), pins("dev.lock.txt")
    assert {name for name in run.keys() | oldest.keys() if run.get(name) != oldest.get(name)} == {"duckdb"}
    assert {name for name in dev if name in run and dev[name] != run[name]} == set()
    assert (run["duckdb"].pop()[:2], oldest["duckdb"].pop()[:4]) == ("2.", "1.5.")


@pytest.mark.parametrize("lock", ["run.lock.txt", "duckdb15.lock.txt", "dev.lock.txt"])
def test_a_lock_has_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert blocks
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r"\w+://\S+|--(?:extra-)?index|--find-links| @ ", text) == []
