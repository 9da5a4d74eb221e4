"""Dated list prices: every row reads, the known facts are there, and each row names the part that its words name."""

import csv
import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from scrapers.datasets import list_prices
from scrapers.offer import Offer
from scrapers.source import Page, PageError
from tests.record import FIXTURES, as_json, fixture_pages

REFERENCE = Path(list_prices.__file__).parents[2] / "warehouse" / "reference"
FILE = REFERENCE / "list_prices.csv"


def rows_of(name: str) -> list[dict[str, str]]:
    with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = rows_of("list_prices")
CAPTURES = list(list_prices.captures(FILE))


def usd_per_accelerator_hour(row: dict[str, str]) -> Decimal:
    hours = {"second": Decimal(1) / 3600, "hour": Decimal(1), "month": Decimal(730)}[row["per"]]
    each = Decimal(row["accelerator_count"]) if row["price_scope"] == "offer" else Decimal(1)
    return round(Decimal(row["price"]) / hours / each, 2)


@pytest.mark.parametrize("folder", sorted((FIXTURES / "list_prices").iterdir()), ids=lambda folder: folder.name)
def test_fixture(folder: Path) -> None:
    offers = [item for item in list_prices.parse(fixture_pages(folder)) if isinstance(item, Offer)]
    assert as_json(offers) == json.loads((folder / "offers.json").read_text(encoding="utf-8"))


def test_every_row_becomes_one_offer() -> None:
    offers = [item for capture in CAPTURES for item in list_prices.parse(capture.pages)]
    assert len(offers) == len(ROWS)
    assert all(isinstance(item, Offer) and item.provider for item in offers)


def test_captures_are_told_apart_and_dated() -> None:
    assert len({(capture.observed_at, capture.scope) for capture in CAPTURES}) == len(CAPTURES)
    assert all(len({page.name for page in capture.pages}) == len(capture.pages) for capture in CAPTURES)
    assert {f"{capture.observed_at:%Y-%m-%d}" for capture in CAPTURES} == {row["observed_on"] for row in ROWS}


def test_the_archive_dates_what_it_dates() -> None:
    seen = {f"{capture.observed_at:%Y-%m-%d} {capture.scope}": capture.observed_at for capture in CAPTURES}
    page = "aws.amazon.com/ec2/instance-types"
    assert seen[f"2017-02-10 {page}/p2"] == datetime(2017, 2, 10, 8, 46, 43, tzinfo=UTC)
    # Its copy is of 2022-12-09, the day is the list's.
    assert seen[f"2023-03-10 {page}/p4"] == datetime(2023, 3, 10, tzinfo=UTC)


def test_a_note_makes_no_new_snapshot() -> None:
    headers = {page.text.splitlines()[0] for capture in CAPTURES for page in capture.pages}
    assert headers == {",".join(list_prices.COLUMNS)}


def test_nothing_stands_twice() -> None:
    key = [
        name
        for name in ROWS[0]
        if name not in {"accelerator", "accelerator_name", "memory_gb", "price", "note", "verified"}
    ]
    assert [row for row, times in Counter(tuple(row[name] for name in key) for row in ROWS).items() if times > 1] == []


def test_every_row_has_a_page() -> None:
    assert all(row["source_url"].startswith("https://") for row in ROWS)
    assert {row["verified"] for row in ROWS} == {"yes", "partly", "memory"}


