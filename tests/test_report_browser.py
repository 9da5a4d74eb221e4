"""The report as a browser shows it: no error, nothing wider than the screen, no chart that stays empty, and nothing asked of anybody."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows import steps
from tests.browser import Browser, BrowserError
from warehouse import database

pytestmark = pytest.mark.slow
# One page of each kind; the front page, a list, and charts of every sort.
PAGES = (
    "index.html",
    "accelerators/index.html",
    "accelerators/h100-sxm-80gb.html",
    "accelerators/tpu-v4.html",
    "providers/index.html",
    "providers/gcp.html",
    "runs/index.html",
    "runs/gpt-3-175b.html",
    "runs/llama-65b.html",
    "claims.html",
    "coverage.html",
    "explain.html",
    "explain/constants.html",
    "explain/h100-sxm-80gb-on-demand-median-2026-10-06.html",
)
PRINTED = ("index.html", "accelerators/h100-sxm-80gb.html", "runs/gpt-3-175b.html", "claims.html", "coverage.html")
WIDE = """
[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1
    && !one.closest('.scroll') && !one.closest('.text pre, .text table') && getComputedStyle(one).position !== 'absolute')
    .map(one => one.tagName + '.' + one.className).slice(0, 5)
"""
# Lines of a chart that lead nowhere, and boxes without a drawing.
EMPTY = """
[...document.querySelectorAll('.chart')].filter(one => !one.querySelector('svg')
    || ![...one.querySelectorAll('.mark-line path, .mark-symbol path, .mark-rect path, .mark-rect rect')].some(path => path.getAttribute('d')))
    .map(one => one.getAttribute('aria-label'))
"""
SMALL = """
[...document.querySelectorAll('body *')].filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())
    && !['SCRIPT', 'STYLE'].includes(one.tagName) && parseFloat(getComputedStyle(one).fontSize) < 12)
    .map(one => one.tagName + ' ' + getComputedStyle(one).fontSize + ' ' + one.textContent.slice(0, 30)).slice(0, 5)
"""
# Contrast of text with what is behind it, as WCAG 2 reckons it.
FAINT = """
(() => {
    const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
        .map(one => one / 255).map(one => one <= .04045 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
    const behind = (one) => { for (; one; one = one.parentElement) { const colour = getComputedStyle(one).backgroundColor;
        if (!/, 0\\)$|transparent/.test(colour)) return colour; } return 'rgb(255, 255, 255)'; };
    const ratio = (a, b) => { const [high, low] = [light(a), light(b)].sort((x, y) => y - x); return (high + .05) / (low + .05); };
    return [...document.querySelectorAll('main *, header *, footer *')].filter(one => !one.closest('svg') && one.offsetParent
        && [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()) && ratio(getComputedStyle(one).color, behind(one)) < 4.5)
        .map(one => one.tagName + ' ' + one.textContent.slice(0, 30)).slice(0, 5);
})()
"""
NAMELESS = """
[...document.querySelectorAll('a, [role=img], [role=region], summary')].filter(one => !(one.getAttribute('aria-label') || one.textContent).trim())
    .map(one => one.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the recorded fixtures and dated list prices: nine years."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_DATA", str(tmp_path_factory.mktemp("browser")))
        steps.collect_fixtures()
        steps.collect_curated()
        steps.load_archive()
        steps.build()
        steps.report()
        return database.site_dir()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_well(browser: Browser, report: Path, name: str, width: int) -> None:
    browser.said.clear()
    browser.asked_for.clear()
    browser.open(report / name, width=width)
    assert browser.said == []
    assert [address for address in browser.asked_for if not address.startswith(("file:", "data:", "blob:"))] == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(WIDE) == []
    assert browser.evaluate(EMPTY) == []
    assert browser.evaluate(SMALL) == []
    assert browser.evaluate(NAMELESS) == []
    for is_dark in (False, True):
        browser.open(report / name, width=width, dark=is_dark)
        assert browser.evaluate(FAINT) == []


@pytest.mark.parametrize("name", PRINTED)
def test_a_page_prints(browser: Browser, report: Path, name: str, tmp_path: Path) -> None:
    browser.open(report / name, width=1280)
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 718
    assert browser.evaluate(WIDE) == []
    assert browser.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert browser.evaluate(EMPTY) == []
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_charts_are_there_within_a_second_or_so(browser: Browser, report: Path) -> None:
    """A generous limit: how fast this machine is tells little; that nothing waits for nothing does."""
    browser.open(report / "accelerators/h100-sxm-80gb.html", width=390)
    assert browser.evaluate("performance.getEntriesByType('navigation')[0].domInteractive") < 3000


def test_a_page_without_scripts_has_its_numbers(browser: Browser, report: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=(report / "index.html").as_uri())
        deadline = time.monotonic() + 20
        while not browser.call("DOM.performSearch", query=".years td")["resultCount"]:
            assert time.monotonic() < deadline
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_tip_tells_the_price(browser: Browser, report: Path) -> None:
    browser.open(report / "accelerators/h100-sxm-80gb.html", width=1280)
    box = browser.evaluate(
        "(() => { const one = document.querySelector('.chart .layer_4_marks path, .chart .mark-symbol path'); one.scrollIntoView({block: 'center'});"
        " const at = one.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; })()"
    )
    for kind in ("mouseMoved", "mouseMoved"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1])
    assert "$" in browser.evaluate("document.querySelector('.tip').textContent")


def test_the_site_is_small(report: Path) -> None:
    assert sum(path.stat().st_size for path in report.rglob("*") if path.is_file()) < 5_000_000


def test_a_mailed_front_page_shows_its_tables(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Without the script beside it there are no charts, and no empty boxes in their place."""
    alone = tmp_path / "mailed.html"
    alone.write_bytes((report / "index.html").read_bytes())
    browser.call("Page.navigate", url=alone.as_uri())
    shown = "[...document.querySelectorAll('{}')].filter(one => one.checkVisibility()).length"
    assert _soon(browser, "document.readyState === 'complete' && document.documentElement.className === 'alone'")
    assert browser.evaluate(shown.format(".chart")) == 0
    assert browser.evaluate(shown.format("figure table")) == browser.evaluate(
        "document.querySelectorAll('figure table').length"
    )
    browser.said.clear()


def _soon(browser: Browser, condition: str) -> bool:
    """Whether it comes true; a page may be making way for another meanwhile."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(BrowserError):
            if browser.evaluate(condition):
                return True
        time.sleep(0.05)
    return False


def test_a_cost_opens_down_to_the_page(browser: Browser, report: Path) -> None:
    """From a run's page by two clicks to providers, offers, pages and hashes."""
    browser.open(report / "runs/llama-65b.html", width=390)
    browser.evaluate("document.querySelector('#explained summary').click()")
    assert browser.evaluate("document.querySelector('#explained .tree').checkVisibility()")
    # Clicked after the answer, which the next page would take away.
    browser.evaluate(
        "setTimeout(() => document.querySelector('#explained .tree a[href*=\"median-\"]').click()) && true"
    )
    assert _soon(browser, "location.pathname.includes('/explain/') && document.readyState === 'complete'")
    text = browser.evaluate("document.querySelector('main').textContent")
    assert "offer " in text
    assert "SHA-256" in text


def test_writing_needs_no_display() -> None:
    """Charts are drawn where they are looked at: writing the report starts no browser."""
    done = subprocess.run(
        [sys.executable, "-c", "from warehouse.reports import charts; print(len(charts.templates()))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) > 1000
