"""Published histories on miniatures of them: what is archived, what is read, what is left out and why."""

import json
import subprocess
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scrapers import clone
from scrapers.clone import CloneError
from scrapers.offer import Offer
from scrapers.source import Capture, PageError, Parsed, load

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone"
A100 = "\"{'Gpus': [{'Name': 'A100', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 40960}}]}\""


class Repository:
    """A git repository whose commits are written at told times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, at: str = "2023-01-01T00:00:00Z") -> str:
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
            ("NAME", "bot"), ("EMAIL", "bot@made-up.example"), ("DATE", at),
        )}  # fmt: skip
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)} | identity,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def commit(self, at: str, files: dict[str, str | None]) -> str:
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"at {at}", at=at)
        return self.git("rev-parse", "HEAD").strip()


def catalogue(*lines: str, header: str = HEADER) -> str:
    return "\n".join([header, *lines]) + "\n"


def row(
    sku: str,
    name: str = "",
    price: str = "",
    spot: str = "",
    zone: str = "use1-az1",
    region: str = "us-east-1",
    **more: str,
) -> str:
    count = more.get("count", "8.0" if name else "")
    return f"{sku},{name},{count},96.0,1152.0,{more.get('info', '')},{price},{spot},{region},{zone}"


def captures(name: str, path: Path, **more: Any) -> list[Capture]:
    return list(load(name).module.captures(path, **more))


def read(name: str, capture: Capture) -> Parsed:
    return load(name).parse(capture.pages)


def asked(offers: Iterable[Offer], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(offer, name) for name in names) for offer in offers]


# --- A clone


def test_of_a_day_the_last_commit_and_of_the_versions_the_highest(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit("2024-02-05T01:00:00Z", {"catalogs/v5/lambda/vms.csv": catalogue(row("gpu_1x", "H100", "1.99"))})
    newer = repository.commit(
        "2024-02-05T09:00:00Z",
        {
            "catalogs/v5/lambda/vms.csv": catalogue(row("gpu_1x", "H100", "2.49")),
            "catalogs/v6/lambda/vms.csv": catalogue(row("gpu_1x", "H100", "2.50")),
        },
    )
    repository.commit("2024-02-05T23:00:00Z", {"catalogs/v5/lambda/vms.csv": catalogue(row("gpu_1x", "H100", "9.99"))})
    # Late in the evening in California it is the next UTC day.
    repository.commit(
        "2024-02-05T18:00:00-08:00", {"catalogs/v5/lambda/vms.csv": catalogue(row("gpu_1x", "H100", "2.51"))}
    )
    found = captures("skypilot_catalog", repository.folder)
    assert [(one.observed_at, one.scope) for one in found] == [
        (datetime(2024, 2, 5, 9, tzinfo=UTC), "lambda"),
        (datetime(2024, 2, 6, 2, tzinfo=UTC), "lambda"),
    ]
    assert [offer.price for one in found for offer in read("skypilot_catalog", one).offers] == [
        Decimal("2.50"),
        Decimal("2.51"),
    ]
    assert found[0].pages[0].url.endswith(f"/blob/{newer}/catalogs/v6/lambda/vms.csv")


def test_every_layout_since_the_first(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit(
        "2022-09-01T00:00:00Z",
        {
            "catalogs/aws/instances.csv": catalogue(row("p3.2xlarge", "V100", "3.06", count="1")),
            "catalogs/v1/gcp.csv": catalogue(row("", "T4", "0.35", count="1")).replace("vCPUs,", "").replace(",96.0,", ","),
            "catalogs/v4/azure/instances.csv": catalogue(row("Standard_NC6", "K80", "0.9", count="1")),
            "catalogs/v8/lambda/vms.csv": catalogue(row("gpu_1x", "A10", "0.75", count="1")),
            "catalogs/v4/aws/images.csv": "Tag,Region\n",
            "catalogs/v8/common/accelerators.csv": "AcceleratorName\nV100\n",
            "catalogs/v8/cpus/vms.csv": catalogue(row("c5.large", "", "0.08")),
            "README.md": "a catalogue",
        },
    )  # fmt: skip
    found = captures("skypilot_catalog", repository.folder)
    assert sorted(one.scope for one in found) == ["aws", "azure", "gcp", "lambda"]
    assert sorted(offer.sku for one in found for offer in read("skypilot_catalog", one).offers) == [
        "Standard_NC6", "T4", "gpu_1x", "p3.2xlarge",
    ]  # fmt: skip


def test_archived_are_the_lines_with_an_accelerator_as_they_stand(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    gpu = row("p4d.24xlarge", "A100", "32.7726", "11.12", info=A100)
    lines = [
        row("a1.large", "", "0.05"),
        gpu,
        row("c5.large", "", "0.08"),
        row("inf1.xlarge", "Inferentia", "0.228", count="1.0"),
    ]
    repository.commit("2024-01-01T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(*lines)})
    [capture] = captures("skypilot_catalog", repository.folder)
    assert capture.pages[0].text == catalogue(gpu, lines[3])
    # With Windows' line ends, and a field before it that holds commas, too.
    odd = 'Region,AcceleratorName,InstanceType,AcceleratorCount,Price,SpotPrice,MemoryGiB\r\n"Texas, US",H100,1x,1,2.0,0.00,64\r\n'
    repository.commit("2024-01-02T00:00:00Z", {"catalogs/v7/vast/vms.csv": odd})
    [_, capture] = captures("skypilot_catalog", repository.folder)
    assert asked(read("skypilot_catalog", capture).offers, "sku", "region", "pricing_model", "price") == [
        ("1x", "Texas, US", "on_demand", Decimal("2.0"))
    ]


def test_on_demand_is_a_regions_price_and_spot_a_zones(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    lines = [
        row("p4d.24xlarge", "A100", "32.7726", "11.12", zone="use1-az1"), row("p4d.24xlarge", "A100", "32.7726", "11.12", zone="use1-az2"),
        row("g5.xlarge", "A10G", "1.006", "", zone="use1-az1"), row("g5.xlarge", "A10G", "1.100", "0.4", zone="use1-az2"),
    ]  # fmt: skip
    repository.commit("2024-01-01T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(*lines)})
    [capture] = captures("skypilot_catalog", repository.folder)
    assert asked(read("skypilot_catalog", capture).offers, "sku", "pricing_model", "zone", "price") == [
        ("p4d.24xlarge", "on_demand", None, Decimal("32.7726")),
        ("p4d.24xlarge", "spot", "use1-az1", Decimal("11.12")),
        ("p4d.24xlarge", "spot", "use1-az2", Decimal("11.12")),
        ("g5.xlarge", "on_demand", "use1-az1", Decimal("1.006")),
        ("g5.xlarge", "on_demand", "use1-az2", Decimal("1.100")),
        ("g5.xlarge", "spot", "use1-az2", Decimal("0.4")),
    ]


def test_google_parts_join_the_machine_of_their_zone_or_are_components(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    lines = [
        row("", "A100", "23.47128", "9.3888", "us-central1-a", "us-central1"),
        row("", "A100", "23.47128", "9.3888", "us-central1-x", "us-central1"),
        row("", "V100", "4.96", "", "us-central1-a", "us-central1", count="2"),
        row("a2-highgpu-8g", "", "5.91582", "", "us-central1-a", "us-central1"),
        row("n1-standard-8", "", "0.38", "", "us-central1-a", "us-central1"),
    ]
    repository.commit("2024-01-01T00:00:00Z", {"catalogs/v5/gcp/vms.csv": catalogue(*lines)})
    [capture] = captures("skypilot_catalog", repository.folder)
    assert "n1-standard-8" not in capture.pages[0].text
    offers = read("skypilot_catalog", capture).offers
    assert asked(offers, "sku", "price_scope", "pricing_model", "accelerator_count", "price", "price_text") == [
        ("a2-highgpu-8g", "offer", "on_demand", 8, Decimal("29.38710"), "23.47128 + 5.91582"),
        ("A100", "component", "on_demand", 8, Decimal("2.93391"), "23.47128"),
        ("A100", "component", "spot", 8, Decimal("1.1736"), "9.3888"),
        ("V100", "component", "on_demand", 2, Decimal("2.48"), "4.96"),
    ]


def test_a_row_that_does_not_read_leaves_the_others(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    lines = [row(f"p{n}.x", "A100", "1.0") for n in range(30)]
    lines[7] = row("p7.x", "A100", "cheap")
    repository.commit("2024-01-01T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(*lines)})
    [capture] = captures("skypilot_catalog", repository.folder)
    parsed = read("skypilot_catalog", capture)
    assert (len(parsed.offers), [bad.record for bad in parsed.rejected]) == (29, ["p7.x"])


def test_another_header_is_archived_and_refused(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit("2024-01-01T00:00:00Z", {"catalogs/v9/aws/vms.csv": "type,gpu,usd\np4d.24xlarge,A100,32.77\n"})
    [capture] = captures("skypilot_catalog", repository.folder)
    with pytest.raises(PageError, match="no column AcceleratorCount, AcceleratorName"):
        read("skypilot_catalog", capture)


def test_a_bundle_and_a_bare_clone_are_read_like_a_clone(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit(
        "2024-01-01T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(row("p4d.24xlarge", "A100", "32.7726"))}
    )
    repository.git("bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "main", "HEAD")
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "bare"))
    assert captures("skypilot_catalog", tmp_path / "all.bundle") == captures("skypilot_catalog", repository.folder)
    assert captures("skypilot_catalog", tmp_path / "bare") == captures("skypilot_catalog", repository.folder)


def test_what_is_no_clone_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no bundle")
    empty = Repository(tmp_path / "empty")
    other = Repository(tmp_path / "other")
    other.commit("2024-01-01T00:00:00Z", {"README.md": "something else"})
    for path, why in (
        (tmp_path / "none", "no folder"), (tmp_path / "file", "no git clone, nor a bundle"), (tmp_path, "no git clone"),
        (empty.folder, "no git clone"), (other.folder, "without catalogs"),
    ):  # fmt: skip
        with pytest.raises(CloneError, match=why) as error:
            captures("skypilot_catalog", path)
        assert "\n" not in str(error.value)
    monkeypatch.setattr(clone.shutil, "which", lambda name: None)
    with pytest.raises(CloneError, match="this needs git, and there is none on the PATH"):
        captures("skypilot_catalog", other.folder)


def test_a_clones_own_settings_change_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit(
        "2024-01-01T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(row("p4d.24xlarge", "A100", "32.7726"))}
    )
    before = captures("skypilot_catalog", repository.folder)
    for setting in (
        ("log.date", "relative"),
        ("diff.renames", "copies"),
        ("log.showSignature", "true"),
        ("core.pager", "false"),
    ):
        repository.git("config", *setting)
    assert captures("skypilot_catalog", repository.folder) == before


# --- Google Cloud's machines

YAML = """---
about:
  generated: Thu Jan  5 03:56:59 2023
  timestamp: 1672891019
