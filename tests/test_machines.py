"""Parts priced apart, put together to machines: the sums equal what the provider's own page prints for the machine."""

from datetime import UTC, datetime
from decimal import Decimal

from scrapers.source import load
from tests.record import FIXTURES, fixture_pages
from warehouse.preview import preview


def machines(stamp: str) -> dict[tuple[str, str], tuple[Decimal, Decimal, str | None]]:
    """SKU and region to price, price per accelerator and hour, and why it does not count."""
    rows, _ = preview(load("gcp_skus"), fixture_pages(FIXTURES / "gcp_skus" / stamp), datetime(2026, 6, 14, tzinfo=UTC))
    return {
        (row["sku"], row["region"]): (row["price"], row["usd_per_accelerator_hour"], row["why_not"])
        for row in rows
        if row["price_scope"] == "offer"
    }


def test_an_a2_machine_is_its_accelerators_processors_and_memory() -> None:
    """Google's page of September 2026 prints 3.673385 for the small one and 55.739504 for the large one."""
    found = machines("2023-08-10T000000Z")
    assert found["a2-highgpu-1g", "us-central1"] == (Decimal("3.673385"), Decimal("3.673385"), None)
    assert found["a2-highgpu-8g", "us-east1"] == (Decimal("29.38708"), Decimal("3.673385"), None)
    assert found["a2-megagpu-16g", "us-central1"] == (Decimal("55.739504"), Decimal("3.483719"), None)


def test_a_machine_whose_disks_or_memory_are_not_told_is_not_put_together() -> None:
    found = machines("2026-06-14T000000Z")
    assert found["g4-standard-48", "us-central1"] == (Decimal("4.49993"), Decimal("4.49993"), None)
    assert not [sku for sku, _ in found if sku.startswith("a3-")]


def test_the_parts_themselves_never_count() -> None:
    rows, _ = preview(
        load("gcp_skus"), fixture_pages(FIXTURES / "gcp_skus" / "2023-08-10T000000Z"), datetime(2023, 8, 10, tzinfo=UTC)
    )
    parts = [row for row in rows if row["price_scope"] == "component"]
    assert len(parts) == 3
    assert {row["price_scope"] for row in rows} == {"component", "offer"}
    assert {row["why_not"] for row in parts} == {"accelerator only, the host is billed on top"}
