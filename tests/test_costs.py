"""Questions about costs and their explanation, as a person asks them, on the recorded pages and the curated prices."""

import gzip
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.command import gpuledger, json_lines, within
from tests.market import Market, offer
from warehouse import what_if
from warehouse.ask import UnknownNameError
from warehouse.model import all_models
from warehouse.own_runs import OwnRun, OwnRunError, of, read
from warehouse.run_names import run_id

H100 = "h100-sxm-80gb"
RUNS = """
[my-7b]
parameters = 7e9
tokens = 1e12
mfu = 0.4

[my-past]
parameters = 1.3e9
tokens = 26e9
accelerator = "a100-sxm-80gb"
accelerator_count = 8
accelerator_hours = 1000
published_on = 2023-06-01
source = "our own log"
"""


def cost(ledger: Path, *arguments: str, **more: str) -> list[dict[str, Any]]:
    return json_lines(within("cost", *arguments, "--format", "json", data=ledger, **more))


def ask(ledger: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(ledger / "published" / "gpuledger.duckdb"), read_only=True) as connection:
        return connection.execute(query).fetchall()


# What the issue that asked for this wants to see.


@pytest.mark.parametrize(
    ("basis", "part", "day", "million", "committed"),
    [
        ("provider:azure", "a100-sxm-80gb", "2023-01-15", 4.19, None),
        ("provider:aws", "a100-sxm-80gb", "2023-03-21", 5.23, None),
        ("provider:dgx_cloud", "a100-sxm-80gb", "2023-03-21", 6.48, 9.47),
        ("provider:lambda", "a100-sxm-80gb", "2023-09-15", 1.53, None),
        ("provider:aws", "a100-sxm-40gb", "2023-03-21", 4.19, None),
    ],
)
def test_llama_65b_of_early_2023(
    ledger: Path, basis: str, part: str, day: str, million: float, committed: float | None
) -> None:
    [(as_run, usd, whole_term)] = ask(
        ledger,
        "SELECT as_run, cost_usd_mid, committed_usd FROM training_costs WHERE run = 'llama-65b'"
        f" AND basis = '{basis}' AND accelerator = '{part}' AND day = '{day}'",
    )
    assert as_run is (part == "a100-sxm-80gb")
    assert usd / 1e6 == pytest.approx(million, abs=0.005)
    assert (whole_term and whole_term / 1e6) == (committed and pytest.approx(committed, abs=0.005))


def test_gpt_3_and_palm_from_their_own_part_to_the_newest(ledger: Path) -> None:
    months = dict(
        ask(
            ledger,
            "SELECT run || ' ' || accelerator, count(DISTINCT date_trunc('month', day)) FROM training_costs"
            " WHERE run IN ('gpt-3-175b', 'palm-540b') AND cost_usd_mid IS NOT NULL AND NOT starts_with(basis, 'provider') GROUP BY 1",
        )
    )
    assert months["gpt-3-175b v100-sxm-32gb"] > 72
    assert months["gpt-3-175b a100-sxm-40gb"] > 48
    assert months["palm-540b tpu-v4"] > 40
    assert {"gpt-3-175b h100-sxm-80gb", "palm-540b h100-sxm-80gb", "palm-540b b200-sxm-180gb"} <= months.keys()
    [(first,)] = ask(
        ledger,
        "SELECT min(day) FROM training_costs WHERE run = 'gpt-3-175b' AND as_run AND cost_usd_mid IS NOT NULL AND priced_on LIKE 'v100%'",
    )
    assert first.year <= 2020


# Names.


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("gpt-3", "gpt-3-175b"),
        ("GPT-3", "gpt-3-175b"),
        ("palm", "palm-540b"),
        ("llama", "llama-65b"),
        ("Llama 2", "llama-2-70b"),
        ("llama-3.1", "llama-3.1-405b"),
        ("palm-62b", "palm-62b"),
        ("deepseek-v3", "deepseek-v3"),
    ],
)
def test_short_names_of_runs(name: str, run: str) -> None:
    known = [
        "gpt-2-1.5b", "gpt-3-175b", "gpt-4", "palm-540b", "palm-62b", "palm-8b", "llama-65b", "llama-7b", "llama-2-70b", "llama-2-7b",
        "llama-3.1-405b", "llama-3.1-8b", "deepseek-v3",
    ]  # fmt: skip
    assert run_id(name, known) == run


