"""Names: known right answers, bugs that other trackers had, and properties that no spelling may break."""

import csv
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from warehouse.accelerators import UNSTATED, catalogue, read_rows
from warehouse.instance_types import provider_id
from warehouse.names import Part, resolve, resolve_text

SHARED = Path(__file__).parents[2] / "shared" / "cases" / "gpu_names.csv"
GENERIC = re.compile(
    r"\b(nvidia|amd|google|intel|aws|geforce|tesla|quadro|instinct|radeon( pro)?|blackwell|generation|edition)\b|[^a-z0-9]"
)


def text(
    name: str,
    *,
    provider: str = "somewhere",
    sku: str = "sku-1",
    count: str | None = None,
    memory_gb: str | None = None,
    scope: str | None = None,
) -> Part:
    return resolve_text(
        provider=provider,
        sku=sku,
        accelerator_name=name,
        accelerator_count=Decimal(count) if count else None,
        memory_gb=Decimal(memory_gb) if memory_gb else None,
        memory_scope=scope,
    )


def plain(model: str | None) -> str:
    return GENERIC.sub("", (model or "").casefold().replace("-", " ").replace("_", " "))


# --- known right answers ---------------------------------------------------------------------------------------------


def test_known_right_names() -> None:
    if not SHARED.is_file():
        pytest.skip(f"no {SHARED}: the cases lie beside the project")
    wrong = []
    with SHARED.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            part = resolve(row["raw"], row["provider"] or None)
            if row["confidence"] != "low" and not _agrees(row, part):
                wrong.append((row["raw"], part))
    assert wrong == []


def _agrees(row: dict[str, str], part: Part) -> bool:
    form = "" if part.form_factor is None else part.form_factor
    return (
        plain(part.model) in {plain(model) for model in row["model"].split("|")}
        and (not row["form_factor"] or re.sub(r"\d$", "", row["form_factor"].casefold()) == form)
        and (not row["memory_gb"] or abs((part.memory_gb or 0) - Decimal(row["memory_gb"])) < Decimal("0.6"))
        and (not row["gpu_count"] or abs((part.count or 0) - Decimal(row["gpu_count"])) < Decimal("0.01"))
    )


# --- bugs that others had: names, forms, memory, counts, slices -------------------------------------------------------

