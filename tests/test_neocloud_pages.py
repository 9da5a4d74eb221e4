"""Price pages of ten neoclouds: damaged pages give no wrong price, and the layouts' own traps."""

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from scrapers.offer import Offer
from scrapers.shapes import is_placeholder
from scrapers.source import Page, PageError, Parsed, load

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = [
    f"{name}_page"
    for name in (
        "crusoe", "runpod", "together", "paperspace", "digitalocean",
        "fluidstack", "hyperstack", "nebius", "datacrunch", "voltage_park",
    )
]  # fmt: skip
PAGES = [path for source in SOURCES for path in sorted((FIXTURES / source).glob("*/page.html"))]
every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parts[-3]}-{path.parts[-2][:10]}")
every_page_if_small = pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) if path.stat().st_size > 7_000 else path for path in PAGES],
    ids=lambda path: f"{path.parts[-3]}-{path.parts[-2][:10]}",
)
DISCOUNT = "[Ss]pot|[Rr]eserve|days|Preemptible"
HEADERS = ".pricing-table-heading, thead tr, .page-price_card_head, .pc-highlight-table-block__head, [role=row]"


def read(source: str, html: str) -> Parsed:
    return load(source).parse([Page("https://example.org/pricing", html.encode())])


def offers(source: str, html: str) -> list[Offer]:
    return read(source, html).offers


def fixture(source: str, day: str) -> str:
    [path] = (FIXTURES / f"{source}_page").glob(f"{day}*/page.html")
    return path.read_text(encoding="utf-8")


def facts(found: list[Offer]) -> set[tuple[object, ...]]:
    """What makes a price right or wrong; what else a damaged page does not tell is not a mistake."""
    return {
        (
            offer.accelerator_name.removeprefix("NVIDIA "),
            offer.accelerator_count,
            offer.price,
            offer.price_scope,
            offer.pricing_model,
            offer.commitment_days,
            offer.tier,
        )
        for offer in found
    }


def assert_no_wrong_price(source: str, html: str, truth: set[tuple[object, ...]]) -> None:
    try:
        found = offers(source, html)
    except PageError:
        return
    assert facts(found) <= truth


def truth_of(path: Path) -> tuple[str, str, set[tuple[object, ...]]]:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    return html, source, facts(offers(source, html))


