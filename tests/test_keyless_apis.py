"""Sources that need no key: what is odd about each, how they fetch, and what damaged pages may never become."""

import gzip
import json
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from scrapers.failures import FetchError
from scrapers.providers import aws_prices, cloudrift, gpu_ai, linode, lium, ovh, thunder_api, voltage_park
from scrapers.source import Missed, Page, PageError, Parsed, load
from tests.damage import CHANGES, Change, changed_pages, cut_pages, refuse_other_prices
from tests.record import FIXTURES, fixture_pages

if TYPE_CHECKING:
    from scrapers.fetch import Client

NAMES = [
    *(
        "akash",
        "aws_prices",
        "aws_spot_advisor",
        "aws_capacity_blocks_page",
        "cloudrift",
        "cudo",
        "gpu_ai",
        "hyperbolic",
    ),
    *("linode", "lium", "ovh", "thunder_api", "voltage_park"),
]
CASES = [(name, folder) for name in NAMES for folder in sorted((FIXTURES / name).glob("*T*Z"))]
JSON_CASES = [(name, folder) for name, folder in CASES if name != "aws_capacity_blocks_page"]


def parsed(name: str, *bodies: Any) -> Parsed:
    """What the source reads in these bodies, which are JSON unless they are text or bytes."""
    raw = [
        body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        for body in bodies
    ]
    return load(name).parse([Page("test:page", body, f"page-{place}") for place, body in enumerate(raw)])


def body_of(name: str, file: str, folder: str = "*") -> Any:
    [path] = (FIXTURES / name).glob(f"{folder}/{file}")
    return json.loads(path.read_text(encoding="utf-8"))


# --- damage: any offer that is still read says what the whole page says -------------------------------------------------


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
@pytest.mark.parametrize(("name", "folder"), JSON_CASES, ids=lambda one: getattr(one, "name", one))
def test_a_changed_field_never_becomes_another_price(name: str, folder: Path, change: Change) -> None:
    refuse_other_prices(name, fixture_pages(folder), partial(changed_pages, change=change))


@pytest.mark.parametrize(("name", "folder"), CASES, ids=lambda one: getattr(one, "name", one))
def test_a_page_cut_off_never_becomes_another_price(name: str, folder: Path) -> None:
    refuse_other_prices(name, fixture_pages(folder), cut_pages)


# --- what is odd about each ---------------------------------------------------------------------------------------------


def test_aws_prices_reads_what_came_compressed_and_refuses_half_of_it() -> None:
    [path] = (FIXTURES / "aws_prices").glob("2026*/us-east-n-virginia.json")
    packed = gzip.compress(path.read_bytes())
    assert parsed("aws_prices", packed) == parsed("aws_prices", path.read_bytes())
    with pytest.raises(PageError, match="damaged or too large"):
        parsed("aws_prices", packed[:-20])


def aws_record(**changes: Any) -> dict[str, Any]:
    record = {
        "Instance Type": "p5.48xlarge",
        "price": "55.04",
        "Operating System": "Linux",
        "plc:InstanceFamily": "Accelerated Computing",
    }
    return {"regions": {"US East (Ohio)": {"one": record | changes, "two": record}}}


@pytest.mark.parametrize(
    "changes",
    [
        {"Operating System": "RHEL"},
        {"Tenancy": "Dedicated"},
        {"Pre Installed S/W": "SQL Web"},
        {"price": "0.0000000000"},
        {"Instance Type": "f2.48xlarge"},
        {"Instance Type": "m7i.48xlarge", "plc:InstanceFamily": "General Purpose"},
    ],
)
def test_aws_prices_leaves_out_what_is_no_plain_accelerated_machine(changes: dict[str, Any]) -> None:
    found = parsed("aws_prices", aws_record(**{"price": "1.5"} | changes))
    assert ([one.price for one in found.offers], found.rejected) == ([Decimal("55.04")], [])


