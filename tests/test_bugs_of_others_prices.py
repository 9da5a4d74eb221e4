"""Prices that other trackers got wrong: unit, count, currency, kind. Pages in their shape go the whole way to the ledger."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import steps
from scrapers import providers
from scrapers.offer import Offer
from scrapers.shapes import (
    asked,
    check_discounts,
    clean,
    decimal_of,
    fraction,
    is_placeholder,
    money,
    number,
    price,
    several_places,
    text_of,
)
from scrapers.source import MAX_HTML_BYTES, Page, PageError, load
from tests.command import json_lines
from tests.command import within as command
from tests.market import Market, at, offer
from tests.record import FIXTURES
from warehouse import database

Rows = list[dict[str, Any]]
COLUMNS = (
    "sku, accelerator, accelerator_count, memory_gb, pricing_model, commitment_days, tier, region, price, currency, per, price_scope,"
    " usd_per_hour, usd_per_accelerator_hour, fx_date, available, effective_at, why_not"
)


def pages_of(*bodies: object, **named: object) -> list[Page]:
    """Pages of JSON."""
    told = {f"page-{place}.json": body for place, body in enumerate(bodies, start=1)} | named
    return [Page("https://made-up.example/", json.dumps(body).encode(), name) for name, body in told.items()]


def body_of(source: str, pattern: str) -> Any:
    """The JSON of a recorded page, to be changed."""
    [path] = (FIXTURES / source).glob(pattern)
    return json.loads(path.read_text(encoding="utf-8"))


# --- pages in the shape of the sources' own ------------------------------------------------------------------------------


def azure_size(size: str, retail: float, kind: str = "Consumption", **more: Any) -> dict[str, Any]:
    name = more.pop("name", size.removeprefix("Standard_").replace("_", ""))
    return {
        "currencyCode": "USD", "retailPrice": retail, "armRegionName": "eastus", "effectiveStartDate": "2023-12-01T00:00:00Z",
        "meterName": name, "productName": f"Virtual Machines {name.split(' ')[0]} Series", "skuName": name,
        "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": kind, "isPrimaryMeterRegion": True, "armSkuName": size,
    } | more  # fmt: skip


def azure_page(*rows: dict[str, Any]) -> list[Page]:
    return pages_of({"Items": list(rows), "NextPageLink": None, "Count": len(rows)})


def a100_rows() -> list[dict[str, Any]]:
    """Six ways to buy one size, and a reservation whose price is that of its term."""
    size, plain = "Standard_NC24ads_A100_v4", "NC24ads A100 v4"
    windows = {"productName": "Virtual Machines NCads A100 v4 Series Windows"}
    return [
        azure_size(size, 0.735, name=f"{plain} Low Priority"),
        azure_size(size, 1.47, name=f"{plain} Spot"),
        azure_size(size, 1.91, name=f"{plain} Spot", **windows),
        azure_size(size, 1.91, name=f"{plain} Low Priority", **windows),
        azure_size(size, 3.673, name=plain),
        azure_size(size, 4.777, name=plain, **windows),
        azure_size(size, 3.673, "DevTestConsumption", name=plain),
        azure_size(size, 22530, "Reservation", name=plain, reservationTerm="1 Year"),
    ]


def runpod_type(name: str, shown: str, **told: Any) -> dict[str, Any]:
    return {
        "id": name, "displayName": shown, "memoryInGb": 80, "secureCloud": True, "communityCloud": True, "securePrice": 0, "communityPrice": 0,
        "secureSpotPrice": None, "communitySpotPrice": None, "oneMonthPrice": None, "threeMonthPrice": None, "sixMonthPrice": None,
        "secureStock": {"stockStatus": "Low"}, "communityStock": {"stockStatus": None},
    } | told  # fmt: skip


def runpod_page(*types: dict[str, Any], clusters: list[dict[str, Any]] | None = None) -> list[Page]:
    return pages_of({"data": {"gpuTypes": list(types)} | ({"clusters": clusters} if clusters else {})})


def aws_page(*records: dict[str, Any]) -> list[Page]:
    plain = {"Instance Type": "p5.48xlarge", "Operating System": "Linux", "plc:InstanceFamily": "Accelerated Computing"}
    region = {f"row {place}": plain | record for place, record in enumerate(records)}
    return pages_of({"regions": {"US East (N. Virginia)": region}})


def lambda_page(**cents: int) -> list[Page]:
    body = body_of("lambda_api", "*/instance-types.json")
    types = {}
    for name, price_cents in cents.items():
        count = int(name.split("_")[1].rstrip("x"))
        kind = {"name": name, "description": name, "gpu_description": name, "price_cents_per_hour": price_cents}
        types[name] = {
            "instance_type": kind | {"specs": {"vcpus": 8, "memory_gib": 64, "storage_gib": 512, "gpus": count}},
            "regions_with_capacity_available": [],
        }
    return pages_of(body | {"data": types})


def upcloud_pages(cents: float) -> list[Page]:
    plans, prices = body_of("upcloud", "*/plan.json"), body_of("upcloud", "*/price.json")
    plan = next(plan for plan in plans["plans"]["plan"] if plan["name"] == "GPU-8xCPU-64GB-1xL40S")
    prices["prices"]["zone"] = [{"name": "fi-hel2", "server_plan_GPU-8xCPU-64GB-1xL40S": {"amount": 1, "price": cents}}]
    return pages_of({"plans": {"plan": [plan]}}, prices)


def ovh_page(*plans: tuple[str, int, str]) -> list[Page]:
    body = body_of("ovh", "*/fr.json")
    addon = next(one for one in body["addons"] if one["planCode"] == "h100-380.consumption")
    addons = []
    for code, price_units, shown in plans:
        unit = "hour" if code.endswith(".consumption") else "month"
        pricing = addon["pricings"][0] | {"price": price_units, "formattedPrice": shown, "intervalUnit": unit}
        addons.append(addon | {"planCode": code, "pricings": [pricing]})
    return pages_of(body | {"addons": addons})


def vultr_page(**told: Any) -> list[Page]:
    body = body_of("vultr", "*/plans-001.json")
    plan = next(plan for plan in body["plans"] if plan["id"].startswith("vcg-"))
    return pages_of({"plans": [plan | told], "meta": {"total": 1, "links": {"next": "", "prev": ""}}})


def verda_page(**told: Any) -> list[Page]:
    return pages_of([body_of("verda", "*/instance-types.json")[0] | told])


def gcp_page(*skus: tuple[str, str, str, dict[str, Any]]) -> list[Page]:
    body = body_of("gcp_skus", "2023*/compute-001.json")
    made = []
    for description, group, unit, expression in skus:
        sku = json.loads(json.dumps(body["skus"][0]))
        sku |= {
            "skuId": description,
            "description": f"{description} running in Americas",
            "serviceRegions": ["us-central1"],
        }
        sku["category"]["resourceGroup"] = group
        sku["pricingInfo"][0]["pricingExpression"] |= {"usageUnit": unit} | expression
        made.append(sku)
    return pages_of(body | {"skus": made})


def dollars(nanos: int, units: str | None = None, start: int = 0) -> dict[str, Any]:
    amount = {"currencyCode": "USD", "nanos": nanos} | ({"units": units} if units is not None else {})
    return {"startUsageAmount": start, "unitPrice": amount}


PAGES: dict[str, tuple[str, list[Page]]] = {
    "price of the machine in cents": ("lambda_api", lambda_page(gpu_8x_h100_sxm5=3592, gpu_8x_a100_80gb_sxm4=1200, gpu_8x_a100=880)),
    "counts that stand in the size only": (
        "azure",
        azure_page(
            azure_size("Standard_NC24ads_A100_v4", 3.673), azure_size("Standard_NC48ads_A100_v4", 7.346),
            azure_size("Standard_NC96ads_A100_v4", 14.692), azure_size("Standard_NC24", 3.6),
        ),
    ),
    "slices that stand in the size only": (
        "azure",
        azure_page(
            azure_size("Standard_NV6ads_A10_v5", 0.454), azure_size("Standard_NV12ads_A10_v5", 0.908), azure_size("Standard_NV36ads_A10_v5", 3.20)
        ),
    ),
    "six prices for one size": ("azure", azure_page(*a100_rows())),
    "the same from last to first": ("azure", azure_page(*reversed(a100_rows()))),
    "prices that was, is and will be": (
        "azure",
        azure_page(
            azure_size("Standard_NC40ads_H100_v5", 5.99, effectiveStartDate="2999-01-01T00:00:00Z"),
            azure_size("Standard_NC40ads_H100_v5", 6.98, effectiveStartDate="2024-01-01T00:00:00Z"),
            azure_size("Standard_NC40ads_H100_v5", 7.50, effectiveStartDate="2023-01-01T00:00:00Z"),
            azure_size("Standard_NC40ads_H100_v5", 1.00, effectiveStartDate="2024-02-01T00:00:00Z", isPrimaryMeterRegion=False),
        ),
    ),
    "a price of zero beside a real one": (
        "azure", azure_page(azure_size("Standard_NC40ads_H100_v5", 0.0), azure_size("Standard_NC80adis_H100_v5", 13.96))
    ),
    "zeros for reservations, blocks and tenancy": (
        "aws_prices",
        aws_page(
            {"price": "0.0000000000"}, {"price": "98.3200000000"}, {"price": "0.00"}, {"price": "107.1500000000", "Operating System": "Windows"}
        ),
    ),
    "a spot price beside the one on demand": (
        "runpod",
        runpod_page(
            runpod_type(
                "NVIDIA H100 80GB HBM3", "H100 SXM", securePrice=2.69, secureSpotPrice=1.75, communityPrice=1.99, communitySpotPrice=0
            ),
            runpod_type("NVIDIA H100 PCIe", "H100 PCIe", securePrice=3.29),
        ),
    ),
    "out of stock, fields of null": (
        "runpod",
        runpod_page(
            runpod_type(
                "NVIDIA H200", "H200 SXM", memoryInGb=141, securePrice=3.99, communityPrice=None, secureStock={"stockStatus": None},
                lowestPrice={"minVcpu": None, "uninterruptablePrice": None}, countryCodes=["US", None, "SE"],
            )
        ),
    ),
    "a cluster's price is that of one": (
        "runpod",
        runpod_page(
            runpod_type("NVIDIA H200", "H200 SXM", memoryInGb=141, securePrice=3.99),
            clusters=[{"id": "NVIDIA H100 80GB HBM3", "displayName": "H100 SXM", "memoryInGb": 80, "clusterPrice": 1.79, "maxGpuCount": 8}],
        ),
    ),
    "cents of euros by the hour": ("upcloud", upcloud_pages(250.0)),
    "hour and month of one plan": (
        "ovh", ovh_page(("h100-380.consumption", 280000000, "2.80 €"), ("h100-380.monthly.postpaid", 140000000000, "1400.00 €"))
    ),
    "month and hour of one plan": (
        "ovh", ovh_page(("h100-380.monthly.postpaid", 140000000000, "1400.00 €"), ("h100-380.consumption", 280000000, "2.80 €"))
    ),
    "a count written as a fraction": (
        "vultr",
        vultr_page(
            id="vcg-a16-2c-8g-2vram", gpu_type="NVIDIA_A16", gpu_count="1/8", gpu_vram_gb=2, gpu_brand="nvidia", hourly_cost=0.059,
            monthly_cost=43, deploy_ondemand=True, deploy_preemptible=False, location_cost={}, locations=["ewr"],
        ),
    ),
    "memory of the whole machine": (
        "verda",
        verda_page(
            instance_type="4V100.20V", name="Tesla V100 16GB", gpu={"description": "4x Tesla V100", "number_of_gpus": 4},
            gpu_memory={"description": "64GB", "size_in_gigabytes": 64}, price_per_hour="3.45", spot_price=None, dynamic_price=None,
            serverless_price="0", serverless_spot_price="0", currency="usd",
        ),
    ),
    "units and nanos": (
        "gcp_skus",
        gcp_page(
            ("Nvidia Tesla A100 GPU", "GPU", "h", {"tieredRates": [dollars(933908000, "2")]}),
            ("A2 Instance Core", "CPU", "h", {"tieredRates": [dollars(31611000)]}),
            ("A2 Instance Ram", "RAM", "GiBy.h", {"tieredRates": [dollars(0, "0"), dollars(4237000, "0", 1)]}),
        ),
    ),
}  # fmt: skip


def slices_of_made_up_markets() -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Name of the case, when it is seen, and the offers of a made-up source."""
    a6000 = {"accelerator_name": "RTX A6000"}
    yield "machine of two", "2025-02-03", [offer("pod", "0.98", accelerator_count="2", **a6000)]
    yield (
        "two tiers",
        "2025-02-03T01:00",
        [
            offer("pod", "0.98", accelerator_count="2", tier="community", region="EU-SE-1", **a6000),
            offer("pod", "1.52", accelerator_count="2", tier="secure", region="EU-SE-1", **a6000),
        ],
    )
    yield (
        "each, in every size",
        "2025-02-03T02:00",
        [offer(f"{n}x", "0.79", accelerator_count=str(n), price_scope="accelerator", **a6000) for n in (1, 2, 4, 8)],
    )
    yield (
        "sizes that cost the same",
        "2025-02-03T03:00",
        [offer(f"{n}x", "0.79", accelerator_count=str(n), **a6000) for n in (1, 2, 4, 8)],
    )
    yield "hour", "2025-02-03T04:00", [offer("g", "0.95")]
    yield "euros", "2025-02-03T05:00", [offer("H100-1-80G", "2.52", currency="EUR")]
    yield "a Sunday", "2024-11-03", [offer("g", "2.00", currency="EUR")]
    yield "no rate", "2025-02-03T06:00", [
        offer("rouble", "200", currency="RUB"), offer("token", "200", currency="AKT"), offer("no such", "200", currency="XXX"),
    ]  # fmt: skip
    yield "absurd", "2025-02-03T07:00", [
        *(offer(f"r{n}", "0.40", accelerator_name="RTX 4090") for n in range(9)),
        offer("absurd", "999999", accelerator_name="RTX 4090"), offer("negative", "-0.01", accelerator_name="RTX 4090"),
        offer("taken", "0.40", accelerator_name="RTX 4090", available=False, quantity=-2),
    ]  # fmt: skip
    yield "spot above", "2025-02-03T08:00", [offer("g", "0.90"), offer("g", "0.95", pricing_model="spot")]
    yield "regions of spot", "2025-02-03T09:00", [
        offer("a100", "2.953", region="us-central1"), offer("a100", "1.037", region="us-central1", pricing_model="spot"),
        offer("a100", "3.10", region="asia-east1"), offer("a100", "0.811", region="asia-east1", pricing_model="spot"),
    ]  # fmt: skip
    yield (
        "a price that began earlier",
        "2025-06-01",
        [offer("ads", "0.128", accelerator_name="RTX 4090", pricing_model="spot", effective_at="2025-03-25")],
    )
    yield "sites of one machine", "2025-02-03T10:00", [
        offer("m", "0.90", region="one"), offer("m", "0.95", region="two"), offer("m", "0.95", region="three"), offer("m", "0.90", region="one"),
    ]  # fmt: skip
    yield "registered twice", "2025-02-03T11:00", [
        offer("p", "0.41", effective_at="2024-03-01"), offer("p", "1.46", effective_at="2024-04-01"),
        offer("p", "9.00", effective_at="2025-12-01"),
    ]  # fmt: skip
    yield "kept out", "2025-02-03T14:00", [
        offer("nobody's", accelerator_name="Maia 100"), offer("two counts", accelerator_name="8x H100 SXM 80GB"),
        offer("a term", "20000", pricing_model="reserved", per="term"),
        *(offer(tier, tier=tier)
          for tier in ("serverless", "dedicated_inference", "dev_test", "low_priority", "Serverless-Flex", "windows")),
    ]  # fmt: skip
    yield "unproven", "2025-02-03T15:00", [offer("g")]
    pairs = [Decimal("2.00"), Decimal("3.10"), Decimal("4.25"), Decimal("5.60"), Decimal("6.75")]
    for case, share in (
        ("repeated spot", 1),
        ("set discount", Decimal("0.5")),
        ("spot in another unit", 1 / Decimal(730)),
    ):
        yield (
            case,
            "2025-02-03T16:00",
            [
                offer(f"g{place}", price * factor, pricing_model=way)
                for place, price in enumerate(pairs)
                for way, factor in (("on_demand", 1), ("spot", share))
            ],
        )
    yield (
        "market of spot",
        "2025-02-03T17:00",
        [
            offer(f"g{place}", price * factor, pricing_model=way)
            for place, price in enumerate(pairs)
            for way, factor in (("on_demand", Decimal(1)), ("spot", Decimal(3 + place) / 10))
        ],
    )
    yield "reserved in another unit", "2025-02-03T18:00", [
        offer("g", "3.673"), offer("g", "2.20", pricing_model="reserved", commitment_days=365),
        offer("g", "0.0050", pricing_model="reserved", commitment_days=1095, per="minute"),
        offer("g", "8.00", pricing_model="reserved", commitment_days=30),
    ]  # fmt: skip
    yield "spot in the unit of another", "2025-02-03T19:00", [
        offer("g", "2.00"), offer("g", "16.00", pricing_model="spot"),
    ]  # fmt: skip
    yield "the day of the real sources' pages", "2026-03-01", [offer("clock")]
    yield "small amounts", "2025-02-03T12:00", [
        offer("second", "0.00005", per="second"), offer("tiny", "0.000012"), offer("plain", "98.32"), offer("large", "1234567.89"),
    ]  # fmt: skip
    yield "RunPod's placeholders", "2025-02-03T13:00", [
        offer("h200", "0.50", accelerator_name="H200 SXM"), offer("gtx", "0.50", accelerator_name="GTX 1080 Ti"),
        offer("4090", "0.50", accelerator_name="RTX 4090"), offer("h100", "2.49"),
    ]  # fmt: skip


