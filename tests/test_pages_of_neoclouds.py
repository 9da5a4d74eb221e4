"""Price pages of smaller clouds: damaged ones give no wrong price, each page's own traps, and two APIs' fetching."""

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from bs4 import BeautifulSoup, Tag

from scrapers.failures import FetchError, MissingKeyError
from scrapers.offer import Offer
from scrapers.providers import novita, sakura
from scrapers.source import Missed, Page, PageError, Parsed, load
from tests.record import FIXTURES, fixture_pages

if TYPE_CHECKING:
    from scrapers.fetch import Client

PAGES_OF_HTML = (
    "civo_page", "deepinfra_page", "e2e_page", "fal_page", "genesis_page", "gmi_page", "hot_aisle_page", "jarvislabs_page",
    "modal_page", "novita_page", "sesterce_page", "tensorpool_page", "thunder_page",
)  # fmt: skip
STREAMS = ("latitude_page", "massed_compute_page", "sesterce_console_page")
SOURCES = PAGES_OF_HTML + STREAMS
PATHS = [path for source in SOURCES for path in sorted((FIXTURES / source).glob("*/page.html"))]
MARKUP = [path for path in PATHS if path.parts[-3] in PAGES_OF_HTML]


def every(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: f"{path.parts[-3]}-{path.parts[-2][:10]}")


def read(source: str, html: str) -> Parsed:
    return load(source).parse([Page("https://example.org/pricing", html.encode())])


def fixture(source: str, day: str = "") -> str:
    return max((FIXTURES / source).glob(f"{day}*/page.html")).read_text(encoding="utf-8")