@pytest.mark.parametrize(
    "changes",
    [
        {"LeaseContractLength": "1yr", "PurchaseOption": "Partial Upfront"},
        {"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront", "riupfront:PricePerUnit": "100"},
        {"LeaseContractLength": "2yr", "PurchaseOption": "No Upfront"},
        {"PurchaseOption": "No Upfront"},
        {"rateCode": "A.4NA7Y494T4.B"},
        {"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront", "rateCode": "A.JRTCKXETXF.B"},
        {"Location": "US West (Oregon)"},
        {"Instance Type": "h1.48xlarge"},
    ],
)
def test_aws_prices_rejects_terms_and_types_it_does_not_know(changes: dict[str, Any]) -> None:
    found = parsed("aws_prices", aws_record(**{"price": "1.5"} | changes))
    assert ([one.price for one in found.offers], len(found.rejected)) == ([Decimal("55.04")], 1)


def spot_feed(told: str, **config: Any) -> dict[str, Any]:
    size = {
        "size": "p5.48xlarge",
        "valueColumns": [{"name": "mswin", "prices": {"USD": "9"}}, {"name": "linux", "prices": {"USD": told}}],
    }
    region = {"region": "us-east-1", "instanceTypes": [{"type": "gpu", "sizes": [size]}]}
    return {
        "config": {"rate": "perhr", "currencies": ["USD"], "valueColumns": ["linux", "mswin"], "regions": [region]}
        | config
    }


def test_aws_spot_prices_come_bare_or_as_a_call() -> None:
    bare = parsed("aws_spot_advisor", spot_feed("19.4933"))
    assert [(str(one.price), one.pricing_model) for one in bare.offers] == [("19.4933", "spot")]
    assert parsed("aws_spot_advisor", f"callback({json.dumps(spot_feed('19.4933'))});") == bare
    assert [parsed("aws_spot_advisor", spot_feed(told)).offers for told in ("N/A*", "-1", "0")] == [[], [], []]


@pytest.mark.parametrize(
    "config", [{"rate": "perday"}, {"currencies": ["CNY"]}, {"valueColumns": ["vCPU", "ECU", "linux"]}]
)
def test_aws_spot_prices_in_another_unit_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(PageError, match="not spot prices in USD by the hour"):
        parsed("aws_spot_advisor", spot_feed("19.4933", **config))


def test_aws_spot_advisor_savings_are_no_prices() -> None:
    advice = {
        "instance_types": {"p5.48xlarge": {"cores": 192}},
        "ranges": [],
        "spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"s": 69, "r": 1}}}},
    }
    assert parsed("aws_spot_advisor", advice) == Parsed([], [])


def block(price: str, accelerators: str = "8 x H100", header: str = "Effective Hourly Rate", more: str = "") -> str:
    row = f"<tr><td>p5.48xlarge</td><td>US East (Ohio)</td><td>{price}</td><td>{accelerators}</td></tr>"
    good = "<tr><td>p5.48xlarge</td><td>US West (Oregon)</td><td>$31.464 USD ($3.933 USD)</td><td>8 x H100</td></tr>"
    return f"<html><table><tr><td>Instance Type</td><td>Region</td><td>{header}</td><td>GPU</td></tr>{row}{good}</table>{more}</html>"


@pytest.mark.parametrize(
    ("price", "accelerators"),
    [
        ("$3.933 USD", "8 x H100"),
        ("$31.464 USD ($3.933 USD)", "4 x H100"),
        ("$31.464 ($3.933)", "8 x H100"),
        ("31.464 USD (3.933 USD)", "8 x H100"),
        ("$31.464 USD ($3.933 USD)", "H100"),
    ],
)
def test_capacity_blocks_need_both_rates_to_agree(price: str, accelerators: str) -> None:
    found = parsed("aws_capacity_blocks_page", block(price, accelerators))
    assert [one.region for one in found.offers] == ["US West (Oregon)"]
    assert len(found.rejected) == 1


def test_capacity_blocks_refuse_a_table_whose_header_is_not_known() -> None:
    with pytest.raises(PageError, match="header that is not known"):
        parsed("aws_capacity_blocks_page", block("$31.464 USD ($3.933 USD)", header="Daily Rate"))
    with pytest.raises(PageError, match="no price table"):
        parsed("aws_capacity_blocks_page", "<html><p>Moved</p></html>")