def test_ambiguous_names_list_their_candidates() -> None:
    known = ["llm.c-gpt-2-124m", "mosaicml-gpt-30b", "mosaicml-sd2-base"]
    with pytest.raises(UnknownNameError, match="mosaicml-gpt-30b, mosaicml-sd2-base; say which"):
        run_id("mosaicml", known)
    with pytest.raises(UnknownNameError, match="no training run 'gpt-9'"):
        run_id("gpt-9", known)


# One's own runs.


def test_a_run_of_ones_own_by_hand(ledger: Path) -> None:
    arguments = ("--params", "7e9", "--tokens", "1e12", "--mfu", "0.4", "--on", H100, "--basis", "on_demand_median")
    [row] = [row for row in cost(ledger, *arguments) if row["precision"] == "bf16"]
    assert row["accelerator_hours_mid"] == pytest.approx(6 * 7e9 * 1e12 / (989.4e12 * 0.4 * 3600))
    assert row["cost_usd_mid"] == pytest.approx(row["accelerator_hours_mid"] * row["usd_per_accelerator_hour_mid"])
    assert row["cost_usd_low"] < row["cost_usd_mid"] < row["cost_usd_high"]
    assert row["why_not"] is None


def test_a_run_of_ones_own_is_reckoned_as_the_known_ones(ledger: Path) -> None:
    tokens = 5.48e23 / 6 / 65.2e9
    [own] = [
        row
        for row in cost(ledger, "--params", "65.2e9", "--tokens", f"{tokens:.12g}", "--on", H100)
        if row["precision"] == "bf16"
    ]
    [(hours, low, high, least)] = ask(
        ledger,
        "SELECT accelerator_hours_mid, accelerator_hours_low, accelerator_hours_high, minimum_accelerators FROM training_hours"
        f" WHERE run = 'llama-65b' AND accelerator = '{H100}' AND precision = 'bf16'",
    )
    assert own["accelerator_hours_mid"] == pytest.approx(hours, rel=1e-6)
    assert own["minimum_accelerators"] == least
    assert own["accelerator_hours_low"] == pytest.approx(low, rel=0.02)
    assert own["accelerator_hours_high"] == pytest.approx(high, rel=0.02)


def test_count_and_deadline_decide_what_can_do_it(ledger: Path) -> None:
    rows = cost(ledger, "--params", "7B", "--tokens", "1T", "--accelerators", "256", "--deadline", "21d")
    assert all(row["wall_clock_days"] <= 21.03 for row in rows if row["why_not"] is None)
    assert all(row["accelerators"] >= 256 for row in rows)
    assert any("longer" in row["why_not"] or "more than 21" in row["why_not"] for row in rows if row["why_not"])
    slower = cost(ledger, "--params", "7B", "--tokens", "1T", "--accelerators", "8", "--deadline", "21d", "--on", H100)
    assert all("days on 8" in row["why_not"] for row in slower)


def test_what_does_not_fit_or_has_no_fabric_is_said_and_not_priced(ledger: Path) -> None:
    rows = {row["accelerator"]: row for row in cost(ledger, "--params", "405e9", "--tokens", "15e12")}
    small = rows["rtx-4090-24gb"]
    assert (small["cost_usd_mid"], small["fits"]) == (None, False)
    assert "memory" in small["why_not"]
    more = {row["accelerator"]: row for row in cost(ledger, "--params", "7e9", "--tokens", "5e12")}
    assert more["l40s-48gb"]["cost_usd_mid"] is None
    assert "fabric" in more["l40s-48gb"]["why_not"]


def test_more_tokens_are_never_cheaper(ledger: Path) -> None:
    fewer, more = (
        {
            (row["accelerator"], row["precision"]): row["cost_usd_mid"]
            for row in cost(ledger, "--params", "1e9", "--tokens", tokens)
        }
        for tokens in ("1e10", "3e10")
    )
    both = [key for key in fewer if fewer[key] is not None and more[key] is not None]
    assert len(both) > 20
    assert all(fewer[key] < more[key] for key in both)


