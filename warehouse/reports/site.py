"""Writes the report: a static site that opens from a file, calls nothing and holds every number that it draws.

The front page has its style inside, and without the script beside it, as when it is mailed, shows its tables in place of charts; the
other pages share style and script. The site is made beside the old one
and takes its place by rename, so that nobody meets half of it.
"""

import contextlib
import fcntl
import importlib.resources
import json
import re
import shutil
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from warehouse.database import Connection, WarehouseError
from warehouse.explain import Pages
from warehouse.reports import charts, ledger, wording
from warehouse.reports.figure import write_csv
from warehouse.reports.pages import all_pages
from warehouse.reports.scope import WHOLE, Scope

# By its script a site is known to be ours.
_SCRIPT_HEAD = "window.gpuLedgerCharts"


class NotASiteError(WarehouseError):
    """Something else is where the report should go."""


def _may_be_replaced(folder: Path) -> bool:
    """Whether nothing is there, or nothing in it, or a site of ours."""
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    with (
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        (folder / "assets" / "charts.js").open("rb") as script,
    ):
        return script.read(len(_SCRIPT_HEAD)) == _SCRIPT_HEAD.encode()
    return not any(folder.iterdir())


def write(
    connection: Connection, folder: Path, scope: Scope = WHOLE, pages: Pages | None = None, notice: str = ""
) -> Path:
    """The site of the published copy, in ``folder``; returns its front page. ``pages`` are what the archive has of a snapshot, and
    ``notice`` stands at the top of every page.

    Raises WarehouseError when the folder can't be written; the site that was there stands then. Raises NotASiteError, with nothing
    touched, for a place that holds anything else.
    """
    folder = folder.resolve()
    try:
        if not _may_be_replaced(folder):
            raise NotASiteError(f"{folder} is not empty and no report; name a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _taking_the_place_of(folder) as fresh:
            _write_pages(ledger.read(connection, scope, pages), fresh, notice)
    except OSError as error:
        raise WarehouseError(
            f"cannot write the report to {folder}: {error.strerror or error}; the last one stands"
        ) from None
    return folder / "index.html"


def _write_pages(read: ledger.Ledger, folder: Path, notice: str) -> None:
    for name in ("csv", "assets", "accelerators", "providers", "runs", "explain"):
        (folder / name).mkdir()
    style = _text("style.css")
    script = (
        f'{_SCRIPT_HEAD} = {{ library: "{charts.library()}", templates: {charts.templates()} }};\n{_text("charts.js")}'
    )
    (folder / "assets" / "style.css").write_text(style, encoding="utf-8")
    (folder / "assets" / "charts.js").write_text(script, encoding="utf-8")
    templates = _templates()
    pages = list(all_pages(read))
    has_methodology = any(page.path == "methodology.html" for page in pages)
    for page in pages:
        html = templates.get_template(page.template).render(
            page=page,
            build=read.build,
            notice=notice,
            warnings=[one for one in read.gate_words if one.severity == "warn"],
            is_alone=page.path == "index.html",
            has_methodology=has_methodology,
            figures={figure.name: figure for figure in page.figures},
            style=style,
            **page.context,
        )
        (folder / page.path).write_text(html, encoding="utf-8")
        for figure in page.figures:
            write_csv(figure, folder / "csv")


def _text(name: str) -> str:
    return importlib.resources.files("warehouse.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _templates() -> jinja2.Environment:
    """Everything is escaped unless this package made it."""
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("warehouse.reports"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "on_day": wording.on_day,
        "usd_per_hour": wording.usd_per_hour,
        "listed": wording.listed,
        "visible": visible,
        "as_data": as_data,
        "dedented": lambda text: textwrap.dedent(text).strip(),
    }
    return environment


def visible(text: str) -> str:
    """Text from outside without control characters, and without those that turn the direction of the text around them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\u00a0" else "�" for c in text)


def as_data(value: Any) -> str:
    """A value as JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@contextlib.contextmanager
def _taking_the_place_of(folder: Path) -> Iterator[Path]:
    """A fresh folder beside the old one, which takes its place at the end; on any failure the old one stands.

    One writer at a time: the lock is released by the system when its process dies, and what a dead one left is cleared away.
    """
    with (folder.parent / f".{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ours = re.compile(rf"\.{re.escape(folder.name)}-(new|old)-[a-z0-9_]{{8}}")
        for leftover in [path for path in folder.parent.iterdir() if ours.fullmatch(path.name) and path.is_dir()]:
            if leftover.name.startswith(f".{folder.name}-old-") and not folder.exists():
                leftover.replace(folder)
            else:
                shutil.rmtree(leftover)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-new-"))
        try:
            fresh.chmod(0o755)
            yield fresh
            old = folder.parent / f".{folder.name}-old-{fresh.name.rpartition('-')[2]}"
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        shutil.rmtree(old, ignore_errors=True)