NAMES: dict[str, list[tuple[str | None, str, str | None, str | None]]] = {
    "a part's name inside another's": [
        (None, "NVIDIA RTX A4000", "rtx-a4000-16gb", None),
        (None, "NVIDIA A40", "a40-48gb", None),
        (None, "NVIDIA A100-SXM4-80GB", "a100-sxm-80gb", None),
        (None, "NVIDIA RTX A1000", "rtx-a1000-8gb", None),
        (None, "A1000X", None, None),
        (None, "H100 CNX", None, None),
    ],
    "another generation, or a number glued behind": [
        (None, "Gaudi 4", None, None),
        (None, "Trainium v2", None, None),
        (None, "Inferentia 25", None, None),
        (None, "l40s50", None, None),
        (None, "1050a10", None, None),
        (None, "a100x0", None, None),
        (None, "mi300x8", "mi300x-oam-192gb", "8"),
        (None, "TPU v3-32", "tpu-v3", "16"),
        (None, "8x Gaudi 3", "gaudi3-oam-128gb", "8"),
    ],
    "superchips are not their GPU, and 480 GB is the CPU's": [
        ("coreweave", "GH200_480GB", "gh200-superchip-96gb", None),
        (None, "1x GH200 (96 GB)", "gh200-superchip-96gb", "1"),
        (None, "GH200 144G HBM3e", "gh200-superchip-144gb", None),
        ("coreweave", "gb200-4x", "gb200-superchip-186gb", "4"),
        ("crusoe", "GB200-NVL-186GB", "gb200-superchip-186gb", None),
        (None, "gb200_sxm", "gb200-superchip-186gb", None),
        (None, "NVIDIA GB200 NVL72", "gb200-superchip-186gb", None),
    ],
    "L4, L40 and L40S": [
        (None, "L4", "l4-24gb", None),
        (None, "L40", "l40-48gb", None),
        (None, "L40S", "l40s-48gb", None),
        (None, "L40 S", "l40s-48gb", None),
        ("nebius", "L40s PCIe", "l40s-48gb", None),
    ],
    "A10, A10G, A100": [
        (None, "A10", "a10-24gb", None),
        (None, "A10G", "a10g-24gb", None),
        (None, "A100-40", "a100-unstated-40gb", None),
        (None, "A1000", "rtx-a1000-8gb", None),
    ],
    "four cards called RTX 6000": [
        (None, "1x RTX 6000 (24 GB)", "quadro-rtx-6000-24gb", "1"),
        (None, "NVIDIA RTX A6000", "rtx-a6000-48gb", None),
        (None, "NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada-48gb", None),
        (None, "RTX PRO 6000 96GB", "rtx-pro-6000-blackwell-96gb", None),
        (None, "Tesla A2 16GB", "a2-16gb", None),
        (None, "Cerebras WSE-3", "cerebras-cs-3", None),
        (None, "Groq LPU", "groq-lpu-v1", None),
        (None, "RTX 6000", None, None),
        (None, "RTX A6000 Ada", None, None),
        ("vast", "RTX PRO 6000 WS", "rtx-pro-6000-blackwell-workstation-96gb", None),
        ("vast", "RTX PRO 6000 S", "rtx-pro-6000-blackwell-server-96gb", None),
        ("runpod", "RTX PRO 6000 MaxQ", "rtx-pro-6000-blackwell-max-q-96gb", None),
    ],
    "a provider rewords": [
        (None, "1x NVidia RTX6000 Ada 48GB", "rtx-6000-ada-48gb", "1"),
        (None, "1x NVIDIA RTX6000 Ada 48GB", "rtx-6000-ada-48gb", "1"),
        (None, "1x RTX 6000 Ada 48GB", "rtx-6000-ada-48gb", "1"),
    ],
    "T4 and T4G": [("aws", "g4dn.xlarge", "t4-16gb", "1"), ("aws", "g5g.xlarge", "t4g-16gb", "1")],
    "makers' own chips": [
        ("aws", "inf2.xlarge", "inferentia2", "1"),
        ("aws", "trn1.32xlarge", "trainium", "16"),
        ("aws", "g6e.xlarge", "l40s-48gb", "1"),
        ("gcp", "v3-8", "tpu-v3", "4"),
        ("gcp", "v6e-8", "tpu-v6e", "8"),
        ("gcp", "tpu7x-8", "tpu-v7", "4"),
    ],
    "form factors kept apart": [
        ("runpod", "NVIDIA H100 PCIe", "h100-pcie-80gb", None),
        ("runpod", "NVIDIA H100 80GB HBM3", "h100-sxm-80gb", None),
        ("vast", "H100_PCIE", "h100-pcie-80gb", None),
        (None, "H100 NVL", "h100-nvl-94gb", None),
        (None, "H100 94GB", "h100-nvl-94gb", None),
        (None, "NVIDIA H200 NVL", "h200-nvl-141gb", None),
        (None, "NVIDIA H200", "h200-sxm-141gb", None),
        ("runpod", "NVIDIA H200", "h200-sxm-141gb", None),
        ("gmi_page", "NVIDIA H200", "h200-unstated-141gb", None),
        (None, "H100", "h100-unstated-80gb", None),
        (None, "A100 PCIe", "a100-pcie", None),
        (None, "V100", "v100-unstated", None),
        ("hyperstack", "NVIDIA A100 80GB PCIe NVLink", "a100-pcie-80gb", None),
        (None, "NVIDIA H100 SXM5 PCIe Gen5 x16 80GB", None, None),
    ],
    "memory in the type's name": [
        ("lambda", "gpu_8x_a100_80gb_sxm4", "a100-sxm-80gb", "8"),
        ("lambda", "gpu_8x_a100", "a100-sxm-40gb", "8"),
        ("lambda", "gpu_1x_a100", "a100-pcie-40gb", "1"),
        ("digitalocean", "gpu-h100x8-640gb", "h100-sxm-80gb", "8"),
        ("digitalocean", "gpu-mi300x8-1536gb", "mi300x-oam-192gb", "8"),
        ("aws", "g6e.12xlarge", "l40s-48gb", "4"),
    ],
    "counts that an answer tells wrongly": [
        ("azure", "Standard_NC24ads_A100_v4", "a100-pcie-80gb", "1"),
        ("azure", "Standard_NC48ads_A100_v4", "a100-pcie-80gb", "2"),
        ("azure", "Standard_NC96ads_A100_v4", "a100-pcie-80gb", "4"),
        ("azure", "Standard_NC24", "k80-12gb", "4"),
        ("lambda", "gpu_8x_h100_sxm5", "h100-sxm-80gb", "8"),
        ("gcp", "a2-highgpu-1g", "a100-sxm-40gb", "1"),
    ],
    "slices": [
        ("azure", "Standard_NV6ads_A10_v5", "a10-24gb", "0.166666667"),
        ("azure", "Standard_NV12ads_A10_v5", "a10-24gb", "0.333333333"),
        ("azure", "Standard_NV36ads_A10_v5", "a10-24gb", "1"),
        ("azure", "NC36ds_xl_RTXPRO6000BSE_v6", "rtx-pro-6000-blackwell-server-96gb", "0.25"),
        ("vultr", "vcg-a16-2c-8g-2vram", "a16-16gb", "0.125"),
        ("vultr", "vcg-a100-1c-6g-4vram", "a100-unstated-80gb", "0.05"),
        ("alibaba", "A10*1/12", "a10-24gb", "0.083333333"),
        ("gcp", "g4-standard-6", "rtx-pro-6000-blackwell-server-96gb", "0.125"),
        (
            "runpod",
            "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb",
            "rtx-pro-6000-blackwell-server-96gb",
            "0.25",
        ),
        (None, "A100-SXM4-40GB MIG 3g.20gb", "a100-sxm-40gb", "0.5"),
        (None, "NVIDIA A40-8Q", "a40-48gb", "0.166666667"),
        (None, "A100 80GB-1-5C", "a100-unstated-80gb", "0.0625"),
        (None, "A100-1-5C", None, None),
        ("ovh", "h200-380", "h200-unstated-141gb", None),
    ],
    "Vast's short forms": [
        ("vast", "RTX 4070S Ti", "rtx-4070-ti-super-16gb", None),
        ("vast", "RTX 4080S", "rtx-4080-super-16gb", None),
        ("vast", "RTX 4090D", "rtx-4090-d-24gb", None),
        ("vast", "GTX_1660_S", "gtx-1660-super-6gb", None),
        ("vast", "Q RTX 8000", "quadro-rtx-8000-48gb", None),
        ("vast", "RTX 3060 laptop", "rtx-3060-mobile-6gb", None),
        ("vast", "RTX 3080", "rtx-3080", None),
    ],
    "host facts in the name": [
        (None, "A100 80GB PCIE\n28 vCPU  120GB RAM  850GB NVMe", "a100-pcie-80gb", None),
        ("upcloud", "GPU-8xCPU-64GB-1xL40S", "l40s-48gb", "1"),
        ("jarvislabs", "8x_H200_224V_2400G", "h200-unstated-141gb", "8"),
        ("nebius", "gpu-h100-sxm_1gpu-16vcpu-200gb", "h100-sxm-80gb", "1"),
        ("linode", "Dedicated 32GB + RTX6000 GPU x1", "quadro-rtx-6000-24gb", "1"),
        (None, "NVIDIA L40S with AMD CPU", "l40s-48gb", None),
    ],
    "counts of the host's own parts, and of machines": [
        (None, "H100 SXM 2x 960GB NVMe", "h100-sxm-80gb", None),
        (None, "8x H100 SXM 2x Intel Xeon 8480", "h100-sxm-80gb", "8"),
        (None, "RTX 4090 (2 x AMD EPYC 7543)", "rtx-4090-24gb", None),
        (None, "8x H200 8x400G InfiniBand", "h200-unstated-141gb", "8"),
        (None, "4x L40S 2x Xeon 6448Y 16x64GB DDR5", "l40s-48gb", "4"),
        (None, "8x80GB H100 SXM", "h100-sxm-80gb", "8"),
        (None, "8x Intel Gaudi2", "gaudi2-oam-96gb", "8"),
        (None, "2 nodes 8x H100 SXM", None, "8"),
        (None, "H100 SXM 8x per node", "h100-sxm-80gb", "8"),
    ],
    "brokers": [
        ("shadeform", "paperspace_RTX4000x2", "quadro-rtx-4000-8gb", "2"),
        ("shadeform", "massedcompute_A6000-plusx2", "rtx-a6000-48gb", "2"),
        ("shadeform", "lambdalabs_A100-sxm4", "a100-sxm-40gb", "1"),
        ("shadeform", "H100_sxm5", "h100-sxm-80gb", None),
    ],
    "nothing, or more than one thing": [
        (None, "Some Unknown GPU", None, None),
        (None, "RTX 9999", None, None),
        (None, "RTX 3060 Super", None, None),
        (None, "NVIDIA RTX A6000/A40", None, None),
        (None, "NVIDIA A100 80 GB or H100 80 GB", None, None),
        (None, "GB202", None, None),
        ("gcp", "A2 Instance Core running in Americas", None, None),
        ("aws", "m5.large", None, None),
        ("aws", "f1.16xlarge", None, None),
        ("verda", "CPU.4V.16G", None, None),
        (None, "", None, None),
    ],
}


