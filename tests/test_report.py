"""The report: right numbers in pages and files, nothing from outside let through, never half a site."""

import csv
import hashlib
import itertools
import json
import re
import shutil
from datetime import date, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.command import within
from tests.market import Market, offer
from warehouse import database
from warehouse.reports import claims, explanations, figure, links, methodology, pages, runs, series, site, wording
from warehouse.reports.figure import Cell, Table, csv_cell

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://evil.example","x")'
TURNED = "eu-\u202ewest"


def made_up(market: Market) -> None:
    """Three segments, a change, a withdrawal, and words that would like to be more than words."""
    aws = market.source("aws_page", "aws", "page")
    azure = market.source("azure_page", "azure", "page")
    lambda_ = market.source("lambda_page", "lambda", "page")
    vast = market.source("vast_api", "vast")
    for day, price in (("2026-01-01", "4.00"), ("2026-01-20", "3.50")):
        market.says(aws, f"{day}T06:00:00", [offer("p5", price, region="us-east-1")])
        market.says(azure, f"{day}T06:00:00", [offer("nd", "5.00", region="eastus")])
    market.says(lambda_, "2026-01-20T06:00:00", [offer("gpu_1x", "2.49"), offer(SCRIPT, "2.99", region=TURNED)])
    spot = offer("s", "0.40", pricing_model="spot")
    mystery = offer(FORMULA, "9.00", accelerator_name=f"{SCRIPT} 9000")
    market.says(
        vast,
        "2026-01-20T06:00:00",
        [offer("7/1x", "1.50", available=True), spot, mystery, offer("8/1x", "1.10", available=False)],
    )
    market.says(lambda_, "2026-01-21T06:00:00", b"<form><input type=password></form>")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the made-up market, with its site."""
    with pytest.MonkeyPatch.context() as patch:
        market = Market(tmp_path_factory.mktemp("report"), patch)
        made_up(market)
        market.update()
        write_site()
        return database.data_dir()


@pytest.fixture
def written(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site of the made-up market, whose data folder is in force."""
    monkeypatch.setenv("GPULEDGER_DATA", str(data))
    return database.site_dir()


def write_site(folder: Path | None = None) -> Path:
    with database.connect_published() as connection:
        return site.write(connection, folder or database.site_dir()).parent


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(folder: Path, name: str = "index.html") -> str:
    return (folder / name).read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Ids, addresses, element names and visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.hidden = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.elements.append((tag, told))
        self.hidden += tag in {"script", "style"}
        self.ids += [told["id"]] if told.get("id") else []
        self.addresses += [address for name in ("href", "src") if (address := told.get(name))]

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        self.text += "" if self.hidden else data


# What a page shows.


def test_prices_reach_page_and_file(written: Path) -> None:
    found = [row for row in rows(written / "csv/prices-by-accelerator.csv") if row["segment"] == "hyperscaler"]
    assert [(row["from_day"], row["to_day"], row["usd"], row["status"], row["n_providers"]) for row in found] == [
        ("2026-01-01", "2026-01-15", "4.5", "thin", "2"),
        # AWS is past its age limit; Azure asked the same before and after.
        ("2026-01-16", "2026-01-19", "5", "thin", "1"),
        ("2026-01-20", "2026-01-20", "4.25", "thin", "2"),
    ]
    assert "H100 SXM 80" in Reader(page(written)).text
    assert "$1.30 to $4.25" in Reader(page(written)).text


def test_the_cheapest_that_can_be_rented(written: Path) -> None:
    found = {row["pricing_model"]: row for row in rows(written / "csv/cheapest-today.csv")}
    assert (found["on_demand"]["usd"], found["on_demand"]["provider"], found["on_demand"]["sku"]) == (
        "1.5",
        "vast",
        "7/1x",
    )
    assert (found["spot"]["usd"], found["spot"]["age_days"]) == ("0.4", "0")
    text = Reader(page(written)).text
    assert "spot $0.40 (Vast.ai)" in text
    assert "$1.10" not in text


def test_what_moved_this_week(written: Path) -> None:
    """AWS took an eighth off; the two that are new that day move no index."""
    [moved] = rows(written / "csv/moved-this-week.csv")
    assert float(moved["change_index"]) == pytest.approx(0.875**0.5 - 1, abs=1e-5)
    assert (moved["since_day"], moved["day"], moved["up"], moved["down"]) == ("2026-01-13", "2026-01-20", "0", "1")
    assert (moved["providers_in"], moved["providers_out"]) == ("lambda+vast", "")
    [change] = rows(written / "csv/price-changes.csv")
    assert (change["provider"], change["change"], change["price_before"], change["price_after"]) == (
        "aws",
        "down",
        "4",
        "3.5",
    )
    text = Reader(page(written)).text.replace(wording.NO_BREAK, " ")
    assert "−6.5 %" in text
    assert "−12.5 %" in text
    assert "4 USD per hour" in text