def test_linode_has_a_price_for_all_regions_and_others_for_some() -> None:
    body = body_of("linode", "types-001.json", "2026*")
    body["data"][2]["region_prices"] = [
        {"id": "id-cgk", "hourly": 1.8, "monthly": 1200.0},
        {"id": "br-gru", "hourly": 2.1, "monthly": None},
    ]
    found = {(one.region, str(one.price)) for one in parsed("linode", body).offers if one.sku == "g1-gpu-rtx6000-1"}
    assert found == {("global", "1.5"), ("id-cgk", "1.8"), ("br-gru", "2.1")}


def test_linode_refuses_a_month_in_the_place_of_an_hour() -> None:
    body = body_of("linode", "types-001.json", "2026*")
    body["data"][2]["price"] = {"hourly": 1000.0, "monthly": 1.5}
    assert [one.record for one in parsed("linode", body).rejected] == ["g1-gpu-rtx6000-1"]


def test_cudo_prices_commitments_apart() -> None:
    body = body_of("cudo", "machine-types.json", "2026*")
    prices = body["machineTypes"][2]["prices"]
    terms = [("1_MONTH", "1.70"), ("3_MONTHS", "1.60"), ("12_MONTHS", "1.40"), ("36_MONTHS", "1.30")]
    prices += [
        prices[0] | {"commitmentTerm": f"COMMITMENT_TERM_{term}", "gpuPriceHr": {"value": price}}
        for term, price in terms
    ]
    found = [
        (one.pricing_model, one.commitment_days, str(one.price))
        for one in parsed("cudo", body).offers
        if one.accelerator_name == "H100 SXM" and one.price_scope == "component"
    ]
    assert found == [
        ("on_demand", 0, "1.790000"),
        *(("reserved", days, price) for days, price in ((30, "1.70"), (90, "1.60"), (365, "1.40"), (1095, "1.30"))),
    ]


@pytest.mark.parametrize(("term", "price"), [("COMMITMENT_TERM_WEEK", "1.79"), ("COMMITMENT_TERM_NONE", "1.20")])
def test_cudo_rejects_a_term_that_is_not_known_and_two_prices_for_one(term: str, price: str) -> None:
    body = body_of("cudo", "machine-types.json", "2026*")
    prices = body["machineTypes"][2]["prices"]
    prices.append(prices[0] | {"commitmentTerm": term, "gpuPriceHr": {"value": price}})
    assert [one.record for one in parsed("cudo", body).rejected] == ["sapphire-rapids-h100"]


def test_hyperbolic_rejects_a_new_kind_of_price_and_nodes_that_do_not_add_up() -> None:
    body = body_of("hyperbolic", "rental-options.json")
    body[0]["spotCostPerHourCents"] = 100
    body[1]["nodes"] *= 2
    found = parsed("hyperbolic", body)
    assert [one.record for one in found.rejected] == ["us-east-1", "us-east-2"]
    assert len(found.offers) == 5


def test_hyperbolic_adds_up_the_nodes() -> None:
    body = body_of("hyperbolic", "rental-options.json")[4:5]
    body[0] |= {"gpuCount": 16, "nodes": body[0]["nodes"] * 2, "costPerHourCents": 5104.5}
    [offer] = parsed("hyperbolic", body).offers
    found = [str(one) for one in (offer.accelerator_count, offer.price, offer.vcpus, offer.ram_gb)]
    assert found == ["16", "51.045", "192", "4000"]


def test_voltage_park_refuses_one_page_of_several() -> None:
    body = body_of("voltage_park", "locations.json")
    with pytest.raises(PageError, match="one page of several"):
        parsed("voltage_park", body | {"has_next": True})


def test_lium_rejects_what_contradicts_itself_and_what_is_no_number() -> None:
    body = body_of("lium", "executors.json")
    body[0]["specs"]["is_spot"] = True
    body[1]["available_gpu_count"] = 9
    found = parsed("lium", json.dumps(body))
    assert len(found.rejected) == 2
    found = parsed("lium", json.dumps(body_of("lium", "machines.json")).replace("5.88", "NaN"))
    assert [one.record for one in found.rejected] == ["NVIDIA B300 SXM6 AC"]