RATES = """<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='2024-11-01'><Cube currency='USD' rate='1.0870'/></Cube><Cube time='2024-11-04'><Cube currency='USD' rate='1.0900'/></Cube>
<Cube time='2025-02-03'><Cube currency='USD' rate='1.10'/></Cube></Cube></gesmes:Envelope>"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """The offers of every case, from one ledger."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("prices"), patch, own_sources=True)
        patch.setattr(providers, "__path__", [*providers.__path__, str(market.modules)])
        market.archive.write(
            "exchange_rates", [Page("https://ecb.example/", RATES.encode(), "rates.xml")], observed_at=at("2025-02-03"), source_kind="live"
        )  # fmt: skip
        taken = {}
        for minute, (case, (source, pages)) in enumerate(PAGES.items()):
            taken[case] = steps.take_in(source, pages, at(f"2026-03-01T00:{minute:02}"), "live").snapshot_id
        for place, (case, when, offers) in enumerate(slices_of_made_up_markets()):
            name = market.source(f"made_up_{place}", f"made-up-{place}", unproven=case == "unproven")
            taken[case] = market.says(name, when, offers).snapshot_id
        market.update()
        with database.connect_published() as connection:
            found = connection.execute(f"SELECT snapshot_id, {COLUMNS} FROM offers ORDER BY snapshot_id, ordinal")
            names = [column[0] for column in found.description or []]
            rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
            rejected = connection.execute(
                "SELECT snapshot_id, record AS sku, reason AS why_not FROM raw.rejected"
            ).fetchall()
    cases: dict[str, Rows] = {case: [row for row in rows if row["snapshot_id"] == one] for case, one in taken.items()}
    cases |= {
        f"{case}: rejected": [{"sku": sku, "why_not": reason} for snapshot, sku, reason in rejected if snapshot == one]
        for case, one in taken.items()
    }
    return cases