def test_the_index_on_its_pages(written: Path) -> None:
    last = [row for row in rows(written / "csv/accelerator-h100-sxm-80gb-index.csv") if row["segment"] == "all"][-1]
    assert float(last["price_index"]) == pytest.approx(100 * 0.875**0.5, abs=1e-3)
    [level] = rows(written / "csv/price-index.csv")
    assert (level["chain_started_on"], level["halving_years"]) == ("2026-01-01", "")
    text = Reader(page(written)).text
    assert "93.5" in text
    assert "too short to say" in text


def test_a_unit_of_compute_and_of_memory(written: Path) -> None:
    """H100: 989 TFLOP/s dense and 80 GB; the producer prices end before these days, so nothing is deflated."""
    found = {(row["unit"], row["segment"]): row for row in rows(written / "csv/price-per-unit.csv")}
    assert float(found["pflop", "neocloud"]["usd_per_unit_hour"]) == pytest.approx(2.74 / 0.989, rel=0.01)
    assert float(found["gb", "marketplace"]["usd_per_unit_hour"]) == pytest.approx(1.30 / 80, rel=0.01)
    assert {row["money"] for row in rows(written / "csv/price-per-unit.csv")} == {"nominal"}
    assert "later days can't be told in real dollars" in Reader(page(written)).text


def test_a_cost_leads_down_to_the_page(written: Path) -> None:
    run = page(written, "runs/llama-3.1-405b.html")
    assert "30,840,000 h" in run
    prices = re.findall(r'href="\.\./(explain/[^"#]+)"', run)
    assert "explain/h100-sxm-80gb-hyperscaler-median-2026-01-20.html" in prices
    price = page(written, "explain/h100-sxm-80gb-hyperscaler-median-2026-01-20.html")
    stored = database_rows(
        "SELECT content_hash FROM staging.snapshots WHERE source = 'aws_page' AND CAST(observed_at AS DATE) = '2026-01-20'"
    )
    for words in ("aws (hyperscaler)", "azure (hyperscaler)", "4.25 USD per accelerator and hour", stored[0][0]):
        assert words in price, words
    assert price.count("offer p5") == 1
    constants = Reader(page(written, "explain/constants.html"))
    assert {"usable_memory_share", "bytes_per_parameter"} <= set(constants.ids)


def test_every_figure_is_explained(written: Path) -> None:
    known = {one.key for one in explanations.ALL}
    for path in written.rglob("*.html"):
        for text in re.findall(r"<figure.*?</figure>", path.read_text(encoding="utf-8"), re.DOTALL):
            if "made-of" in text:
                assert set(re.findall(r'explain\.html#([^"]+)"', text)) <= known, path
                assert "explain.html#" in text, path


@pytest.mark.slow
@pytest.mark.parametrize("one", explanations.ALL, ids=lambda one: one.key)
def test_what_explains_a_figure_runs(written: Path, one: explanations.Explanation) -> None:
    with database.connect_published() as connection:
        connection.execute(f"CREATE TEMP TABLE told AS {one.sql}")
        assert len(connection.execute("FROM told LIMIT 0").description or []) > 1
    assert one.how in Reader(page(written, "explain.html")).text


def test_what_failed_and_what_nobody_knows(written: Path) -> None:
    [failed] = [row for row in rows(written / "csv/coverage.csv") if row["source"] == "lambda_page"]
    assert failed["status"] == "failed"
    assert failed["last_good_at"].startswith("2026-01-20")
    assert failed["reason"] in Reader(page(written)).text
    [unknown] = rows(written / "csv/unknown-spellings.csv")
    assert unknown["accelerator_name"] == f"{SCRIPT} 9000"
    assert f"{SCRIPT} 9000" in Reader(page(written)).text
    assert "unknown accelerator" in Reader(page(written, "coverage.html")).text


