"""Sources that need a key: what is odd about each, how they fetch, and what damaged pages may never become."""

import csv
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from scrapers.offer import Offer
from scrapers.providers.gcp_skus import deal
from scrapers.source import Adapter, Page, PageError, Parsed, Rejected, load
from tests.damage import CHANGES, Change, changed_pages, cut_pages, refuse_other_prices
from tests.record import FIXTURES, fixture_pages

if TYPE_CHECKING:
    from scrapers.fetch import Client

NAMES = [
    *("prime_intellect", "digitalocean_api", "gcp_skus", "tensordock", "jarvislabs", "latitude", "seeweb", "shadeform"),
    *("hyperstack", "hot_aisle", "spheron", "upcloud", "koyeb", "together_endpoints", "hf_endpoints_page"),
]
CASES = [(name, folder) for name in NAMES for folder in sorted((FIXTURES / name).glob("*T*Z"))]
JSON_CASES = [(name, folder) for name, folder in CASES if name != "hf_endpoints_page"]


def pages_of(*bodies: object) -> list[Page]:
    """Pages of these bodies, which are JSON unless they are text."""
    texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
    return [Page("test:page", text.encode(), f"page-{place}") for place, text in enumerate(texts)]


def parsed(name: str, *bodies: object) -> Parsed:
    """What the source reads in these bodies."""
    return load(name).parse(pages_of(*bodies))


def refused(name: str, *bodies: object) -> list[str]:
    """The records that do not read, be they so many that the source would refuse the whole."""
    found: list[Offer | Rejected] = list(cast("Any", load(name).module).parse(pages_of(*bodies)))
    return [one.record for one in found if isinstance(one, Rejected)]


def body_of(name: str, file: str, folder: str = "*") -> Any:
    [path] = (FIXTURES / name).glob(f"{folder}/{file}")
    return json.loads(path.read_text(encoding="utf-8"))


def sold(offers: Sequence[Offer]) -> list[tuple[str, str, str]]:
    return [(offer.sku, str(offer.price), offer.pricing_model) for offer in offers]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
@pytest.mark.parametrize(("name", "folder"), JSON_CASES, ids=lambda one: getattr(one, "name", one))
def test_a_changed_field_never_becomes_another_price(name: str, folder: Path, change: Change) -> None:
    refuse_other_prices(name, fixture_pages(folder), partial(changed_pages, change=change))


@pytest.mark.parametrize(("name", "folder"), CASES, ids=lambda one: getattr(one, "name", one))
def test_a_page_cut_off_never_becomes_another_price(name: str, folder: Path) -> None:
    refuse_other_prices(name, fixture_pages(folder), cut_pages)


# --- what is odd about each ---------------------------------------------------------------------------------------------


def test_prime_intellect_tells_an_empty_replica_from_an_empty_market() -> None:
    summary = {"H100_80GB": {"8": {"cheapest": {"onDemand": 16.0, "communityPrice": None, "spotPrice": None}}}}
    empty = {"items": [], "totalCount": 0}
    assert parsed("prime_intellect", empty).offers == []
    with pytest.raises(PageError, match="an empty list beside a summary that has prices"):
        parsed("prime_intellect", empty, summary)
    assert parsed("prime_intellect", body_of("prime_intellect", "gpus-001.json"), summary).offers


def test_prime_intellect_reads_machines_only() -> None:
    body = body_of("prime_intellect", "gpus-001.json")
    offers = parsed("prime_intellect", body).offers
    assert not [offer for offer in offers if "cpu" in offer.sku]
    machine = body["items"][0]
    machine["isSpot"] = True
    machine["prices"]["communityPrice"] = 1.2
    machine["gpuCount"] = 2
    first, second = parsed("prime_intellect", {"items": [machine]}).offers
    assert (first.tier, second.tier, first.pricing_model, second.pricing_model) == (
        "secure_cloud",
        "community",
        "spot",
        "spot",
    )
    assert first.memory_gb is None, "whether it is of one or of both is not told"
    disk = {"cloudId": None, "provider": "runpod", "spec": {"pricePerUnit": 0.00011, "minCount": 0}}
    assert parsed("prime_intellect", {"items": [disk], "totalCount": 1}) == Parsed([], [])