@pytest.mark.parametrize(
    ("provider", "raw", "accelerator", "count"),
    [pytest.param(*case, id=f"{kind}: {case[1][:40]!r}") for kind, cases in NAMES.items() for case in cases],
)
def test_names_that_others_got_wrong(
    provider: str | None, raw: str, accelerator: str | None, count: str | None
) -> None:
    part = resolve(raw, provider)
    assert (part.accelerator, part.count) == (accelerator, Decimal(count) if count else None)
    assert part.raw == raw


def test_a_die_has_a_maker_and_no_model() -> None:
    for die in ("GB202", "GH100", "AD102"):
        assert (resolve(die).vendor, resolve(die).model) == ("NVIDIA", None)


def test_what_stays_open_says_why() -> None:
    assert "Quadro RTX 6000 or RTX 6000 Ada" in str(resolve("RTX 6000").conflict)
    assert "more than one part" in str(resolve("RTX A6000/A40").conflict)
    assert resolve("no part at all").conflict is None


# --- an offer's own fields ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offer", "accelerator", "count"),
    [
        # AWS tells 22888, 91553 and 183105 MiB for one, four and eight L4, as if each had that.
        ({"name": "L4", "count": "1", "memory_gb": "22.35", "scope": "each"}, "l4-24gb", "1"),
        ({"name": "L4", "count": "4", "memory_gb": "89.41", "scope": "each"}, "l4-24gb", "4"),
        ({"name": "L4", "count": "8", "memory_gb": "178.81", "scope": "each"}, "l4-24gb", "8"),
        ({"name": "4x Tesla V100", "count": "4", "memory_gb": "64", "scope": "total"}, "v100-unstated-16gb", "4"),
        ({"name": "AMD Instinct MI300X", "count": "8", "memory_gb": "1536", "scope": "total"}, "mi300x-oam-192gb", "8"),
        ({"name": "H100", "memory_gb": "640", "scope": "total"}, "h100-unstated-80gb", None),
        ({"name": "RTX 4090", "count": "2", "memory_gb": "47.99", "scope": "each"}, "rtx-4090-48gb", "2"),
        ({"name": "RTX 4090", "count": "2", "memory_gb": "23.99", "scope": "each"}, "rtx-4090-24gb", "2"),
        ({"name": "RTX 4090", "count": "2", "memory_gb": "22.49", "scope": "each"}, "rtx-4090-24gb", "2"),
        ({"name": "B300 SXM6", "memory_gb": "262", "scope": "each"}, "b300-sxm-288gb", None),
        ({"name": "B300 SXM6", "memory_gb": "288", "scope": "each"}, "b300-sxm-288gb", None),
        ({"name": "RTX 6000", "memory_gb": "24", "scope": "each"}, "quadro-rtx-6000-24gb", None),
        ({"name": "RTX 6000", "memory_gb": "48", "scope": "each"}, "rtx-6000-ada-48gb", None),
        ({"name": "RTX 3080", "memory_gb": "10", "scope": "each"}, "rtx-3080-10gb", None),
        ({"name": "NVIDIA_A16", "count": "0.125", "memory_gb": "2", "scope": "total"}, "a16-16gb", "0.125"),
        # The type decides: Azure's answer says one GPU.
        ({"name": "NC48ads A100 v4", "sku": "Standard_NC48ads_A100_v4", "provider": "azure", "count": "1"}, "a100-pcie-80gb", "2"),
        ({"name": "NVIDIA A100 SXM4 80 GB", "sku": "NC24ads A100 v4", "provider": "Microsoft Azure"}, "a100-pcie-80gb", "1"),
        ({"name": "NVIDIA_A100", "sku": "vcg-a100-1c-6g-4vram", "provider": "vultr", "memory_gb": "4", "scope": "total"},
         "a100-unstated-80gb", "0.05"),
        ({"name": "NVIDIA_A100_PCIE", "sku": "vcg-a100-12c-120g-80vram", "provider": "vultr"}, "a100-pcie-80gb", "1"),
        # The printed name fills up what the SKU leaves open, and the other way round.
        ({"name": "RTX PRO 6000", "sku": "NVIDIA RTX PRO 6000 Blackwell Server Edition", "provider": "runpod", "count": "1"},
         "rtx-pro-6000-blackwell-server-96gb", "1"),
        ({"name": "H100", "sku": "h100-sxm5-80gb", "count": "8"}, "h100-sxm-80gb", "8"),
        ({"name": "something", "sku": "a100-pcie-80gb", "count": "1"}, "a100-pcie-80gb", "1"),
        # A slice sold by the piece stays a slice.
        ({"name": "PRO 6000 MIG 24GB", "sku": "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", "provider": "runpod",
          "count": "1", "memory_gb": "24", "scope": "each"}, "rtx-pro-6000-blackwell-server-96gb", "0.25"),
    ],
)  # fmt: skip
def test_offers(offer: dict[str, Any], accelerator: str, count: str | None) -> None:
    part = text(**offer)
    assert (part.accelerator, part.count) == (accelerator, Decimal(count) if count else None)
    assert part.conflict is None


