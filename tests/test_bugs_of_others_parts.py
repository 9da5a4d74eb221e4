"""Parts that other trackers mixed up, asked for as people ask: what an accelerator costs, which series a name belongs to.

How single spellings are read is in `test_names.py`; here are prices by the part that was asked for.
"""

import json
import os
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.market import Market, offer
from warehouse import ask, database
from warehouse.accelerators import catalogue
from warehouse.names import resolve_text

NAMES = {
    "L4": "0.44", "L40": "0.69", "L40S": "0.79", "A10": "0.75", "A10G": "1.006", "A100-40": "1.29", "A1000": "0.10", "T4": "0.35", "T4g": "0.42",
    "RTX A4000": "0.25", "A40": "0.40", "NVIDIA A100-SXM4-80GB": "1.60", "NVIDIA H100 PCIe": "3.29", "NVIDIA H100 80GB HBM3": "4.69",
    "H100 NVL": "3.90", "NVIDIA H200": "3.80", "NVIDIA H200 NVL": "3.40", "1x GH200 (96 GB)": "1.49", "GB200 NVL72": "10.50",
    "NVIDIA B200 SXM": "5.90", "RTX 4090": "0.44", "RTX 4090 Laptop": "0.20", "Tesla V100 16GB": "0.80", "Tesla V100 32GB": "0.90",
    "MI300X": "2.10", "MI325X": "2.50",
}  # fmt: skip
REWORDED = ("1x NVidia RTX6000 Ada 48GB", "1x NVIDIA RTX6000 Ada 48GB", "1x RTX 6000 Ada 48GB")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    with pytest.MonkeyPatch.context() as patch:
        market = Market(folder, patch)
        market.source("all_parts", "lambda")
        market.source("rewords", "made-up")
        market.source("clouds", "aws")
        market.source("chips", "gcp")
        offers = [offer(name, price, accelerator_name=name) for name, price in NAMES.items()]
        types = [
            offer(sku, price, accelerator_name=sku, accelerator_count=None)
            for sku, price in (("g6.xlarge", "0.80"), ("g6.12xlarge", "4.60"),
                ("inf2.xlarge", "0.76"), ("trn1.32xlarge", "21.50"), ("g6e.xlarge", "1.86"))
        ]  # fmt: skip
        chips = [
            offer("v6e-8", "2.70", accelerator_name="v6e-8", accelerator_count=None, price_scope="accelerator"),
            offer("v3-8", "8.00", accelerator_name="v3-8", accelerator_count=None),
        ]
        for day in range(3):
            when = str(date(2026, 3, 1) + timedelta(days=day))
            market.says("all_parts", when, offers)
            market.says("clouds", when, types)
            market.says("chips", when, chips)
            market.says("rewords", when, [offer("ada", "0.80", accelerator_name=REWORDED[day])])
        market.update()
    return folder / "data"


def cheapest(ledger: Path, name: str, provider: str | None = None) -> Decimal:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_DATA", str(ledger))
        with database.connect_published() as connection:
            answer = ask.prices(connection, ask.accelerators(connection, name), None)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return min(row["usd_per_accelerator_hour"] for row in rows if provider in {None, row["provider"]})


@pytest.mark.parametrize(
    ("asked_for", "price"),
    [
        ("L40", "0.69"), ("L40S", "0.79"), ("L4", "0.44"), ("A10", "0.75"), ("A10G", "1.006"), ("A40", "0.40"), ("RTX A4000", "0.25"), ("T4", "0.35"),
        ("T4G", "0.42"), ("h100-pcie-80gb", "3.29"), ("h100-sxm-80gb", "4.69"), ("h100-nvl-94gb", "3.90"), ("h200-nvl-141gb", "3.40"),
        ("h200-unstated-141gb", "3.80"), ("GH200", "1.49"), ("GB200", "10.50"), ("B200", "5.90"), ("rtx-4090-24gb", "0.44"),
        ("v100-unstated-32gb", "0.90"),
    ],
)  # fmt: skip
def test_the_cheapest_of_a_part_is_never_that_of_its_neighbour(ledger: Path, asked_for: str, price: str) -> None:
    assert cheapest(ledger, asked_for, "lambda") == Decimal(price)