def test_prime_intellect_leaves_out_what_is_paid_ahead() -> None:
    body = body_of("prime_intellect", "gpus-001.json")
    body["items"][0]["prepaidTime"] = 30
    assert len(parsed("prime_intellect", body).offers) == 8


def test_digitalocean_leaves_contracted_sizes_out_and_rejects_what_does_not_add_up() -> None:
    body = body_of("digitalocean_api", "sizes-001.json")
    assert not [one for one in parsed("digitalocean_api", body).offers if "contracted" in one.sku]
    body["sizes"][1]["price_monthly"] = 1779.648
    body["sizes"][2]["gpu_info"]["vram"]["unit"] = "mib"
    del body["sizes"][4]["gpu_info"]
    assert refused("digitalocean_api", body) == ["gpu-h100x8-640gb", "gpu-mi300x8-1536gb", "gpu-made-up-nowhere"]
    with pytest.raises(PageError, match="3 of 3 records"):
        parsed("digitalocean_api", body)


@pytest.mark.parametrize(
    ("description", "usage", "name", "terms"),
    [
        ("Nvidia L4 GPU running in Iowa", "OnDemand", "Nvidia L4 GPU", ("on_demand", 0, None)),
        ("Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", "Preemptible", "Nvidia L4 GPU", ("spot", 0, None)),
        ("Spot Preemptible G4 Instance Core running in Iowa", "OnDemand", "G4 Instance Core", ("spot", 0, None)),
        ("Commitment v1: A3Plus Cpu in Iowa for 1 Year", "Commit1Yr", "A3Plus Cpu", ("reserved", 365, None)),
        ("Commitment v1: Nvidia H100 80GB GPU running in Iowa for 3 Years", "Commit3Yr", "Nvidia H100 80GB GPU", ("reserved", 1095, None)),
        ("Reserved TpuV6e in Tokyo in Calendar Mode", "OnDemand", "TpuV6e", ("flex", 0, "calendar mode")),
        ("DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) in Seoul", "OnDemand", "A4 Nvidia B200 (1 gpu slice)", ("flex", 0, "calendar mode")),
        ("DWS Defined Duration A3 Core running in Americas", "OnDemand", "A3 Core", ("flex", 0, "defined duration")),
        ("Nvidia L4 GPU attached to DWS Defined Duration VMs running in Iowa", "OnDemand", "Nvidia L4 GPU", ("flex", 0, "defined duration")),
        ("Preemptible Tpu-v3 Accelerator Europe", "OnDemand", "Tpu-v3", ("spot", 0, None)),
        ("Tpu-v4 Pod Accelerator USA", "OnDemand", "Tpu-v4 Pod", ("on_demand", 0, None)),
    ],
)  # fmt: skip
def test_gcp_tells_deals_by_their_words(
    description: str, usage: str, name: str, terms: tuple[str, int, str | None]
) -> None:
    found, told = deal(description, usage)
    assert (found, told["pricing_model"], told["commitment_days"], told["tier"]) == (name, *terms)


@pytest.mark.parametrize(
    ("description", "usage"),
    [
        ("Nvidia L4 GPU running in Iowa", "Preemptible"),
        ("Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", "Commit1Yr"),
        ("Commitment v1: Nvidia L4 GPU running in Iowa for 1 Year", "Commit3Yr"),
        ("Commitment v1: Nvidia L4 GPU running in Iowa for 2 Years", "Commit"),
        ("Commitment v1: Nvidia L4 GPU running in Iowa", "Commit1Yr"),
        ("Commitment - Nvidia L4 GPU running in Iowa", "OnDemand"),
        ("Preempted Nvidia L4 GPU running in Iowa", "OnDemand"),
        ("Nvidia L4 GPU in Iowa", "OnDemand"),
    ],
)
def test_gcp_refuses_deals_that_are_not_known_or_contradicted(description: str, usage: str) -> None:
    with pytest.raises(PageError):
        deal(description, usage)


