"""Looks, as someone from outside, at what ``make run`` left in GPULEDGER_DATA, runs it again, and cuts the network.

Speaks to the ledger only by the ``gpuledger`` command beside this interpreter.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GPULEDGER = str(Path(sys.executable).with_name("gpuledger"))
DATA = Path(os.environ["GPULEDGER_DATA"])
MARTS = (
    "offers", "provider_prices_daily", "prices_daily", "training_hours", "basis_prices_daily", "training_costs",
    "training_cost_frontier", "claims", "provider_coverage", "builds", "schema_version",
)  # fmt: skip
RUNS = ("gpt-3-175b", "palm-540b", "llama-65b", "llama-2-70b", "mosaicml-gpt-30b", "llama-3.1-405b")
# Run, basis, day, US dollars per accelerator-hour, cost in millions of US dollars: figures that anyone can recompute.
KNOWN_COSTS = (
    ("llama-65b", "provider:azure", "2022-12-01", 4.10, 4.19),
    ("llama-65b", "provider:aws", "2022-12-01", 5.12, 5.23),
    ("palm-540b", "provider:gcp", "2023-03-01", 3.22, 27.06),
    ("palm-540b", "reserved_3y_median", "2023-03-01", 1.45, 12.19),
)
# An address that a page or style sheet would load by itself; links to follow are fine.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*\bhref=["']?(?:https?:)?//|url\(["']?https?:"""
)


def gpuledger(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | more
    return subprocess.run(
        [GPULEDGER, *arguments], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )


def sql(query: str) -> list[dict[str, Any]]:
    done = gpuledger("sql", query, "--format", "json")
    assert done.returncode == 0, f"{query}\n{done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def one(query: str) -> Any:
    [row] = sql(query)
    [value] = row.values()
    return value


def row_counts() -> dict[str, int]:
    """Rows of every table and view of the published copy."""
    tables = sql("SELECT table_schema AS of, table_name AS name FROM information_schema.tables ORDER BY ALL")
    names = [f"{table['of']}.{table['name']}" for table in tables]
    counts = sql(" UNION ALL ".join(f"SELECT '{name}' AS name, count(*) AS n FROM {name}" for name in names))
    return {row["name"]: row["n"] for row in counts}


def check_report() -> None:
    page = DATA / "site" / "index.html"
    text = page.read_text(encoding="utf-8")
    assert len(text) > 50_000, f"{page} is a mere {len(text)} characters"
    assert not (found := LOADED.search(text)), f"the report loads from outside: {found[0]}"
    for run in ("GPT-3", "PaLM", "LLaMA"):
        assert run in text, f"the report does not speak of {run}"
    assert list((DATA / "site").rglob("*.csv")), "no chart has its numbers beside it"


def check_tables() -> None:
    assert one("SELECT count(*) FROM offers") > 1_000
    counts = row_counts()
    assert not (empty := [mart for mart in MARTS if not counts[f"main.{mart}"]]), f"empty: {empty}"
    silent = sql(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND comment IS NULL AND NOT internal"
    )
    silent = [row for row in silent if row["table_name"] in MARTS]
    assert not silent, f"columns without a comment: {silent[:5]}"
    years = one("SELECT count(DISTINCT year(day)) FROM prices_daily WHERE usd_per_accelerator_hour_median IS NOT NULL")
    assert years >= 9, f"prices of {years} years"


def check_costs() -> None:
    for run in RUNS:
        years = {
            row["y"]
            for row in sql(
                f"SELECT DISTINCT year(day) AS y FROM training_costs WHERE run = '{run}' AND cost_usd_mid > 0"
            )
        }
        assert years >= set(range(2018, 2027)), f"{run}: only {sorted(years)}"
    for run, basis, day, usd_per_hour, million_usd in KNOWN_COSTS:
        [cost] = sql(
            "SELECT usd_per_accelerator_hour_mid AS per_hour, cost_usd_mid / 1e6 AS million_usd FROM training_costs"
            f" WHERE as_run AND run = '{run}' AND basis = '{basis}' AND day = '{day}'"
        )
        got = (round(cost["per_hour"], 2), round(cost["million_usd"], 2))
        assert got == (usd_per_hour, million_usd), f"{run}, {basis}: {got}"


def check_readme() -> None:
    """Every query that the README shows runs and finds something."""
    queries = re.findall(
        r"^```sql\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(queries) >= 3
    for query in queries:
        assert sql(query), f"the README's query finds nothing:\n{query}"


def check_exit_statuses() -> None:
    login = DATA / "login.html"
    login.write_text("<!doctype html><title>Sign in</title><form><input type=password></form>", encoding="utf-8")
    for status, arguments in (
        (0, ("resolve", "--", "NVIDIA H100 80GB HBM3")),
        (0, ("prices", "h100-sxm-80gb", "--format", "json")),
        (0, ("cost", "llama-65b", "--on", "2022-12-01", "--basis", "provider:azure")),
        (0, ("sources", "--format", "json")),
        (1, ("parse", "vast", str(login))),
        (1, ("sql", "SELECT nothing FROM nowhere")),
        (1, ("sql", "DELETE FROM builds")),
        (2, ("prices",)),
        (2, ("collect", "no-such-source")),
    ):
        done = gpuledger(*arguments)
        assert done.returncode == status, f"{arguments}: exit status {done.returncode}, not {status}\n{done.stderr}"
        assert bool(done.stdout) == (status == 0), f"{arguments}: stdout is {done.stdout[:80]!r}"
        assert "Traceback" not in done.stderr, f"{arguments}: {done.stderr}"


def check_again() -> None:
    """A second run changes nothing."""
    before = row_counts()
    done = gpuledger("run", "--fixtures")
    assert done.returncode == 0, done.stderr
    changed = {name: (before.get(name), n) for name, n in row_counts().items() if n != before.get(name)}
    assert not changed, f"the second run changed: {changed}"


def check_without_network() -> None:
    """Cut off, a run names each source that it could not reach, keeps what there is, and exits with 1."""
    cut = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    try:
        subprocess.run([*cut, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("no network namespaces here: what happens without a network is not checked")
        return
    live = [json.loads(line) for line in gpuledger("sources", "--format", "json").stdout.splitlines()]
    names = [source["source"] for source in live if source["kind"] in {"api", "page"}]
    before = one("SELECT count(*) FROM offers")
    keyless = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    done = subprocess.run([*cut, GPULEDGER, "run"], capture_output=True, text=True, cwd=ROOT, env=keyless, check=False)
    assert done.returncode == 1, f"exit status {done.returncode}\n{done.stderr}"
    assert len(names) >= 11
    for name in names:
        assert len(re.findall(rf"^{name}: .*$", done.stderr, re.MULTILINE)) == 1, (
            f"not one line on {name}\n{done.stderr}"
        )
    assert one("SELECT count(*) FROM offers") == before


for check in (
    check_report,
    check_tables,
    check_costs,
    check_readme,
    check_exit_statuses,
    check_again,
    check_without_network,
):
    check()
    print(f"{check.__name__.removeprefix('check_').replace('_', ' ')}: as it should be", flush=True)
