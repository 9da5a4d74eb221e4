"""Lambda, CoreWeave and Google Cloud: damaged pages give no wrong price, and the layouts' own traps."""

import copy
import itertools
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer
from scrapers.source import Page, PageError, load

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = ("lambda_page", "coreweave_page", "gcp_page")
PAGES = [path for source in SOURCES for path in sorted((FIXTURES / source).glob("*/page.html"))]
ROWS = "tr, .table-grid, .w-row"
CELLS = ["th", "td", "div"]
every_page = pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) if path.stat().st_size > 15_000 else path for path in PAGES],
    ids=lambda path: f"{path.parts[-3]}-{path.parts[-2][:10]}",
)


def parsed(source: str, html: str) -> list[Offer]:
    return load(source).parse([Page("https://example.org/pricing", html.encode())]).offers


def facts(offers: list[Offer]) -> set[tuple[object, ...]]:
    """What makes a price right or wrong; what else a damaged page does not tell is not a mistake."""
    return {
        (
            offer.accelerator_name,
            offer.accelerator_count,
            offer.price,
            offer.price_scope,
            offer.pricing_model,
            offer.commitment_days,
            offer.tier,
            offer.region,
        )
        for offer in offers
    }


def assert_no_wrong_price(source: str, html: str, truth: set[tuple[object, ...]]) -> None:
    try:
        found = parsed(source, html)
    except PageError:
        return
    assert facts(found) <= truth


def rows_of(soup: BeautifulSoup) -> list[list[Tag]]:
    return [row.find_all(CELLS, recursive=False) for row in soup.select(ROWS)]