def each_price(rows: Rows) -> dict[str, Decimal]:
    return {row["sku"]: row["usd_per_accelerator_hour"] for row in rows}


def facts(rows: Rows, *columns: str) -> set[tuple[Any, ...]]:
    return {tuple(row[column] for column in columns) for row in rows}


def usd(amount: str) -> Any:
    """A price in dollars, to a hundredth of a cent."""
    return pytest.approx(Decimal(amount), abs=Decimal("0.0001"))


# --- per node against per accelerator; counts; slices --------------------------------------------------------------------


def test_price_of_a_machine_is_shared_by_its_accelerators(ledger: dict[str, Rows]) -> None:
    assert each_price(ledger["machine of two"]) == {"pod": usd("0.49")}
    assert each_price(ledger["price of the machine in cents"]) == {
        "gpu_8x_h100_sxm5": usd("4.49"), "gpu_8x_a100_80gb_sxm4": usd("1.50"), "gpu_8x_a100": usd("1.10"),
    }  # fmt: skip
    assert facts(ledger["price of the machine in cents"], "accelerator", "usd_per_hour") == {
        ("h100-sxm-80gb", Decimal("35.92")), ("a100-sxm-80gb", Decimal(12)), ("a100-sxm-40gb", Decimal("8.80")),
    }  # fmt: skip