def facts(offers: list[Offer]) -> set[tuple[object, ...]]:
    """What makes a price right or wrong; what else a damaged page does not tell is not a mistake."""
    return {
        (
            offer.accelerator_name,
            offer.accelerator_count,
            offer.price,
            offer.currency,
            offer.per,
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
        found = read(source, html).offers
    except PageError:
        return
    assert facts(found) <= truth


@pytest.mark.slow
@every(PATHS)
def test_a_page_cut_anywhere_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(read(source, html).offers)
    prices = [place for place, sign in enumerate(html) if sign == "$"][:8]
    for place in {*range(0, len(html), len(html) // 16), *(place + step for place in prices for step in range(1, 5))}:
        assert_no_wrong_price(source, html[:place], truth)
        assert_no_wrong_price(source, html[place:], truth)


@pytest.mark.slow
@every(MARKUP)
def test_a_page_without_one_tag_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(read(source, html).offers)
    count = len(BeautifulSoup(html, "lxml").select("body *"))
    for place in {*range(min(count, 30)), *range(0, count, max(1, count // 25))}:
        soup = BeautifulSoup(html, "lxml")
        soup.select("body *")[place].decompose()
        assert_no_wrong_price(source, str(soup), truth)


def headers_of(soup: BeautifulSoup) -> list[list[Tag]]:
    return [row.find_all(["th", "td"], recursive=False) for table in soup.find_all("table") for row in table("tr")[:1]]


@pytest.mark.slow
@every(MARKUP)
def test_a_renamed_header_gives_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(read(source, html).offers)
    for table, header in enumerate(headers_of(BeautifulSoup(html, "lxml"))[:2]):
        for place, _ in enumerate(header):
            soup = BeautifulSoup(html, "lxml")
            headers_of(soup)[table][place].string = "Something else"
            assert_no_wrong_price(source, str(soup), truth)


@pytest.mark.slow
@every(MARKUP)
def test_headers_that_changed_places_give_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(read(source, html).offers)
    for first, second in itertools.combinations(range(len((headers_of(BeautifulSoup(html, "lxml")) or [[]])[0])), 2):
        soup = BeautifulSoup(html, "lxml")
        one, other = headers_of(soup)[0][first], headers_of(soup)[0][second]
        one.string, other.string = other.get_text(), one.get_text()
        assert_no_wrong_price(source, str(soup), truth)


@pytest.mark.slow
@every(MARKUP)
def test_other_words_for_a_price_give_no_wrong_price(path: Path) -> None:
    html, source = path.read_text(encoding="utf-8"), path.parts[-3]
    truth = facts(read(source, html).offers)
    texts = [text for text in BeautifulSoup(html, "lxml").body(string=True) if "$" in text]  # type: ignore[union-attr, misc]
    for text in sorted(set(map(str, texts)))[:12]:
        amount = text.strip()
        for other in ("Contact us", "$0.00", "", amount.replace("$", ""), f"{amount} – {amount}", f"{amount} / week"):
            changed = html.replace(f">{text}<", f">{other}<")
            assert_no_wrong_price(source, changed, truth)


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
        read(source, html)


@pytest.mark.parametrize(("source", "other"), list(itertools.permutations(SOURCES, 2)))
def test_another_firm_s_page_is_refused(source: str, other: str) -> None:
    with pytest.raises(PageError):
        read(source, fixture(other))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of a JSON document stands, those that hold others too."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield (*path, key)
        yield from leaves(child, (*path, key))


def damaged(document: Any, most: int = 120) -> Iterator[Any]:
    """Copies with one value missing, null, of another type, or negative."""
    paths = list(leaves(document))
    for path in paths[:: max(1, len(paths) // most)]:
        for other in (..., None, True, "soon", -1, [], {}):
            one = copy.deepcopy(document)
            at = one
            for key in path[:-1]:
                at = at[key]
            if isinstance(at[path[-1]], str) and isinstance(other, str):
                continue  # Which word is the right one, nothing tells.
            if other is ...:
                del at[path[-1]]
            else:
                at[path[-1]] = other
            yield one


@pytest.mark.slow
@pytest.mark.parametrize("source", ["latitude_page", "sesterce_console_page"])
def test_a_damaged_stream_gives_no_wrong_price(source: str) -> None:
    html = fixture(source)
    truth = facts(read(source, html).offers)
    chunks = [json.loads(part.split("])</script>")[0]) for part in html.split("__next_f.push([1,")[1:]]
    document = json.loads("".join(chunks).partition(":")[2])
    for one in damaged(document):
        stream = json.dumps(f"0:{json.dumps(one, separators=(',', ':'))}\n")
        assert_no_wrong_price(source, f"<html><script>self.__next_f.push([1,{stream}])</script></html>", truth)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["novita", "sakura"])
def test_a_damaged_answer_gives_no_wrong_price(source: str) -> None:
    pages = fixture_pages(next((FIXTURES / source).glob("*T*")))
    truth = facts(load(source).parse(pages).offers)
    for page in pages:
        for one in damaged(json.loads(page.body), most=200):
            try:
                found = load(source).parse([Page(page.url, json.dumps(one).encode(), page.name)]).offers
            except PageError:
                continue
            # A product without regions, or an emptied list of them, is offered in all.
            assert {fact[:-1] for fact in facts(found)} <= {fact[:-1] for fact in truth}


def test_e2e_prices_of_several_gpus_are_not_those_of_one() -> None:
    """The page's buttons multiply the table; what a browser saves after a click is refused."""
    doubled = fixture("e2e_page").replace("<td>$3.77</td><td>$2,363.01</td>", "<td>$7.54</td><td>$4,726.02</td>")
    found = read("e2e_page", doubled)
    assert [rejected.record for rejected in found.rejected] == ["NVIDIA H100"]
    assert not {"7.54", "4726.02"} & {str(offer.price) for offer in found.offers}


def test_e2e_table_without_its_footnote_or_with_unknown_prices_is_refused() -> None:
    html = fixture("e2e_page")
    with pytest.raises(PageError, match="each GPU's"):
        read("e2e_page", html.replace("Prices are per GPU-hour", "Prices"))
    with pytest.raises(PageError, match="header that is not known"):
        read("e2e_page", html.replace("<th>Annually</th>", "<th>3 years</th>"))


def test_e2e_rupees_are_rupees() -> None:
    html = fixture("e2e_page", "2026-08-22")
    assert {offer.currency for offer in read("e2e_page", html).offers} == {"INR"}
    with pytest.raises(PageError):
        read("e2e_page", html.replace('"priceCurrency":"INR","unitText"', '"priceCurrency":"USD","unitText"'))
    with pytest.raises(PageError):
        read("e2e_page", html.replace("per hour", "per month"))


def test_gmi_price_without_from_or_of_two_gpus_is_not_recorded() -> None:
    html = fixture("gmi_page")
    found = read("gmi_page", html.replace(">from $2.60<", ">$2.60<"))
    assert [rejected.record for rejected in found.rejected] == ["NVIDIA H200"]
    with pytest.raises(PageError, match="a GPU of their own"):
        read("gmi_page", html.replace('<h3 class="p-6 text-base font-medium">NVIDIA H200</h3>', ""))


def test_hot_aisle_rate_of_old_customers_is_no_offer_and_unknown_terms_are_reported() -> None:
    html = fixture("hot_aisle_page")
    assert {str(offer.price) for offer in read("hot_aisle_page", html).offers} == {"2.99", "3.39"}
    found = read("hot_aisle_page", html.replace("bare metal, one-month minimum", "bare metal, one-year minimum"))
    assert [rejected.record for rejected in found.rejected] == ["Large"]
    assert {str(offer.price) for offer in found.offers} == {"2.99"}
    swapped = read("hot_aisle_page", html.replace("384GB or 768GB", "768GB or 384GB"))
    assert [rejected.record for rejected in swapped.rejected] == ["Medium"]


def test_sesterce_tiles_and_ticker_are_not_read_and_the_currency_has_to_be_told() -> None:
    html = fixture("sesterce_page")
    assert not {"1.66", "2.25"} & {str(offer.price) for offer in read("sesterce_page", html).offers}
    with pytest.raises(PageError, match="USD"):
        read("sesterce_page", html.replace("· USD ·", "· EUR ·"))


def test_civo_months_are_no_hours_and_terms_no_other_terms() -> None:
    html = fixture("civo_page")
    offers = read("civo_page", html).offers
    assert {offer.per for offer in offers} == {"hour"}
    blackwell = [(o.pricing_model, o.commitment_days) for o in offers if o.accelerator_name == "NVIDIA B200"]
    assert blackwell == [("reserved", 365), ("reserved", 730), ("reserved", 1095)]
    swapped = html.replace('data-option="hourly"', 'data-option="x"').replace(
        'data-option="monthly"', 'data-option="hourly"'
    )
    with pytest.raises(PageError):
        read("civo_page", swapped.replace('data-option="x"', 'data-option="monthly"'))
    unknown = read("civo_page", html.replace('id="6_months"', 'id="6_weeks"', 1))
    assert [rejected.record for rejected in unknown.rejected] == ["Small 1 x NVIDIA L40S - 48GB"]


def test_massed_compute_rows_to_ask_for_have_no_price_and_copies_have_to_agree() -> None:
    html = fixture("massed_compute_page")
    assert "8x H100 (80GB)" not in {offer.sku for offer in read("massed_compute_page", html).offers}
    found = read("massed_compute_page", html.replace("$$2.73", "$$2.37", 1))
    assert [rejected.record for rejected in found.rejected] == ["H100 (80GB)"]
    assert not {"2.73", "2.37"} & {str(offer.price) for offer in found.offers}


def test_massed_compute_reads_parts_that_are_streamed_later() -> None:
    html = fixture("massed_compute_page")
    late = [offer for offer in read("massed_compute_page", html).offers if offer.accelerator_name == "H100 SXM5 (80GB)"]
    assert [(offer.accelerator_count, str(offer.price), offer.ram_gb) for offer in late] == [(8, "25.12", 1500)]


def test_latitude_currencies_and_terms_are_kept_apart() -> None:
    offers = [offer for offer in read("latitude_page", fixture("latitude_page")).offers if offer.sku == "g3-h100-small"]
    assert {(str(offer.price), offer.currency, offer.per, offer.commitment_days) for offer in offers} == {
        ("3.37", "USD", "hour", 0),
        ("1230", "USD", "month", 30),
        ("10332", "USD", "year", 365),
        ("18.54", "BRL", "hour", 0),
        ("6767", "BRL", "month", 30),
        ("56843", "BRL", "year", 365),
    }


def test_modal_processors_and_memory_are_no_gpus() -> None:
    for day, per in (("2025-06-12", "second"), ("2026-02-01", "hour")):
        html = fixture("modal_page", day)
        assert {(offer.per, offer.price_scope) for offer in read("modal_page", html).offers} == {(per, "component")}
        with pytest.raises(PageError):
            read("modal_page", html.replace(">GPU Tasks<", ">Jobs<"))


def test_thunder_cards_with_two_prices_and_comparisons_are_not_read() -> None:
    html = fixture("thunder_page")
    found = read("thunder_page", html.replace("$3.20</strong>", "$3.20</strong> <em>$2.10 prototyping</em>"))
    assert len(found.rejected) == 1
    assert not {"3.20", "2.10", "5.12", "6.88"} & {str(offer.price) for offer in found.offers}


def test_genesis_price_without_a_way_of_buying_is_not_recorded() -> None:
    html = fixture("genesis_page")
    found = read("genesis_page", html.replace("H100 On-Demand", "H100 Reserved"))
    assert [rejected.record for rejected in found.rejected] == ["NVIDIA HGX H100 Reserved"]
    [floor] = [
        offer
        for offer in read("genesis_page", html.replace(">$ 2.19h", ">Starting at $ 2.19h")).offers
        if str(offer.price) == "2.19"
    ]
    assert floor.pricing_model == "floor"
    with pytest.raises(PageError, match="per GPU"):
        read("genesis_page", html.replace("per GPU", "for all"))


def test_tensorpool_prices_of_other_clouds_are_not_read_and_the_cards_have_to_agree() -> None:
    html = fixture("tensorpool_page")
    assert not {"18", "10", "14", "3.29", "0.015"} & {
        str(offer.price) for offer in read("tensorpool_page", html).offers
    }
    for first, other in (("TensorPool", "Lambda Labs"), ("TensorPool", "Traditional Clouds (GCP, AWS, etc.)")):
        swapped = html.replace(f"<div>{first}</div>", "<div>X</div>").replace(
            f"<div>{other}</div>", f"<div>{first}</div>"
        )
        with pytest.raises(PageError):
            read("tensorpool_page", swapped.replace("<div>X</div>", f"<div>{other}</div>"))


def test_novita_s_page_without_its_table_of_gpus_is_an_error() -> None:
    html = fixture("novita_page")
    with pytest.raises(PageError, match="no table of GPUs"):
        read("novita_page", html[: html.index("<table><thead><tr><th>GPU")] + "</body></html>")
    with pytest.raises(PageError, match="each GPU's"):
        read("novita_page", html.replace("/hr/GPU", "/hr"))


class FakeClient:
    """Answers by URL, and keeps what was asked."""

    def __init__(self, answers: dict[str, object], keys: dict[str, str] | None = None) -> None:
        self.answers, self.keys = answers, keys or {}
        self.asked: list[tuple[str, dict[str, str], str | None]] = []

    def key(self, env_name: str) -> str:
        if env_name not in self.keys:
            raise MissingKeyError(f"set {env_name}")
        return self.keys[env_name]

    def get(
        self, url: str, *, headers: dict[str, str] | None = None, auth_key: str | None = None, name: str | None = None
    ) -> Page:
        self.asked.append((url, headers or {}, auth_key))
        answer = self.answers.get(url, FetchError("answered 404"))
        if isinstance(answer, Exception):
            raise answer
        return Page(url, json.dumps(answer).encode(), name or "page.json")


def test_sakura_reads_the_zones_that_answer_and_says_that_it_is_a_program() -> None:
    first, second = (sakura.API.format(zone=zone) for zone in sakura.ZONES)
    client = FakeClient({second: {"ServiceClasses": {}}})
    missed, page = sakura.fetch(cast("Client", client))
    assert isinstance(missed, Missed)
    assert isinstance(page, Page)
    assert (missed.part, page.name) == ("is1a", "is1b.json")
    assert client.asked == [(url, {"X-Requested-With": "XMLHttpRequest"}, None) for url in (first, second)]


def test_novita_sends_its_key_as_a_bearer_token_and_asks_nothing_without_one() -> None:
    url = novita.SOURCE.url
    client = FakeClient({url: {"data": []}}, {"GPULEDGER_NOVITA_API_KEY": "made-up"})
    assert [page.url for page in novita.fetch(cast("Client", client))] == [url]
    assert client.asked == [(url, {}, "made-up")]
    without = FakeClient({url: {"data": []}})
    with pytest.raises(MissingKeyError):
        list(novita.fetch(cast("Client", without)))
    assert without.asked == []


def test_novita_prices_in_another_unit_are_refused() -> None:
    product = {
        "id": "a", "name": "RTX 4090 24GB", "price": "67000", "spotPrice": "", "regions": [], "availableDeploy": True,
        "cpuPerGpu": 16, "memoryPerGpu": 62,
    }  # fmt: skip
    for price in ("0.67", "67000.5", "67", 67000, "-67000"):
        page = Page("test:page", json.dumps({"data": [product, {**product, "price": price}]}).encode())
        found = load("novita").parse([page])
        assert [str(offer.price) for offer in found.offers] == ["0.67"]
        assert len(found.rejected) == 1