@pytest.mark.parametrize(
    ("provider", "accelerator", "since", "until", "scope", "model", "days", "usd"),
    [
        ("azure", "a100-sxm-80gb", "2022-04", "2022-12", "accelerator", "on_demand", 0, "4.10"),
        ("aws", "a100-sxm-80gb", "2022-08", "2023-03", "accelerator", "on_demand", 0, "5.12"),
        ("aws", "a100-sxm-40gb", "2022-10", "2023-04", "accelerator", "on_demand", 0, "4.10"),
        ("aws", "a100-sxm-40gb", "2022-10", "2023-04", "accelerator", "reserved", 1095, "1.45"),
        ("gcp", "a100-sxm-80gb", "2022-12-12", "2022-12-13", "component", "on_demand", 0, "3.93"),
        ("gcp", "a100-sxm-80gb", "2022-12", "2023-04", "offer", "on_demand", 0, "5.03"),
        ("gcp", "a100-sxm-40gb", "2022-12", "2023-04", "offer", "on_demand", 0, "3.67"),
        ("lambda", "a100-unstated-80gb", "2023-09", "2023-10", "offer", "on_demand", 0, "1.50"),
        ("lambda", "a100-unstated-40gb", "2023-09", "2023-10", "offer", "on_demand", 0, "1.10"),
        ("lambda", "a100-unstated-40gb", "2023-01", "2023-02", "accelerator", "on_demand", 0, "1.10"),
        ("dgx_cloud", "a100-sxm-80gb", "2023-03", "2023-04", "offer", "reserved", 30, "6.34"),
        ("gcp", "tpu-v4", "2022-05", "2022-06", "accelerator", "on_demand", 0, "3.22"),
        ("gcp", "tpu-v4", "2022-05", "2022-06", "accelerator", "reserved", 365, "2.03"),
        ("gcp", "tpu-v4", "2022-05", "2022-06", "accelerator", "reserved", 1095, "1.45"),
        ("gcp", "tpu-v3", "2020-12", "2021-01", "accelerator", "on_demand", 0, "2.00"),
        ("aws", "v100-sxm-16gb", "2018-06", "2018-07", "accelerator", "on_demand", 0, "3.06"),
        ("aws", "v100-sxm-32gb", "2019-01", "2019-09", "accelerator", "on_demand", 0, "3.90"),
        ("azure", "v100-pcie-16gb", "2020-03", "2020-04", "accelerator", "on_demand", 0, "3.06"),
        ("azure", "v100-sxm-32gb", "2020-03", "2020-04", "accelerator", "on_demand", 0, "2.75"),
        ("azure", "a100-pcie-80gb", "2025-03", "2025-04", "accelerator", "on_demand", 0, "3.67"),
        ("modal", "h100-unstated-80gb", "2025-06", "2025-07", "accelerator", "on_demand", 0, "3.95"),
    ],
)  # fmt: skip
def test_known_prices(
    provider: str, accelerator: str, since: str, until: str, scope: str, model: str, days: int, usd: str
) -> None:
    found = {
        usd_per_accelerator_hour(row)
        for row in ROWS
        if (row["provider"], row["accelerator"], row["price_scope"]) == (provider, accelerator, scope)
        and (row["pricing_model"], row["commitment_days"]) == (model, str(days))
        and since <= row["observed_on"] < until
    }
    assert found == {Decimal(usd)}


def test_dgx_cloud_is_a_month_that_nobody_read() -> None:
    (row,) = [row for row in ROWS if row["provider"] == "dgx_cloud"]
    assert (row["price"], row["per"], row["accelerator_count"], row["verified"]) == ("36999", "month", "8", "memory")


def test_google_parts_before_2026_are_components_unless_whole_machines() -> None:
    google = [row for row in ROWS if row["provider"] == "gcp" and row["observed_on"] < "2026"]
    for row in google:
        if row["accelerator"].startswith("tpu"):
            assert row["price_scope"] == "accelerator"
        else:
            assert (row["price_scope"] == "component") == (not row["sku"].startswith(("a2-", "a3-")))


def test_a_from_price_is_a_floor() -> None:
    floors = {row["provider"] for row in ROWS if row["pricing_model"] == "floor"}
    assert floors == {"gmi", "hyperstack", "nebius", "sesterce"}


def test_keys_exist() -> None:
    assert {row["accelerator"] for row in ROWS} <= {row["accelerator"] for row in rows_of("accelerators")}
    assert {row["provider"] for row in ROWS} <= {row["provider"] for row in rows_of("providers")}


def test_regions_are_known() -> None:
    known = {(row["provider"], row["region"]) for row in rows_of("regions")}
    assert {(row["provider"], row["region"]) for row in ROWS if row["region"] != "global"} <= known


def test_words_name_the_part() -> None:
    names = pytest.importorskip("warehouse.names")
    wrong = []
    for row in ROWS:
        part = names.resolve_text(
            provider=row["provider"],
            sku=row["sku"],
            accelerator_name=row["accelerator_name"],
            accelerator_count=Decimal(row["accelerator_count"]) if row["accelerator_count"] else None,
            memory_gb=Decimal(row["memory_gb"]) if row["memory_gb"] else None,
            memory_scope="each" if row["memory_gb"] else None,
        )
        if part.accelerator != row["accelerator"] or part.conflict:
            told = (row["provider"], row["sku"], row["accelerator_name"], row["memory_gb"], row["accelerator"])
            wrong.append((told, part.accelerator, part.conflict))
    assert wrong == []


@pytest.mark.parametrize("body", [b"", b"provider,sku\naws,p4d.24xlarge\n", b"<html></html>"])
def test_another_page_is_refused(body: bytes) -> None:
    with pytest.raises(PageError):
        list(list_prices.parse([Page("https://example.org", body, "list_prices.csv")]))


def test_a_bad_row_is_reported_and_the_rest_stand() -> None:
    head, first, *_ = CAPTURES[0].pages[0].text.splitlines()
    bad = first.replace("0.90", "-1")
    page = Page("https://example.org", "\n".join([head, bad, first]).encode(), "list_prices.csv")
    found = list(list_prices.parse([page]))
    assert [isinstance(item, Offer) for item in found] == [False, True]