def test_a_provider_that_rewords_goes_on_in_one_series(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with database.connect_published() as connection:
        days = connection.execute(
            "SELECT accelerator, count(*), min(usd_per_accelerator_hour_median), max(usd_per_accelerator_hour_median), max(age_days)"
            " FROM provider_prices_daily WHERE provider = 'made-up' GROUP BY 1"
        ).fetchall()
        keys = connection.execute(
            "SELECT count(DISTINCT offer_key), count(DISTINCT accelerator_name) FROM offers WHERE source = 'rewords'"
        )
        assert days == [("rtx-6000-ada-48gb", 3, Decimal("0.80"), Decimal("0.80"), 0)]
        assert keys.fetchall() == [(1, 3)]


def test_a_view_of_gpus_leaves_other_accelerators_out(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with database.connect_published() as connection:
        rows = connection.execute(
            "SELECT sku, o.accelerator, o.accelerator_count, o.vendor, kind = 'gpu' FROM offers_current AS o"
            " JOIN reference.accelerators AS a USING (accelerator)"
            " WHERE sku IN ('inf2.xlarge', 'trn1.32xlarge', 'g6e.xlarge') ORDER BY 1"
        ).fetchall()
    assert rows == [
        ("g6e.xlarge", "l40s-48gb", 1, "NVIDIA", True),
        ("inf2.xlarge", "inferentia2", 1, "AWS", False), ("trn1.32xlarge", "trainium", 16, "AWS", False),
    ]  # fmt: skip


def test_a_chip_is_neither_a_core_nor_a_device(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price per chip of a slice of eight; and one of a device of eight cores, which is four chips."""
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with database.connect_published() as connection:
        rows = connection.execute(
            "SELECT sku, accelerator, accelerator_count, usd_per_hour, usd_per_accelerator_hour FROM offers_current"
            " WHERE source = 'chips' ORDER BY 1"
        ).fetchall()
    assert rows == [
        ("v3-8", "tpu-v3", 4, Decimal("8.00"), Decimal("2.00")), ("v6e-8", "tpu-v6e", 8, Decimal("21.60"), Decimal("2.70")),
    ]  # fmt: skip


def test_no_two_parts_share_a_series(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with database.connect_published() as connection:
        rows = connection.execute(
            "SELECT accelerator, count(DISTINCT accelerator_name) FROM offers_current WHERE source = 'all_parts' GROUP BY 1 HAVING count(*) > 1"
        ).fetchall()
        [(series,)] = connection.execute(
            "SELECT count(DISTINCT accelerator) FROM offers_current WHERE source = 'all_parts'"
        ).fetchall()
    assert (rows, series) == ([], len(NAMES))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["NVIDIA RTX A4000", "NVIDIA A40", "NVIDIA A100-SXM4-80GB"], ["rtx-a4000-16gb", "a40-48gb", "a100-sxm-80gb"]),
        (
            ["--provider", "aws", "--", "inf2.xlarge", "trn1.32xlarge", "g5g.xlarge"],
            ["inferentia2", "trainium", "t4g-16gb"],
        ),
    ],
)
def test_the_command_reads_names_as_the_ledger_does(arguments: list[str], found: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "resolve", *arguments],
        capture_output=True,
        text=True,
        env=os.environ,
        check=True,
    )
    assert [json.loads(line)["accelerator"] for line in done.stdout.splitlines()] == found


PARTS = [
    part for part in catalogue().by_key.values() if part.memory_gb and part.form_factor != "mobile" and not part.may_be
]


@given(st.sampled_from(PARTS), st.integers(1, 16), st.sampled_from(["total", "each"]))
def test_memory_is_that_of_one_whichever_way_a_page_tells_it(part: Any, count: int, scope: str) -> None:
    """The count is told, and memory of each or of all: the part is the same."""
    told = part.memory_gb * (count if scope == "total" else 1)
    form = "" if part.form_factor in {"unstated", ""} else part.form_factor
    read = resolve_text(
        provider="somewhere", sku="sku-1", accelerator_name=f"{part.vendor} {part.model} {form}", accelerator_count=Decimal(count), memory_gb=told,
        memory_scope=scope,
    )  # fmt: skip
    assert (read.model, read.memory_gb, read.count, read.conflict) == (part.model, part.memory_gb, count, None)