def test_gcp_reads_every_name_of_a_real_catalogue(shared: Path) -> None:
    with (shared / "samples" / "api" / "gcp" / "billing_sku_names_gpu_2022-08.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not row["sku_name"].startswith("Reserved ")]
    days = {"OnDemand": 0, "Preemptible": 0, "Commit1Yr": 365, "Commit3Yr": 1095}
    for row in rows:
        _, terms = deal(row["sku_name"], row["sku_usage_type"])
        assert terms["commitment_days"] == days[row["sku_usage_type"]]
        assert (terms["pricing_model"] == "spot") == (row["sku_usage_type"] == "Preemptible")
    assert len(rows) > 700


def gcp_sku(**changes: Any) -> dict[str, Any]:
    """The A100 of the fixture with other words, unit or price."""
    sku: dict[str, Any] = body_of("gcp_skus", "compute-001.json", "2023*")["skus"][0]
    told = sku["pricingInfo"][0]["pricingExpression"]
    told["usageUnit"] = changes.pop("unit", "h")
    told["tieredRates"][0]["unitPrice"] |= changes.pop("price", {})
    sku["category"]["resourceGroup"] = changes.pop("group", "GPU")
    return sku | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": "GiBy.h"},
        {"unit": "mo"},
        {"group": "RAM", "description": "A2 Instance Ram running in Americas"},
        {"group": "CPU", "description": "A2 Instance Core and more running in Americas"},
        {"price": {"units": "2.5"}},
        {"price": {"units": 2}},
        {"price": {"nanos": 10**9}},
        {"price": {"nanos": -1}},
        {"serviceRegions": []},
        {"serviceRegions": "us-central1"},
        {"description": "Nvidia Tesla A100 GPU with a discount"},
        {"pricingInfo": []},
    ],
)
def test_gcp_rejects_what_may_be_another_price(changes: dict[str, Any]) -> None:
    assert refused("gcp_skus", {"skus": [gcp_sku(**changes)]}) == ["039F-D0DA-4055"]


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "Reserved Nvidia Tesla A100 GPU in Milan"},
        {"description": "Capacity Optimized Nvidia L4 GPU running in Iowa"},
        {"group": "CPU", "description": "A2 Sole Tenancy Instance Core running in Iowa"},
        {"group": "RAM", "description": "N1 Predefined Instance Extended Ram running in Iowa"},
        {"group": "CPU", "description": "E2 Instance Core running in Iowa"},
        {"group": "SSD", "description": "SSD backed Local Storage in Iowa"},
        {"price": {"units": "0", "nanos": 0}},
    ],
)
def test_gcp_leaves_out_other_deals_and_what_costs_nothing(changes: dict[str, Any]) -> None:
    assert parsed("gcp_skus", {"skus": [gcp_sku(**changes)]}) == Parsed([], [])


def test_tensordock_hosts_that_are_not_listed_cannot_be_rented() -> None:
    body = body_of("tensordock", "hostnodes.json")
    [host] = body["hostnodes"].values()
    host["status"]["listed"] = False
    assert {offer.available for offer in parsed("tensordock", body).offers} == {False}
    with pytest.raises(PageError, match="no success"):
        parsed("tensordock", body | {"success": False})


def test_jarvislabs_rejects_spot_prices_that_are_no_numbers() -> None:
    body = body_of("jarvislabs", "server-meta.json")
    body["server_meta"] = [body["server_meta"][0] | {"spot_price": "n/a"}, body["server_meta"][2] | {"vram": "96 GB"}]
    assert refused("jarvislabs", body) == ["H100", "RTX-PRO6000"]


def latitude_plan(**usd: float | None) -> dict[str, Any]:
    body = body_of("latitude", "plans-001.json")
    plan: dict[str, Any] = body["data"][1]
    plan["attributes"]["regions"][0]["pricing"]["USD"] = {"hour": None, "month": None, "year": None, **usd}
    return {"data": [plan]}


def test_latitude_terms_are_prices_of_the_whole_term() -> None:
    offers = parsed("latitude", latitude_plan(hour=128.0, month=46720.0, year=490560.0)).offers
    assert [(offer.per, str(offer.price), offer.commitment_days) for offer in offers] == [
        ("hour", "128.0", 0),
        ("month", "46720.0", 30),
        ("year", "490560.0", 365),
    ]
    nowhere = latitude_plan()
    nowhere["data"][0]["attributes"]["regions"][0]["pricing"]["USD"] = None
    assert parsed("latitude", nowhere) == Parsed([], [])


