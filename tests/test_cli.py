"""The command as a person meets it: output, exit status, and one clear line when it can't."""

import csv
import io
from pathlib import Path

import duckdb
import pytest

from tests.command import gpuledger, json_lines, within
from tests.market import Market, offer
from tests.record import FIXTURES


def test_sql_prints_a_table_csv_or_json(ledger: Path) -> None:
    query = "SELECT 1 AS one, 'a,b' AS text, CAST(2.50 AS DECIMAL(9, 2)) AS price, NULL AS nothing, DATE '2026-03-01' AS day"
    assert json_lines(gpuledger("sql", query, "--format", "json", data=ledger)) == [
        {"one": 1, "text": "a,b", "price": 2.5, "nothing": None, "day": "2026-03-01"}
    ]
    found = list(csv.reader(io.StringIO(within("sql", query, "--format", "csv", data=ledger).stdout)))
    assert found == [["one", "text", "price", "nothing", "day"], ["1", "a,b", "2.5", "", "2026-03-01"]]
    assert within("sql", query, data=ledger).stdout.splitlines()[2] == "  1  a,b     2.5           2026-03-01"


@pytest.mark.parametrize(
    "query",
    ["DELETE FROM builds", "CREATE TABLE t (a INTEGER)", "ATTACH '/etc/passwd' AS p", "SELECT * FROM read_text('/etc/passwd')",
     "COPY (SELECT 1) TO 'out.csv'", "SET enable_external_access = true", "INSTALL httpfs", "SELECT * FROM nowhere"],
)  # fmt: skip
def test_sql_only_reads_and_only_the_published_copy(ledger: Path, query: str) -> None:
    done = within("sql", query, data=ledger)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("gpuledger: ")
    assert len(done.stderr.splitlines()) == 1