@pytest.mark.slow
@every_page
def test_a_page_cut_anywhere_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(parsed(source, html))
    prices = [place for place, sign in enumerate(html) if sign == "$"][:12]
    for place in {*range(0, len(html), len(html) // 25), *(place + step for place in prices for step in range(1, 6))}:
        assert_no_wrong_price(source, html[:place], truth)
        assert_no_wrong_price(source, html[place:], truth)


@pytest.mark.slow
@every_page
def test_a_page_without_one_cell_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(parsed(source, html))
    rows = rows_of(BeautifulSoup(html, "lxml"))
    for row in sorted({0, 1, 2, len(rows) // 2, len(rows) - 1}):
        for cell in range(len(rows[row])):
            soup = BeautifulSoup(html, "lxml")
            rows_of(soup)[row][cell].decompose()
            assert_no_wrong_price(source, str(soup), truth)


@pytest.mark.slow
@every_page
def test_a_renamed_header_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(parsed(source, html))
    for table, header in enumerate(headers_of(BeautifulSoup(html, "lxml"))):
        for place, _ in enumerate(header):
            soup = BeautifulSoup(html, "lxml")
            headers_of(soup)[table][place].string = "Something else"
            assert_no_wrong_price(source, str(soup), truth)


@every_page
def test_columns_are_found_by_their_header(path: Path) -> None:
    """Columns that changed places, header and cells alike, say the same."""
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(parsed(source, html))
    width = len(rows_of(BeautifulSoup(html, "lxml"))[0])
    for first, second in itertools.combinations(range(width), 2):
        soup = BeautifulSoup(html, "lxml")
        for table in tables_of(soup):
            for cells in table:
                if second < len(cells):
                    swap(cells[first], cells[second])
        assert facts(parsed(source, str(soup))) == truth


@pytest.mark.slow
@every_page
def test_headers_that_changed_places_give_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(parsed(source, html))
    for table, header in enumerate(headers_of(BeautifulSoup(html, "lxml"))):
        names = [cell.get_text(" ", strip=True) for cell in header]
        for first, second in itertools.combinations(range(len(names)), 2):
            if source == "gcp_page" and is_discount(names[first]) and is_discount(names[second]):
                continue  # Which discount is which, only the header says.
            soup = BeautifulSoup(html, "lxml")
            cells = headers_of(soup)[table]
            swap(cells[first], cells[second])
            assert_no_wrong_price(source, str(soup), truth)


def headers_of(soup: BeautifulSoup) -> list[list[Tag]]:
    return [rows[0] for rows in tables_of(soup)]


def is_discount(name: str) -> bool:
    return any(word in name for word in ("CUD", "DWS", "Spot"))


def tables_of(soup: BeautifulSoup) -> Iterator[list[list[Tag]]]:
    """The cells of each row, by table; copies for small screens are no cells."""
    for table in soup.select("table, .table-v2, .table"):
        rows = [row.find_all(CELLS, recursive=False) for row in table.select(ROWS)]
        yield [[cell for cell in row if "table-cell-column" not in cell.get("class", [])] for row in rows]


def swap(first: Tag, second: Tag) -> None:
    """Let two tags change places."""
    one, other = copy.copy(first), copy.copy(second)
    first.replace_with(other)
    second.replace_with(one)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "html",
    [
        "",
        "<!doctype html><html><body><form><input type=password>Sign in</form></body></html>",
        "<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>",
        "<html><table><tr><th>Plan</th><th>Price</th></tr><tr><td>Storage</td><td>$5 / mo</td></tr></table></html>",
        "<html><table><tr><th>GPU</th><th>Cost</th></tr><tr><td>NVIDIA H100</td><td>$2.99</td></tr></table></html>",
        '{"data": []}',
        "GPU | Price\n8x NVIDIA H100 SXM | $2.99 / GPU / hr",
    ],
)
def test_another_page_is_refused(source: str, html: str) -> None:
    with pytest.raises(PageError):
        parsed(source, html)


@pytest.mark.parametrize(("source", "other"), list(itertools.permutations(SOURCES, 2)))
def test_another_firm_s_page_is_refused(source: str, other: str) -> None:
    newest = max((FIXTURES / other).glob("*/page.html"))
    with pytest.raises(PageError):
        parsed(source, newest.read_text(encoding="utf-8"))


def fixture(source: str, day: str) -> str:
    [path] = (FIXTURES / source).glob(f"{day}*/page.html")
    return path.read_text(encoding="utf-8")


def test_lambda_tabs_of_two_islands_with_the_same_ids() -> None:
    """In the pages of December 2025 and January 2026 each island numbers its panels from 0."""
    clusters = """<h2>1-Click Clusters<br>pricing</h2><div><div role="tablist">
        <button role="tab" aria-controls="tabpanel-0" id="tab-0">NVIDIA HGX B200</button></div>
        <div role="tabpanel" id="tabpanel-0" aria-labelledby="tab-0"><table>
        <tr><th></th><th>DURATION</th><th>GPU COUNT</th><th>PRICE/GPU/HR*</th><th></th></tr>
        <tr><th>NVIDIA HGX B200</th><td>2 weeks – 1 year</td><td>16</td><td>$9.86</td><td><a>Talk</a></td></tr>
        <tr><th>NVIDIA HGX B200</th><td>1 year+</td><td>16+</td><td>—</td><td><a>Talk</a></td></tr>
        </table></div></div><h2 class="h2">Instances pricing"""
    html = fixture("lambda_page", "2026-01-09")
    cluster, *instances = parsed("lambda_page", html.replace('<h2 class="h2">Instances pricing', clusters))
    assert (cluster.pricing_model, cluster.commitment_days, cluster.minimum_accelerators) == ("reserved", 14, 16)
    assert instances == parsed("lambda_page", html)
    assert {offer.accelerator_count for offer in instances} == {Decimal(8)}


def test_lambda_clusters_without_a_name_column_are_named_by_their_tab() -> None:
    html = fixture("lambda_page", "2026-08-22")
    soup = BeautifulSoup(html, "lxml")
    for row in soup.select("table")[0].select("tr"):
        row.find(["th"]).decompose()  # type: ignore[union-attr]
    assert facts(parsed("lambda_page", str(soup))) == facts(parsed("lambda_page", html))


def test_lambda_hidden_copies_count_once() -> None:
    html = fixture("lambda_page", "2024-11-03")
    table = html[html.index("<table") : html.index("</table>") + 8]
    twice = html.replace("</body>", f'<div class="mobile" hidden>{table}</div></body>')
    assert parsed("lambda_page", twice) == parsed("lambda_page", html)


def test_lambda_page_that_starts_inside_its_header_is_read_by_the_words_of_its_cells() -> None:
    html = fixture("lambda_page", "2024-11-03")
    offers = parsed("lambda_page", html[html.index("<span>PRICE/GPU/HR*") :])
    assert facts(offers) == facts(parsed("lambda_page", html))
    assert {(offer.sku, offer.memory_gb) for offer in offers} >= {
        ("8x NVIDIA A100 SXM 80 GB", Decimal(80)),
        ("8x NVIDIA A100 SXM 40 GB", Decimal(40)),
    }
    assert {offer.tax for offer in offers} == {"excluded"}


def test_lambda_price_without_a_unit_or_a_term_is_not_recorded() -> None:
    html = fixture("lambda_page", "2023-09-09")
    with pytest.raises(PageError, match="not a price by the hour"):
        parsed("lambda_page", html.replace(" / hr</td>", "</td>"))
    with pytest.raises(PageError, match="for how long"):
        parsed("lambda_page", html.replace("On-demand GPU cloud pricing", "GPU cloud pricing"))
    reserved = fixture("lambda_page", "2024-11-03").replace("On-demand 8x", "Reserved 8x")
    with pytest.raises(PageError, match="for how long"):
        parsed("lambda_page", reserved)


def test_coreweave_page_that_starts_inside_its_header_is_read_by_the_words_of_its_cells() -> None:
    html = fixture("coreweave_page", "2023-09-21")
    offers = parsed("coreweave_page", html[html.index("<div>GPU Component") :])
    assert facts(offers) == {fact for fact in facts(parsed("coreweave_page", html)) if "component" in fact}
    assert {offer.memory_gb for offer in offers} == {None}


def test_coreweave_grid_of_parts_kept_beside_instances_is_not_read() -> None:
    html = fixture("coreweave_page", "2026-08-22")
    old = fixture("coreweave_page", "2023-09-21")
    grid = old[old.index('<div class="table">') : old.index("</body>")]
    assert parsed("coreweave_page", html.replace("</body>", f"{grid}</body>")) == parsed("coreweave_page", html)


def test_coreweave_copies_that_differ_are_reported_and_not_recorded() -> None:
    html = fixture("coreweave_page", "2026-08-22").replace(
        '<span class="item-value">$19.71</span>', '<span class="item-value">$19.17</span>'
    )
    found = load("coreweave_page").parse([Page("https://example.org", html.encode())])
    assert [rejected.record for rejected in found.rejected] == ["NVIDIA HGX H100"]
    assert Decimal("19.71") not in {offer.price for offer in found.offers}


def test_coreweave_footnote_is_not_a_digit_of_the_count() -> None:
    html = fixture("coreweave_page", "2026-08-22").replace("<div>4^1</div>", "<div>4<sup>1</sup></div>")
    counts = {o.accelerator_count for o in parsed("coreweave_page", html) if o.accelerator_name == "NVIDIA GB200 NVL72"}
    assert counts == {Decimal(4)}


def test_coreweave_unknown_grids_without_gpus_are_left_alone() -> None:
    storage = (
        '<div class="table-v2"><div class="table-v2-header"><div class="table-v2-cell">Storage type</div></div>'
        '<div class="table-row-v2"><div class="table-grid"><div class="table-v2-cell">$0.06</div></div></div></div>'
    )
    html = fixture("coreweave_page", "2026-08-22")
    assert parsed("coreweave_page", html.replace("</body>", f"{storage}</body>")) == parsed("coreweave_page", html)


def test_gcp_discount_above_the_price_on_demand_tells_that_columns_are_mixed_up() -> None:
    html = fixture("gcp_page", "2026-09-28").replace("$52.962296548", "$529.62296548")
    with pytest.raises(PageError, match="above the price on demand"):
        parsed("gcp_page", html)


def test_gcp_new_way_of_buying_is_not_taken_for_a_known_one() -> None:
    html = fixture("gcp_page", "2026-09-28").replace("DWS Calendar Mode price (USD)", "Preemptible price (USD)")
    with pytest.raises(PageError, match="column of prices"):
        parsed("gcp_page", html)


def test_gcp_prices_in_another_currency_are_refused() -> None:
    html = fixture("gcp_page", "2026-09-28").replace("(USD)", "(EUR)").replace("$", "€")
    with pytest.raises(PageError):
        parsed("gcp_page", html)