def test_contradictions_are_told() -> None:
    eight = text("8x H100 SXM", count="1")
    assert (eight.count, eight.conflict) == (Decimal(1), "name says 8x, offer says 1")
    odd = text("NVIDIA A100", count="1", memory_gb="30", scope="each")
    assert (odd.model, odd.accelerator, odd.conflict) == ("A100", None, "30 GB is no size of A100")
    assert "more than one part" in str(text("H100/A100").conflict)
    half = text("A100 SXM4 80GB", count="1", memory_gb="40", scope="each")
    assert (half.accelerator, half.conflict) == (None, "name says 80 GB, offer says 40 GB")
    both = text("A100 80GB", count="2", memory_gb="80", scope="total")
    assert (both.accelerator, both.conflict) == ("a100-unstated-80gb", None)
    other = text("NVIDIA H100", sku="p4d.24xlarge", provider="aws")
    assert other.model == "A100"
    assert "SKU says A100, name says H100" in str(other.conflict)


# --- the reference rows -------------------------------------------------------------------------------------------------


def test_every_key_resolves_to_itself() -> None:
    for key, row in catalogue().by_key.items():
        part = resolve(key)
        assert (part.accelerator, part.model, part.vendor) == (key, row.model, row.vendor)


def test_every_part_is_found_by_its_own_name() -> None:
    for key, row in catalogue().by_key.items():
        if row.form_factor == "mobile":
            continue
        form = "" if row.form_factor == UNSTATED else row.form_factor
        memory = f"{row.memory_gb}GB" if row.memory_gb else ""
        name = f"{row.vendor} {row.model} {form} {memory}"
        meant = resolve(name).accelerator
        open_name = catalogue().by_key[key].may_be
        assert meant == key or (open_name and meant in open_name), name