def test_a_budget_buys_the_run_that_costs_it(ledger: Path) -> None:
    [most] = [row for row in cost(ledger, "--budget", "10000", "--on", H100) if row["precision"] == "bf16"]
    assert most["tokens_mid"] == pytest.approx(20 * most["parameters_mid"])
    assert most["flop_mid"] == pytest.approx(6 * most["parameters_mid"] * most["tokens_mid"])
    assert most["parameters_low"] < most["parameters_mid"] < most["parameters_high"]
    own = ("--params", f"{most['parameters_mid']:.12g}", "--tokens", f"{most['tokens_mid']:.12g}", "--on", H100)
    [row] = [row for row in cost(ledger, *own) if row["precision"] == "bf16"]
    assert row["cost_usd_mid"] == pytest.approx(10_000, rel=1e-6)
    assert row["accelerators"] == most["accelerators"]


def test_at_home(ledger: Path) -> None:
    [row] = cost(ledger, "llm.c-gpt-2-124m", "--at-home", "rtx-4090", "--usd-per-kwh", "0.30")
    by_hand = 7.44e18 / (165.2e12 * 0.35 * 0.92 * 3600)
    assert row["hours_mid"] == pytest.approx(by_hand, rel=0.02)
    assert row["fits"] is True
    assert row["electricity_usd"] == pytest.approx(row["hours_mid"] * (450 + 150) / 1000 * 0.30)
    per_hour = row["rent_usd_per_hour"] - row["watts"] / 1000 * 0.30
    assert row["owning_beats_renting_after_hours"] == pytest.approx(
        (row["purchase_usd"] - row["resale_usd"]) / per_hour
    )
    assert row["purchase_priced_on"] >= "2022-10-12"
    rows = {one["run"]: one for one in cost(ledger, "--at-home", "rtx-4090", "--count", "2")}
    assert rows["llm.c-gpt-2-124m"]["hours_mid"] == pytest.approx(row["hours_mid"] / 2)
    assert rows["gpt-3-175b"]["fits"] is False
    assert 80 < rows["gpt-3-175b"]["years_mid"] < 100
    [node] = cost(ledger, "llama-7b", "--at-home", H100, "--count", "8")
    assert node["watts"] == pytest.approx(8 * 700 * 1.82 * 0.75 * 1.25)
    assert node["owning_beats_renting_after_hours"] > 1000


def test_a_large_model_fits_a_card_with_less_to_hold(ledger: Path) -> None:
    [adam] = cost(ledger, "--params", "1558e6", "--tokens", "32e9", "--at-home", "rtx-4090")
    [short] = cost(ledger, "--params", "1558e6", "--tokens", "32e9", "--at-home", "rtx-4090", "--memory", "adam_8bit")
    assert (adam["fits"], short["fits"]) == (False, True)
    assert 60 < adam["days_mid"] < 75


def test_fine_tuning_with_alpaca_as_a_check(ledger: Path) -> None:
    # Eight A100 for three hours, and less than 100 dollars at most clouds; 52,002 examples of at most 512 tokens, three epochs.
    tokens = ("--tokens", f"{52_002 * 512 * 3}", "--on", "a100-sxm-80gb", "--on", "2023-04-01")
    [row] = cost(ledger, "--finetune", "llama-7b", *tokens, "--basis", "provider:azure")
    assert row["accelerator_hours_low"] < 24 < row["accelerator_hours_high"]
    assert row["cost_usd_mid"] < 100
    [(recomputed, ceiling, verdict)] = ask(
        ledger, "SELECT recomputed, claimed_high, verdict FROM claims WHERE claim = 'alpaca-cost'"
    )
    assert recomputed == pytest.approx(98.4)
    assert recomputed < ceiling
    assert verdict == "holds"


