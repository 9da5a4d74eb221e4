"""Datasets through the whole road: the command, what counts beside what, kills half way; real histories where they are."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from flows import cli, steps
from tests.market import Market, offer
from tests.test_datasets import Repository, catalogue, row
from warehouse import database

Run = Callable[..., int]


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command; returns its exit status."""

    def call(*words: object) -> int:
        monkeypatch.setattr("sys.argv", ["gpuledger", *map(str, words)])
        try:
            cli.main()
        except SystemExit as end:
            return int(str(end.value if hasattr(end, "value") else end.code or 0))
        return 0

    return call


# --- What speaks of what


def days(market: Market, provider: str) -> list[tuple[str, float]]:
    rows = market.sql(
        "SELECT day, usd_per_accelerator_hour_median FROM provider_prices_daily WHERE provider = ? ORDER BY 1", provider
    )
    return [(f"{day:%m-%d}", float(usd)) for day, usd in rows]


def test_each_cloud_of_a_dataset_is_a_list_of_its_own(market: Market) -> None:
    """A catalogue's file for one cloud says nothing of the others, and of its own it says what is gone."""
    market.source("catalogue", "skypilot_catalog", kind="dataset", is_aggregator=True)
    says = lambda when, scope, offers: market.says("catalogue", when, offers, "dataset", scope=scope)  # noqa: E731
    says("2026-03-01", "lambda", [offer("a", "2.00", provider="lambda"), offer("b", "4.00", provider="lambda")])
    says("2026-03-02", "coreweave", [offer("c", "5.00", provider="coreweave")])
    says("2026-03-03", "lambda", [offer("b", "4.00", provider="lambda")])
    market.update()
    assert days(market, "lambda") == [("03-01", 3.0), ("03-02", 3.0), ("03-03", 4.0)]
    assert days(market, "coreweave") == [("03-02", 5.0), ("03-03", 5.0)]
    assert market.sql("SELECT sku FROM offers_current ORDER BY 1") == [("b",), ("c",)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_an_incremental_build_equals_a_full_one_with_datasets(market: Market, seed: int) -> None:
    market.source("catalogue", "skypilot_catalog", kind="dataset", is_aggregator=True)
    market.source("table", "price_table", kind="dataset", is_aggregator=True)
    market.source("aws_api", "aws")
    one = lambda sku, price, who: offer(sku, price, provider=who, region="us-east-1")  # noqa: E731
    said = [
        ("catalogue", "2026-01-01", [one("p5", "9.00", "aws"), one("p4", "4.00", "aws")], "aws", "dataset"),
        ("catalogue", "2026-03-01", [one("p5", "9.00", "aws")], "aws", "dataset"),
        ("catalogue", "2026-03-08", [one("p5", "8.00", "aws")], "aws", "dataset"),
        ("catalogue", "2026-01-20", [one("a3", "11.00", "gcp")], "gcp", "dataset"),
        ("catalogue", "2026-03-02", [one("a3", "11.00", "gcp"), {"sku": "bad"}], "gcp", "dataset"),
        ("catalogue", "2026-03-05", [one("a3", "12.00", "gcp")], "gcp", "dataset"),
        ("table", "2026-01-05", [one("p5", "9.10", "aws")], "quotes", "dataset"),
        ("table", "2026-02-05", [one("p5", "9.10", "aws")], "more quotes", "dataset"),
        ("aws_api", "2026-03-07", [offer("p5", "8.50", region="us-east-1")], "whole", "live"),
    ]
    random.Random(seed).shuffle(said)
    at_once = 1 if seed else 3
    for start in range(0, len(said), at_once):
        for source, when, offers, scope, kind in said[start : start + at_once]:
            market.says(source, when, offers, kind, scope=scope)
        market.update()
    step_by_step = market.tables()
    market.build(full=True)
    for name, rows in market.tables().items():
        assert step_by_step[name] == rows, name


@pytest.mark.slow
def test_a_dataset_counts_before_curated_rows_and_after_pages(market: Market) -> None:
    market.source("catalogue", "skypilot_catalog", kind="dataset", is_aggregator=True)
    market.source("by_hand", "list_prices", kind="curated", is_aggregator=True)
    market.source("broker", "prime_intellect", is_aggregator=True)
    market.source("lambda_page", "lambda", kind="page")
    market.says("by_hand", "2026-03-01", [offer("a", "1.00", provider="lambda")], "curated", scope="one page")
    market.says("broker", "2026-03-01", [offer("a", "0.50", provider="Lambda Labs")])
    market.says("catalogue", "2026-03-02", [offer("a", "2.00", provider="lambda")], "dataset", scope="lambda")
    market.says("lambda_page", "2026-03-03", [offer("a", "3.00")], "archived_page")
    market.update()
    assert days(market, "lambda") == [("03-01", 1.0), ("03-02", 2.0), ("03-03", 3.0)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dataset", "curated"])
def test_what_is_taken_in_again_supersedes_and_never_doubles(market: Market, kind: str) -> None:
    """The same moment of a dataset, cut otherwise or corrected: the last word counts, the first stays on record."""
    market.source("catalogue", "skypilot_catalog", kind=kind, is_aggregator=True)
    first = [offer("a", "2.00", provider="lambda"), offer("b", "3.00", provider="lambda")]
    market.says("catalogue", "2026-03-01", first, kind, scope="lambda")
    market.says("catalogue", "2026-03-02", first, kind, scope="lambda")
    market.update()
    market.says("catalogue", "2026-03-01", [offer("a", "2.50", provider="lambda")], kind, scope="lambda")
    market.update()
    corrected = [("a", 1, Decimal("2.5"), None)]
    rows = "SELECT sku, extract(day FROM day), price, why_not FROM offers WHERE day = '2026-03-01' ORDER BY why_not NULLS FIRST, sku"
    assert market.sql(rows) == [
        *corrected, *[(sku, 1, Decimal(price), "told otherwise by its source since") for sku, price in (("a", 2), ("b", 3))],
    ]  # fmt: skip
    assert market.sql("SELECT offers FROM provider_prices_daily WHERE day = '2026-03-01'") == [(1,)]
    assert [
        float(price)
        for (price,) in market.sql("SELECT price FROM offer_price_history WHERE sku = 'a' ORDER BY valid_from")
    ] == [2.5, 2.0]
    tables = market.tables()
    market.build(full=True)
    assert market.tables() == tables
    database.working_file().unlink()  # the archive alone tells it in the same order
    market.update()
    assert market.sql(rows)[:1] == corrected


@pytest.mark.slow
def test_an_old_reading_that_is_replayed_stays_superseded(market: Market) -> None:
    market.source("catalogue", "skypilot_catalog", kind="dataset", is_aggregator=True)
    for price in ("2.00", "2.50"):
        market.says("catalogue", "2026-03-01", [offer("a", price, provider="lambda")], "dataset", scope="lambda")
        market.update()
    with database.connect_working() as connection:
        [(old,)] = connection.execute("SELECT snapshot_id FROM raw.offers WHERE price = 2").fetchall()
        for table in ("snapshots", "offers"):
            newer = ", load_number + 10 AS load_number" if table == "snapshots" else ""
            connection.execute(
                f"INSERT INTO raw.{table} BY NAME SELECT * REPLACE ('again' AS parser_version{newer}) FROM raw.{table} WHERE snapshot_id = ?",
                [old],
            )
    market.build(full=True)
    assert market.sql("SELECT price FROM offers WHERE index_eligible") == [(Decimal("2.5"),)]


# --- The command


@pytest.fixture
def clone(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "clone")
    for week, price in enumerate(
        ("32.7726", "32.7726", "21.95"), start=1
    ):  # a week without a change is no commit to it
        lines = [row("p4d.24xlarge", "A100", price), row("p3.16xlarge", "V100", "24.48"), row("m5.large", "", "0.096")]
        repository.commit(f"2024-01-{7 * week:02}T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(*lines)})
    return repository


@pytest.mark.slow
def test_a_dataset_by_command_twice(run: Run, clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("backfill", "skypilot_catalog", clone.folder) == 0
    assert capsys.readouterr().err.splitlines() == [
        "skypilot_catalog: 2 captures, 2 of them new",
        "2 collections of 1 sources, 4 offers",
        "the tables do not have it yet; bring them up to it with: gpuledger build",
    ]
    assert run("build") == 0
    capsys.readouterr()
    assert run("sql", "SELECT day, price FROM offers WHERE sku = 'p4d.24xlarge' ORDER BY 1", "--format", "csv") == 0
    assert capsys.readouterr().out == "day,price\n2024-01-07,32.7726\n2024-01-21,21.95\n"
    assert run("backfill", "skypilot_catalog", clone.folder) == 0
    assert capsys.readouterr().err.splitlines() == ["skypilot_catalog: 2 captures, 0 of them new", "nothing new"]


def test_a_dry_run_stores_nothing(run: Run, clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    clone.commit("2024-01-28T00:00:00Z", {"catalogs/v5/aws/vms.csv": "renamed,AcceleratorName\nx,A100\n"})
    assert run("backfill", "skypilot_catalog", clone.folder, "--dry-run", "--format", "csv") == 3
    printed = capsys.readouterr()
    assert [line.split(",")[1:5] for line in printed.out.splitlines()] == [
        ["scope", "status", "offers", "rejected"], *[["aws", "ok", "2", "0"]] * 2, ["aws", "failed", "0", "0"],
    ]  # fmt: skip
    assert printed.err.splitlines()[-1] == "4 offers would load, 0 rows would not; nothing was stored"
    assert list(steps.archive().manifests()) == []


def test_a_dry_run_of_a_table_shows_its_offers(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.csv").write_text(
        "when,who,gpu,usd\n2026-03-02,Lambda,H100 SXM 80GB,2.99\n2026-03-02,Lambda,Warp 9,1.00\n2026-03-02,Lambda,A100,x\n"
    )
    (tmp_path / "q.toml").write_text(
        '[columns]\nobserved_at = "when"\nprovider = "who"\naccelerator_name = "gpu"\nprice = "usd"\n'
        '[constants]\ncurrency = "USD"\naccelerator_count = 1\n'
    )
    assert (
        run(
            "backfill",
            "price_table",
            tmp_path / "q.csv",
            "--mapping",
            tmp_path / "q.toml",
            "--dry-run",
            "--format",
            "csv",
        )
        == 3
    )
    printed = capsys.readouterr()
    assert [line.split(",")[3:6] for line in printed.out.splitlines()[1:]] == [
        ["H100 SXM 80GB", "h100-sxm-80gb", "1"],
        ["Warp 9", "", "1"],
    ]
    assert "2026-03-02 q: row 3 would not load: price: " in printed.err
    assert "unknown spelling in 1 offers, add a row to warehouse/reference/spellings.csv: Lambda: Warp 9" in printed.err
    assert run("backfill", "price_table", tmp_path / "q.csv", "--mapping", tmp_path / "q.toml") == 0
    assert "price_table: partial: 1 records do not read, first row 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["nobody", "."], 2, "no dataset 'nobody'; there is aws_spot_history, "),
        (["skypilot_catalog", "not/there"], 2, "there is no not/there"),
        (["skypilot_catalog", "."], 1, "no git clone"),
        (["price_table", "."], 2, "price_table says with --mapping FILE what is in its columns"),
        (["skypilot_catalog", ".", "--mapping", "."], 2, "skypilot_catalog needs no --mapping"),
        (["skypilot_catalog", ".", "--since", "2024-01-01"], 2, "a dataset is taken whole"),
        (["gpurentalprices", "."], 1, "no YYYY-MM-DD.json"),
    ],
)
def test_what_can_not_work_is_one_line(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("backfill", *words) == status
    [line] = capsys.readouterr().err.splitlines()
    assert said in line


# --- Kills


KILLED = """
import sys
from flows import cli
sys.argv = ["gpuledger", "backfill", "skypilot_catalog", sys.argv[1]]
cli.main()
"""


@pytest.mark.slow
def test_killed_half_way_the_next_run_completes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "clone")
    for day in range(1, 29):
        lines = [row(f"p{n}.x", "A100", f"{day}.{n:03}", zone=f"z{n % 3}") for n in range(300)]
        repository.commit(f"2024-02-{day:02}T00:00:00Z", {"catalogs/v5/aws/vms.csv": catalogue(*lines)})

    def start(folder: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", KILLED, str(repository.folder)]
        return subprocess.Popen(command, env=os.environ | {"GPULEDGER_DATA": str(folder)}, stderr=subprocess.DEVNULL)

    def rows(folder: Path) -> list[tuple[object, ...]]:
        monkeypatch.setenv("GPULEDGER_DATA", str(folder))
        with database.connect_working(read_only=True) as connection:
            return connection.execute("SELECT * FROM raw.offers ORDER BY ALL").fetchall()

    started = time.monotonic()
    assert start(tmp_path / "clean").wait(300) == 0
    seconds = time.monotonic() - started
    chance = random.Random(7)
    killed = 0
    for _ in range(8):
        process = start(tmp_path / "killed")
        time.sleep(chance.uniform(0.3, seconds))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed
    assert start(tmp_path / "killed").wait(300) == 0
    assert rows(tmp_path / "killed") == rows(tmp_path / "clean")
    assert len(rows(tmp_path / "clean")) == 28 * 300


# --- Real histories


@pytest.fixture(scope="module")
def ledger(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of ``../shared/history`` taken in and built, once. On two cores about two minutes."""
    folder = tmp_path_factory.mktemp("years")
    history = shared / "history"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_DATA", str(folder))
        for dataset, path in (
            ("skypilot_catalog", "skypilot-catalog/skypilot-catalog-weekly.bundle"),
            ("skypilot_catalog", "skypilot-catalog/skypilot-catalog-smallclouds-all.bundle"),
            ("google_cloud_pricing", "google-cloud-pricing/google-cloud-pricing-all.bundle"),
            ("gpurentalprices", "gpurentalprices"),
            ("hardware_prices_csv", "epoch-hardware-prices"),
        ):
            adapter = steps.dataset(dataset)
            found, new = steps.backfill_dataset(adapter, steps.dataset_captures(adapter, history / path))
            assert 0 < new <= found
            assert {one.status for one in steps.load_archive()} <= {"ok"}
        steps.build()
    return folder


@pytest.fixture
def years(ledger: Path, market: Market, monkeypatch: pytest.MonkeyPatch) -> Market:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    return market


def seen(market: Market, where: str) -> list[tuple[date, date, float]]:
    """Runs of one price: first day, last day, price."""
    return [
        (first, last, float(price))
        for price, first, last in market.sql(
            f"SELECT round(price, 4), min(day), max(day) FROM offers WHERE {where} GROUP BY 1 ORDER BY 2"
        )
    ]


SKYPILOT = "source = 'skypilot_catalog' AND pricing_model = 'on_demand' AND"
GOOGLE = "source = 'google_cloud_pricing' AND pricing_model = 'on_demand' AND region = 'us-central1' AND"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "prices"),
    [
        (f"{SKYPILOT} provider = 'aws' AND sku = 'p4d.24xlarge' AND region = 'us-east-1'", [32.7726]),
        (f"{SKYPILOT} provider = 'aws' AND sku = 'p3.16xlarge' AND region = 'us-east-1'", [24.48]),
        (f"{SKYPILOT} provider = 'azure' AND sku = 'Standard_ND96isr_H100_v5' AND region = 'northcentralus'", [117.984]),
        (f"{SKYPILOT} provider = 'lambda' AND sku = 'gpu_8x_a100'", [8.80, 10.32]),
        (f"{GOOGLE} sku = 'a2-highgpu-8g'", [29.3871]),
        (f"{GOOGLE} sku = 'a2-ultragpu-8g' AND day >= '2022-10-01'", [40.2216, 40.5504]),
        (f"{GOOGLE} sku = 'a3-highgpu-8g'", [87.8325, 88.49]),
    ],
)  # fmt: skip
def test_known_prices(years: Market, where: str, prices: list[float]) -> None:
    assert [price for _, _, price in seen(years, where)] == prices


@pytest.mark.slow
def test_known_days_of_change(years: Market) -> None:
    lambda_a100 = seen(years, f"{SKYPILOT} provider = 'lambda' AND sku = 'gpu_8x_a100'")
    assert lambda_a100[1][0] == date(2024, 2, 5)
    ultra = seen(years, f"{GOOGLE} sku = 'a2-ultragpu-8g'")
    assert [(first, price) for first, _, price in ultra] == [
        (date(2022, 9, 11), 32.2682), (date(2022, 10, 2), 40.2216), (date(2024, 5, 21), 40.5504),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_part_and_its_machine_come_to_the_same_in_both_clones(years: Market) -> None:
    [(price, text)] = years.sql(
        f"""
        SELECT DISTINCT round(price, 4), price_text FROM raw.offers JOIN raw.offer_texts USING (offer_text_id)
        WHERE {SKYPILOT} sku = 'a2-highgpu-8g' AND region = 'us-central1' AND observed_day = '2024-06-09'
        """
    )
    assert (price, text) == (Decimal("29.3871"), "23.47126 + 5.91582")


@pytest.mark.slow
def test_the_80_gb_machine_at_the_40_gb_price_loads_and_enters_no_mart(years: Market) -> None:
    rows = years.sql(
        f"SELECT DISTINCT round(price, 4), index_eligible, why_not FROM offers WHERE {GOOGLE} sku = 'a2-ultragpu-8g' AND day < '2022-10-01'"
    )
    [(price, eligible, why_not)] = rows
    assert (price, eligible) == (Decimal("32.2682"), False)
    assert "40 GB" in why_not
    assert years.sql(
        "SELECT count(*) FROM provider_prices_daily WHERE provider = 'gcp' AND accelerator = 'a100-sxm-80gb' AND day < '2022-10-01'"
    ) == [(0,)]


@pytest.mark.slow
def test_tpus_are_priced_by_the_chip(years: Market) -> None:
    for accelerator, region, usd in (("tpu-v4", "us-central2", "3.22"), ("tpu-v3", "us-central1", "2.00")):
        rows = years.sql(
            f"SELECT DISTINCT usd_per_accelerator_hour FROM offers WHERE {SKYPILOT} accelerator = ? AND region = ?",
            accelerator,
            region,
        )
        assert rows == [(Decimal(usd),)]


@pytest.mark.slow
def test_datasets_agree_or_the_rows_are_named(years: Market) -> None:
    """Google's machines with local disks differ: one of the two adds their price since May 2024, the other did until April 2023."""
    rows = years.sql(
        """
        SELECT provider, sku, count(*), min(week), max(week), max(abs(difference_percent))
        FROM source_disagreements
        WHERE pricing_model = 'on_demand' AND source_a = 'google_cloud_pricing' AND source_b = 'skypilot_catalog'
        GROUP BY ALL ORDER BY 1, 2
        """
    )
    assert {(provider, sku.rpartition("-")[0]) for provider, sku, *_ in rows} == {
        ("gcp", "a2-ultragpu"),
        ("gcp", "a3-highgpu"),
    }
    assert max(percent for *_, percent in rows) < 4


@pytest.mark.slow
def test_every_row_says_where_it_is_from(years: Market) -> None:
    assert years.sql("SELECT DISTINCT source_kind FROM offers") == [("dataset",)]
    rows = years.sql("SELECT source, min(terms) FROM offers GROUP BY 1 ORDER BY 1")
    assert len(rows) == 4
    assert all(terms for _, terms in rows)
    urls = years.sql(
        "SELECT DISTINCT urls[1] FROM staging.snapshots WHERE source = 'skypilot_catalog' AND scope = 'aws' ORDER BY 1 LIMIT 1"
    )
    assert urls[0][0].startswith("https://github.com/skypilot-org/skypilot-catalog/blob/")