@pytest.mark.parametrize(
    "usd",
    [{"hour": 128.0, "month": 4672.0}, {"hour": 1.28, "month": 46720.0}, {"month": 46720.0, "year": 46720.0}, {"hour": "128 USD"}],
)  # fmt: skip
def test_latitude_rejects_prices_that_do_not_go_together(usd: dict[str, Any]) -> None:
    assert refused("latitude", latitude_plan(**usd)) == ["plan_TestB300"]


def test_seeweb_refuses_an_answer_that_is_no_success_and_a_gpu_without_a_name() -> None:
    body = body_of("seeweb", "plans.json")
    with pytest.raises(PageError, match="status 'ko'"):
        parsed("seeweb", body | {"status": "ko"})
    body["plans"][0]["gpu_label"] = None
    body["plans"][1]["gpu"] = "0"
    assert refused("seeweb", body) == ["ECS1GPU7", "ECS2GPU3"]


def test_shadeform_prices_are_whole_cents_and_spot_has_none() -> None:
    body = body_of("shadeform", "instance-types.json", "2026-08*")
    kind = body["instance_types"][1]
    kind["availability"][0]["rental_type"] = "spot"
    assert parsed("shadeform", {"instance_types": [kind]}) == Parsed([], [])
    del kind["availability"][0]["rental_type"]
    for price in (0.57, "57", -57):
        assert refused("shadeform", {"instance_types": [kind | {"hourly_price": price}]}) == ["A6000"]


def test_hyperstack_takes_list_prices_of_now() -> None:
    book, flavors = body_of("hyperstack", "pricebook.json", "2026*"), body_of("hyperstack", "flavors.json")
    names = {offer.sku: offer for offer in parsed("hyperstack", book).offers}
    assert sorted(names) == sorted(row["name"] for row in book[:6])
    assert names["H100-80G-PCIe-NVLink"].price == Decimal("2.60")
    book[0]["end_time"] = "2026-09-01T00:00:00"
    book[1]["value"] = 3.0
    book.append(dict(book[2]))
    assert refused("hyperstack", book) == ["B300-SXM", "B200-SXM", "H200-141G-SXM5"]
    assert {"n3-B300-SXM6x8", "n3-B200-SXM6x8"} <= set(refused("hyperstack", book, flavors))
    with pytest.raises(PageError, match="flavours without a price book"):
        parsed("hyperstack", flavors)


def test_hot_aisle_reads_cents_and_refuses_mixed_machines() -> None:
    [machine, _] = body_of("hot_aisle", "virtual-machines.json")
    for price in (2.99, "299", 0):
        assert len(refused("hot_aisle", [machine | {"OnDemandPrice": price}])) == 1
    machine["Specs"]["gpus"] *= 2
    assert len(refused("hot_aisle", [machine])) == 1
    machine["Specs"]["gpus"] = []
    assert parsed("hot_aisle", [machine]) == Parsed([], [])


def test_spheron_tells_spot_by_its_kind() -> None:
    body = body_of("spheron", "offers-001.json")
    [group] = body["data"]
    one, eight, spot = group["offers"]
    group["offers"] = [
        spot | {"spot_price": 0.5},
        one | {"spot_price": 2.5},
        eight | {"instanceType": "CLUSTER"},
        eight | {"clusters": []},
    ]
    assert refused("spheron", body) == ["test-h100-spot", "test-h100-1", "test-h100-8", "test-h100-8"]
    group["offers"] = [spot | {"spot_price": None}]
    assert sold(parsed("spheron", body).offers) == [("test-h100-spot", "0.99", "spot")]


