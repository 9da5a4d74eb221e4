"""Everyone else reads the published copy: DuckDB 1.4, 1.5 and 2.0, its command line, pandas and Polars, as docs/reading.md says."""

import os
import re
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from flows import steps
from tests.conftest import ROOT
from tests.market import Market, offer

PAGE = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
BLOCKS = {
    language: re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for language in ("sh", "sql", "python")
}
EVERYTHING = """
import sys

import duckdb

ledger = duckdb.connect("data/published/gpuledger.duckdb", read_only=True)
ledger.execute("SET TimeZone = 'UTC'")
ledger.execute("SET enable_progress_bar = false")
views = "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
tables = "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE NOT internal"
for (name,) in ledger.execute(f"{views} UNION ALL {tables}").fetchall():
    ledger.execute(f"SELECT * FROM {name} LIMIT 1").fetchall()
for call in sys.argv[1:]:
    assert ledger.execute(call).fetchall(), call
files = duckdb.connect().execute("SELECT count(*), count(DISTINCT month) FROM 'data/published/parquet/prices_daily/*/*.parquet'").fetchall()
assert files[0][0] == ledger.execute("SELECT count(*) FROM prices_daily").fetchall()[0][0]
print(duckdb.__version__)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def there(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``data`` is the session's ledger, with its Parquet."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(ledger / "published", folder / "data" / "published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPULEDGER_DATA", str(folder / "data"))
        steps.publish_parquet()
    return folder


def environment(folder: Path, *packages: str) -> Path:
    """The programs of a fresh environment with these packages; skips when no package index can be reached."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [
        str(folder / "bin" / "pip"),
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
        *packages,
    ]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"{', '.join(packages)} did not install, so they are not tried as readers: {done.stderr.strip().splitlines()[-1][:200]}"
        print(why)
        pytest.skip(why)
    return folder / "bin"


def run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=os.environ | {"GPULEDGER_DATA": "data"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def calls() -> list[str]:
    from tests.test_schema import CALLS, narrowed

    return [
        f"FROM {name}({arguments}){narrowed(name)}" if is_table else f"SELECT {name}({arguments})"
        for (name, is_table), arguments in CALLS.items()
    ]


@pytest.mark.parametrize("version", ["1.4", "1.5", "2.0"])
def test_every_version_reads_every_table_view_and_macro(there: Path, tmp_path: Path, version: str) -> None:
    """DuckDB 1.5 and older hand out times by way of pytz."""
    programs = environment(tmp_path / "environment", f"duckdb=={version}.*", "pytz", "pandas", "pyarrow", "polars")
    assert run([str(programs / "python"), "-c", EVERYTHING, *calls()], there).startswith(f"{version}.")
    for block in BLOCKS["python"]:
        if "from warehouse" not in block:
            run([str(programs / "python"), "-c", block], there)
    attach = f"import duckdb; c = duckdb.connect()\nfor one in {BLOCKS['sql'][0].split(';')[:-1]!r}: c.execute(one).fetchall()"
    run([str(programs / "python"), "-c", attach], there)


def test_the_command_line_reads_it(there: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", "duckdb-cli")
    [block] = BLOCKS["sh"]
    assert "voltage_park" in run(["bash", "-ec", f'PATH="{programs}:$PATH"\n{block}'], there)
    assert run([str(programs / "duckdb"), "-c", BLOCKS["sql"][0]], there)


def test_python_in_this_environment_reads_it(there: Path) -> None:
    [block] = [block for block in BLOCKS["python"] if "from warehouse" in block]
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{block}\nassert rows and table.num_rows"
    run([sys.executable, "-c", code], there)


READER = """
import sys

from warehouse import connect

for _ in range(int(sys.argv[1])):
    with connect() as ledger:
        [(build, last_day)] = ledger.execute(
            "SELECT build_id, last_day FROM builds ORDER BY built_at DESC, load_number DESC LIMIT 1"
        ).fetchall()
        for table in ("provider_prices_daily", "prices_daily", "price_index_daily", "basis_prices_daily", "offers_current"):
            assert ledger.execute(f"SELECT max(day) FROM {table}").fetchall() == [(last_day,)], (table, build)
        days = "SELECT count(DISTINCT day), max(usd_per_accelerator_hour_median) FROM provider_prices_daily"
        assert ledger.execute(days).fetchall()[0][0] == last_day.timetuple().tm_yday, build
        [(price,)] = ledger.execute("SELECT price FROM offers_current").fetchall()
        assert int(1000 * (price - 2)) == last_day.timetuple().tm_yday, build
"""


def test_a_thousand_connections_while_a_writer_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None fails, and none sees a half build: every table ends on the day of the newest build, whose price tells the day."""
    market = Market(tmp_path, monkeypatch)
    market.source("lambda")
    builds = 0

    def write() -> None:
        nonlocal builds
        builds += 1
        market.says(
            "lambda", str(date(2026, 1, 1) + timedelta(days=builds - 1)), [offer("a", f"{2 + builds / 1000:.3f}")]
        )
        market.update()

    write()
    environment_of_readers = os.environ | {"PYTHONPATH": str(ROOT)}
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, "250"], env=environment_of_readers, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    while any(reader.poll() is None for reader in readers):
        write()
    errors = [reader.communicate()[1] for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * 4, errors
    assert builds > 5