@pytest.mark.slow
def test_adapters_need_less_memory(ledger: Path) -> None:
    least = {}
    for method in ("full", "lora", "qlora"):
        rows = cost(ledger, "--finetune", "llama-2-70b", "--tokens", "1e8", "--method", method, "--on", H100)
        least[method] = rows[0]["minimum_accelerators"]
    assert least == {"full": 18, "lora": 3, "qlora": 1}


def test_other_currencies_and_real_dollars(ledger: Path) -> None:
    question = ("llama-65b", "--on", "2023-03-01", "--basis", "provider:azure", "--accelerator", "a100-sxm-80gb")
    [usd], [eur], [real], [whole] = (
        cost(ledger, *question, *more) for more in ((), ("--currency", "EUR"), ("--real", "2024"), ("--project", "3.4"))
    )
    [(rate,)] = ask(
        ledger, "SELECT usd_per_unit FROM intermediate.usd_rates WHERE day = '2023-03-01' AND currency = 'EUR'"
    )
    assert eur["cost_eur_mid"] == pytest.approx(usd["cost_usd_mid"] / rate)
    [(factor,)] = ask(
        ledger,
        "SELECT avg(index_value) FILTER (year(month) = 2024) / any_value(index_value) FILTER (month = '2023-03-01') FROM reference.producer_prices",
    )
    assert real["cost_usd_of_2024_mid"] == pytest.approx(usd["cost_usd_mid"] * factor)
    assert (whole["cost_usd_mid"], whole["project_factor"]) == (pytest.approx(3.4 * usd["cost_usd_mid"]), 3.4)
    late = within("cost", "llama-65b", "--real", "2024", data=ledger)
    assert late.returncode == 2
    assert "end with 2025-06" in late.stderr


def test_goodput_is_an_assumption_of_ports_alone(ledger: Path) -> None:
    question = ("llama-65b", "--on", "2024-06-01", "--basis", "on_demand_median")
    as_told, other = (
        {(row["accelerator"], row["precision"]): row["cost_usd_mid"] for row in cost(ledger, *question, *more)}
        for more in ((), ("--goodput", "0.46"))
    )
    assert other["a100-sxm-80gb", "bf16"] == as_told["a100-sxm-80gb", "bf16"]
    ported = [key for key in as_told if not key[0].startswith("a100-sxm") and as_told[key]]
    assert ported
    assert all(other[key] == pytest.approx(2 * as_told[key]) for key in ported)


def test_same_quality(ledger: Path) -> None:
    rows = cost(ledger, "gpt-3", "--same-quality", "--on", "2024-06-01", "--basis", "hyperscaler_median")
    assert {"gpt-3-175b", "llama-13b", "mosaicml-gpt-30b"} == {row["run"] for row in rows}
    [(run,)] = ask(
        ledger,
        "SELECT run FROM cheapest_recipes WHERE day = '2024-06-01' AND basis = 'hyperscaler_median' AND quality_class = 'gpt-3' AND is_relaxed",
    )
    assert run == min(rows, key=lambda row: row["cost_usd_mid"])["run"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "unit"),
    [(["--currency", "EUR"], "eur"), (["--real", "2024"], "usd_of_2024"), (["--project", "1.5"], "usd")],
)
def test_in_other_money_the_parts_of_a_change_add_up_too(ledger: Path, asked: list[str], unit: str) -> None:
    days = ("compare", "gpt-3", "--on", "2020-09-01", "--and", "2024-09-02", "--basis", "hyperscaler_median")
    nominal, told = cost(ledger, *days), cost(ledger, *days, *asked)
    parts = [f"{part}_{unit}" for part in ("price", "panel", "hardware", "recipe", "assumptions", "unsplit", "money")]
    assert len(told) == len(nominal) > 1
    for before, row in zip(nominal, told, strict=True):
        change = row[f"cost_{unit}_after"] - row[f"cost_{unit}_before"]
        assert math.isclose(row[f"change_{unit}"], change, rel_tol=1e-9)
        assert math.isclose(sum(row[part] for part in parts), change, rel_tol=1e-9)
        if unit == "eur":
            # 1.1987 and 1.1061 US dollars a euro, by the European Central Bank.
            assert math.isclose(before["cost_usd_before"] / row["cost_eur_before"], 1.1987, rel_tol=1e-3)
            assert math.isclose(before["cost_usd_after"] / row["cost_eur_after"], 1.1061, rel_tol=1e-3)
            assert row["money_eur"] > 0
        if unit == "usd":
            assert math.isclose(row["price_usd"], 1.5 * before["price_usd"], rel_tol=1e-9, abs_tol=1e-9)
            assert row["money_usd"] == 0


