"""Paging of Vast, RunPod, Verda and Azure: what is asked, when it ends, and what is refused."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from scrapers.providers import azure, runpod, vast, verda
from scrapers.source import Page, PageError, load


class FakeClient:
    """Stands for the client: ``answer`` gets the URL and the question, and gives a JSON value or bytes."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any, str | None]] = []

    def post(self, url: str, *, json: Any, name: str | None = None) -> Page:
        return self._page(url, json, name)

    def get(self, url: str, *, params: Any = None, name: str | None = None) -> Page:
        return self._page(url, params, name)

    def _page(self, url: str, question: Any, name: str | None) -> Page:
        self.asked.append((url, question, name))
        found = self.answer(url, question)
        return Page(url, found if isinstance(found, bytes) else json.dumps(found).encode(), name or "page")


def ad(number: int, usd: float) -> dict[str, Any]:
    return {
        "id": 9_000_000 + number, "machine_id": number, "num_gpus": 1, "gpu_name": "RTX 4090", "gpu_ram": 24564,
        "dph_total": usd, "min_bid": 0.1, "is_bid": False, "rentable": True, "rented": False,
        "verification": "verified", "geolocation": "Norway, NO", "cpu_cores_effective": 16.0, "cpu_ram": 65536,
    }  # fmt: skip


class Market:
    """Vast's search: sorted by price, at most 64 offers, whatever is asked."""

    def __init__(self, ads: list[dict[str, Any]], page: int = 64) -> None:
        self.ads, self.page = sorted(ads, key=lambda ad: ad["dph_total"]), page

    def __call__(self, url: str, question: Any) -> Any:
        ((operator, usd),) = question["dph_total"].items()
        found = [a for a in self.ads if (a["dph_total"] >= usd if operator == "gte" else a["dph_total"] > usd)]
        return {"offers": found[: self.page]}


def numbers(pages: list[Page]) -> Iterator[int]:
    for page in pages:
        yield from (ad["machine_id"] for ad in page.json["offers"])


def test_vast_has_every_offer_although_ties_straddle_the_pages() -> None:
    ads = [ad(n, 0.1 + n // 10 * 0.011111111111111) for n in range(200)]  # ten at each price: 64 is no multiple of ten
    client = FakeClient(Market(ads))
    pages = list(vast.fetch(client))
    assert set(numbers(pages)) == set(range(200))
    assert [page.name for page in pages] == ["page-001.json", "page-002.json", "page-003.json", "page-004.json"]
    assert [len(page.json["offers"]) for page in pages] == [64, 64, 64, 20]
    parsed = load("vast").parse(pages)
    on_demand = [offer for offer in parsed.offers if offer.pricing_model == "on_demand"]
    assert (len(on_demand), len(parsed.offers), parsed.rejected) == (200, 400, [])
    assert len({offer.sku for offer in on_demand}) == 200
    assert {offer.price for offer in parsed.offers if offer.pricing_model == "floor"} == {Decimal("0.1")}


def test_vast_asks_one_question_with_a_rising_price() -> None:
    client = FakeClient(Market([ad(1, 0.5), ad(2, 1.5), ad(3, 2.5)], page=2))
    list(vast.fetch(client))
    url, first, _ = client.asked[0]
    assert url == "https://console.vast.ai/api/v0/bundles/"
    assert first["dph_total"] == {"gte": 0.0}
    assert (first["type"], first["rentable"], first["allocated_storage"]) == ("on-demand", {"eq": True}, 8)
    assert all({**question, "dph_total": 0} == {**first, "dph_total": 0} for _, question, _ in client.asked)


def test_vast_one_page_ends_after_two_looks_beyond_it() -> None:
    client = FakeClient(Market([ad(1, 0.5), ad(2, 0.5), ad(3, 0.75)]))
    assert len(list(vast.fetch(client))) == 1
    assert [next(iter(question["dph_total"])) for _, question, _ in client.asked] == ["gte", "gte", "gt"]
    assert client.asked[1][1]["dph_total"]["gte"] == pytest.approx(0.75)


def test_vast_refuses_a_market_it_cannot_page_through() -> None:
    client = FakeClient(Market([ad(n, 0.5) for n in range(70)] + [ad(99, 0.9)]))
    with pytest.raises(PageError, match=r"more offers at 0\.5 USD than a page holds"):
        list(vast.fetch(client))


def test_vast_refuses_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vast, "MAX_PAGES", 3)
    client = FakeClient(Market([ad(n, 0.1 + n / 1000) for n in range(300)]))
    with pytest.raises(PageError, match="no end of offers after 3 pages and 190 offers"):
        list(vast.fetch(client))


def test_vast_keeps_an_empty_answer_as_one_page() -> None:
    pages = list(vast.fetch(FakeClient(Market([]))))
    assert [page.json for page in pages] == [{"offers": []}]
    assert load("vast").parse(pages).offers == []


@pytest.mark.parametrize(
    "answer",
    [b"API requests too frequent", {"success": False, "error": "no"}, {"success": False, "offers": []}, [], {}],
)
def test_vast_refuses_what_is_no_answer(answer: Any) -> None:
    with pytest.raises(PageError):
        list(vast.fetch(FakeClient(lambda url, question: answer)))


def test_vast_reads_no_answer_to_a_search_for_bids() -> None:
    page = Page("x", json.dumps({"offers": [{**ad(1, 0.5), "is_bid": True}]}).encode())
    with pytest.raises(PageError, match="search for bids"):
        load("vast").parse([page])


def test_runpod_asks_once_for_prices_with_their_flags() -> None:
    gpu = {
        "id": "NVIDIA L40S", "displayName": "L40S", "memoryInGb": 48, "secureCloud": True, "communityCloud": False,
        "securePrice": 0.99, "communityPrice": 0.5, "secureSpotPrice": 0.6, "communitySpotPrice": 0.5,
        "oneMonthPrice": 0.9, "threeMonthPrice": 0, "sixMonthPrice": None,
        "secureStock": {"stockStatus": "Low"}, "communityStock": {"stockStatus": None},
    }  # fmt: skip
    client = FakeClient(lambda url, question: {"data": {"gpuTypes": [gpu], "clusters": []}})
    pages = list(runpod.fetch(client))
    ((url, question, name),) = client.asked
    assert (url, name) == ("https://api.runpod.io/graphql", "gpu-types.json")
    assert all(field in question["query"] for field in gpu)
    assert question["query"].count("{") == question["query"].count("}")
    offers = load("runpod").parse(pages).offers
    assert [(o.tier, o.pricing_model, o.commitment_days, o.price, o.available) for o in offers] == [
        ("secure", "on_demand", 0, Decimal("0.99"), True),
        ("secure", "spot", 0, Decimal("0.6"), None),
        ("secure", "reserved", 30, Decimal("0.9"), None),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"errors": [{"message": "no such field"}], "data": None}, "no such field"),
        ({"errors": [{"message": "half"}], "data": {"gpuTypes": []}}, "half"),
        ({"data": {"gpuTypes": [{"id": "A", "secureCloud": True, "securePrice": 1, "communityPrice": 2}]}}, "flags"),
    ],
)
def test_runpod_refuses_errors_and_half_of_the_flags(body: Any, said: str) -> None:
    with pytest.raises(PageError, match=said):
        load("runpod").parse([Page("x", json.dumps(body).encode())])