def test_upcloud_needs_both_lists_and_prices_of_one() -> None:
    plans, prices = body_of("upcloud", "plan.json"), body_of("upcloud", "price.json")
    for alone in (plans, prices):
        with pytest.raises(PageError, match="one of two lists"):
            parsed("upcloud", alone)
    prices["prices"]["zone"][0]["server_plan_GPU-8xCPU-64GB-1xL40S"]["amount"] = 10
    assert refused("upcloud", prices, plans) == ["fi-hel2"]
    del prices["prices"]["currency"]
    with pytest.raises(PageError):
        parsed("upcloud", plans, prices)


def test_koyeb_and_together_reject_what_contradicts_itself() -> None:
    body = body_of("koyeb", "instances-001.json")
    body["instances"][1]["price_hourly"] = "42.00"
    del body["instances"][2]["gpu"]
    assert refused("koyeb", body) == ["gpu-nvidia-l4", "gpu-nvidia-a6000"]
    body = body_of("together_endpoints", "hardware.json")
    body["data"][1]["specs"]["gpu_count"] = 8
    body["data"][2]["pricing"] = {"cents_per_hour": 672}
    assert refused("together_endpoints", body) == ["1x_nvidia_h100_80gb_sxm", "2x_nvidia_h100_80gb_sxm"]


def test_hugging_face_columns_are_found_by_their_header() -> None:
    text = (FIXTURES / "hf_endpoints_page" / "2025-11-01T000000Z" / "pricing.md").read_text(encoding="utf-8")
    whole = parsed("hf_endpoints_page", text).offers
    for damaged in (
        text.replace("Hourly rate", "Monthly rate"),
        text.replace("GPUs |", "Cards |").replace("Accelerators |", "Cards |"),
    ):
        with pytest.raises(PageError, match="no table of accelerators"):
            parsed("hf_endpoints_page", damaged)
    with pytest.raises(PageError, match="a column of prices with a header"):
        parsed("hf_endpoints_page", text.replace("| NVIDIA T4 ", "| $365 a month "))
    found = parsed(
        "hf_endpoints_page", text.replace("| x4            | $3.8        | 4 ", "| x4            | $3.8        | 8 ")
    )
    assert [one.record for one in found.rejected] == ["nvidia-l4"]
    assert len(found.offers) == len(whole) - 1


# --- how they fetch -----------------------------------------------------------------------------------------------------