def test_price_of_each_is_multiplied_by_the_count(ledger: dict[str, Rows]) -> None:
    rows = ledger["each, in every size"]
    assert each_price(rows) == {f"{n}x": Decimal("0.79") for n in (1, 2, 4, 8)}
    assert [row["usd_per_hour"] for row in rows] == [Decimal(hourly) for hourly in ("0.79", "1.58", "3.16", "6.32")]
    assert {row["why_not"] for row in rows if row["why_not"]} <= {"snapshot withheld"}


def test_sizes_that_cost_the_same_are_not_believed(ledger: dict[str, Rows]) -> None:
    """0.0988 for each of eight would be the cheapest RTX A6000 that there ever was."""
    rows = {row["sku"]: row["why_not"] for row in ledger["sizes that cost the same"]}
    assert rows["1x"] is None
    assert "the price of 8 accelerators is that of 1" in rows["8x"]
    assert "the price of 2 accelerators is that of 1" in rows["2x"]


def test_count_that_only_the_size_tells(ledger: dict[str, Rows]) -> None:
    assert facts(ledger["counts that stand in the size only"], "sku", "accelerator", "accelerator_count", "usd_per_accelerator_hour") == {
        ("Standard_NC24ads_A100_v4", "a100-pcie-80gb", 1, Decimal("3.673")),
        ("Standard_NC48ads_A100_v4", "a100-pcie-80gb", 2, Decimal("3.673")),
        ("Standard_NC96ads_A100_v4", "a100-pcie-80gb", 4, Decimal("3.673")),
        ("Standard_NC24", "k80-12gb", 4, Decimal("0.9")),
    }  # fmt: skip


def test_price_of_a_cluster_is_that_of_one_accelerator(ledger: dict[str, Rows]) -> None:
    [row] = [row for row in ledger["a cluster's price is that of one"] if row["tier"] == "cluster"]
    assert (row["price"], row["price_scope"], row["usd_per_accelerator_hour"]) == (
        Decimal("1.79"),
        "accelerator",
        Decimal("1.79"),
    )
    [offered] = [
        one
        for one in load("runpod").parse(PAGES["a cluster's price is that of one"][1]).offers
        if one.tier == "cluster"
    ]
    assert offered.minimum_accelerators == 8
    assert offered.minimum_accelerators * row["usd_per_accelerator_hour"] == Decimal("14.32")


def test_slices_are_no_whole_accelerators(ledger: dict[str, Rows]) -> None:
    rows = ledger["slices that stand in the size only"]
    assert each_price(rows) == {
        "Standard_NV6ads_A10_v5": usd("2.724"), "Standard_NV12ads_A10_v5": usd("2.724"), "Standard_NV36ads_A10_v5": usd("3.20"),
    }  # fmt: skip
    shares = {row["sku"]: row["accelerator_count"] * row["memory_gb"] for row in rows}
    assert [round(shares[f"Standard_NV{n}ads_A10_v5"], 3) for n in (6, 12, 36)] == [4, 8, 24]
    assert [("a slice" in str(row["why_not"])) for row in rows] == [True, True, False]
    [eighth] = ledger["a count written as a fraction"]
    assert (eighth["accelerator"], eighth["accelerator_count"]) == ("a16-16gb", Decimal("0.125"))
    assert eighth["usd_per_accelerator_hour"] == Decimal("0.472")
    assert "a slice" in eighth["why_not"]