def test_verda_is_one_answer() -> None:
    client = FakeClient(lambda url, question: [])
    assert [page.json for page in load("verda").fetch(client)] == [[]]
    assert [url for url, _, _ in client.asked] == [verda.SOURCE.url]


def azure_answers(url: str, question: Any) -> Any:
    if question is None:
        return {"Items": [], "NextPageLink": None}
    following = f"https://prices.azure.com:443/api/retail/prices?$filter={question['$filter']}&$skip=1000"
    return {"Items": [], "NextPageLink": following if "Consumption" in question["$filter"] else None}


def test_azure_follows_links_of_both_price_types() -> None:
    client = FakeClient(azure_answers)
    pages = list(azure.fetch(client))
    assert [page.name for page in pages] == ["consumption-001.json", "consumption-002.json", "reservation-001.json"]
    assert [url.partition("?")[0] for url, _, _ in client.asked] == [
        "https://prices.azure.com/api/retail/prices",
        "https://prices.azure.com:443/api/retail/prices",
        "https://prices.azure.com/api/retail/prices",
    ]
    filters = [question["$filter"] for _, question, _ in client.asked if question]
    assert ["priceType eq 'Consumption'" in filters[0], "priceType eq 'Reservation'" in filters[1]] == [True, True]
    assert all("contains(armSkuName, 'Standard_N')" in text for text in filters)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("https://evil.example/api/retail/prices?$skip=1000", "leads astray"),
        ("https://prices.azure.com/api/retail/prices?$skip=1000", "leads astray"),  # the same link again and again
    ],
)
def test_azure_refuses_links_that_lead_astray(link: str, said: str) -> None:
    client = FakeClient(lambda url, question: {"Items": [], "NextPageLink": link})
    with pytest.raises(PageError, match=said):
        list(azure.fetch(client))
    assert all("evil" not in url for url, _, _ in client.asked)


def test_azure_refuses_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure, "MAX_PAGES", 3)
    links = (f"https://prices.azure.com/api/retail/prices?$skip={n}000" for n in range(9))
    client = FakeClient(lambda url, question: {"Items": [], "NextPageLink": next(links)})
    with pytest.raises(PageError, match="no end of Consumption prices after 3 pages"):
        list(azure.fetch(client))


def test_azure_refuses_a_page_without_items() -> None:
    with pytest.raises(PageError, match="not a page of prices"):
        list(azure.fetch(FakeClient(lambda url, question: {"Error": {"Code": "BadRequest"}})))