def test_every_open_name_has_a_row() -> None:
    """What resolution can leave open is a key of the catalogue."""
    rows = catalogue()
    for model, parts in rows.by_model.items():
        forms = {part.form_factor for part in parts}
        for form in (*forms, None):
            for memory in {part.memory_gb for part in parts if form in {None, part.form_factor}}:
                name = f"{parts[0].vendor} {model} {form or ''} {memory}GB" if memory else f"{parts[0].vendor} {model}"
                if form != "mobile" and "Laptop" not in model:
                    assert resolve(name).accelerator in rows.by_key, name
        assert "Laptop" in model or resolve(f"{parts[0].vendor} {model}").accelerator in rows.by_key, model


def test_may_be_names_parts_of_the_catalogue() -> None:
    rows = catalogue().by_key
    for key, row in rows.items():
        assert set(row.may_be) <= set(rows), key
        assert all(not rows[other].may_be for other in row.may_be), key


def test_bounds_hold_what_was_really_paid() -> None:
    for row in read_rows("accelerators"):
        if row["is_rentable"] == "true":
            assert 0 < float(row["lowest_usd_per_hour"]) < float(row["highest_usd_per_hour"]) / 3, row["accelerator"]
        assert row["source_url"].startswith("https://"), row["accelerator"]
        assert row["verified"] in {"yes", "partly", "memory"}, row["accelerator"]