@given(st.integers(1, 64), st.integers(1, 64))
def test_a_slice_is_never_counted_as_whole(part: int, of: int) -> None:
    count = fraction(f"{part}/{of}")
    assert abs(count * of - part) < Decimal("0.0001")
    assert (count < 1) == (part < of)


def test_memory_is_that_of_each(ledger: dict[str, Rows]) -> None:
    [row] = ledger["memory of the whole machine"]
    assert (row["accelerator"], row["memory_gb"], row["accelerator_count"]) == ("v100-unstated-16gb", 16, 4)
    assert row["usd_per_accelerator_hour"] == Decimal("0.8625")


# --- units, currencies, ways to write a number ---------------------------------------------------------------------------


def test_cents_by_the_hour_in_euros(ledger: dict[str, Rows]) -> None:
    [row] = ledger["cents of euros by the hour"]
    assert (row["price"], row["currency"], row["per"], row["pricing_model"]) == (
        Decimal("2.50"),
        "EUR",
        "hour",
        "on_demand",
    )
    assert row["usd_per_hour"] > Decimal("2.50")


def test_an_hourly_price_is_divided_by_nothing(ledger: dict[str, Rows]) -> None:
    assert each_price(ledger["hour"]) == {"g": Decimal("0.95")}


@pytest.mark.parametrize("case", ["hour and month of one plan", "month and hour of one plan"])
def test_an_hour_and_a_month_of_one_plan_stay_apart_in_any_order(ledger: dict[str, Rows], case: str) -> None:
    rows = {row["per"]: row for row in ledger[case]}
    assert rows["hour"]["price"] == Decimal("2.80")
    assert (rows["month"]["price"], rows["month"]["pricing_model"], rows["month"]["commitment_days"]) == (
        1400,
        "reserved",
        30,
    )
    assert rows["month"]["usd_per_hour"] / rows["hour"]["usd_per_hour"] == pytest.approx(
        Decimal(1400) / 730 / Decimal("2.80"), abs=Decimal("1e-6")
    )


NUMBERS = [
    ("1.226 €", ",", "1226"), ("1.226,00 €", ",", "1226"), ("2,49 €/h", ",", "2.49"), ("495.000,00 €", ",", "495000"),
    ("1 226,00 €", ",", "1226"), ("1\u202f226,00 €", ",", "1226"), ("1\u00a0226,00\u00a0€", ",", "1226"), ("$1,226.00", ".", "1226"),
    ("$1\u2009226.00", ".", "1226"), ("1'226.00 CHF", ".", "1226"), ("$1.999/h", ".", "1.999"), ("$０.９９", ".", "0.99"),
    ("$2.99\u200b/hr", ".", "2.99"), ("$2.99¹", ".", "2.99"), ("$2.99* / hour", None, None), ("$2 .99", ".", "2.99"),
    ("from $1.99", ".", "1.99"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "decimal_mark", "amount"), NUMBERS)
def test_numbers_of_any_country(text: str, decimal_mark: str | None, amount: str | None) -> None:
    if amount is None:
        with pytest.raises(PageError):
            price(text)
    else:
        found = price(text, decimal_mark or ".")
        assert found is not None
        assert (found.amount, found.floor) == (Decimal(amount), text.startswith("from"))


@given(
    st.integers(0, 10**9 - 1),
    st.integers(0, 10**4 - 1),
    st.sampled_from([(",", "."), (".", ","), (" ", "."), ("\u202f", ","), ("'", ".")]),
)
def test_a_written_number_reads_as_itself_or_not_at_all(whole: int, after: int, marks: tuple[str, str]) -> None:
    """Also under the other convention: never as another number."""
    thousands, mark = marks
    text = f"{whole:,}".replace(",", thousands) + f"{mark}{after:04}"
    assert number(text, mark) == Decimal(f"{whole}.{after:04}")
    other = "," if mark == "." else "."
    try:
        found = number(text, other)
    except PageError:
        return
    assert found == Decimal(text.replace(thousands, "").replace(mark, "")) or mark not in text


@pytest.mark.parametrize("text", ["$2.2.44", "$2.99 $3.99", "$2.50-$3.50", "$2.99/hr $1,999/mo", "$3.99 now $2.99", "-$1.00", "$-2", "NaN", "inf",
                                  "$1e3", "up to $3", "~$2.99", "35¢", "$3k", "0.5 AKT", "2.5 USDC", "¥220", "C$2.50", "€2 USD", "2,49", "$2,49",
                                  "₹1,23,456", "$2.99/8 GPUs", "$2.99 per node", "Free"])  # fmt: skip
def test_what_is_not_one_price_is_refused_and_never_cut_to_one(text: str) -> None:
    with pytest.raises(PageError):
        price(text)


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "—",
        "N/A",
        "Contact sales",
        "contact us",
        "Custom",
        "",
        "On request",
        "Coming soon",
        "$0",
        "$0 /s",
        "$0.00/hr",
    ],
)
def test_what_prices_nothing_is_no_price(text: str) -> None:
    assert price(text) is None
    assert is_placeholder(text) or money(text) is not None


def test_a_dash_after_a_sign_is_no_price() -> None:
    with pytest.raises(PageError):
        price("$-")


WORDS = st.sampled_from(
    [
        "$",
        "€",
        "USD",
        "2.99",
        "1",
        "8",
        ".",
        ",",
        "/",
        "hr",
        "GPU",
        "from",
        " ",
        "-",
        "H100",
        "month",
        "per",
        "*",
        "1,226",
    ]
)


@given(st.one_of(st.text(max_size=12), st.lists(WORDS, max_size=8).map("".join)))
def test_any_text_is_a_price_that_stands_in_it_or_is_refused(text: str) -> None:
    try:
        found = price(text)
    except PageError:
        return
    if found is not None:
        told = re.sub(r"(/|per) *(1\b|[a-z]+\d+)", "", clean(text).casefold())
        assert re.sub(r"\D", "", str(found.amount)) == "".join(str(int(sign)) for sign in told if sign.isdecimal())