compute:
  instance:
    a2-highgpu-8g:
      a100: 8
      bandwidth: 100
      cost:
        us-central1:
          hour: 29.38708
          hour_spot: 8.816124
          month: 21452.5684
          month_1y: 13514.9691136
          month_3y: 7508.54062384
          month_spot: 6435.77052
      cpu: 96
      ram: 680
    a2-ultragpu-8g:
      a100-80gb: 8
      cost:
        us-central1:
          hour: 40.221616
          month: 29361.77968
          month_1y: 29361.77968
          month_3y: 29361.77968
      cpu: 96
      local-ssd: 3000
      ram: 1360
    c2-standard-4:
      cost:
        us-central1:
          hour: 0.2088
          month: 152.424
      cpu: 4
      ram: 16
  license:
    a2-highgpu-8g:
      cost:
        rhel:
          hour: 0.13
          month: 94.9
monitoring:
  data:
    cost: 1
"""


def test_machines_with_accelerators_are_cut_out_as_they_stand(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit("2023-01-05T03:00:00Z", {"pricing.yml": YAML.replace("29.38708", "1.0")})
    repository.commit("2023-01-05T04:00:00Z", {"pricing.yml": YAML})
    repository.commit("2023-01-06T00:00:00Z", {"pricing.yml": None, "README.md": "moved"})
    [capture] = captures("google_cloud_pricing", repository.folder)
    start, end = YAML.index("    a2-highgpu-8g"), YAML.index("    c2-standard-4")
    assert capture.pages[0].text == "compute:\n  instance:\n" + YAML[start:end]
    offers = read("google_cloud_pricing", capture).offers
    words = ("sku", "accelerator_name", "accelerator_count", "pricing_model", "commitment_days", "per", "price")
    assert asked(offers, *words) == [
        ("a2-highgpu-8g", "a100", 8, "on_demand", 0, "hour", Decimal("29.38708")),
        ("a2-highgpu-8g", "a100", 8, "spot", 0, "hour", Decimal("8.816124")),
        ("a2-highgpu-8g", "a100", 8, "reserved", 365, "month", Decimal("13514.9691136")),
        ("a2-highgpu-8g", "a100", 8, "reserved", 1095, "month", Decimal("7508.54062384")),
        # Its commitments cost what it costs without: there are none.
        ("a2-ultragpu-8g", "a100-80gb", 8, "on_demand", 0, "hour", Decimal("40.221616")),
    ]


@pytest.mark.parametrize(
    ("good", "bad"),
    [("      a100: 8\n", "      a100: 8 of them\n"), ("  hour: 29", "  hourly: 29"), ("  hour: 29.38708", "  hour: free"), ("    a2-h", "   a2-h")],
)  # fmt: skip
def test_a_line_that_is_not_known_is_no_price(tmp_path: Path, good: str, bad: str) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit("2023-01-05T04:00:00Z", {"pricing.yml": YAML.replace(good, bad)})
    for capture in captures("google_cloud_pricing", repository.folder):
        try:
            offers = read("google_cloud_pricing", capture).offers
        except PageError:
            offers = []
        assert not [offer for offer in offers if offer.sku == "a2-highgpu-8g" and offer.pricing_model == "on_demand"]


# --- Files


def parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    kinds = {
        "timestamp": pa.timestamp("us"), "provider": pa.string(), "instance_type": pa.string(), "gpu_type": pa.string(),
        "gpu_count": pa.int64(), "gpu_memory_gb": pa.float64(), "vcpus": pa.int64(), "ram_gb": pa.float64(), "region": pa.string(),
        "price_per_hour": pa.float64(), "is_spot": pa.bool_(), "available": pa.bool_(), "availability_zone": pa.string(),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(kinds)), path)


def machine(at: str, price: float, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": datetime.fromisoformat(at), "provider": "aws", "instance_type": "p4d.24xlarge", "gpu_type": "A100", "gpu_count": 8,
        "gpu_memory_gb": 40.0, "vcpus": 96, "ram_gb": 1152.0, "region": "us-east-1", "price_per_hour": price, "is_spot": False,
        "available": None, "availability_zone": None,
    } | more  # fmt: skip


def test_of_a_day_each_providers_last_collection_counts(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    parquet(folder / "dt=2026-03-02" / "a.parquet", [
        machine("2026-03-02T00:10", 30.0), machine("2026-03-02T00:10", 2.99, provider="runpod", instance_type="H100", gpu_count=1),
        machine("2026-03-02T00:10", 0.09, gpu_count=0, instance_type="t3.medium"),
    ])  # fmt: skip
    parquet(folder / "dt=2026-03-02" / "b.parquet", [
        machine("2026-03-02T12:10", 32.7726), machine("2026-03-02T12:10", 11.1, is_spot=True, availability_zone="us-east-1a", available=True),
    ])  # fmt: skip
    parquet(
        folder / "dt=2026-03-03" / "a.parquet",
        [machine("2026-03-03T00:10", 32.7726), machine("2026-03-03T00:10", 0.0, instance_type="x")],
    )
    first, second = captures("gpu_prices_parquet", tmp_path)
    assert (first.observed_at, second.observed_at) == (
        datetime(2026, 3, 2, 12, 10, tzinfo=UTC), datetime(2026, 3, 3, 0, 10, tzinfo=UTC),
    )  # fmt: skip
    assert "t3.medium" not in first.pages[0].text
    words = ("provider", "sku", "pricing_model", "price", "available", "zone", "accelerator_count")
    assert asked(read("gpu_prices_parquet", first).offers, *words) == [
        ("aws", "p4d.24xlarge", "on_demand", Decimal("32.7726"), None, None, 8),
        ("aws", "p4d.24xlarge", "spot", Decimal("11.1"), True, "us-east-1a", 8),
        ("runpod", "H100", "on_demand", Decimal("2.99"), None, None, 1),
    ]
    assert len(read("gpu_prices_parquet", second).offers) == 1


def test_a_parquet_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"gpu": ["H100"], "usd": [2.0]}), tmp_path / "x.parquet")
    with pytest.raises(PageError, match="no column timestamp, provider"):
        captures("gpu_prices_parquet", tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(PageError, match="not a Parquet file"):
        captures("gpu_prices_parquet", tmp_path)
    (tmp_path / "x.parquet").unlink()
    with pytest.raises(PageError, match=r"no \.parquet file"):
        captures("gpu_prices_parquet", tmp_path)


def snapshot(day: str, *offers: dict[str, Any]) -> str:
    return json.dumps({"date": day, "generated_at": f"{day}T06:00:00.000Z", "providers": {}, "offers": list(offers)})


def rented(provider: str, gpu: str, usd: float, day: str, kind: str = "on-demand", **more: Any) -> dict[str, Any]:
    return {
        "provider": provider, "gpu": gpu, "vram_gb": 80, "usd_hr": usd, "kind": kind, "source_url": "https://made-up.example",
        "fetched_at": f"{day}T05:59:00.000Z",
    } | more  # fmt: skip


def test_rows_carried_forward_are_no_sighting(tmp_path: Path) -> None:
    (tmp_path / "2026-08-20.json").write_text(snapshot("2026-08-20", rented("vultr", "h100", 2.4, "2026-08-20")))
    (tmp_path / "2026-08-21.json").write_text(
        snapshot("2026-08-21", rented("vultr", "h100", 2.4, "2026-08-20"), rented("fal", "h100", 4.5, "2026-08-21", "serverless"),
                 rented("fal", "h100", 4.5, "2026-08-21", "serverless"), rented("runpod", "h100", 2.0, "2026-08-21", "community"))
    )  # fmt: skip
    (tmp_path / "latest.json").write_text(snapshot("2026-08-21"))
    found = captures("gpurentalprices", tmp_path)
    assert [asked(read("gpurentalprices", one).offers, "provider", "tier", "price") for one in found] == [
        [("vultr", None, Decimal("2.4"))],
        [("fal", "serverless", Decimal("4.5")), ("runpod", "community", Decimal("2.0"))],
    ]
    subprocess.run(
        ["tar", "czf", str(tmp_path / "all.tar.gz"), "-C", str(tmp_path), "2026-08-20.json", "2026-08-21.json"],
        check=True,
    )
    assert captures("gpurentalprices", tmp_path / "all.tar.gz") == found


def test_an_unknown_kind_is_reported(tmp_path: Path) -> None:
    rows = [rented("lambda", f"gpu{n}", 2.0, "2026-08-21") for n in range(30)] + [
        rented("x", "h100", 2.0, "2026-08-21", "lottery")
    ]
    (tmp_path / "2026-08-21.json").write_text(snapshot("2026-08-21", *rows))
    [capture] = captures("gpurentalprices", tmp_path)
    parsed = read("gpurentalprices", capture)
    assert (len(parsed.offers), [bad.record for bad in parsed.rejected]) == (30, ["h100"])


def test_epochs_rows_keep_their_source_and_purchases_stay_out(tmp_path: Path) -> None:
    head = (
        "Price source,Price date,Hardware model,Manufacturer,Vendor,Location,Price per chip-hour (on-demand),Price per chip-hour (1-year CUD),"
        "Price per chip-hour (3-year CUD),Price (hardware purchase),Notes,Cloud GPU description,Number of GPUs"
    )
    rows = [
        "https://list.example,2022-08-04,NVIDIA Tesla T4,NVIDIA,Microsoft Azure,East US,0.53,,,,NC4as T4 v3,T4 (16 GB),1",
        "https://aws.example,2022-08-04,NVIDIA A100,NVIDIA,Amazon Web Services,US East (Northern Virginia),4.10,2.40,1.45,,p4d.24xlarge,,",
        "https://gcp.example,2022-08-04,NVIDIA V100,NVIDIA,Google Cloud,Iowa (us-central1),2.48,,,,,,1",
        "https://shop.example,2022-08-04,NVIDIA A100,NVIDIA,,,,,,15000.00,list price,,1",
    ]
    (tmp_path / "Hardware prices.csv").write_text("\ufeff" + "\n".join([head, *rows]) + "\n", encoding="utf-8")
    found = captures("hardware_prices_csv", tmp_path)
    assert [(one.scope, one.pages[0].url) for one in found] == [
        (url, url) for url in ("https://aws.example", "https://gcp.example", "https://list.example")
    ]
    offers = [offer for one in found for offer in read("hardware_prices_csv", one).offers]
    assert asked(offers, "sku", "provider", "price_scope", "pricing_model", "commitment_days", "price") == [
        ("p4d.24xlarge", "Amazon Web Services", "accelerator", "on_demand", 0, Decimal("4.10")),
        ("p4d.24xlarge", "Amazon Web Services", "accelerator", "reserved", 365, Decimal("2.40")),
        ("p4d.24xlarge", "Amazon Web Services", "accelerator", "reserved", 1095, Decimal("1.45")),
        ("NVIDIA V100", "Google Cloud", "component", "on_demand", 0, Decimal("2.48")),
        ("NC4as T4 v3", "Microsoft Azure", "accelerator", "on_demand", 0, Decimal("0.53")),
    ]


def change(sku: str, zone: str, price: str, at: str, product: str = "Linux/UNIX") -> dict[str, str]:
    return {
        "AvailabilityZone": zone,
        "InstanceType": sku,
        "ProductDescription": product,
        "SpotPrice": price,
        "Timestamp": at,
    }


@pytest.mark.parametrize("glue", ["\n", "", " \n\n"])
def test_spot_history_pages_one_after_the_other(tmp_path: Path, glue: str) -> None:
    pages = [
        {"SpotPriceHistory": [
            change("p4d.24xlarge", "us-east-1a", "11.5", "2026-03-02T20:00:00+00:00"),
            change("p4d.24xlarge", "us-east-1a", "11.1", "2026-03-02T03:00:00.000Z"),
            change("m5.large", "us-east-1a", "0.03", "2026-03-02T20:00:00+00:00"),
            change("p4d.24xlarge", "us-east-1b", "14.0", "2026-03-02T20:00:00Z", "Windows"),
        ], "NextToken": "more"},
        {"SpotPriceHistory": [change("trn1.32xlarge", "us-gov-west-1b", "8.4", "2026-03-02T23:30:00-02:00")], "NextToken": ""},
    ]  # fmt: skip
    (tmp_path / "spot.json").write_text(glue.join(json.dumps(page) for page in pages))
    found = captures("aws_spot_history", tmp_path / "spot.json")
    assert [one.observed_at for one in found] == [
        datetime(2026, 3, 2, 20, tzinfo=UTC),
        datetime(2026, 3, 3, 1, 30, tzinfo=UTC),
    ]
    assert [
        asked(read("aws_spot_history", one).offers, "sku", "region", "zone", "price", "pricing_model") for one in found
    ] == [
        [("p4d.24xlarge", "us-east-1", "us-east-1a", Decimal("11.5"), "spot")],
        [
            ("p4d.24xlarge", "us-east-1", "us-east-1a", Decimal("11.5"), "spot"),
            ("trn1.32xlarge", "us-gov-west-1", "us-gov-west-1b", Decimal("8.4"), "spot"),
        ],
    ]


def test_a_spot_price_holds_until_its_next_change_as_far_as_its_file_tells(tmp_path: Path) -> None:
    """Files of two windows: what nobody asked for between them is not filled."""
    windows = {
        "early": [("2026-01-03", "a", "1.00"), ("2026-01-06", "a", "1.20"), ("2026-01-07", "b", "3.00")],
        "late": [("2026-01-20", "b", "3.10"), ("2026-01-21", "b", "3.20")],
    }
    for name, changes in windows.items():
        records = [
            change("p4d.24xlarge", f"us-east-1{zone}", price, f"{day}T05:00:00Z") for day, zone, price in changes
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps({"SpotPriceHistory": records[::-1]}))
    found = {
        one.observed_at.day: {
            offer.zone: (str(offer.price), offer.effective_at) for offer in read("aws_spot_history", one).offers
        }
        for one in captures("aws_spot_history", tmp_path)
    }
    assert list(found) == [3, 4, 5, 6, 7, 20, 21]
    assert found[5] == {"us-east-1a": ("1.00", date(2026, 1, 3))}
    assert found[7] == {"us-east-1a": ("1.20", date(2026, 1, 6)), "us-east-1b": ("3.00", date(2026, 1, 7))}
    assert found[21] == {"us-east-1b": ("3.20", date(2026, 1, 21))}


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"SpotPriceHistory": [', "no JSON", '{"SpotPriceHistory": [{"Price": 1}]}']
)
def test_what_is_no_spot_history_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "spot.json").write_text(text)
    with pytest.raises(PageError):
        captures("aws_spot_history", tmp_path / "spot.json")


# --- A table of one's own

MAPPING = """
[columns]
observed_at = "when"
provider = "cloud"
accelerator_name = "gpu"
price = "usd"
pricing_model = "kind"

