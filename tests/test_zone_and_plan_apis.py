"""Rows of Scaleway, Oracle, Vultr and Lambda that their fixtures do not hold: slices, odd prices, old layouts."""

import json
from decimal import Decimal

import pytest

from scrapers.offer import Offer
from scrapers.source import Page, PageError, Parsed, load

GIB = 2**30


def parse(source: str, *bodies: object, name: str = "page.json") -> Parsed:
    return load(source).parse([Page("file:" + name, json.dumps(body).encode(), name) for body in bodies])


def scaleway_type(**changes: object) -> dict[str, object]:
    return {
        "ncpus": 24,
        "ram": 240 * GIB,
        "gpu": 1,
        "hourly_price": 2.8665,
        "monthly_price": 2092.545,
        "mig_profile": None,
        "gpu_info": {"gpu_name": "H100-PCIe", "gpu_memory": 80 * GIB},
        "end_of_service": False,
        **changes,
    }


def scaleway_offers(name: str = "fr-par-2-servers-001.json", **changes: object) -> list[Offer]:
    servers = {
        "H100-1-80G": scaleway_type(**changes),
        "L4-1-24G": scaleway_type(hourly_price=0.75, monthly_price=547.5),
    }
    offers = parse("scaleway", {"servers": servers}, name=name).offers
    return [offer for offer in offers if offer.sku == "H100-1-80G"]


def test_scaleway_whole_accelerator():
    (offer,) = scaleway_offers()
    assert (offer.accelerator_name, offer.accelerator_count, offer.memory_gb) == ("H100-PCIe", 1, 80)
    assert (offer.price, offer.currency, offer.per, offer.tax) == (Decimal("2.8665"), "EUR", "hour", "excluded")


@pytest.mark.parametrize(
    "changes",
    [{"gpu": None}, {"gpu": 0}, {"hourly_price": None}, {"hourly_price": 0}, {"end_of_service": True}],
)
def test_scaleway_rows_that_are_no_offers(changes):
    assert scaleway_offers(**changes) == []


def test_scaleway_slice_is_named_and_never_counted_as_whole():
    (offer,) = scaleway_offers(mig_profile="1g.10gb")
    assert (offer.accelerator_name, offer.accelerator_count, offer.memory_gb) == ("H100-PCIe 1g.10gb", None, None)


def test_scaleway_answers_from_before_gpu_info():
    servers = {"RENDER-S": {"ncpus": 10, "ram": 42 * GIB, "gpu": 1, "hourly_price": 1.2426}}
    (offer,) = parse("scaleway", {"servers": servers}, name="fr-par-1.json").offers
    assert (offer.sku, offer.accelerator_name, offer.accelerator_count) == ("RENDER-S", "RENDER-S", 1)


def test_scaleway_without_a_zone_in_the_address():
    (offer,) = scaleway_offers(name="servers.json")
    assert (offer.region, offer.zone) == ("global", None)


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu": "1"},
        {"gpu": 1.5},
        {"gpu": True},
        {"hourly_price": "free"},
        {"hourly_price": {"units": 2}},
        {"hourly_price": -1},
        {"hourly_price": 2092.545, "monthly_price": 2.8665},
        {"mig_profile": 1},
        {"end_of_service": "no"},
        {"gpu_info": {}},
    ],
)
def test_scaleway_reports_what_it_does_not_understand(changes):
    servers = {
        "H100-1-80G": scaleway_type(**changes),
        "L4-1-24G": scaleway_type(hourly_price=0.75, monthly_price=547.5),
    }
    parsed = parse("scaleway", {"servers": servers})
    assert [offer.sku for offer in parsed.offers] == ["L4-1-24G"]
    assert [rejected.record for rejected in parsed.rejected] == ["H100-1-80G"]


def test_scaleway_unknown_word_for_stock_is_reported():
    servers = {"H100-1-80G": scaleway_type(), "L4-1-24G": scaleway_type()}
    stock = {"H100-1-80G": {"availability": "preorder"}, "L4-1-24G": {"availability": "scarce"}}
    parsed = parse("scaleway", {"servers": servers}, {"servers": stock}, name="fr-par-2.json")
    assert [(offer.sku, offer.available) for offer in parsed.offers] == [("L4-1-24G", True)]
    assert "preorder" in parsed.rejected[0].reason


def test_scaleway_product_catalogue_is_another_list():
    with pytest.raises(PageError, match="servers"):
        parse("scaleway", {"products": [], "total_count": 0})


def oracle_part(number: str = "B98415", *prices: object, **changes: object) -> dict[str, object]:
    localized = {"currencyCode": "USD", "prices": [{"model": "PAY_AS_YOU_GO", "value": price} for price in prices]}
    return {
        "partNumber": number,
        "displayName": "OCI - Compute - GPU - H100",
        "metricName": "GPU Per Hour",
        "serviceCategory": "Compute - GPU",
        "currencyCodeLocalizations": [localized],
        **changes,
    }