class FakeClient:
    """Answers in order, and keeps what was asked. Its keys are the names of their variables."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def key(self, env: str) -> str:
        return f"secret:{env}"

    def get(self, url: str, *, name: str, params: Mapping[str, object] | None = None, **told: Any) -> Page:
        assert "secret:" not in f"{url.replace('secret:GPULEDGER_HOT_AISLE_TEAM', '')}{params}{name}", (
            "a key in plain sight"
        )
        assert len(self.asked) < len(self.answers), "asked once more than there are answers"
        body = json.dumps(self.answers[len(self.asked)]).encode()
        self.asked.append({"url": url, "params": dict(params or {}), "name": name, **told})
        return Page(url, body, name)


def fetched(name: str, *answers: object) -> FakeClient:
    """The client after the source has fetched; every answer was asked for."""
    client, adapter = FakeClient(*answers), load(name)
    pages = list(cast("Any", adapter.module).fetch(cast("Client", client)))
    assert len(pages) == len(client.asked) == len(answers)
    return client


BEARER = {
    "prime_intellect",
    "digitalocean_api",
    "tensordock",
    "jarvislabs",
    "latitude",
    "spheron",
    "upcloud",
    "koyeb",
    "together_endpoints",
}
HEADERS = {
    "seeweb": {"X-APITOKEN": "secret:GPULEDGER_SEEWEB_API_KEY"},
    "shadeform": {"X-API-KEY": "secret:GPULEDGER_SHADEFORM_API_KEY"},
    "hyperstack": {"api_key": "secret:GPULEDGER_HYPERSTACK_API_KEY"},
    "hot_aisle": {"Authorization": "Token secret:GPULEDGER_HOT_AISLE_API_KEY"},
}  # fmt: skip
WHOLE = {
    "prime_intellect": {"items": [{}], "totalCount": 1},
    "digitalocean_api": {"sizes": [{}], "meta": {"total": 1}},
    "latitude": {"data": [{}]},
    "spheron": {"data": [], "totalPages": 1},
    "koyeb": {"instances": [{}], "count": 1},
}
FETCHING = [load(name) for name in NAMES if name != "hf_endpoints_page"]


@pytest.mark.parametrize("adapter", FETCHING, ids=lambda one: one.name)
def test_a_key_goes_where_the_provider_wants_it(adapter: Adapter) -> None:
    several = {"hyperstack": 2, "upcloud": 2, "gcp_skus": 2}.get(adapter.name, 1)
    client = fetched(adapter.name, *[WHOLE.get(adapter.name, {})] * several)
    secret = f"secret:{adapter.source.key_env}"
    for asked in client.asked:
        assert asked.get("auth_key") == (secret if adapter.name in BEARER else None)
        assert asked.get("headers") == HEADERS.get(adapter.name)
        assert asked.get("secret_params") == ({"key": secret} if adapter.name == "gcp_skus" else None)


def test_pages_of_a_fixture_are_named_as_fetched() -> None:
    for adapter in FETCHING:
        several = {"hyperstack": 2, "upcloud": 2, "gcp_skus": 2}.get(adapter.name, 1)
        names = {asked["name"] for asked in fetched(adapter.name, *[WHOLE.get(adapter.name, {})] * several).asked}
        newest = max((FIXTURES / adapter.name).glob("*T*Z"))
        assert {path.name for path in newest.iterdir()} - {"offers.json"} == names


@pytest.mark.parametrize(
    ("name", "field", "total"),
    [("prime_intellect", "items", {"totalCount": 3}), ("digitalocean_api", "sizes", {"meta": {"total": 3}}), ("koyeb", "instances", {"count": 3})],
)  # fmt: skip
def test_lists_are_read_to_their_end(name: str, field: str, total: dict[str, Any]) -> None:
    client = fetched(name, {field: [{}, {}], **total}, {field: [{}], **total})
    assert client.asked[0]["params"] != client.asked[1]["params"]
    with pytest.raises(PageError, match="the list ends after 2 of 3"):
        fetched(name, {field: [{}, {}], **total}, {field: [], **total})
    with pytest.raises(PageError, match="no end after"):
        fetched(name, *[{field: [{}], "totalCount": 9999, "meta": {"total": 9999}, "count": 9999}] * 60)


def test_prime_intellect_asks_for_the_summary_where_the_list_is_empty() -> None:
    client = fetched("prime_intellect", {"items": [], "totalCount": 0}, {})
    assert [asked["name"] for asked in client.asked] == ["gpus-001.json", "summary.json"]


def test_latitude_and_spheron_stop_at_the_last_page() -> None:
    client = fetched("latitude", {"data": [{}] * 100}, {"data": [{}] * 99})
    assert [asked["params"]["page[number]"] for asked in client.asked] == ["1", "2"]
    client = fetched("spheron", {"data": [], "totalPages": 2}, {"data": [], "totalPages": 2})
    assert [asked["params"]["page"] for asked in client.asked] == [1, 2]
    for name, answer in (("latitude", {"data": [{}] * 100}), ("spheron", {"data": [], "totalPages": 999})):
        with pytest.raises(PageError, match="no end after"):
            fetched(name, *[answer] * 60)


def test_gcp_follows_tokens_in_both_services() -> None:
    client = fetched(
        "gcp_skus", {"skus": [], "nextPageToken": "second"}, {"skus": []}, {"skus": [], "nextPageToken": ""}
    )
    assert [asked["name"] for asked in client.asked] == ["compute-001.json", "compute-002.json", "tpu-001.json"]
    assert [asked["params"].get("pageToken") for asked in client.asked] == [None, "second", None]
    assert {asked["params"]["currencyCode"] for asked in client.asked} == {"USD"}
    with pytest.raises(PageError, match="no end of compute"):
        fetched("gcp_skus", *[{"skus": [], "nextPageToken": "again"}] * 60)


def test_hot_aisle_needs_to_know_the_team() -> None:
    [asked] = fetched("hot_aisle", []).asked
    assert asked["url"].endswith("/api/teams/secret:GPULEDGER_HOT_AISLE_TEAM/virtual_machines/available/")