@given(st.one_of(st.none(), st.booleans(), st.floats(), st.lists(st.integers()), st.text(max_size=8), st.decimals()))
def test_a_number_is_finite_or_refused(value: object) -> None:
    try:
        found = decimal_of(value)
    except PageError:
        return
    assert found.is_finite()
    assert found == Decimal(str(value).strip())


def test_currency_is_kept_and_converted_apart(ledger: dict[str, Rows]) -> None:
    [row] = ledger["euros"]
    assert (row["price"], row["currency"], row["usd_per_hour"]) == (Decimal("2.52"), "EUR", Decimal("2.772"))


def test_a_sunday_takes_the_rate_of_friday(ledger: dict[str, Rows]) -> None:
    [row] = ledger["a Sunday"]
    assert (row["usd_per_hour"], str(row["fx_date"])) == (Decimal("2.174"), "2024-11-01")


def test_without_a_rate_there_is_no_price_in_dollars(ledger: dict[str, Rows]) -> None:
    rows = {row["sku"]: row for row in ledger["no rate"]}
    for sku, currency in (("rouble", "RUB"), ("token", "AKT"), ("no such", "XXX")):
        assert (rows[sku]["price"], rows[sku]["currency"], rows[sku]["usd_per_hour"]) == (200, currency, None)
        assert rows[sku]["why_not"] == f"no exchange rate for {currency} within 45 days"


def test_units_and_nanos_are_one_number_and_a_free_tier_is_no_price(ledger: dict[str, Rows]) -> None:
    rows = {row["sku"]: row for row in ledger["units and nanos"]}
    assert rows["Nvidia Tesla A100 GPU"]["price"] == Decimal("2.933908")
    parts = {one.sku: one.price for one in load("gcp_skus").parse(PAGES["units and nanos"][1]).offers}
    assert parts == {
        "Nvidia Tesla A100 GPU": Decimal("2.933908"), "A2 Instance Core": Decimal("0.031611"), "A2 Instance Ram": Decimal("0.004237"),
    }  # fmt: skip


def test_a_machine_without_its_host_is_none(ledger: dict[str, Rows]) -> None:
    """12 x 0.031611 + 85 x 0.004237 + 2.933908, rounded nowhere."""
    rows = {row["sku"]: row for row in ledger["units and nanos"]}
    assert rows["a2-highgpu-1g"]["price"] == Decimal("3.673385")
    assert rows["Nvidia Tesla A100 GPU"]["price_scope"] == "component"
    assert "accelerator only" in rows["Nvidia Tesla A100 GPU"]["why_not"]


def test_small_and_large_amounts_come_back_as_they_are(ledger: dict[str, Rows]) -> None:
    rows = {row["sku"]: (row["price"], row["usd_per_hour"]) for row in ledger["small amounts"]}
    assert rows == {
        "second": (Decimal("0.00005"), Decimal("0.18")), "tiny": (Decimal("0.000012"), Decimal("0.000012")),
        "plain": (Decimal("98.32"), Decimal("98.32")), "large": (Decimal("1234567.89"), Decimal("1234567.89")),
    }  # fmt: skip


# --- zero, missing, placeholder, negative --------------------------------------------------------------------------------


def test_zeros_beside_a_price_are_left_out(ledger: dict[str, Rows]) -> None:
    rows = ledger["zeros for reservations, blocks and tenancy"]
    assert facts(rows, "sku", "price", "usd_per_accelerator_hour", "pricing_model") == {
        ("p5.48xlarge", Decimal("98.32"), Decimal("12.29"), "on_demand")
    }


def test_a_size_not_on_sale_yet_has_no_price_and_is_told(ledger: dict[str, Rows]) -> None:
    assert [row["sku"] for row in ledger["a price of zero beside a real one"]] == ["Standard_NC80adis_H100_v5"]
    assert ledger["a price of zero beside a real one: rejected"] == [
        {"sku": "Standard_NC40ads_H100_v5", "why_not": "no price: 0.0"}
    ]


def test_out_of_stock_keeps_its_list_price(ledger: dict[str, Rows]) -> None:
    [row] = ledger["out of stock, fields of null"]
    assert (row["price"], row["tier"], row["available"], row["pricing_model"]) == (
        Decimal("3.99"),
        "secure",
        False,
        "on_demand",
    )


def test_absurd_and_negative_prices_stay_out_and_leave_a_trace(ledger: dict[str, Rows]) -> None:
    rows = {row["sku"]: row for row in ledger["absurd"]}
    assert "outside what this part can cost" in rows["absurd"]["why_not"]
    assert "negative" not in rows
    assert [row["sku"] for row in ledger["absurd: rejected"]] == ["negative"]
    assert (rows["taken"]["price"], rows["taken"]["available"]) == (Decimal("0.40"), False)


def test_one_amount_for_unlike_parts_stands_in_for_a_price(ledger: dict[str, Rows]) -> None:
    rows = {row["sku"]: row["why_not"] for row in ledger["RunPod's placeholders"]}
    assert rows["h100"] is None
    assert all("0.5 is asked for 3 different parts" in rows[sku] for sku in ("h200", "gtx", "4090"))


KEPT_OUT = {
    "nobody's": "nobody rents this part out",
    "two counts": "name says 8x, offer says 1",
    "a term": "a price per term without the length of the term",
    "serverless": "tier serverless",
    "dedicated_inference": "tier dedicated_inference",
    "dev_test": "tier dev_test",
    "low_priority": "tier low_priority",
    "Serverless-Flex": "tier Serverless-Flex",
    "windows": "tier windows",
}


def test_whatever_keeps_an_offer_out_is_told(ledger: dict[str, Rows]) -> None:
    assert {row["sku"]: row["why_not"] for row in ledger["kept out"]} == KEPT_OUT
    assert [row["why_not"] for row in ledger["unproven"]] == ["source not proven by a real answer yet"]


@pytest.mark.parametrize(
    "value", [-1, Decimal("-0.01"), "-2.5", "2.5 USD", True, "", "NaN", Decimal("Infinity"), [1], {"value": 1}, b"1"]
)
def test_what_is_no_price_in_json_is_refused(value: object) -> None:
    with pytest.raises(PageError):
        asked(value)


@pytest.mark.parametrize("value", [None, 0, Decimal("0.000"), "0", "0.00"])
def test_null_and_zero_in_json_are_not_offered(value: object) -> None:
    assert asked(value) is None