def test_the_costs_of_runs(written: Path) -> None:
    hours = 30_840_000  # of Llama 3.1 405B on H100, as reported
    found = [row for row in rows(written / "csv/run-llama-3.1-405b-as-run.csv") if row["line"] == "hyperscaler_median"]
    assert [round(float(row["cost_usd_mid"]) / hours, 2) for row in found] == [4.5, 5.0, 4.25]
    assert "$131 million" in Reader(page(written, "runs/llama-3.1-405b.html")).text.replace(wording.NO_BREAK, " ")
    text = Reader(page(written)).text
    assert "Llama 3.1 405B" in text
    assert "The claims that started this, recomputed: " in text
    told = Reader(page(written, "claims.html")).text.replace(wording.NO_BREAK, " ")
    assert "Training PaLM cost between 9 and 23 million dollars" in told
    [palm] = [row for row in rows(written / "csv/claims.csv") if row["claim"] == "palm-cost"]
    assert (palm["claimed_low"], palm["claimed_high"], palm["verdict"]) == ("9000000", "23000000", "holds")


def test_every_figure_says_where_it_is_from(written: Path) -> None:
    build_id = database_rows("SELECT build_id FROM builds")[0][0]
    for path in written.rglob("*.html"):
        for text in re.findall(r"<figure.*?</figure>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert "Basis: " in text, path
            if "made-of" not in text:
                assert "<table" not in text, path
                continue
            assert f"build {build_id}" in text, path
            [name] = re.findall(r'href="[./]*csv/([^"]+)"', text)
            assert (written / "csv" / name).is_file(), path
            assert rows(written / "csv" / name), path
            assert text.count("<table") == 1, f"{path}: a chart without its table"
            assert text.count('role="img" aria-label="') == text.count('class="chart '), path


def database_rows(query: str) -> list[tuple[Any, ...]]:
    with database.connect_published() as connection:
        return connection.execute(query).fetchall()


def test_links_lead_somewhere(written: Path) -> None:
    for path in written.rglob("*.html"):
        read = Reader(path.read_text(encoding="utf-8"))
        assert len(read.ids) == len(set(read.ids)), path
        for address in read.addresses:
            if address.startswith("#"):
                assert address[1:] in read.ids, (path, address)
            elif not address.startswith(("https://", "data:")):
                name, _, place = address.partition("#")
                assert (path.parent / name).is_file(), (path, address)
                assert not place or f'id="{place}"' in (path.parent / name).read_text(encoding="utf-8"), (path, address)


def test_nothing_is_loaded_from_elsewhere(written: Path) -> None:
    for path in written.rglob("*.html"):
        for tag, told in Reader(path.read_text(encoding="utf-8")).elements:
            loaded = told.get("src") or (told.get("href") if tag == "link" else None) or ""
            assert "//" not in loaded, (path, loaded)
    front = Reader(page(written))
    assert [told["src"] for tag, told in front.elements if tag == "script" and told.get("src")] == ["assets/charts.js"]
    assert "url(" not in page(written)


def test_a_site_is_small(written: Path) -> None:
    assert sum(path.stat().st_size for path in written.rglob("*") if path.is_file()) < 5_000_000


@pytest.mark.slow
def test_the_same_build_gives_the_same_site(written: Path, tmp_path: Path) -> None:
    assert digests(write_site(tmp_path / "again")) == digests(written)


def digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# Words from outside.


def test_words_from_outside_stay_words(written: Path) -> None:
    for path in written.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "alert(1)" not in re.sub(r"&lt;script&gt;alert\(1\)|\\u003cscript\\u003ealert\(1\)", "", text), path
        assert "\u202e" not in text, path
    offers = page(written, "accelerators/h100-sxm-80gb.html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in offers
    assert "eu-�west" in offers


def test_no_cell_is_a_formula(written: Path) -> None:
    [unknown] = rows(written / "csv/unknown-spellings.csv")
    assert unknown["sku"] == f"'{FORMULA}"
    for path in written.rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                for cell in row:
                    assert not cell.startswith(("=", "@", "+", "\t", "\r")), (path, cell)
                    assert not cell.startswith("-") or re.fullmatch(r"-[\d.e-]+", cell), (path, cell)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("  @sum", "'  @sum"),
        ("\t1", "'\t1"),
        ("a=1", "a=1"),
        (-0.5, "-0.5"),
        (16_809_984.0, "16809984"),
        (0.123456789, "0.123457"),
        (8.28e23, "8.28e+23"),
        (Decimal("1.290000000"), "1.29"),
        (Decimal(100), "100"),
        (["curated", "live"], "curated+live"),
        (["=x"], "'=x"),
        (None, None),
        (date(2026, 1, 2), date(2026, 1, 2)),
    ],
)
def test_csv_cells(value: object, cell: object) -> None:
    assert csv_cell(value) == cell


