"""The report's pages for everyone: what screen readers, keyboards and zoom need, page by page. Contrast is looked at in the browser's tests."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from tests.market import Market, offer
from warehouse import database
from warehouse.reports import site

pytestmark = pytest.mark.slow
HEADINGS = ("h1", "h2", "h3", "h4")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BeautifulSoup]:
    """Every page of a small market's site, by its address in the site."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("access"), patch)
        for provider in ("aws", "azure", "gcp"):
            source = market.source(f"{provider}_page", provider, "page")
            market.says(source, "2026-01-20T06:00:00", [offer("a", "4.00"), offer("s", "2.00", pricing_model="spot")])
            market.says(source, "2026-01-25T06:00:00", [offer("a", "3.50"), offer("s", "2.00", pricing_model="spot")])
        market.update()
        with database.connect_published() as connection:
            folder = site.write(connection, database.site_dir()).parent
    one_of_each: dict[tuple[str, ...], Path] = {}
    for path in sorted(folder.rglob("*.html")):
        is_list = path.stem in {"index", "constants"}
        kind = (path.parent.name, path.stem if is_list or path.parent == folder else "")
        one_of_each.setdefault(kind, path)
    one_of_each["runs", "shown"] = folder / "runs" / "llama-3.1-405b.html"
    return {
        str(path.relative_to(folder)): BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")
        for path in one_of_each.values()
    }


def faults(page: BeautifulSoup) -> Iterator[str]:
    """What keeps someone out."""
    yield from _frame(page)
    yield from _headings(page)
    for one in page.find_all(True):
        if one.name in {"a", "button", "summary"} and not _name(one):
            yield f"nobody knows what it does: {one}"
        if one.name == "img" and one.get("alt") is None:
            yield f"no alternative text: {one}"
        if one.get("role") in {"img", "region"} and not one.get("aria-label"):
            yield f"no name: {one}"
        if one.name in {"input", "select", "textarea"} and not (
            one.get("aria-label") or page.find("label", attrs={"for": one.get("id")})
        ):
            yield f"no label: {one}"
        if int(str(one.get("tabindex", "0"))) > 0:
            yield f"breaks the order of the tab key: {one}"
    for one in page.select(".scroll, pre"):
        if one.get("tabindex") != "0":
            yield f"can be scrolled with a mouse only: {one.name}"
    yield from _tables(page)


def _frame(page: BeautifulSoup) -> Iterator[str]:
    if page.html is None or page.html.get("lang") != "en":
        yield "no language"
    if page.title is None or not page.title.get_text(strip=True):
        yield "no title"
    viewport = page.find("meta", attrs={"name": "viewport"})
    if not isinstance(viewport, Tag) or {"user-scalable", "maximum-scale"} & set(
        str(viewport["content"]).replace("=", " ").split()
    ):
        yield "no zoom"
    for landmark in ("header", "main", "footer", "nav"):
        if len(page.find_all(landmark)) != 1:
            yield f"not one {landmark}"
    if not page.select('a.skip[href="#main"]') or page.find(id="main") is None:
        yield "no way past the menu"
    ids = [str(one["id"]) for one in page.find_all(id=True)]
    yield from (f"id {one} twice" for one in set(ids) if ids.count(one) > 1)


def _headings(page: BeautifulSoup) -> Iterator[str]:
    levels = [HEADINGS.index(one.name) + 1 for one in page.find_all(HEADINGS)]
    if levels.count(1) != 1 or levels[:1] != [1]:
        yield f"not one heading of the page, first: {levels[:3]}"
    yield from (f"heading {after} after {before}" for before, after in itertools.pairwise(levels) if after > before + 1)


def _tables(page: BeautifulSoup) -> Iterator[str]:
    for table in page.find_all("table"):
        heads = table.select("thead th")
        if not heads or any(head.get("scope") != "col" for head in heads):
            yield "a column without a head"
        for row in table.select("tbody tr"):
            if not row.select('th[scope="row"]'):
                yield f"a row without a head: {row.get_text(' ', strip=True)[:60]}"
            if len(row.find_all(["th", "td"])) != len(heads):
                yield f"a row of another length: {row.get_text(' ', strip=True)[:60]}"


def _name(one: Tag) -> str:
    return str(one.get("aria-label") or one.get_text(strip=True))


def test_the_pages_let_everyone_in(pages: dict[str, BeautifulSoup]) -> None:
    assert len(pages) >= 12
    found = {name: told for name, page in pages.items() if name != "methodology.html" and (told := list(faults(page)))}
    assert found == {}


def test_titles_tell_pages_apart(pages: dict[str, BeautifulSoup]) -> None:
    titles = [page.title.get_text() for page in pages.values() if page.title is not None]
    assert len(set(titles)) == len(pages)


@pytest.mark.parametrize(
    ("good", "worse", "told"),
    [
        ('lang="en"', "", "no language"),
        ("aria-label=", "title=", "no name"),
        ("<h2>", "<h4>", "heading"),
        ('scope="row"', "", "a row without a head"),
        ('tabindex="0"', "", "mouse only"),
        ('class="skip"', "", "past the menu"),
    ],
)
def test_the_checker_finds_what_is_wrong(pages: dict[str, BeautifulSoup], good: str, worse: str, told: str) -> None:
    """A page that was good, with one thing taken from it."""
    text = str(pages["index.html"])
    assert good in text
    spoiled = BeautifulSoup(text.replace(good, worse), "lxml")
    assert any(told in one for one in faults(spoiled))