def oracle(*parts: object) -> Parsed:
    return parse("oracle", {"items": [oracle_part("B1", 2), *parts]})


@pytest.mark.parametrize(
    "part",
    [
        oracle_part("B2", 0),
        oracle_part("B2", 2.5, displayName="OCI - NVIDIA AI Enterprise - H100"),
        oracle_part("B2", 0.6, serviceCategory="Compute Cloud@Customer"),
        oracle_part("B2", 16, metricName="Node Per Hour"),
    ],
)
def test_oracle_rows_that_are_no_offers(part):
    parsed = oracle(part)
    assert ([offer.sku for offer in parsed.offers], parsed.rejected) == (["B1"], [])


@pytest.mark.parametrize(
    "part",
    [
        oracle_part("B2", 3, serviceCategory="AI Appliances"),
        oracle_part("B2", 3, displayName="OCI - Some New Software - H100"),
        oracle_part("B2", 3, 4),
        oracle_part("B2"),
        oracle_part("B2", "cheap"),
        oracle_part("B2", None, currencyCodeLocalizations=[]),
    ],
)
def test_oracle_reports_gpu_hours_it_does_not_understand(part):
    parsed = oracle(part)
    assert [offer.sku for offer in parsed.offers] == ["B1"]
    assert [rejected.record for rejected in parsed.rejected] == ["B2"]


def test_oracle_free_allowance_beside_a_price():
    assert [offer.price for offer in oracle(oracle_part("B2", 0, 10)).offers] == [2, 10]


def test_oracle_takes_dollars_where_there_are_several_currencies():
    entries = [
        {"currencyCode": code, "prices": [{"model": "PAY_AS_YOU_GO", "value": value}]}
        for code, value in (("EUR", 9.3), ("USD", 10), ("JPY", 1550))
    ]
    offers = oracle(oracle_part("B2", currencyCodeLocalizations=entries)).offers
    assert [(offer.price, offer.currency) for offer in offers] == [(2, "USD"), (10, "USD")]
    offers = oracle(oracle_part("B2", currencyCodeLocalizations=entries[:1])).offers
    assert (offers[1].price, offers[1].currency) == (Decimal("9.3"), "EUR")


def test_oracle_shapes_are_another_list():
    with pytest.raises(PageError, match="metricName"):
        parse("oracle", {"items": [{"name": "BM.GPU.H100.8", "gpuQty": 8}]})


def vultr_plan(**changes: object) -> dict[str, object]:
    return {
        "id": "vcg-a40-6c-30g-12vram",
        "vcpu_count": 6,
        "ram": 30720,
        "hourly_cost": 0.432,
        "monthly_cost": 315,
        "locations": ["lax"],
        "gpu_type": "NVIDIA_A40",
        "gpu_brand": "NVIDIA",
        "gpu_vram_gb": 12,
        **changes,
    }


def vultr_offers(**changes: object) -> list[Offer]:
    return parse("vultr", {"plans": [vultr_plan(**changes)]}).offers


@pytest.mark.parametrize(("told", "count"), [("1/4", "0.25"), ("1/6", "0.166667"), ("1", "1"), (8, "8"), ("16", "16")])
def test_vultr_counts(told, count):
    (offer,) = vultr_offers(gpu_count=told)
    assert offer.accelerator_count == Decimal(count)
    assert (offer.memory_gb, offer.memory_scope) == (12, "total")


def test_vultr_slice_known_by_memory_only_has_no_count():
    (offer,) = vultr_offers()
    assert offer.accelerator_count is None


def test_vultr_plan_that_only_its_id_names():
    told = {"type": "vdm", "gpu_type": None, "gpu_vram_gb": None}
    (offer,) = vultr_offers(id="vcg-mi325x-252c-2872g-1536vram", gpu_brand="AMD", **told)
    assert offer.accelerator_name == "vcg-mi325x-252c-2872g-1536vram"
    assert (offer.accelerator_count, offer.memory_gb) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [{"id": "vc2-2c-4gb", "gpu_brand": brand, "gpu_type": None} for brand in ("none", None, "")]
    + [{"hourly_cost": 0, "monthly_cost": 0}, {"hourly_cost": None}]
    + [{"deploy_ondemand": False, "deploy_preemptible": True}],
)
def test_vultr_plans_that_are_no_offers(changes):
    assert vultr_offers(**changes) == []


def test_vultr_sells_preemptible_only_where_it_says_so():
    prices = {"hourly_cost": 22.4, "hourly_cost_preemptible": 11.92, "monthly_cost": 15052.8}
    ways = {
        flags: [(offer.pricing_model, offer.price) for offer in vultr_offers(**prices, **told)]
        for flags, told in {
            "both": {"deploy_ondemand": True, "deploy_preemptible": True},
            "on demand": {"deploy_ondemand": True, "deploy_preemptible": False},
            "spot": {"deploy_ondemand": False, "deploy_preemptible": True},
            "not told": {},
        }.items()
    }
    on_demand, spot = ("on_demand", Decimal("22.4")), ("spot", Decimal("11.92"))
    assert ways == {"both": [on_demand, spot], "on demand": [on_demand], "spot": [spot], "not told": [on_demand, spot]}