def test_data_cannot_leave_its_element() -> None:
    told = {"a": "</script><script>alert(1)</script>", "b": "<!--", "c": "\u2028&"}
    text = site.as_data(told)
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == told


@pytest.mark.parametrize("key", ["../../etc/passwd", "a/b", "..", "", "Ä", "x" * 200, ".hidden", "<b>"])
def test_no_name_leaves_the_folder(key: str) -> None:
    assert re.fullmatch(r"name-[0-9a-f]{12}", links.file_stem(key))
    assert links.file_stem("llama-3.1-405b") == "llama-3.1-405b"


def test_a_link_is_of_the_web() -> None:
    read = links.Links("../", frozenset({"a"}))
    assert read.accelerator("a") == "../accelerators/a.html"
    assert read.accelerator("javascript:alert(1)") == ""
    assert pages.web_address("javascript:alert(1)") == ""
    assert pages.web_address("https://arxiv.org/abs/1") == "https://arxiv.org/abs/1"


def test_a_head_is_a_label() -> None:
    table = Table(("Part", "Cost", "Day"), [(Cell("a"), Cell("$1", is_number=True), Cell("2026-01-01"))])
    assert table.column_styles == "--label-2:'Cost';--align-2:right;--label-3:'Day';--wrap-3:nowrap"


def test_methodology_lets_no_html_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methodology, "FILE", tmp_path / "none.md")
    assert methodology.as_html() is None
    (tmp_path / "none.md").write_text("# Title\n\n<script>alert(1)</script>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    html = methodology.as_html()
    assert html is not None
    assert "<h1>Title</h1>" in html
    assert "<script>" not in html
    assert "<td>1</td>" in html


# Thinning.


def thin(
    days: list[tuple[date, float | None, str]], most_rows: int = 100, favoured: str = "false"
) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE days (line VARCHAR, day DATE, usd DOUBLE, status VARCHAR)")
    connection.executemany("INSERT INTO days VALUES ('a', ?, ?, ?)", days)
    query = series.thinned(
        "SELECT *, NULL::DOUBLE AS usd_low, NULL::DOUBLE AS usd_high, '' AS told, 1 AS n_providers, ['live'] AS source_kinds FROM days",
        ("line",),
        most_rows=most_rows,
        favoured=favoured,
    )
    return connection.execute(f"SELECT from_day, to_day, usd, status, step_days FROM ({query})").fetchall()


def day(number: int) -> date:
    return date(2025, 1, 1) + timedelta(days=number)


def test_runs_end_at_changes_and_gaps() -> None:
    days = [(day(n), usd, status) for n, usd, status in [
        (0, 1.0, "ok"), (1, 1.0, "ok"), (2, 2.0, "ok"), (3, 2.0, "thin"), (4, None, "withheld"), (5, 2.0, "thin"), (9, 2.0, "thin"),
    ]]  # fmt: skip
    assert thin(days) == [
        (day(0), day(1), 1.0, "ok", 1),
        (day(2), day(2), 2.0, "ok", 1),
        (day(3), day(3), 2.0, "thin", 1),
        (day(5), day(5), 2.0, "thin", 1),
        (day(9), day(9), 2.0, "thin", 1),
    ]


def test_thinning_invents_nothing_and_keeps_the_newest() -> None:
    days = [(day(n), float(n), "ok") for n in range(400) if not 100 <= n < 130]
    found = thin(days, most_rows=60)
    assert len(found) == 54
    assert found[-1] == (day(399), day(399), 399.0, "ok", 7)
    assert {(from_day, usd) for from_day, _, usd, _, _ in found} <= {(of, usd) for of, usd, _ in days}
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(found)]
    assert [gap.days for gap in gaps if gap.days != 7] == [35]


@pytest.mark.slow
def test_a_budget_is_kept_by_coarser_steps() -> None:
    days = [(day(n), float(n), "ok") for n in range(2000)]
    assert {len(thin(days, most_rows=most)) for most in (160, 130, 100, 60, 20, 2)} == {72, 22, 11, 6}
    assert len(thin(days, most_rows=2, favoured="line = 'a'")) == 72
    assert thin(days, most_rows=2)[-1][1] == day(1999)