STRUCK_THROUGH = [
    "<s>$3.99</s> $2.99", "<del>$3.99</del>$2.99", "<strike>$3.99</strike> $2.99", "<span style='text-decoration: line-through'>$3.99</span> $2.99",
    "<span class='text-gray line-through'>$3.99</span>$2.99", "<span class='strikethrough'><b>$3.99</b></span> $2.99",
]  # fmt: skip


@pytest.mark.parametrize("html", STRUCK_THROUGH)
def test_a_price_that_is_struck_through_is_none(html: str) -> None:
    cell = Page("x", f"<td>{html}</td>".encode()).soup
    found = price(text_of(cell))
    assert found is not None
    assert found.amount == Decimal("2.99")
    alone = Page("x", f"<td>{html.partition('$2.99')[0]}</td>".encode()).soup
    assert price(text_of(alone)) is None


@pytest.mark.parametrize(
    "html", ["$2.99<sup>1</sup>", "$2<sup>99</sup>", "$2.99<sub>2</sub>", "$2.99 <small>$3.99</small>"]
)
def test_a_mark_beside_a_price_is_never_one_of_its_digits(html: str) -> None:
    with pytest.raises(PageError):
        price(text_of(Page("x", f"<td>{html}</td>".encode()).soup))


def test_more_html_than_a_price_page_has_is_not_read() -> None:
    with pytest.raises(PageError, match="MiB of HTML"):
        _ = Page("x", b"<p>" + b" " * MAX_HTML_BYTES).soup


# --- kinds of price ------------------------------------------------------------------------------------------------------


def test_spot_stands_beside_on_demand_and_never_in_its_place(ledger: dict[str, Rows]) -> None:
    rows = [row for row in ledger["a spot price beside the one on demand"] if row["sku"] == "NVIDIA H100 80GB HBM3"]
    assert facts(rows, "tier", "pricing_model", "price") == {
        ("secure", "on_demand", Decimal("2.69")), ("secure", "spot", Decimal("1.75")), ("community", "on_demand", Decimal("1.99")),
    }  # fmt: skip
    assert {row["accelerator"] for row in rows} == {"h100-sxm-80gb"}


def test_form_factors_are_not_blended(ledger: dict[str, Rows]) -> None:
    rows = [
        row
        for row in ledger["a spot price beside the one on demand"]
        if row["tier"] == "secure" and row["pricing_model"] == "on_demand"
    ]
    assert facts(rows, "accelerator", "price") == {
        ("h100-sxm-80gb", Decimal("2.69")),
        ("h100-pcie-80gb", Decimal("3.29")),
    }


@pytest.mark.parametrize("case", ["six prices for one size", "the same from last to first"])
def test_of_six_prices_for_one_size_each_is_what_it_is(ledger: dict[str, Rows], case: str) -> None:
    assert facts(ledger[case], "pricing_model", "tier", "commitment_days", "per", "price") == {
        ("on_demand", None, 0, "hour", Decimal("3.673")), ("spot", None, 0, "hour", Decimal("1.47")),
        ("spot", "low_priority", 0, "hour", Decimal("0.735")), ("reserved", None, 365, "term", Decimal(22530)),
    }  # fmt: skip
    assert [round(row["usd_per_hour"], 4) for row in ledger[case] if row["per"] == "term"] == [Decimal("2.5719")]


def test_spot_that_is_not_told_is_not_the_price_on_demand(ledger: dict[str, Rows]) -> None:
    assert facts(ledger["memory of the whole machine"], "pricing_model", "price") == {("on_demand", Decimal("3.45"))}


def test_tiers_are_two_series(ledger: dict[str, Rows]) -> None:
    assert facts(ledger["two tiers"], "tier", "usd_per_accelerator_hour") == {
        ("community", Decimal("0.49")),
        ("secure", Decimal("0.76")),
    }


def test_spot_above_on_demand_is_kept_and_told(ledger: dict[str, Rows]) -> None:
    rows = {row["pricing_model"]: (row["price"], row["why_not"]) for row in ledger["spot above"]}
    assert rows == {
        "on_demand": (Decimal("0.90"), None), "spot": (Decimal("0.95"), "counts; spot at 1.056 times the price on demand"),
    }  # fmt: skip


def test_a_spot_price_above_on_demand_is_read_and_changed_columns_are_not() -> None:
    def both(*prices: tuple[str, str]) -> list[Any]:
        return [
            Offer(sku=f"g{place}", accelerator_name="H100", price=Decimal(price), currency="USD", pricing_model=way)  # type: ignore[arg-type]
            for place, pair in enumerate(prices)
            for way, price in zip(("on_demand", "spot"), pair, strict=True)
        ]

    real = both(("0.90", "0.95"), ("2.00", "1.10"), ("3.00", "1.60"))
    assert check_discounts(real) == real
    assert check_discounts(real[:2]) == real[:2]
    for swapped in ((("0.90", "0.95"), ("1.10", "2.00"), ("1.60", "3.00")), (("1.60", "3.90"),)):
        with pytest.raises(PageError, match="is no discount"):
            check_discounts(both(*swapped))


def test_spot_that_repeats_every_price_on_demand_is_not_told(ledger: dict[str, Rows]) -> None:
    rows = {(row["sku"], row["pricing_model"]): row["why_not"] for row in ledger["repeated spot"]}
    assert {rows[f"g{place}", "on_demand"] for place in range(5)} == {None}
    assert all(
        str(rows[f"g{place}", "spot"]).startswith("repeats the price on demand, as 5 of 5") for place in range(5)
    )


def test_spot_at_one_share_of_everything_is_a_discount_that_is_set(ledger: dict[str, Rows]) -> None:
    spot = [row["why_not"] for row in ledger["set discount"] if row["pricing_model"] == "spot"]
    told = "counts; spot at 50 % of the price on demand, as 5 of 5 here: a discount that is set, not a price that moves"
    assert spot == [told] * 5
    assert {row["why_not"] for row in ledger["market of spot"]} == {None}