def test_dense_peaks_only() -> None:
    peaks = {row["accelerator"]: row["dense_16bit_tflops"] for row in read_rows("accelerators")}
    assert peaks["h100-sxm-80gb"] == "989.4"
    assert peaks["h100-pcie-80gb"] == "756"
    assert peaks["rtx-4090-24gb"] == "165.2"
    assert peaks["rtx-3090-24gb"] == "71"
    assert peaks["v100-sxm-16gb"] == "125"
    assert peaks["tpu-v4"] == "275"
    assert peaks["gb200-superchip-186gb"] == "2500"
    assert peaks["a100-unstated-80gb"] == "312"
    assert peaks["h100-unstated-80gb"] == ""


def test_every_instance_type_resolves() -> None:
    keys = catalogue().by_key
    for row in read_rows("instance_types"):
        assert row["accelerator"] in keys, row
        raw = row["instance_type"].replace("{n}", "16").replace("{per}", "4").replace("#", "8").replace("*", "x")
        if not re.search(r"[*{#]", row["instance_type"]):
            part = resolve(raw, row["provider"])
            assert (part.accelerator, part.count) == (
                row["accelerator"],
                Decimal(row["count"]) if row["count"] else None,
            ), raw
        else:
            assert resolve(raw, row["provider"]).accelerator, raw
        if row["only_for_provider"] != "true" and "*" not in row["instance_type"]:
            assert resolve(raw).accelerator == resolve(raw, row["provider"]).accelerator, raw


def test_every_spelling_resolves() -> None:
    for row in read_rows("spellings"):
        for provider in row["provider"].split("|"):
            part = resolve(row["spelling"], provider if provider != "none" else None)
            models = row["model"].split("|")
            assert part.model in models or (len(models) > 1 and part.conflict), row


def test_providers_have_one_name() -> None:
    assert provider_id("datacrunch_page") == provider_id("Verda") == "verda"
    assert (
        provider_id("Amazon Web Services")
        == provider_id("aws_capacity_blocks_page")
        == provider_id("aws_prices")
        == "aws"
    )
    assert provider_id("Lambda Labs") == provider_id("lambda_api") == "lambda"
    assert provider_id("vast.ai") == provider_id("vast") == "vast"
    assert provider_id(None) is None


# --- properties ---------------------------------------------------------------------------------------------------------