[constants]
currency = "USD"
accelerator_count = 8

[words.pricing_model]
OD = "on_demand"
"""


def table(folder: Path, text: str, mapping: str = MAPPING) -> list[Capture]:
    (folder / "quotes.csv").write_text(text, encoding="utf-8")
    (folder / "quotes.toml").write_text(mapping, encoding="utf-8")
    return captures("price_table", folder / "quotes.csv", mapping=folder / "quotes.toml")


def test_a_table_with_its_mapping(tmp_path: Path) -> None:
    text = (
        "when,cloud,gpu,usd,kind,secret\n2026-03-02T10:00:00+02:00,Lambda,H100 SXM,23.92,OD,x\n"
        "2026-03-02,CoreWeave,H100 SXM,0.00,OD,x\n2026-03-03,CoreWeave,H100 SXM,49.24,spot,x\n"
    )
    first, second = table(tmp_path, text)
    assert (first.observed_at, second.observed_at) == (
        datetime(2026, 3, 2, 8, tzinfo=UTC),
        datetime(2026, 3, 3, tzinfo=UTC),
    )
    assert [page.name for page in first.pages] == ["mapping.toml", "table.csv"]
    assert "secret" not in first.pages[1].text
    offers = [offer for one in (first, second) for offer in read("price_table", one).offers]
    assert asked(offers, "provider", "sku", "accelerator_count", "price", "currency", "pricing_model") == [
        ("Lambda", "H100 SXM", 8, Decimal("23.92"), "USD", "on_demand"), ("CoreWeave", "H100 SXM", 8, Decimal("49.24"), "USD", "spot"),
    ]  # fmt: skip


def test_a_table_as_parquet(tmp_path: Path) -> None:
    columns = {
        "when": [datetime(2026, 3, 2, 8, tzinfo=UTC)],
        "cloud": ["Lambda"],
        "gpu": ["H100 SXM"],
        "usd": [23.92],
        "kind": ["OD"],
    }
    pq.write_table(pa.table(columns), tmp_path / "quotes.parquet")
    (tmp_path / "m.toml").write_text(MAPPING)
    [capture] = captures("price_table", tmp_path / "quotes.parquet", mapping=tmp_path / "m.toml")
    assert asked(read("price_table", capture).offers, "provider", "price") == [("Lambda", Decimal("23.92"))]


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        ("no toml", "not TOML"),
        (MAPPING.replace("provider =", "providr ="), "no field 'providr'; 'provider' is meant"),
        (MAPPING.replace('price = "usd"', ""), "nothing tells price"),
        (MAPPING.replace('currency = "USD"', 'price = "2"'), "price is both a column and a constant"),
        (MAPPING.replace('"usd"', '"euros"'), "no column euros; there is when, cloud"),
        (MAPPING + "\n[extra]\nx = 1\n", "and not extra"),
        (MAPPING.replace('"cloud"', "7"), "names columns"),
    ],
)
def test_a_mapping_that_can_not_be_meant(tmp_path: Path, mapping: str, why: str) -> None:
    with pytest.raises(PageError, match=why):
        table(tmp_path, "when,cloud,gpu,usd,kind\n2026-03-02,Lambda,H100,1,OD\n", mapping)


def test_a_row_without_a_day_is_named(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="line 3: observed_at is no ISO 8601 date or time: 'last week'"):
        table(tmp_path, "when,cloud,gpu,usd,kind\n2026-03-02,Lambda,H100,1,OD\nlast week,Lambda,H100,1,OD\n")