def test_discounts_that_are_none_are_in_another_unit(ledger: dict[str, Rows]) -> None:
    spot = [row["why_not"] for row in ledger["spot in another unit"] if row["pricing_model"] == "spot"]
    assert all("0.00137 times the price on demand: not in one unit with it" in why_not for why_not in spot)
    [node] = [row["why_not"] for row in ledger["spot in the unit of another"] if row["pricing_model"] == "spot"]
    assert node.startswith("8 times the price on demand: not in one unit with it")
    reserved = {row["commitment_days"]: row["why_not"] for row in ledger["reserved in another unit"]}
    assert (reserved[0], reserved[365]) == (None, None)
    assert "0.08168 times the price on demand: not in one unit with it" in reserved[1095]
    assert "2.178 times the price on demand: not in one unit with it" in reserved[30]


def test_the_cheapest_spot_may_be_where_on_demand_is_not(ledger: dict[str, Rows]) -> None:
    for model, least in (("on_demand", (Decimal("2.953"), "us-central1")), ("spot", (Decimal("0.811"), "asia-east1"))):
        assert (
            min((row["price"], row["region"]) for row in ledger["regions of spot"] if row["pricing_model"] == model)
            == least
        )


def test_a_price_that_began_earlier_holds_on_the_day_it_is_seen(ledger: dict[str, Rows]) -> None:
    [row] = ledger["a price that began earlier"]
    assert (row["usd_per_accelerator_hour"], str(row["effective_at"]), row["why_not"]) == (
        Decimal("0.128"),
        "2025-03-25",
        None,
    )


@pytest.mark.slow
def test_of_a_list_of_changes_the_last_one_holds_at_the_time_of_asking(tmp_path: Path) -> None:
    """Asked for two days of June, AWS answers the change of March alone: that is June's price, seen in June."""
    changes = [("0.142", "2025-03-20T11:00:00Z"), ("0.128", "2025-03-25T00:46:00Z"), ("0.133", "2025-03-24T09:00:00Z")]
    records = [
        {"AvailabilityZone": "us-east-1a", "InstanceType": "g4dn.xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": price, "Timestamp": at}
        for price, at in changes
    ]  # fmt: skip
    file = tmp_path / "spot.json"
    file.write_text(json.dumps({"SpotPriceHistory": records}), encoding="utf-8")
    data = tmp_path / "data"
    told = command("load", "aws_spot_history", str(file), "--observed-at", "2025-06-01T10:00:00Z", data=data)
    assert (told.returncode, command("build", data=data).returncode) == (0, 0), told.stderr
    [row] = json_lines(
        command("sql", "SELECT price, observed_at, effective_at, why_not FROM offers", "--format", "json", data=data)
    )
    assert (row["price"], row["observed_at"][:10], row["effective_at"], row["why_not"]) == (
        0.128, "2025-06-01", "2025-03-25", None,
    )  # fmt: skip


# --- regions, duplicates -------------------------------------------------------------------------------------------------


def test_several_places_in_one_cell_are_several_offers() -> None:
    columns = "Price source,Price date,Hardware model,Vendor,Location,Price per chip-hour (on-demand),Price per chip-hour (1-year CUD),"
    columns += "Price per chip-hour (3-year CUD),Notes,Cloud GPU description,Number of GPUs"
    row = 'https://cloud.example/,2024-01-01,Google TPU v5e,Google Cloud,"Iowa (us-central1),Oregon,East US",1.20,,,,,'
    page = Page("https://cloud.example/", f"{columns}\n{row}\n".encode(), "hardware_prices.csv")
    offers = load("hardware_prices_csv").parse([page]).offers
    assert [(one.region, one.price) for one in offers] == [
        ("Iowa (us-central1)", Decimal("1.20")), ("Oregon", Decimal("1.20")), ("East US", Decimal("1.20")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Iowa (us-central1), Oregon; East US", ["Iowa (us-central1)", "Oregon", "East US"]), ("Oslo, NO", ["Oslo, NO"]),
        ("Ashburn, VA / Dallas", ["Ashburn, VA", "Dallas"]), ("Frankfurt and Paris", ["Frankfurt", "Paris"]),
        ("Europe (Frankfurt, Paris)", ["Europe (Frankfurt, Paris)"]), ("", []),
    ],
)  # fmt: skip
def test_places_of_a_cell_are_told_apart(text: str, places: list[str]) -> None:
    assert several_places(text) == places


def test_sites_of_one_machine_stand_once_each(ledger: dict[str, Rows]) -> None:
    counted = [row for row in ledger["sites of one machine"] if row["why_not"] is None]
    assert sorted((row["region"], row["price"]) for row in counted) == [
        ("one", Decimal("0.90")), ("three", Decimal("0.95")), ("two", Decimal("0.95")),
    ]  # fmt: skip
    assert min(row["price"] for row in counted) == Decimal("0.90")


def test_of_two_records_the_more_recent_counts_and_none_that_is_not_yet_valid(ledger: dict[str, Rows]) -> None:
    counted = [row["price"] for row in ledger["registered twice"] if row["why_not"] is None]
    assert counted == [Decimal("1.46")]
    assert (
        sum("the same offer stands in this snapshot" in str(row["why_not"]) for row in ledger["registered twice"]) == 2
    )


def test_a_price_that_will_be_hides_none_that_is(ledger: dict[str, Rows]) -> None:
    rows = ledger["prices that was, is and will be"]
    others = [row["price"] for row in rows if "the same offer stands in this snapshot" in str(row["why_not"])]
    assert sorted(others) == [Decimal("5.99"), Decimal("7.5")]
    assert {row["price"] for row in rows} == {Decimal("5.99"), Decimal("6.98"), Decimal("7.5")}


@pytest.mark.slow
def test_two_prices_for_one_key_give_one_answer_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(tmp_path, monkeypatch)
    market.source("one")
    market.says("one", "2026-03-01", [offer("a", "2.50"), offer("a", "2.00")])
    market.says("one", "2026-03-02", [offer("a", "2.00"), offer("a", "2.50")])
    market.update()
    counted = market.sql("SELECT day, price FROM offers WHERE index_eligible ORDER BY 1")
    assert [price for _, price in counted] == [2, 2]
    assert len(market.sql("SELECT 1 FROM offers WHERE why_not LIKE 'the same offer stands in this snapshot%'")) == 2