def test_a_line_that_seldom_moves_keeps_every_change() -> None:
    days = [(day(n), float(n // 300), "ok") for n in range(2000)]
    assert [row[4] for row in thin(days, most_rows=10)] == [1] * 7


# Words.


@pytest.mark.parametrize(
    ("usd", "told"),
    [(0.0345, "$0.035"), (0.1, "$0.10"), (2.5, "$2.50"), (Decimal("12.345"), "$12.35"), (None, "")],
)
def test_prices_in_words(usd: Any, told: str) -> None:
    assert wording.usd_per_hour(usd) == told


@pytest.mark.parametrize(
    ("usd", "told"),
    [
        (4_191_684, "$4.19 million"),
        (27_064_066, "$27.1 million"),
        (999_999, "$1 million"),
        (450_965, "$451,000"),
        (22.4, "$22"),
        (1.234e9, "$1.23 billion"),
        (0, "$0"),
        (None, ""),
    ],
)
def test_sums_in_words(usd: Any, told: str) -> None:
    assert wording.usd(usd).replace(wording.NO_BREAK, " ") == told


def test_other_words() -> None:
    assert wording.percent(-0.172).replace(wording.NO_BREAK, " ") == "−17 %"
    assert wording.percent(0.0045).replace(wording.NO_BREAK, " ") == "0 %"
    assert wording.percent(0.0446, 1).replace(wording.NO_BREAK, " ") == "+4.5 %"
    assert wording.quantity(8.28e23).replace(wording.NO_BREAK, " ") == "8.28 × 10²³"
    assert wording.quantity(65_200_000_000).replace(wording.NO_BREAK, " ") == "65.2 billion"
    assert wording.quantity(35.74) == "35.7"
    assert wording.whole(1_022_362.0) == "1,022,362"
    assert wording.pricing("reserved", 1095) == "reserved 3 years"
    assert wording.pricing("reserved", 31) == "reserved 31 days"
    assert wording.pricing("on_demand", 0) == "on demand"
    assert [wording.days_old(days) for days in (0, 1, 69)] == ["that day", "1 day old", "69 days old"]


def test_a_band_stands_at_its_middle() -> None:
    row = {"published_low_usd": 4.0, "published_usd": None, "published_high_usd": 9.0, "published_by": "someone"}
    assert claims.mark_of(row) == (6.0, "someone (published)")
    assert claims.mark_of(row | {"published_low_usd": None, "published_high_usd": None}) is None


def test_every_reference_run_is_known() -> None:
    connection = duckdb.connect()
    file = Path(runs.__file__).parents[1] / "reference" / "training_runs.csv"
    known = {run for (run,) in connection.execute(f"SELECT run FROM read_csv('{file}')").fetchall()}
    assert set(runs.REFERENCE_RUNS) <= known


# The folder.


def test_without_marts_the_page_says_so(tmp_path: Path) -> None:
    folder = site.write(database.connect_memory(), tmp_path / "site").parent
    text = Reader(page(folder)).text
    assert "Nothing was built yet." in text
    for words in (
        "There are no daily prices",
        "No offer counts",
        "No index",
        "No price per unit",
        "No training costs",
        "Nothing was collected",
    ):
        assert words in text, words
    assert "No claims" in Reader(page(folder, "claims.html")).text


def test_a_mart_without_rows_is_no_failure(written: Path, tmp_path: Path) -> None:
    """As when a build has prices, and none that a training run could use."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{database.published_file()}' AS published (READ_ONLY)")
    for schema in ("staging", "intermediate", "reference"):
        connection.execute(f"CREATE SCHEMA {schema}")
    tables = connection.execute(
        "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = 'published' AND schema_name <> 'raw'"
    ).fetchall()
    for (name,) in tables:
        connection.execute(f"CREATE TABLE {name} AS FROM published.{name} LIMIT {1 if name == 'main.builds' else 0}")
    folder = site.write(connection, tmp_path / "site").parent
    assert "No training costs in this build yet." in page(folder)
    assert "H100" not in Reader(page(folder)).text


@pytest.mark.slow
def test_a_failure_leaves_the_site_that_was_there(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_site(tmp_path / "site")
    (folder / "mark").write_text("old")

    def fails(of: figure.Figure, into: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(site, "write_csv", fails)
    with pytest.raises(database.WarehouseError, match=r"cannot write the report to .*: No space left on device"):
        write_site(folder)
    assert (folder / "mark").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".site.lock", "site"]


@pytest.mark.slow
def test_a_new_site_takes_the_old_one_s_place_whole(written: Path, tmp_path: Path) -> None:
    folder = write_site(tmp_path / "site")
    (folder / "accelerators" / "gone.html").write_text("of an older build")
    assert digests(write_site(folder)) == digests(written)


@pytest.mark.slow
def test_what_a_killed_run_left_is_cleared(written: Path, tmp_path: Path) -> None:
    folder = write_site(tmp_path / "site")
    (tmp_path / ".site-new-abcdefgh").mkdir()
    folder.rename(tmp_path / ".site-old-abcdefgh")  # killed between the two renames
    assert digests(write_site(folder)) == digests(written)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".site.lock", "site"]


@pytest.mark.usefixtures("written")
def test_what_is_no_report_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file.txt").write_text("more of it")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("mine", "file.txt", "link", "."):
        done = within("report", "--to", str(tmp_path / name), data=database.data_dir())
        assert (done.returncode, done.stdout) == (2, "")
        assert "is not empty and no report; name a new folder" in done.stderr
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "file.txt").read_text() == "more of it"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.txt", "link", "mine"]


@pytest.mark.slow
def test_a_neighbour_s_like_name_is_left_alone(written: Path, tmp_path: Path) -> None:
    (tmp_path / ".site-notes").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "site")
    write_site(tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".site-notes", ".site.lock", "link", "site"]
    assert digests(tmp_path / "site") == digests(written)


def test_a_folder_that_cannot_be_written_is_one_line(written: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(database.WarehouseError, match="cannot write the report"):
        write_site(tmp_path / "file" / "site")


# Nine years of a price a day: 40 accelerators at 8 of 30 providers each, half of which change every day.
NINE_YEARS = """
CREATE OR REPLACE TABLE provider_prices_daily AS
WITH pairs AS (
    SELECT a.accelerator, p.provider, p.segment, hash(a.accelerator, p.provider) % 1000 AS chance
    FROM (SELECT accelerator FROM reference.accelerators WHERE is_rentable ORDER BY has_fabric DESC, accelerator LIMIT 40) AS a
    CROSS JOIN (SELECT * FROM reference.providers WHERE segment IN ('hyperscaler', 'neocloud', 'marketplace') ORDER BY provider LIMIT 30) AS p
    WHERE hash(p.provider, a.accelerator) % 30 < 8
),
days AS (SELECT CAST(s.day AS DATE) AS day FROM generate_series(DATE '2017-02-01', DATE '2026-01-20', INTERVAL 1 DAY) AS s(day))
SELECT
    p.* REPLACE (
        d.day AS day, pairs.accelerator AS accelerator, pairs.provider AS provider, pairs.segment AS segment,
        CAST(1 + chance / 200 + 0.1 * sin(chance + CASE WHEN chance < 500 THEN datesub('day', DATE '2017-01-01', d.day)
            ELSE datesub('day', DATE '2017-01-01', d.day) // 120 END) AS DECIMAL(18, 9)) AS usd_per_accelerator_hour_median
    )
FROM (SELECT * FROM provider_prices_daily LIMIT 1) AS p
CROSS JOIN pairs
CROSS JOIN days AS d;
CREATE OR REPLACE TABLE prices_daily AS
SELECT
    p.* REPLACE (
        d.day AS day, d.accelerator AS accelerator, d.segment AS segment, d.usd AS usd_per_accelerator_hour_median,
        d.n_providers AS n_providers, CASE WHEN d.n_providers > 2 THEN 'ok' ELSE 'thin' END AS status
    )
FROM (SELECT * FROM prices_daily WHERE status <> 'withheld' AND pricing_model = 'on_demand' LIMIT 1) AS p
CROSS JOIN (
    SELECT day, accelerator, segment, median(CAST(usd_per_accelerator_hour_median AS DOUBLE)) AS usd, count(*) AS n_providers
    FROM (FROM provider_prices_daily UNION ALL SELECT * REPLACE ('all' AS segment) FROM provider_prices_daily)
    GROUP BY day, accelerator, segment
) AS d
"""


@pytest.mark.slow
def test_nine_years_of_every_day_fit(written: Path, tmp_path: Path) -> None:
    shutil.copyfile(database.published_file(), tmp_path / "nine.duckdb")
    with duckdb.connect(str(tmp_path / "nine.duckdb")) as connection:
        connection.execute(NINE_YEARS)
        [(days,)] = connection.execute("SELECT count(*) FROM provider_prices_daily").fetchall()
        assert days > 900_000
        folder = site.write(connection, tmp_path / "site").parent
    assert len(list(folder.glob("accelerators/*.html"))) > 40
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 5_000_000