SPELLED = {
    "h100-sxm-80gb": (["NVIDIA", ""], "H100", ["SXM", "SXM5", "HGX"], ["80GB", "80 GB", "80G", "81920 MB", ""]),
    "h100-nvl-94gb": (["NVIDIA", ""], "H100", ["NVL"], ["94GB", "94 GiB", ""]),
    "a100-pcie-40gb": (["NVIDIA", "Nvidia Tesla", ""], "A100", ["PCIe", "PCI-E"], ["40GB", "40 GB", "40Gi"]),
    "a10-24gb": (["NVIDIA", ""], "A10", [""], ["24GB", ""]),
    "a10g-24gb": (["NVIDIA", ""], "A10G", [""], ["24GB", ""]),
    "a40-48gb": (["NVIDIA", ""], "A40", ["", "PCIe"], ["48GB", ""]),
    "l4-24gb": (["NVIDIA", ""], "L4", ["", "PCIe"], ["24GB", "22 GB", ""]),
    "l40-48gb": (["NVIDIA", ""], "L40", [""], ["48GB", ""]),
    "l40s-48gb": (["NVIDIA", ""], "L40S", [""], ["48GB", "46068 MiB", ""]),
    "t4-16gb": (["NVIDIA Tesla", "Tesla", ""], "T4", [""], ["16GB", "15360 MiB", ""]),
    "t4g-16gb": (["NVIDIA", ""], "T4G", [""], ["16GB", ""]),
    "v100-sxm-32gb": (["NVIDIA Tesla", "Tesla", ""], "V100", ["SXM2", "SXM3", "SXM"], ["32GB", "32 GB"]),
    "v100s-32gb": (["Tesla", ""], "V100S", ["PCIe", ""], ["32GB", ""]),
    "h200-nvl-141gb": (["NVIDIA", ""], "H200", ["NVL"], ["141GB", "143 GB", ""]),
    "gh200-superchip-96gb": (["NVIDIA", ""], "GH200", [""], ["96GB", "480GB", ""]),
    "b200-sxm-180gb": (["NVIDIA", ""], "B200", ["SXM6", ""], ["180GB", "192GB", ""]),
    "gb200-superchip-186gb": (["NVIDIA", ""], "GB200", ["", "NVL72"], ["186GB", ""]),
    "rtx-4090-24gb": (["NVIDIA GeForce", "GeForce", ""], "RTX 4090", ["", "PCIe"], ["24GB", "24564 MB", ""]),
    "rtx-4070-ti-super-16gb": (["NVIDIA GeForce", ""], "RTX 4070 Ti SUPER", [""], ["16GB", ""]),
    "rtx-3090-ti-24gb": (["NVIDIA GeForce", ""], "RTX 3090 Ti", [""], ["24GB", ""]),
    "rtx-a4000-16gb": (["NVIDIA", ""], "RTX A4000", [""], ["16GB", ""]),
    "rtx-6000-ada-48gb": (["NVIDIA", ""], "RTX 6000 Ada", ["", "PCIe"], ["48GB", ""]),
    "mi300x-oam-192gb": (["AMD Instinct", "AMD", ""], "MI300X", ["OAM", ""], ["192GB", ""]),
    "rtx-pro-6000-blackwell-server-96gb": (["NVIDIA", ""], "RTX PRO 6000 Blackwell Server Edition", [""], ["96GB", ""]),
}  # fmt: skip
COUNTS = ["{n}x", "x{n}", "*{n}", "({n})", "{n}×", "×{n}", "{n} x", "x {n}", "{n}gpu", "{n} GPUs", "{n}-GPU"]
SEPARATORS = [" ", "_", "-", "\u00a0", "  ", " - ", ", ", "\t"]


@st.composite
def spelled_names(draw: st.DrawFn) -> tuple[str, str, int | None]:
    """A name in any spelling, with the key and count that it means."""
    key = draw(st.sampled_from(sorted(SPELLED)))
    makers, model, forms, memories = SPELLED[key]
    count = draw(st.none() | st.sampled_from([1, 2, 4, 8, 16]))
    separator = draw(st.sampled_from(SEPARATORS))
    words = model.split()
    glued = len(words) > 1 and draw(st.booleans())
    pieces = [("" if glued else separator).join(words), draw(st.sampled_from(forms)), draw(st.sampled_from(memories))]
    if count is not None:
        pieces.append(draw(st.sampled_from(COUNTS)).format(n=count))
    pieces = draw(st.permutations([piece for piece in pieces if piece]))
    name = separator.join([draw(st.sampled_from(makers)) + draw(st.sampled_from(["", "™", "®"])), *pieces]).strip()
    return draw(st.sampled_from([name, name.lower(), name.upper(), name.swapcase()])), key, count