def test_vultr_locations_with_a_price_of_their_own():
    costs = {"sao": {"hourly_cost": 0.648, "monthly_cost": 473}, "tlv": {"hourly_cost": 0.54, "monthly_cost": 394}}
    offers = vultr_offers(locations=["lax", "sao"], location_cost=costs)
    assert [(offer.region, offer.price, offer.available) for offer in offers] == [
        ("global", Decimal("0.432"), True),
        ("sao", Decimal("0.648"), True),
        ("tlv", Decimal("0.54"), False),
    ]


def test_vultr_sold_out_plan_keeps_its_price():
    assert [(offer.price, offer.available) for offer in vultr_offers(locations=[])] == [(Decimal("0.432"), False)]
    assert [offer.region for offer in vultr_offers(location_cost=[])] == ["global"]


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu_count": "1/0"},
        {"gpu_count": "a quarter"},
        {"gpu_count": "0"},
        {"hourly_cost": "n/a"},
        {"hourly_cost": -1},
        {"hourly_cost": 315, "monthly_cost": 0.432},
        {"locations": "lax"},
        {"deploy_ondemand": "yes"},
        {"deploy_preemptible": True},
        {"location_cost": {"sao": {"monthly_cost": 473}}},
    ],
)
def test_vultr_reports_what_it_does_not_understand(changes):
    body = {"plans": [vultr_plan(), vultr_plan(id="vcg-odd", **changes)]}
    parsed = parse("vultr", body)
    assert [offer.sku for offer in parsed.offers] == ["vcg-a40-6c-30g-12vram"]
    assert [rejected.record for rejected in parsed.rejected] == ["vcg-odd"]


def test_vultr_plan_without_a_price_is_never_given_one():
    record = vultr_plan()
    del record["hourly_cost"]
    with pytest.raises(PageError, match="hourly_cost"):
        parse("vultr", {"plans": [record]})


def lambda_entry(name: str = "gpu_8x_h100_sxm5", gpus: int = 8, **changes: object) -> dict[str, object]:
    instance = {
        "name": name,
        "description": "8x H100 (80 GB SXM5)",
        "gpu_description": "H100 (80 GB SXM5)",
        "price_cents_per_hour": 3592,
        "specs": {"vcpus": 208, "memory_gib": 1800, "storage_gib": 22528, "gpus": gpus},
        **changes,
    }
    return {"instance_type": instance, "regions_with_capacity_available": []}


def test_lambda_cents_are_exact_dollars_of_the_whole_instance():
    (offer,) = parse("lambda_api", {"data": {"gpu_8x_h100_sxm5": lambda_entry()}}).offers
    assert (offer.price, offer.price_text, offer.price_scope) == (Decimal("35.92"), "3592", "offer")
    assert (offer.accelerator_count, offer.available, offer.quantity, offer.region) == (8, False, None, "global")


def test_lambda_answers_from_before_gpu_description():
    entry = lambda_entry()
    instance = entry["instance_type"]
    assert isinstance(instance, dict)
    del instance["gpu_description"], instance["specs"]["gpus"]
    (offer,) = parse("lambda_api", {"data": {"gpu_8x_h100_sxm5": entry}}).offers
    assert (offer.accelerator_name, offer.accelerator_count) == ("8x H100 (80 GB SXM5)", None)


@pytest.mark.parametrize(
    "odd",
    [
        lambda_entry("odd", price_cents_per_hour=35.92),
        lambda_entry("odd", price_cents_per_hour="3592"),
        lambda_entry("odd", price_cents_per_hour=None),
        lambda_entry("odd", price_cents_per_hour=-1),
        lambda_entry("odd", specs={"vcpus": 208, "memory_gib": 1800, "storage_gib": 22528}),
        lambda_entry("another"),
    ],
)
def test_lambda_reports_what_it_does_not_understand(odd):
    parsed = parse("lambda_api", {"data": {"gpu_8x_h100_sxm5": lambda_entry(), "odd": odd}})
    assert [offer.sku for offer in parsed.offers] == ["gpu_8x_h100_sxm5"]
    assert [rejected.record for rejected in parsed.rejected] == ["odd"]


@pytest.mark.parametrize("source", ["scaleway", "oracle", "vultr", "lambda_api"])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Sign in</body></html>",
        b"[]",
        b"null",
        b"{}",
        b'{"error": {"code": "x"}}',
        b'{"servers": {"A"',
    ],
)
def test_pages_that_are_not_the_sources(source, body):
    with pytest.raises(PageError):
        load(source).parse([Page("file:page", body)])
