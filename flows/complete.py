"""What a shell offers when a person presses tab. Read from the reference rows and the modules' names: no database is opened."""

import csv
import importlib.resources
import io
import pkgutil

from scrapers import datasets, providers


def accelerators(incomplete: str) -> list[str]:
    """Keys that start so."""
    return _first_column("accelerators", incomplete)


def runs(incomplete: str) -> list[str]:
    """Training runs that start so."""
    return _first_column("training_runs", incomplete)


def sources(incomplete: str) -> list[str]:
    """Sources that start so."""
    names = (module.name for package in (providers, datasets) for module in pkgutil.iter_modules(package.__path__))
    return sorted(name for name in names if name.startswith(incomplete))


def _first_column(table: str, incomplete: str) -> list[str]:
    text = importlib.resources.files("warehouse").joinpath("reference", f"{table}.csv").read_text(encoding="utf-8")
    _, *rows = csv.reader(io.StringIO(text))
    return sorted(row[0] for row in rows if row[0].startswith(incomplete.lower()))