@pytest.mark.slow
@every_page_if_small
def test_a_page_cut_anywhere_gives_no_wrong_price(path: Path) -> None:
    html, source, truth = truth_of(path)
    prices = [found.start() for found in re.finditer(r"\$", html)][:10]
    places = {
        *range(0, len(html), max(1, len(html) // 20)),
        *(place + step for place in prices for step in range(1, 6, 2)),
    }
    for place in places:
        assert_no_wrong_price(source, html[:place], truth)
        assert_no_wrong_price(source, html[place:], truth)


def texts_of(soup: BeautifulSoup) -> list[Tag]:
    """Tags that hold text and no tag, some from everywhere of the page."""
    leaves = [tag for tag in soup.find_all(_is_leaf) if tag.name not in {"script", "title"}]
    return leaves[:: max(1, len(leaves) // 40)]


def _is_leaf(tag: Tag) -> bool:
    return tag.select_one("*") is None and bool(tag.get_text(strip=True))


@pytest.mark.slow
@every_page_if_small
@pytest.mark.parametrize(
    "text", [None, "Something else", "", "$1.23", "8"], ids=["gone", "words", "empty", "price", "number"]
)
def test_a_page_with_one_other_text_gives_no_wrong_price(path: Path, text: str | None) -> None:
    html, source, truth = truth_of(path)
    for place, leaf in enumerate(texts_of(BeautifulSoup(html, "lxml"))):
        if text == "$1.23" and ("$" in leaf.text or is_placeholder(leaf.text)):
            continue  # Another price is a right one as far as a page can tell.
        if text == "8" and re.fullmatch(r"[\d.]+\**|NVIDIA|.*[A-Z].*\d.*", leaf.text.strip()):
            continue  # So is another number, and a name may be anything.
        if text == "Something else" and is_name(leaf):
            continue
        soup = BeautifulSoup(html, "lxml")
        tag = texts_of(soup)[place]
        if text is None:
            tag.decompose()
        else:
            tag.string = text
        assert_no_wrong_price(source, str(soup), truth)


def is_name(leaf: Tag) -> bool:
    """Whether the text names an accelerator, or is a part of such a name."""
    names = r"NVIDIA.*|Nvidia.*|AMD .*|(HGX )?[A-Z]+\d+.*|GB200.*|RTX.*|[1-8] × .*|A100 .*|B200 SXM6.*"
    return re.fullmatch(names, leaf.text.strip()) is not None


@pytest.mark.slow
@every_page
def test_headers_that_changed_places_give_no_wrong_price(path: Path) -> None:
    html, source, truth = truth_of(path)
    for table, header in enumerate(headers_of(BeautifulSoup(html, "lxml"))):
        names = [cell.get_text(" ", strip=True) for cell in header]
        for first, second in itertools.combinations(range(len(names)), 2):
            # Which discount is which, only a header says. A dynamic price may be above the one on demand.
            pair = {names[first], names[second]}
            if all(re.search(DISCOUNT, name) for name in pair) or any(
                re.search("Dynamic|Effective", name) for name in pair
            ):
                continue
            soup = BeautifulSoup(html, "lxml")
            swap(headers_of(soup)[table][first], headers_of(soup)[table][second])
            assert_no_wrong_price(source, str(soup), truth)


@every_page
def test_columns_are_found_by_their_header(path: Path) -> None:
    """Columns that changed places, header and cells alike, say the same."""
    html, source, truth = truth_of(path)
    if "colspan" in html:
        pytest.skip("columns of two rows do not change places alone")
    widths = [len(header) for header in headers_of(BeautifulSoup(html, "lxml"))]
    for first, second in itertools.combinations(range(max(widths, default=0)), 2):
        soup = BeautifulSoup(html, "lxml")
        for header in headers_of(soup):
            rows = [header, *rows_under(header)]
            for cells in rows:
                if second < len(cells) and len(cells) == len(header):
                    swap(cells[first], cells[second])
        assert facts(offers(source, str(soup))) == truth


def headers_of(soup: BeautifulSoup) -> list[list[Tag]]:
    """The cells of each header, of the tables and grids that have one."""
    found = []
    for head in soup.select(HEADERS):
        if "pc-table__row" in head.get_attribute_list("class") and head.find_previous_sibling():
            continue
        row = head.select_one(".pc-highlight-table-block__row") or head
        cells = row.select(":scope > *")
        if len(cells) > 1:
            found.append(cells)
    if tops := soup.select(".pricing-row_top > .pricing__col"):
        found.append(tops)
    return found


def rows_under(header: list[Tag]) -> Iterator[list[Tag]]:
    """The cells of the rows under a header, up to the next one's table."""
    box = header[0].find_parent(
        class_=["pricing-gap", "page-price_card_main", "pc-highlight-table-block__content", "pc-table", "pricing"]
    ) or header[0].find_parent("table")
    assert box is not None
    rows = ".pricing_gpu-item, tbody tr, .page-price_card_row_item, .pc-highlight-table-block__body > *, [role=row], .pricing-row"
    for row in box.select(rows):
        cells = row.select(":scope > *")
        if cells and cells[0] is not header[0]:
            yield cells


def swap(first: Tag, second: Tag) -> None:
    """Let two tags change places."""
    one, other = copy.copy(first), copy.copy(second)
    first.replace_with(other)
    second.replace_with(one)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "html",
    [
        "<!doctype html><html><body><form><input type=password>Sign in</form></body></html>",
        "<html><table><tr><th>Plan</th><th>Price</th></tr><tr><td>Storage</td><td>$5 / mo</td></tr></table></html>",
        "<html><table><tr><th>Machine</th><th>Cost</th></tr><tr><td>8x NVIDIA HGX H100</td><td>$2.99</td></tr></table></html>",
        '{"data": []}',
        "H100 SXM | 80GB VRAM | $2.99/hr | Secure Cloud",
    ],
)
def test_another_page_is_refused(source: str, html: str) -> None:
    with pytest.raises(PageError):
        read(source, html)


@pytest.mark.parametrize(("source", "other"), list(itertools.permutations(SOURCES, 2)))
def test_another_firm_s_page_is_refused(source: str, other: str) -> None:
    for path in (FIXTURES / other).glob("*/page.html"):
        with pytest.raises(PageError):
            read(source, path.read_text(encoding="utf-8"))


DAMAGES: list[Callable[[Any], Any]] = [
    lambda value: None,
    lambda value: [value],
    lambda value: {"value": value},
    lambda value: True,
    lambda value: "Something else",
    lambda value: f"{value}x",
    lambda value: -1,
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "day"), [("runpod", "2023-09-29"), ("runpod", "2026-08-10"), ("datacrunch", "2026-08-22")]
)
def test_embedded_json_with_one_other_field_gives_no_wrong_price(source: str, day: str) -> None:
    html = fixture(source, day)
    [text] = re.findall(r"<script[^>]*>(.*)</script>", html, re.DOTALL)
    truth = facts(offers(f"{source}_page", html))
    data = json.loads(text)
    words = {"displayName", "id", "name"}
    for place in list(fields(data))[:: 1 + len(list(fields(data))) // 120]:
        for damage in [None, *DAMAGES]:
            if damage and place[-1] in words and isinstance(damage("x"), str):
                continue  # A name may be anything.
            if damage and str(place[-1]).endswith("Cloud") and damage(False) is True:
                continue  # Nothing else tells whether a cloud has the type.
            changed = copy.deepcopy(data)
            inside = changed
            for key in place[:-1]:
                inside = inside[key]
            if damage is None:
                del inside[place[-1]]
            else:
                inside[place[-1]] = damage(inside[place[-1]])
            assert_no_wrong_price(f"{source}_page", html.replace(text, json.dumps(changed)), truth)


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of an object is, down to the leaves."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from fields(item, (*path, key))


# --- what is odd about each -----------------------------------------------------------------------------------------


def test_crusoe_a_placeholder_holds_its_column() -> None:
    found = offers("crusoe_page", fixture("crusoe", "2025-05-21"))
    h100 = [offer for offer in found if offer.sku == "NVIDIA H100 80GB SXM"]
    assert [(offer.pricing_model, offer.commitment_days, str(offer.price)) for offer in h100] == [
        ("on_demand", 0, "3.90"), ("reserved", 180, "3.12"), ("reserved", 365, "2.93"), ("reserved", 1095, "2.54"),
    ]  # fmt: skip


def test_crusoe_row_that_is_cut_off_is_reported_and_the_rest_stand() -> None:
    html = fixture("crusoe", "2025-05-21")
    cut = html[: html.index("NVIDIA L40S</div>") + len("NVIDIA L40S</div>")]
    found = read("crusoe_page", cut)
    assert [rejected.record for rejected in found.rejected] == ["NVIDIA L40S"]
    assert len(found.offers) == 25


def test_crusoe_endpoints_for_inference_are_another_product() -> None:
    html = fixture("crusoe", "2026-08-22")
    assert {Decimal("5.50"), Decimal("6.00")}.isdisjoint(offer.price for offer in offers("crusoe_page", html))
    with pytest.raises(PageError, match="grid of GPUs"):
        read("crusoe_page", html.replace("Self-Serve Deployments", "GPU instances in Europe"))


def test_runpod_flags_tell_whether_a_price_is_one() -> None:
    found = offers("runpod_page", fixture("runpod", "2023-09-29"))
    assert {(o.tier, o.pricing_model) for o in found if o.sku == "NVIDIA L40"} == {
        ("secure", "on_demand"), ("secure", "spot"), ("secure", "reserved"),
    }  # fmt: skip
    assert {o.tier for o in found if o.sku in {"NVIDIA A30", "NVIDIA GeForce RTX 4080"}} == {"community"}


def test_runpod_attributes_by_the_second_are_refused() -> None:
    html = fixture("runpod", "2025-09-09")
    with pytest.raises(PageError, match="by the hour"):
        read("runpod_page", re.sub('price="([0-9.]+)"', 'price="0.001"', html))
    with pytest.raises(PageError, match="dollars"):
        read("runpod_page", html.replace(">$<", ">€<"))


def test_runpod_page_that_starts_inside_a_row() -> None:
    html = fixture("runpod", "2025-09-09")
    start = html.index('<div data-gradient="text-secondary" data-line-clamp="">H200')
    assert facts(offers("runpod_page", html[start:])) == facts(offers("runpod_page", html))


def test_runpod_attributes_win_over_json_ld() -> None:
    """In September 2026 both were there, and JSON-LD was two months old."""
    row = """<div class="gpu_table-row"><p class="gpu_name is-pricing-page">B200</p><div class="gpu_table-tag">180 GB VRAM</div>
        <div class="gpu_table-price" data-secure="6.79" data-community="5.98">$<span class="active-price">5.98</span>/hr</div></div>
        <div class="clusters_list-item"><div>H100 SXM</div><div class="clusters_item-price">$4.31/hr</div></div>"""
    html = fixture("runpod", "2026-08-10").replace("</body>", f"{row}</body>")
    found = offers("runpod_page", html)
    assert [(o.sku, o.tier, str(o.price), o.memory_gb) for o in found] == [
        ("B200", "secure", "6.79", 180), ("B200", "community", "5.98", 180),
    ]  # fmt: skip


def test_runpod_cards_name_the_cloud_behind_each_price() -> None:
    html = """<html><body><div><p>Starting from</p><p>$2.69/hr</p><h3>H100 SXM</h3><p>80GB VRAM</p><p>125GB RAM</p>
        <p>$2.99/hr</p><p>Secure Cloud</p><p>$2.69/hr</p><p>Community Cloud</p></div>
        <div><p>Starting from</p><p>$0.34/hr</p><h3>RTX 4090</h3><p>24GB VRAM</p><p>N/A</p><p>Secure Cloud</p>
        <p>$0.34/hr</p><p>Community Cloud</p></div></body></html>"""
    assert [(o.sku, o.memory_gb, o.tier, str(o.price)) for o in offers("runpod_page", html)] == [
        ("H100 SXM", 80, "secure", "2.99"), ("H100 SXM", 80, "community", "2.69"), ("RTX 4090", 24, "community", "0.34"),
    ]  # fmt: skip


def test_together_preemptible_column_in_front_of_the_others() -> None:
    """As in September 2026."""
    html = fixture("together", "2026-08-22")
    html = html.replace('<th class="is-right-border"><div class="pricing_inline"><div class="opacity-70"><p class="caption-m">ON-', (
        '<th rowspan="2"><p>Preemptible Compute</p></th><th class="is-right-border"><div class="pricing_inline">'
        '<div class="opacity-70"><p class="caption-m">ON-'
    ))  # fmt: skip
    start = html.index("All prices are per GPU per hour.")
    clusters = re.sub('<td class="is-right-border">', r"<td><p>$1.99</p></td>\g<0>", html[start:])
    found = offers("together_page", html[:start] + clusters)
    h100 = {(o.pricing_model, o.commitment_days, str(o.price)) for o in found if "H100" in o.sku and o.tier is None}
    assert h100 == {
        ("spot", 0, "1.99"), ("on_demand", 0, "3.99"), ("reserved", 7, "3.69"), ("reserved", 31, "3.45"), ("reserved", 91, "3.19"),
    }  # fmt: skip


def test_together_without_a_unit_is_refused() -> None:
    html = fixture("together", "2026-08-22")
    for sentence in ("All prices are per GPU per hour.", "All prices per gpu per hour"):
        with pytest.raises(PageError, match="what the prices"):
            read("together_page", html.replace(sentence, ""))


def test_together_under_another_heading_is_refused() -> None:
    with pytest.raises(PageError, match="not known"):
        read("together_page", fixture("together", "2026-08-22").replace("Dedicated Inference", "Containers"))


def test_paperspace_asterisk_without_its_footnote_is_no_price() -> None:
    html = fixture("paperspace", "2024-01-23").replace("**$1.15/hour", "**$1.16/hour")
    found = read("paperspace_page", html)
    assert [rejected.record for rejected in found.rejected] == ["A100-80G"]
    assert Decimal("1.15") not in {offer.price for offer in found.offers}


def test_paperspace_copy_that_shows_is_no_price_of_the_card() -> None:
    html = fixture("paperspace", "2024-01-23")
    shown = html.replace("instance-price-wrap hide", "instance-price-wrap").replace("specs-list-2 hide", "specs-list-2")
    found = read("paperspace_page", shown)
    assert [rejected.record for rejected in found.rejected] == ["H100"]
    assert Decimal("3.09") not in {offer.price for offer in found.offers}


def test_paperspace_machines_without_a_gpu_are_left_out() -> None:
    html = fixture("paperspace", "2024-01-23")
    cpu = """<div class="instance-type-holder-flex"><h1 class="instance-names">C5</h1><div class="instance-price-wrap">
        <div>$</div><h1 class="instance-price-2">0.08</h1><div>/ hour</div></div><ul><li>8 GB RAM</li><li>4 vCPU</li></ul></div>"""
    assert read("paperspace_page", html.replace("</body>", f"{cpu}</body>")) == read("paperspace_page", html)


def test_digitalocean_struck_price_is_not_asked() -> None:
    found = offers("digitalocean_page", fixture("digitalocean", "2025-07-07"))
    assert Decimal("6.74") not in {offer.price for offer in found}


def test_digitalocean_counts_that_differ_are_reported() -> None:
    html = fixture("digitalocean", "2025-07-07").replace(">8</span>", ">4</span>", 1)
    assert [rejected.record for rejected in read("digitalocean_page", html).rejected] == ["NVIDIA H100x8"]


def test_digitalocean_price_by_contract_is_not_known() -> None:
    html = fixture("digitalocean", "2026-08-22")
    priced = re.sub("Per contract after <a .*?</a>", "$9.99 per hour", html, count=1)
    found = read("digitalocean_page", priced)
    assert [rejected.record for rejected in found.rejected] == ["AMD MI350X"]
    assert found.offers == offers("digitalocean_page", html)


def test_fluidstack_host_that_is_billed_on_top_makes_components() -> None:
    html = fixture("fluidstack", "2023-09-30")
    assert {offer.price_scope for offer in offers("fluidstack_page", html)} == {"component", "host_vcpu", "host_gib"}
    later = html.replace(" ($0.01/hr)", "").replace(" ($0.005/hr)", "")
    assert {offer.price_scope for offer in offers("fluidstack_page", later)} == {"accelerator"}


def test_fluidstack_cards_without_a_commitment_are_refused() -> None:
    with pytest.raises(PageError, match="commitment"):
        read("fluidstack_page", "<html><div><h3>H100 SXM</h3><p>$2.10</p><p>/ GPU / H</p></div></html>")


def test_hyperstack_page_that_starts_inside_its_first_heading() -> None:
    html = fixture("hyperstack", "2025-07-24")
    start = html.index("<span>On-Demand GPU</span>")
    assert offers("hyperstack_page", f"<!-- an excerpt -->\n{html[start:]}") == offers("hyperstack_page", html)
    with pytest.raises(PageError, match="for how long"):
        read("hyperstack_page", html[start + len("<span>On-Demand") :])


def test_hyperstack_add_ons_make_components() -> None:
    """Late in 2023."""
    html = """<html><h2>On-Demand Cloud GPU Pricing</h2><table><tr><th>GPU</th><th>VRAM (GB)</th><th>Price per hour</th></tr>
        <tr><td>NVIDIA H100 PCIe</td><td>80</td><td>$ 4.30 per GPU</td></tr></table>
        <p>Add-ons</p><p>vCPU</p><p>$ 0.01 per GPU/hour</p></html>"""
    [offer] = offers("hyperstack_page", html)
    assert (offer.price, offer.price_scope, offer.pricing_model) == (Decimal("4.30"), "component", "on_demand")


def test_nebius_announced_price_is_not_asked_yet() -> None:
    html = fixture("nebius", "2026-09-29")
    assert {Decimal("9.50"), Decimal("8.50"), Decimal("5.40")}.isdisjoint(o.price for o in offers("nebius_page", html))
    with pytest.raises(PageError, match="asked now"):
        read("nebius_page", html.replace("<p>On-demand, GPU-hour</p>", "<p>GPU-hour (Effective July 1, 2026)</p>"))


def test_nebius_price_without_a_commitment_is_on_demand_only_if_a_heading_says_so() -> None:
    html = fixture("nebius", "2026-09-29").replace("<p>On-demand, GPU-hour</p>", "<p>Price per GPU-hour</p>")
    with pytest.raises(PageError, match="for how long"):
        read("nebius_page", html)
    said = html.replace(">NVIDIA GPU Instances", ">On-demand GPU pricing")
    assert offers("nebius_page", said) == offers("nebius_page", fixture("nebius", "2026-09-29"))


def test_datacrunch_page_that_starts_inside_its_header_s_row() -> None:
    html = fixture("datacrunch", "2025-08-08")
    start = html.index("<th ")
    assert offers("datacrunch_page", html[start:]) == offers("datacrunch_page", html)


def test_datacrunch_terms_of_2024() -> None:
    html = (
        fixture("datacrunch", "2025-08-08")
        .replace("Dynamic price", "6-month price")
        .replace("Spot price", "2-year price")
    )
    found = {
        (o.pricing_model, o.commitment_days, str(o.price))
        for o in offers("datacrunch_page", html)
        if o.sku == "1B200.30V"
    }
    assert found == {("on_demand", 0, "3.64"), ("reserved", 180, "2.68"), ("reserved", 730, "0.80")}


def test_datacrunch_prices_of_one_offer_that_differ_are_reported() -> None:
    html = fixture("datacrunch", "2026-08-22").replace('"price":8.62', '"price":6.82', 1)
    found = read("datacrunch_page", html)
    assert [rejected.record for rejected in found.rejected] == ["1x GB300 SXM6 288GB on-demand"]


def test_voltage_park_page_without_any_price_has_no_offer() -> None:
    """As since July 2026."""
    html = re.sub(r"\$[\d.]+/hr", "Contact for pricing", fixture("voltage_park", "2025-07-12"))
    assert read("voltage_park_page", html) == Parsed([], [])