def test_akash_rejects_bids_out_of_order() -> None:
    body = body_of("akash", "gpu-prices.json")
    body["models"][4]["price"]["med"] = 256
    assert [one.record for one in parsed("akash", body).rejected] == ["h100"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"intervalUnit": "month"}, "where the plan says hour"),
        ({"interval": 12}, "where the plan says hour"),
        ({"price": 280}, "is shown as"),
        ({"formattedPrice": "$2.80 USD"}, "is shown as"),
        ({"formattedPrice": "2.80"}, "is shown as"),
    ],
)
def test_ovh_rejects_a_price_that_its_own_words_deny(changes: dict[str, Any], reason: str) -> None:
    body = body_of("ovh", "fr.json")
    body["addons"][0]["pricings"][0] |= changes
    [rejected] = parsed("ovh", body).rejected
    assert reason in rejected.reason


def test_ovh_rejects_a_term_that_is_not_known_and_refuses_a_catalogue_without_machines() -> None:
    body = body_of("ovh", "fr.json")
    body["addons"][0]["planCode"] = "h100-380.yearly"
    assert [one.record for one in parsed("ovh", body).rejected] == ["h100-380.yearly"]
    with pytest.raises(PageError, match="no GPU among 1 addons"):
        parsed("ovh", body | {"addons": body["addons"][-1:]})


def test_gpu_ai_rejects_another_currency_and_hosts_that_contradict_themselves() -> None:
    body = body_of("gpu_ai", "pricing-001.json")
    body["data"][0]["currency"] = "EUR"
    body["data"][1]["community"] = False
    assert len(parsed("gpu_ai", body).rejected) == 2


def test_thunder_needs_both_lists_and_rejects_a_price_without_a_size() -> None:
    prices, sizes = body_of("thunder_api", "pricing.json"), body_of("thunder_api", "specs.json")
    with pytest.raises(PageError):
        parsed("thunder_api", prices)
    del sizes["specs"]["h100_x2_prototyping"]
    sizes["specs"]["a6000_x1_prototyping"]["gpuCount"] = 2
    found = parsed("thunder_api", prices, sizes)
    assert {one.record for one in found.rejected} == {"h100_x2_prototyping", "a6000_x1_prototyping"}
    assert len(found.offers) == 5


# --- how they fetch -----------------------------------------------------------------------------------------------------


