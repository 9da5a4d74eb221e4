"""Every real answer that lies beside the project parses, and every name in it is known or listed with the reason."""

import re
from pathlib import Path

import pytest

from scrapers.source import Page, PageError, load, source_names
from tests.test_samples import conformance
from warehouse.names import resolve_text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
# Folders of samples that are not named after their source.
FOLDERS = {
    "vastai": "vast", "lambda": "lambda_api", "primeintellect": "prime_intellect", "voltagepark": "voltage_park", "gcp": "gcp_skus",
    "hotaisle": "hot_aisle", "gmicloud": "gmi", "massedcompute": "massed_compute", "digitalocean": "digitalocean_api",
}  # fmt: skip
RECORDED = {"scaleway": "products/servers?", "linode": "linode/types", "latitude": "plans"}
# What lies there and is no answer of a price source, or had its prices cut out before it came here.
NO_ANSWERS = {
    "gpu-prices_openapi_fragment.json", "providers_item_docs_example.json", "DescribeSpotPriceHistory_m5_large.json",
    "GetProducts_m5_large.json", "website_linux-od_2014.json", "marketplace_shape_from_tests.json", "tpu_pricing_static_gpuhunt.json",
    "openapi-1.8.3.json", "cost_estimator_shapes_excerpt_gpuhunt.json", "hostnode_specs_gpuhunt.json",
    "hostnodes_v0_evangelist_example.json", "offers_allgpus_trimmed_2026-08-17.json", "plans_live_abridged_2026-08.json",
    "2025-undated.txt", "billing_sku_names_gpu_2022-08.csv", "website_spot_js_2012-11-28.js",
}  # fmt: skip


def listed() -> set[tuple[str, str]]:
    """Provider and spelling of each row of docs/unknown-names.md."""
    text = (ROOT / "docs" / "unknown-names.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| (\w+) \| `([^`]+)`", text, re.MULTILINE))


def candidates(folder: str) -> list[str]:
    """Sources whose answer a file of this folder may be."""
    name = FOLDERS.get(folder, folder)
    page = {"lambda": "lambda_page", "gcp": "gcp_page", "digitalocean": "digitalocean_page"}.get(folder, f"{name}_page")
    special = ["aws_prices", "aws_spot_advisor", "aws_capacity_blocks_page"] if folder == "aws" else []
    return [one for one in [name, page, *special] if one in source_names()]


def test_every_real_answer_parses_and_names_known_parts(shared: Path) -> None:
    check = conformance(shared)
    unknown, unread, read = set(), set(), 0
    for path in sorted((shared / "samples").glob("*/*/*")):
        if path.name.endswith(".source.txt") or path.name in NO_ANSWERS:
            continue
        pages = [Page(f"file:{path.name}", path.read_bytes(), path.name)]
        if path.suffix == ".yaml":
            answers = check.recorded_answers(path.read_text(encoding="utf-8"), RECORDED[path.parent.name])
            pages = [Page(f"file:{name}", body.encode(), name) for name, body in answers]
        for source in candidates(path.parent.name):
            try:
                parsed = load(source).parse(pages)
            except PageError:
                continue
            read += 1
            provider = load(source).source.provider
            unknown |= {
                (provider, offer.accelerator_name)
                for offer in parsed.offers
                if offer.price_scope not in {"host_vcpu", "host_gib"}
                and resolve_text(
                    provider=offer.provider or provider, sku=offer.sku, accelerator_name=offer.accelerator_name,
                    accelerator_count=offer.accelerator_count, memory_gb=offer.memory_gb, memory_scope=offer.memory_scope,
                ).accelerator is None
            }  # fmt: skip
            break
        else:
            unread.add(str(path.relative_to(shared)))
    assert unread == set()
    assert read > 80
    assert unknown <= listed()