def test_compare_takes_a_change_apart(ledger: Path) -> None:
    rows = cost(ledger, "compare", "gpt-3", "--on", "2020-09-01", "--and", "today")
    assert {"as_run", "cheapest_part_relaxed"} <= {row["path"] for row in rows}
    parts = ("price_usd", "panel_usd", "hardware_usd", "recipe_usd", "assumptions_usd", "unsplit_usd")
    for row in rows:
        assert row["from_day"] == "2020-09-01"
        assert math.isclose(
            sum(row[part] for part in parts), row["cost_usd_after"] - row["cost_usd_before"], rel_tol=1e-9
        )
    [best] = [row for row in rows if (row["path"], row["basis"]) == ("cheapest_part_relaxed", "hyperscaler_median")]
    assert best["accelerator_before"].startswith("v100")
    assert best["cost_usd_after"] < best["cost_usd_before"] / 4
    assert best["hardware_usd"] < 0


# Nonsense.


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--params", "7e9", "--tokens", "0"], "--tokens has to be more than nothing"),
        (["--params", "7e9", "--tokens", "1e12", "--mfu", "3"], "--mfu is a share"),
        (["--params", "7e9", "--tokens", "1e12", "--on", "h1000"], "no accelerator 'h1000'"),
        (["gpt-3", "--on", H100, "--on", "2019-01-01"], "came out on 2022-03-22"),
        (["gpt-3", "--on", "1999-01-01"], "they reach from"),
        (["--budget", "-5"], "--budget is not a positive number"),
        (["--budget", "nan"], "--budget is not a positive number"),
        (["--params", "7e9"], "needs --params and --tokens"),
        (["--params", "7e9", "--tokens", "1e12", "--accelerators", "0"], "from 1 to"),
        (["--params", "7e9", "--tokens", "1e12", "--deadline", "soon"], "not a time"),
        (["--params", "7e9", "--tokens", "1e12", "--deadline", "-1h"], "not a time"),
        (["--params", "7e9", "--tokens", "1e12", "--deadline", "1000000000h"], "wall_clock_hours"),
        (["--params", "7e9", "--tokens", "1e12", "--active", "8e9"], "active_parameters are more"),
        ([], "say what"),
        (["gpt-3", "--budget", "5"], "one question at a time"),
        (["gpt"], "say which"),
        (["gpt-3", "--currency", "XYZ"], "no exchange rate of XYZ"),
        (["gpt-3", "--real", "1812"], "no whole year 1812"),
        (["gpt-3", "--project", "0.5"], "--project"),
        (["--at-home", "h100"], "say which"),
        (["--at-home", "rtx-4090", "--count", "0"], "from 1 to"),
        (["--finetune", "gpt-4", "--tokens", "1e8"], "how large gpt-4 is"),
        (["--finetune", "llama-7b"], "needs --tokens"),
        (["--finetune", "llama-7b", "--tokens", "1e8", "--memory", "adam"], "leave out --memory"),
        (["--at-home", "rtx-4090", "--purchase", "100", "--resale", "1000"], "is more than --purchase"),
        (["compare", "gpt-3"], "compare needs two days"),
        (["compare", "gpt-3", "--on", "2020-09-01", "--and", "2020-09-01"], "twice"),
        (["compare"], "write one run"),
    ],
)
def test_nonsense_gets_one_clear_line(ledger: Path, arguments: list[str], told: str) -> None:
    done = within("cost", *arguments, data=ledger)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "is taken as" not in line]) == 1


# Files of runs.


@pytest.fixture
def runs_file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.toml"
    path.write_text(RUNS, encoding="utf-8")
    return path