def test_without_a_warehouse_every_reading_command_says_how_to_make_one(tmp_path: Path) -> None:
    for arguments in (
        ["prices", "H100"],
        ["trend", "H100"],
        ["cost", "gpt-3-175b"],
        ["sql", "SELECT 1"],
        ["export", "out"],
        ["report"],
    ):
        done = within(*arguments, data=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "gpuledger run --fixtures" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["prices", "H1000"], "no accelerator 'H1000'"),
        (["cost", "gpt-5"], "no training run 'gpt-5'"),
        (["cost", "gpt-3-175b", "--basis", "cheap"], "no basis 'cheap'"),
        (["cost", "gpt-3-175b", "--on", "yesterday"], "not a date"),
        (["parse", "nosuch", "x.json"], "no source 'nosuch'"),
        (["parse", "vultr", "missing.json"], "cannot read missing.json"),
        (["parse", "vultr", "x", "--observed-at", "noon"], "not an ISO 8601 time"),
        (["prices"], "Missing argument"),
        (["fly"], "No such command"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_to_do(ledger: Path, arguments: list[str], told: str) -> None:
    done = within(*arguments, data=ledger)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_parse_shows_the_columns_of_offers(ledger: Path) -> None:
    folder = next((FIXTURES / "vultr").iterdir())
    pages = [str(path) for path in sorted(folder.iterdir()) if path.name != "offers.json"]
    lines = json_lines(within("parse", "vultr", *pages, "--observed-at", "2026-08-22", data=ledger))
    with duckdb.connect(str(ledger / "published" / "gpuledger.duckdb"), read_only=True) as connection:
        columns = {row[0] for row in connection.execute("DESCRIBE offers").fetchall()}
    assert set(lines[0]) == columns - {"ordinal"}
    assert all(line["usd_per_hour"] is None or line["usd_per_hour"] > 0 for line in lines)


def test_parse_refuses_what_is_not_a_page_of_that_source(tmp_path: Path) -> None:
    page = tmp_path / "login.html"
    page.write_text("<html><title>Sign in</title></html>")
    done = within("parse", "vultr", str(page), data=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "not JSON" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "warehouse.duckdb").exists()


def test_load_takes_saved_pages_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    folder = next((FIXTURES / "vultr").iterdir())
    pages = [str(path) for path in sorted(folder.iterdir()) if path.name != "offers.json"]
    arguments = ("load", "vultr", *pages, "--observed-at", "2026-08-22", "--kind", "archived_page")
    first = within(*arguments, data=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "1 collections of 1 sources" in first.stderr
    again = within(*arguments, data=tmp_path)
    assert (again.returncode, again.stderr) == (0, "nothing new\n")


def test_prices_cost_and_trend_answer(ledger: Path) -> None:
    cheapest = json_lines(within("prices", "h100-sxm-80gb", "--count", "8", "--format", "json", data=ledger))
    assert cheapest[0]["usd_per_accelerator_hour"] <= cheapest[-1]["usd_per_accelerator_hour"]
    months = json_lines(within("trend", "a100-sxm-80gb", "--format", "json", data=ledger))
    assert len({row["day"][:4] for row in months}) >= 4
    [row] = json_lines(
        within(
            "cost",
            "llama-65b",
            "--on",
            "2023-01-15",
            "--basis",
            "provider:azure",
            "--accelerator",
            "a100-sxm-80gb",
            "--format",
            "json",
            data=ledger,
        )
    )
    assert row["as_run"] is True
    assert row["cost_usd_mid"] == pytest.approx(4.19e6, rel=0.002)


@pytest.mark.slow
def test_export_writes_every_mart_as_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = Market(tmp_path, monkeypatch)
    market.says(market.source("one"), "2026-03-01", [offer(f"s{number}", "2.00") for number in range(9)])
    market.update()
    done = within("export", str(tmp_path / "out"), data=tmp_path / "data")
    assert done.returncode == 0, done.stderr
    names = {path.stem for path in (tmp_path / "out").iterdir()}
    assert names >= {"offers", "prices_daily", "training_costs", "builds"}
    offers = duckdb.sql(f"SELECT count(*) FROM '{tmp_path / 'out' / 'offers.parquet'}'").fetchall()[0][0]
    assert offers == 9


def test_sources_and_doctor_tell_how_it_is(ledger: Path, tmp_path: Path) -> None:
    rows = json_lines(within("sources", "--format", "json", data=ledger))
    assert {"source", "provider", "segment", "kind", "proven", "status", "last_good_at", "offers", "reason"} == set(
        rows[0]
    )
    assert {row["source"]: row["status"] for row in rows}["vultr"] == "ok"
    well = within("doctor", "--format", "json", data=ledger)
    assert well.returncode == 0, well.stdout
    empty = within("doctor", "--format", "json", data=tmp_path)
    assert empty.returncode == 1
    assert any("gpuledger run --fixtures" in line for line in empty.stdout.splitlines())


def test_a_file_that_is_no_warehouse_is_named_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").write_bytes(b"not a database" * 1000)
    done = gpuledger("build", data=tmp_path)
    assert done.returncode == 1
    assert "does not open as a DuckDB file" in done.stderr
    assert (tmp_path / "warehouse.duckdb").read_bytes() == b"not a database" * 1000


@pytest.mark.slow
def test_without_network_every_source_says_so_and_what_there_is_stays(ledger: Path, tmp_path: Path) -> None:
    done = gpuledger("collect", "vast", "vultr", data=tmp_path, HTTPS_PROXY="http://127.0.0.1:9")
    assert done.returncode == 1
    assert sorted(line.split(":")[0] for line in done.stderr.splitlines()) == ["vast", "vultr"]
    assert all("failed" in line for line in done.stderr.splitlines())


def test_cells_from_outside_steer_neither_terminal_nor_spreadsheet(ledger: Path) -> None:
    query = "SELECT '=HYPERLINK(1)' AS a, chr(27) || '[31mred' AS b"
    assert "\x1b" not in within("sql", query, data=ledger).stdout
    assert "'=HYPERLINK" in within("sql", query, "--format", "csv", data=ledger).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sql", ""], "one statement, and this is none"), (["sql", ";"], "one statement, and this is none"),
        (["sql", "SELECT 1; SELECT 2"], "one statement, and this is 2"),
        (["sql", "SELECT 1 AS a, 2 AS a", "--format", "json"], "two columns of one name"),
        (["trend", "H100", "--segment", "foo"], "there is"), (["trend", "H100", "--pricing-model", "foo"], "on_demand"),
        (["changes", "--provider", "lamda"], "near it: lambda"), (["cost", "--params", "1e-300", "--tokens", "1e9"], "at least 1"),
        (["cost", "gpt-3", "--accelerators", "1000000000000"], "from 1 to"),
    ],
)  # fmt: skip
def test_what_nobody_can_mean_is_one_line(ledger: Path, arguments: list[str], told: str) -> None:
    done = within(*arguments, data=ledger)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr.splitlines()[-1]


def test_values_that_json_has_not_are_text(ledger: Path) -> None:
    done = within(
        "sql", "SELECT 'x'::BLOB AS a, INTERVAL 3 DAY AS b, TIME '06:00' AS c", "--format", "json", data=ledger
    )
    assert json_lines(done) == [{"a": "78", "b": "3 days, 0:00:00", "c": "06:00:00"}]


@pytest.mark.parametrize(
    "arguments", [["prices", "H100"], ["status"], ["doctor"], ["quarantine"], ["sources"], ["build"]]
)
def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "file").write_text("mine")
    done = within(*arguments, data=tmp_path / "file")
    assert done.returncode == 1
    assert str(tmp_path / "file") in done.stderr + done.stdout
    assert (tmp_path / "file").read_text() == "mine"