class FakeClient:
    """Answers by URL, or by URL and page or cursor; what is not there answers 404."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def get(self, url: str, *, params: dict[str, Any] | None = None, name: str | None = None) -> Page:
        turn = (params or {}).get("cursor") or (params or {}).get("page")
        self.asked.append(f"{url}#{turn}" if turn else url)
        answer = self.answers.get(self.asked[-1], FetchError("answered 404 (Not Found)", kind="status", status=404))
        if isinstance(answer, Exception):
            raise answer
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return Page(url, body, name or "page")

    def post(self, url: str, *, json: dict[str, Any], name: str | None = None) -> Page:
        assert json["data"]
        return self.get(url, name=name)


def fetched(module: Any, answers: dict[str, Any]) -> tuple[list[str], list[str], FakeClient]:
    """Names of the pages, parts that were missed, and the client."""
    client = FakeClient(answers)
    found = list(module.fetch(cast("Client", client)))
    return (
        [one.name for one in found if isinstance(one, Page)],
        [one.part for one in found if isinstance(one, Missed)],
        client,
    )


def test_linode_reads_every_page_and_no_more() -> None:
    page = {"data": [], "pages": 2}
    names, _, client = fetched(linode, {f"{linode.SOURCE.url}#{n}": page | {"page": n} for n in (1, 2)})
    assert names == ["types-001.json", "types-002.json"]
    assert len(client.asked) == 2


@pytest.mark.parametrize("second", [{"page": 1, "pages": 2}, {"page": 2, "pages": 3}])
def test_linode_refuses_pages_that_disagree(second: dict[str, int]) -> None:
    answers = {
        f"{linode.SOURCE.url}#1": {"data": [], "page": 1, "pages": 2},
        f"{linode.SOURCE.url}#2": {"data": []} | second,
    }
    with pytest.raises(PageError, match="page 2 of 2 asked"):
        fetched(linode, answers)


def test_gpu_ai_follows_cursors_to_their_end_and_refuses_a_circle() -> None:
    url = gpu_ai.SOURCE.url
    names, _, _ = fetched(
        gpu_ai, {url: {"data": [], "next_cursor": "a"}, f"{url}#a": {"data": [], "next_cursor": None}}
    )
    assert names == ["pricing-001.json", "pricing-002.json"]
    with pytest.raises(PageError, match="leads back"):
        fetched(gpu_ai, {url: {"data": [], "next_cursor": "a"}, f"{url}#a": {"data": [], "next_cursor": "a"}})


def test_two_lists_may_fail_alone() -> None:
    assert fetched(voltage_park, {voltage_park.SOURCE.url: {}})[:2] == (["locations.json"], ["presets"])
    assert fetched(ovh, {ovh.CATALOGUES["US"]: {}})[:2] == (["us.json"], ["FR"])


def test_lium_reads_models_where_machines_are_refused() -> None:
    assert fetched(lium, {lium.SOURCE.url: []})[:2] == (["executors.json"], [])
    assert fetched(lium, {f"{lium.API}/machines": []})[:2] == (["machines.json"], ["executors"])


def test_the_others_read_what_there_is() -> None:
    assert fetched(cloudrift, {cloudrift.SOURCE.url: {}})[0] == ["instance-types.json"]
    assert fetched(thunder_api, {f"{thunder_api.API}/pricing": {}, f"{thunder_api.API}/specs": {}})[0] == [
        "pricing.json",
        "specs.json",
    ]


def aws_url(kind: str, place: str) -> str:
    return f"{aws_prices.FILES}/{kind.replace(' ', '%20')}/{place.replace(' ', '%20')}/Linux"


def aws_file(place: str, kind: str = "p5.48xlarge", **more: str) -> dict[str, Any]:
    return {"regions": {place: {"one": {"Instance Type": kind, "price": "55.04", "Operating System": "Linux"} | more}}}


def test_aws_prices_reads_reserved_files_where_accelerators_are() -> None:
    ohio, spain = "US East (Ohio)", "Europe (Spain)"
    term = {"LeaseContractLength": "1yr", "PurchaseOption": "No Upfront"}
    answers = {
        aws_prices.SOURCE.url: gzip.compress(
            json.dumps({"valueAttributes": {"Location": [ohio, spain, "Nowhere"]}}).encode()
        ),
        f"{aws_url('ec2-ondemand-without-sec-sel', ohio)}/index.json": aws_file(ohio),
        f"{aws_url('ec2-ondemand-without-sec-sel', spain)}/index.json": aws_file(spain, "m7i.large"),
        f"{aws_url('ec2-reservedinstance/1 year/No Upfront', ohio)}/Shared/index.json": aws_file(ohio, **term),
    }
    names, missed, client = fetched(aws_prices, answers)
    assert names == ["europe-spain.json", "us-east-ohio.json", "us-east-ohio-1-year-no-upfront.json"]
    assert missed == ["Nowhere"]
    assert not [url for url in client.asked if "reserved" in url and "Spain" in url]


def test_aws_prices_falls_back_to_the_regions_it_knows_and_misses_what_is_no_file() -> None:
    place = aws_prices.REGIONS[0]
    broken = aws_prices.REGIONS[1]
    answers = {
        f"{aws_url('ec2-ondemand-without-sec-sel', place)}/index.json": aws_file(place),
        f"{aws_url('ec2-ondemand-without-sec-sel', broken)}/index.json": b"<html>Just a moment...</html>",
    }
    names, missed, _ = fetched(aws_prices, answers)
    assert names == ["us-east-n-virginia.json"]
    assert missed[:2] == ["the list of regions", "us-east-ohio"]
    assert missed[-1] == "reserved"
    assert len(missed) == len(aws_prices.REGIONS) + 1