@settings(max_examples=500, deadline=None)
@given(spelled_names())
def test_spelling_never_changes_the_answer(spelled: tuple[str, str, int | None]) -> None:
    name, key, count = spelled
    part = resolve(name)
    assert (part.accelerator, part.count, part.conflict) == (key, count, None), name


KNOWN_WORDS = sorted(
    {model.casefold() for model in catalogue().by_model if re.fullmatch(r"[A-Za-z]+\d+[A-Za-z]?", model)}
)


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(KNOWN_WORDS),
    st.text("jvyz0123456789", min_size=1, max_size=4),
    st.booleans(),
)
def test_a_longer_word_is_another_word(word: str, more: str, in_front: bool) -> None:
    glued = more + word if in_front else word + more
    assume(glued not in KNOWN_WORDS)
    part = resolve(glued)
    if part.model is not None:  # only a count in front (`8h100`) or behind (`h100x8`), or another part's whole name
        rest = glued.replace(plain(part.model).replace("rtx", ""), "", 1)
        sign = "x?" if word.endswith("x") else "x"  # `mi300x8` is eight MI300X
        before, behind = re.fullmatch(r"[1-9]\d{0,2}", rest), re.fullmatch(sign + r"[1-9]\d?\d?", rest)
        assert not rest or (before and glued.startswith(rest)) or (behind and glued.endswith(rest)), glued


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("bcdfjkmnpqwz", min_size=3, max_size=9), max_size=6))
def test_unknown_words_never_resolve(words: list[str]) -> None:
    part = resolve(" ".join(words))
    assert (part.model, part.accelerator, part.count, part.memory_gb) == (None, None, None, None)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.none() | st.sampled_from(["aws", "azure", "gcp", "vast", "shadeform", "ovh", "nobody"]))
def test_any_text_has_an_answer(raw: str, provider: str | None) -> None:
    part = resolve(raw, provider)
    assert part.raw == raw
    assert part.accelerator is None or part.accelerator in catalogue().by_key


# Neighbours in spelling that are different parts.
NEIGHBOURS = [
    ("A10", "A100", "A1000", "A10G", "A40", "A4000", "A100X", "A16"),
    ("L4", "L40", "L40S"),
    ("T4", "T4G"),
    ("H200", "GH200", "H20", "H100", "H800"),
    ("B200", "GB200", "B300", "GB300"),
    ("V100", "V100S"),
    ("RTX 3090", "RTX 3090 Ti", "RTX 3080", "RTX 3080 Ti"),
    ("RTX 4070", "RTX 4070 Ti", "RTX 4070 SUPER", "RTX 4070 Ti SUPER", "RTX 4070 Laptop"),
    ("RTX 4090", "RTX 4090 D", "RTX 4090 Laptop GPU"),
    ("Quadro RTX 6000", "RTX 6000 Ada", "RTX A6000", "RTX PRO 6000", "RTX PRO 6000 Server", "RTX PRO 6000 Max-Q"),
    ("Quadro RTX 4000", "RTX 4000 Ada", "RTX 4000 SFF Ada", "RTX A4000", "RTX PRO 4000"),
    ("MI250", "MI250X", "MI300A", "MI300X", "MI308X", "MI325X", "MI355X"),
    ("TPU v2", "TPU v3", "TPU v4", "TPU v5e", "TPU v5p", "TPU v6e", "TPU v7"),
    ("Trainium", "Trainium2", "Inferentia", "Inferentia2"),
    ("Gaudi", "Gaudi 2", "Gaudi 3"),
    ("TITAN V", "TITAN X", "TITAN Xp", "TITAN RTX", "GTX TITAN X", "GTX TITAN"),
]


@pytest.mark.parametrize("names", NEIGHBOURS, ids=lambda names: names[0])
def test_neighbours_stay_apart(names: tuple[str, ...]) -> None:
    models = [resolve(name).model for name in names]
    assert None not in models
    assert len(set(models)) == len(names)
    assert [resolve(f"8x {name}").model for name in names] == models


# --- cost ---------------------------------------------------------------------------------------------------------------


def test_import_is_light() -> None:
    code = "import sys, warehouse.names as n; n.resolve('H100'); print(sorted({'duckdb', 'pandas', 'pydantic'} & set(sys.modules)))"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