@pytest.mark.slow
def test_runs_of_a_file_join_in(ledger: Path, runs_file: Path) -> None:
    more = {"GPULEDGER_RUNS": str(runs_file)}
    [row] = [
        row
        for row in cost(ledger, "my-7b", "--on", H100, "--basis", "on_demand_median", **more)
        if row["precision"] == "bf16"
    ]
    assert row["accelerator_hours_mid"] == pytest.approx(6 * 7e9 * 1e12 / (989.4e12 * 0.4 * 3600))
    as_run = [row for row in cost(ledger, "my-past", "--on", "2023-03-21", **more) if row["as_run"]]
    assert {(row["accelerator"], row["accelerator_hours_mid"]) for row in as_run} == {("a100-sxm-80gb", 1000)}
    assert cost(ledger, "compare", "my-past", "--on", "2023-03-21", "--and", "2024-03-21", **more)
    told = within("explain", "cost", "my-past", "--on", "2023-03-21", "--basis", "provider:azure", data=ledger, **more)
    assert told.returncode == 0, told.stderr
    assert "our own log" in told.stdout
    assert within("cost", "my-7b", data=ledger).returncode == 2


@pytest.mark.slow
def test_runs_of_a_file_are_in_every_table_of_a_build(
    tmp_path: Path, runs_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    market = Market(tmp_path, monkeypatch)
    source = market.source("here")
    market.says(source, "2025-01-01", [offer("a", 2)])
    market.update()
    monkeypatch.setenv("GPULEDGER_RUNS", str(runs_file))
    market.build()
    [(own,)] = market.sql("SELECT count(DISTINCT run) FROM training_costs WHERE run LIKE 'my-%'")
    assert own == 2
    assert market.sql("SELECT DISTINCT run FROM training_cost_frontier WHERE run = 'my-7b'") == [("my-7b",)]
    # Others' costs stand as before: a run of one's own calibrates nothing.
    [(factors,)] = market.sql("SELECT count(calibration_factor) FROM training_hours WHERE run LIKE 'my-%'")
    assert factors == 0
    monkeypatch.delenv("GPULEDGER_RUNS")
    market.build()
    assert market.sql("SELECT count(*) FROM training_hours WHERE run LIKE 'my-%'") == [(0,)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a]\nparameters = 0\ntokens = 1", "parameters is 0"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\nmfu = 3", "mfu is 3"),
        ("[a]\nparameters = 7e9", "needs tokens"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\naccelerator_count = 0", "accelerator_count is 0"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\naccelerator_count = true", "accelerator_count is True"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\nwall_clock_hours = -1", "wall_clock_hours is -1"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\nwall_clock_hours = 1e9", "wall_clock_hours is 1000000000"),
        ("[a]\nparameters = 7e9\ntokens = 1e12\ncolour = 'red'", "colour"),
        ("[A B]\nparameters = 1", "not TOML"),
        ("parameters = 7e9", "stands outside of a run"),
        ("[a]\nparameters = 7e9\naccelerator_hours = 5", "without the accelerator"),
    ],
)
def test_broken_files_of_runs_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("GPULEDGER_RUNS", str(path))
    with pytest.raises(OwnRunError, match=told) as error:
        read()
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_of_ones_own_takes_no_known_name(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_DATA", str(ledger))
    with (
        pytest.raises(OwnRunError, match="choose another name"),
        what_if.supposing([OwnRun(run="gpt-3-175b", parameters=1e9, tokens=1e9)]),
    ):
        pass
    with (
        pytest.raises(OwnRunError, match="no accelerator 'h1000'"),
        what_if.supposing([of("here", run="a", parameters=1e9, tokens=1e9, accelerator="h1000")]),
    ):
        pass


# Explanations.


def leaves(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(leaf for part in node.get("parts", []) for leaf in leaves(part))]


def explained(ledger: Path, *arguments: str) -> dict[str, Any]:
    [tree] = json_lines(within("explain", *arguments, "--format", "json", data=ledger))
    return tree


@pytest.mark.slow
def test_explanation_goes_down_to_the_page(ledger: Path) -> None:
    question = ("--on", "2023-03-01", "--basis", "provider:azure")
    tree = explained(ledger, "cost", "llama-65b", *question)
    hours, price = tree["parts"][0], tree["parts"][1]
    assert tree["value"] == pytest.approx(hours["value"] * price["value"])
    assert hours["url"] == "https://arxiv.org/abs/2302.13971"
    page = next(node for node in leaves(price) if node["what"].startswith("page "))
    assert page["url"].startswith("https://web.archive.org/web/2022")
    body = ledger / "archive" / page["how"].rpartition("archived as ")[2]
    assert hashlib.sha256(gzip.decompress(body.read_bytes())).hexdigest() == page["value"]
    text = gpuledger("explain", "cost", "llama", *question, data=ledger)
    assert page["value"] in text.stdout
    assert "Standard_ND96amsr_A100_v4" in text.stdout


def test_explanation_of_a_port_multiplies_out(ledger: Path) -> None:
    question = ("--accelerator", H100, "--basis", "neocloud_median", "--on", "2025-09-01")
    tree = explained(ledger, "cost", "gpt-3", *question, "--all")
    hours, price = tree["parts"][0], tree["parts"][1]
    named = {node["what"]: node for node in leaves(hours)}
    flop, peak = named["model FLOP"], named[f"dense peak of {H100}"]
    mfu = named[f"utilisation of {H100} (MFU)"]
    goodput = named["Share of all hours spent in steps that count; divides a per-step MFU's hours"]
    assert hours["value"] == pytest.approx(
        flop["value"] / (peak["value"] * 1e12 * mfu["value"] * goodput["value"] * 3600)
    )
    assert all(node.get("source") or node.get("url") for node in (flop, peak, mfu, goodput))
    medians = sorted(provider["value"] for provider in price["parts"])
    middle = len(medians) // 2
    assert price["value"] == pytest.approx((medians[middle] + medians[~middle]) / 2)
    for provider in price["parts"]:
        assert provider["parts"], provider["what"]
        assert any(node["what"].startswith("page ") for node in leaves(provider))


def test_explanation_of_a_price_and_of_an_offer(ledger: Path) -> None:
    [(snapshot_id, ordinal, usd)] = ask(
        ledger,
        "SELECT snapshot_id, ordinal, usd_per_accelerator_hour FROM offers WHERE currency <> 'USD' AND usd_per_accelerator_hour IS NOT NULL"
        " ORDER BY observed_at, snapshot_id, ordinal LIMIT 1",
    )
    tree = explained(ledger, "offer", snapshot_id, str(ordinal))
    assert tree["value"] == pytest.approx(float(usd))
    assert any("US dollars for one" in node["what"] for node in leaves(tree))
    assert explained(ledger, "price", "a100-sxm-80gb", "--on", "2023-03-01", "--basis", "hyperscaler_median")["parts"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cost", "gpt-3", "--accelerator", "rtx-4090"], "it does not fit"),
        (["cost", "gpt-3", "--basis", "cheap"], "no basis 'cheap'"),
        (["cost", "gpt-3", "--accelerator", "h100"], "say which"),
        (["price", "a100-sxm-80gb", "--on", "2018-01-01"], "has no price"),
        (["offer", "nosuch", "1"], "no offer 1"),
        (["cost", "llama", "--format", "csv", "--on", "2023-03-01", "--basis", "provider:azure"], "a tree has no rows"),
    ],
)
def test_what_can_not_be_explained_says_why(ledger: Path, arguments: list[str], told: str) -> None:
    done = within("explain", *arguments, data=ledger)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_columns_of_changes_carry_their_units() -> None:
    models = {model.name: model for model in all_models()}
    for name in ("training_cost_changes", "cheapest_recipes", "intermediate.matched_pairs"):
        for column in models[name].columns:
            if any(word in column for word in ("cost", "price", "change_", "hardware", "panel", "unsplit")):
                assert "usd" in column or column.endswith(("_day", "_days", "_changed")), f"{name}.{column}"


def test_json_of_an_explanation_is_one_object(ledger: Path) -> None:
    done = within("explain", "price", H100, "--format", "json", data=ledger)
    assert isinstance(json.loads(done.stdout), dict)
