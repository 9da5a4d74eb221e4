"""Training hours, bases, costs, the frontier and the claims: the SQL itself, on small made-up prices."""

import csv
import importlib.resources
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warehouse import own_runs
from warehouse.model import all_checks, all_models

Connection = duckdb.DuckDBPyConnection
Rows = list[tuple[Any, ...]]
HOURS = ("intermediate.run_facts", "intermediate.training_parts", "training_hours")
COSTS = ("intermediate.basis_spans", "basis_prices_daily", "training_costs", "training_cost_frontier")
ESTIMATES = ("intermediate.recomputed_estimates", "claims", "published_cost_checks")
REFERENCES = (
    "accelerators", "claims", "cluster_limits", "estimate_inputs", "mfu", "price_bases", "published_costs", "stand_ins",
    "training_constants", "training_runs",
)  # fmt: skip

PROVIDER_PRICES = """
CREATE OR REPLACE TABLE provider_prices_daily (
    day DATE, provider VARCHAR, segment VARCHAR, accelerator VARCHAR, pricing_model VARCHAR, commitment_days INTEGER,
    usd_per_accelerator_hour_min DECIMAL(18, 9), usd_per_accelerator_hour_median DECIMAL(18, 9), usd_per_accelerator_hour_max DECIMAL(18, 9),
    age_days INTEGER, source_kinds VARCHAR[]
)
"""
# The market as prices_daily makes it, without its screening and its withheld rows.
PRICES = """
CREATE OR REPLACE TABLE prices_daily AS
WITH segments AS (
    SELECT * FROM provider_prices_daily
    UNION ALL SELECT * REPLACE ('all' AS segment) FROM provider_prices_daily
)
SELECT
    day, accelerator, pricing_model, commitment_days, segment,
    CAST(min(usd_per_accelerator_hour_min) AS DOUBLE) AS usd_per_accelerator_hour_min,
    quantile_cont(CAST(usd_per_accelerator_hour_median AS DOUBLE), 0.25) AS usd_per_accelerator_hour_p25,
    median(CAST(usd_per_accelerator_hour_median AS DOUBLE)) AS usd_per_accelerator_hour_median,
    quantile_cont(CAST(usd_per_accelerator_hour_median AS DOUBLE), 0.75) AS usd_per_accelerator_hour_p75,
    count(*) AS n_providers,
    CASE WHEN any_value(a.single_seller) THEN 'single_seller' WHEN count(*) >= 3 THEN 'ok' ELSE 'thin' END AS status,
    min(age_days) AS age_days, ['live'] AS source_kinds
FROM segments
JOIN reference.accelerators AS a USING (accelerator)
GROUP BY ALL
"""
SPANS = """
CREATE OR REPLACE TABLE series_spans AS
SELECT
    provider, segment, accelerator, pricing_model, commitment_days, min(day) AS first_day, max(day) AS last_day,
    (SELECT max(day) FROM provider_prices_daily) AS ledger_day
FROM provider_prices_daily
GROUP BY ALL
"""
Price = tuple[date, str, str, str, str, int, float]
D1, D2, D3 = date(2023, 3, 21), date(2023, 3, 22), date(2023, 3, 23)
LIST: list[Price] = [
    (D1, "azure", "hyperscaler", "a100-sxm-80gb", "on_demand", 0, 4.10),
    (D1, "aws", "hyperscaler", "a100-sxm-80gb", "on_demand", 0, 5.12),
    (D1, "gcp", "hyperscaler", "a100-sxm-80gb", "on_demand", 0, 5.027702),
    (D1, "lambda", "neocloud", "a100-unstated-80gb", "on_demand", 0, 1.50),
    (D1, "dgx_cloud", "other", "a100-sxm-80gb", "reserved", 30, 36999 / 8 / 730),
    (D1, "aws", "hyperscaler", "a100-sxm-40gb", "on_demand", 0, 4.10),
    (D1, "gcp", "hyperscaler", "tpu-v4", "on_demand", 0, 3.22),
    (D1, "gcp", "hyperscaler", "tpu-v4", "reserved", 1095, 1.45),
    (D1, "vast", "marketplace", "rtx-4090-24gb", "on_demand", 0, 0.40),
    (D1, "aws", "hyperscaler", "v100-sxm-16gb", "on_demand", 0, 3.06),
    (D1, "aws", "hyperscaler", "v100-sxm-16gb", "spot", 0, 0.918),
]


def open_warehouse() -> Connection:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE SCHEMA reference; CREATE SCHEMA intermediate; CREATE SCHEMA staging; CREATE SCHEMA raw")
    folder = importlib.resources.files("warehouse") / "reference"
    for name in REFERENCES:
        connection.execute(f"CREATE TABLE reference.{name} AS FROM read_csv('{folder / name}.csv', sample_size = -1)")
    own_runs.add(connection, [])
    connection.execute("CREATE TABLE days_to_build (day DATE)")
    connection.execute(PROVIDER_PRICES)
    connection.execute(PRICES)
    make(connection, HOURS)
    return connection


def make(connection: Connection, names: tuple[str, ...]) -> None:
    models = {model.name: model for model in all_models()}
    for name in names:
        kind = "VIEW" if models[name].partition == "view" else "TABLE"
        connection.execute(f"CREATE OR REPLACE {kind} {name} AS {models[name].sql}")


def set_prices(connection: Connection, prices: list[Price]) -> None:
    connection.execute(PROVIDER_PRICES)
    connection.executemany(
        "INSERT INTO provider_prices_daily VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, 5, ['live'])",
        [list(price) for price in prices],
    )
    connection.execute(PRICES)
    connection.execute(SPANS)
    connection.execute("CREATE OR REPLACE TABLE days_to_build AS SELECT DISTINCT day FROM provider_prices_daily")
    make(connection, COSTS)


@pytest.fixture(scope="module")
def ledger() -> Iterator[Connection]:
    with open_warehouse() as connection:
        set_prices(connection, LIST)
        make(connection, ESTIMATES)
        yield connection


@pytest.fixture
def ask(ledger: Connection) -> Callable[..., Rows]:
    return lambda sql, *values: ledger.execute(sql, list(values)).fetchall()


def reference_rows(name: str) -> list[dict[str, str]]:
    text = (importlib.resources.files("warehouse") / "reference" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


# One made-up part and run, for cases with a known answer.


def bench(
    *, flop: float = 1e24, peak_tflops: float = 989.4, utilisation: float = 0.4, hours: float | None = None, count: int | None = None,
    tokens: float | None = None, price: float = 2.0,
) -> Connection:  # fmt: skip
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE SCHEMA reference; CREATE SCHEMA intermediate")
    for name in ("training_constants", "price_bases"):
        path = importlib.resources.files("warehouse") / "reference" / f"{name}.csv"
        connection.execute(f"CREATE TABLE reference.{name} AS FROM read_csv('{path}', sample_size = -1)")
    connection.execute(
        """
        CREATE TABLE reference.accelerators AS
        SELECT 'part' AS accelerator, 'Part' AS model, 'sxm' AS form_factor, 80.0 AS memory_gb, CAST(NULL AS VARCHAR) AS may_be,
            DATE '2022-03-22' AS released_on, $1 AS dense_16bit_tflops, NULL::DOUBLE AS dense_fp8_tflops, NULL::DOUBLE AS dense_fp32_tflops,
            8 AS node_size, true AS has_fabric, false AS single_seller
        """,
        [peak_tflops],
    )
    connection.execute(
        "CREATE TABLE reference.mfu AS SELECT 'part' AS accelerator, 'bf16' AS precision, $1 * 0.8 AS mfu_low, $1 AS mfu_mid,"
        " $1 * 1.2 AS mfu_high, 'hours' AS mfu_of, 'measured' AS evidence, 'made up' AS source",
        [utilisation],
    )
    connection.execute(
        "CREATE TABLE reference.cluster_limits AS SELECT 'part' AS accelerator, 100000 AS largest_cluster"
    )
    connection.execute(
        """
        CREATE TABLE reference.training_runs AS
        SELECT 'run' AS run, DATE '2024-01-01' AS published_on, 1e9 AS parameters, NULL::DOUBLE AS active_parameters, $1 AS tokens, $2 AS model_flop,
            $2 * 0.95 AS flop_low, $2 * 1.05 AS flop_high, '6nd' AS flop_basis, CASE WHEN $3 > 0 THEN 'part' END AS accelerator,
            $4::INTEGER AS accelerator_count, NULL::DOUBLE AS wall_clock_hours, $3::DOUBLE AS accelerator_hours,
            NULL::DOUBLE AS accelerator_hours_low, NULL::DOUBLE AS accelerator_hours_high, 'bf16' AS precision, 'reported' AS how_known,
            NULL::VARCHAR AS quality_class, 'made up' AS source, NULL::VARCHAR AS source_url
        """,
        [tokens, flop, hours, count],
    )
    connection.execute("CREATE TABLE reference.stand_ins AS SELECT 'run' AS run, 1 AS rank, 'part' AS accelerator")
    own_runs.add(connection, [])
    make(connection, HOURS)
    set_prices(connection, [(D1, "one", "neocloud", "part", "on_demand", 0, price)])
    return connection


def one(connection: Connection, sql: str) -> float:
    [(value,)] = connection.execute(sql).fetchall()
    return float(value)


COST = "SELECT cost_usd_mid FROM training_costs WHERE basis = 'on_demand_median'"
HOURS_MID = "SELECT accelerator_hours_mid FROM training_hours"


def test_dense_peak_not_sparse() -> None:  # Q01
    with bench(price=2.0) as h100:
        assert one(h100, HOURS_MID) == pytest.approx(701_885, abs=1)
        assert one(h100, COST) == pytest.approx(1_403_769, abs=2)
    [h100_row] = [row for row in reference_rows("accelerators") if row["accelerator"] == "h100-sxm-80gb"]
    assert float(h100_row["dense_16bit_tflops"]) == pytest.approx(989.4, abs=0.5)


def test_pcie_and_sxm_have_their_own_peaks() -> None:  # Q03
    with bench(peak_tflops=756.5, price=1.90) as pcie, bench(price=2.40) as sxm:
        assert one(pcie, HOURS_MID) == pytest.approx(917_970, abs=1)
        assert one(pcie, COST) == pytest.approx(1.744e6, rel=1e-3)
        assert one(sxm, COST) == pytest.approx(1.685e6, rel=1e-3)


def test_tpu_hours_are_of_chips(ask: Callable[..., Rows]) -> None:  # Q06
    parts = {row["accelerator"]: row for row in reference_rows("accelerators")}
    assert 2.70 * float(parts["tpu-v6e"]["node_size"]) == pytest.approx(21.60)
    assert 8.00 / float(parts["tpu-v3"]["node_size"]) == 2.00
    assert ask("SELECT accelerator_hours_mid FROM training_hours WHERE run = 'palm-540b' AND as_run") == [
        (8_404_992.0,)
    ]


def test_accelerator_hours_are_not_wall_clock() -> None:  # Q07
    with bench(flop=3e23, hours=1_300_000, count=24_576) as run:
        assert one(run, "SELECT wall_clock_hours FROM training_hours") == pytest.approx(52.9, abs=0.05)
        assert one(run, COST) == pytest.approx(2.6e6)


@pytest.mark.parametrize(("price", "cost"), [(3.06, 7_117_333), (0.918, 2_135_200)])
def test_gpt_3_by_hand(price: float, cost: float) -> None:  # Q10
    with bench(flop=3.14e23, peak_tflops=125, utilisation=0.30, price=price) as run:
        assert one(run, HOURS_MID) == pytest.approx(2_325_926, abs=1)
        assert one(run, COST) == pytest.approx(cost, abs=2)


def test_peaks_are_in_tflops() -> None:  # Q12
    """One unit, which the column's name says: a peak told in PFLOP/s costs the same once it is in it, and is refused before."""
    with bench(peak_tflops=989.4) as told, bench(peak_tflops=0.9894 * 1000) as converted:
        assert one(told, COST) == pytest.approx(one(converted, COST), rel=1e-12)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE reference.training_runs SET accelerator_count = 0 WHERE run = 'palm-540b'",
        "UPDATE reference.training_runs SET accelerator_hours = -1 WHERE run = 'llama-7b'",
        "UPDATE reference.training_runs SET tokens = 0 WHERE run = 'llama-7b'",
        "UPDATE reference.training_runs SET wall_clock_hours = 1000000000 WHERE run = 'palm-540b'",
        "UPDATE reference.training_runs SET accelerator = 'tpu-v9' WHERE run = 'palm-540b'",
        "UPDATE reference.mfu SET mfu_high = 3 WHERE accelerator = 'tpu-v4'",
        "UPDATE reference.accelerators SET dense_16bit_tflops = 0.9894 WHERE accelerator = 'h100-sxm-80gb'",
        "UPDATE reference.accelerators SET dense_16bit_tflops = 989400 WHERE accelerator = 'h100-sxm-80gb'",
        "DELETE FROM reference.stand_ins WHERE run = 'palm-540b'",
        "INSERT INTO reference.training_runs SELECT * FROM reference.training_runs WHERE run = 'palm-540b'",
    ],
)
def test_nonsense_in_the_reference_rows_fails_the_build(ledger: Connection, damage: str) -> None:  # Q14
    check = all_checks()["training_references_sound"]
    with ledger.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(damage)
        assert cursor.execute(check).fetchall()
        cursor.execute("ROLLBACK")


# The reference rows.


def test_checks_hold(ledger: Connection) -> None:
    for name in ("training_references_sound", "training_ranges_in_order"):
        assert ledger.execute(all_checks()[name]).fetchall() == []


def test_all_runs_are_there(ask: Callable[..., Rows]) -> None:
    assert ask("SELECT count(*) FROM reference.training_runs") == [(72,)]
    priced = {run for (run,) in ask("SELECT DISTINCT run FROM training_hours")}
    assert {"gpt-3-175b", "palm-540b", "llama-65b", "llama-2-70b", "mosaicml-gpt-30b", "llama-3.1-405b"} < priced
    assert len(priced) == 72


def test_flop_and_hours_that_contradict_each_other_are_not_carried_over(ask: Callable[..., Rows]) -> None:
    flagged = {run for (run,) in ask("SELECT run FROM intermediate.run_facts WHERE implied_mfu > 0.65")}
    assert flagged == {"deepseek-r1", "gpt-2-1.5b", "nanochat-gpt-2-grade", "transformer-big"}
    assert ask("SELECT run FROM training_hours WHERE route = 'flop' AND list_contains($1, run)", list(flagged)) == []
    assert ask("SELECT count(*) FROM intermediate.run_facts WHERE has_flop_route <> (why_no_flop_route IS NULL)") == [
        (0,)
    ]


@pytest.mark.parametrize(
    ("run", "flop"),
    [
        ("opt-175b", 3.15e23),
        ("gopher-280b", 5.04e23),
        ("gpt-neox-20b", 5.66e22),
        ("glm-130b", 3.12e23),
        ("t5-11b", 4.05e22),
        ("lamda-137b", 3.55e23),
    ],
)
def test_model_flop_are_apart_from_hardware_flop(ask: Callable[..., Rows], run: str, flop: float) -> None:
    assert ask("SELECT model_flop FROM intermediate.run_facts WHERE run = $1", run) == [(flop,)]


def test_quality_classes_link_runs(ask: Callable[..., Rows]) -> None:
    linked: dict[str, list[str]] = dict(
        ask(
            "SELECT quality_class, list(run ORDER BY run) FROM reference.training_runs WHERE quality_class IS NOT NULL GROUP BY ALL"
        )
    )
    assert linked["gpt-2"] == ["gpt-2-1.5b", "llm.c-gpt-2-1558m", "nanochat-gpt-2-grade"]
    assert linked["gpt-3"] == ["gpt-3-175b", "llama-13b", "mosaicml-gpt-30b"]


def test_stand_ins_of_gpt_3_are_nearest_first() -> None:
    parts = [row["accelerator"] for row in reference_rows("stand_ins") if row["run"] == "gpt-3-175b"]
    assert parts[:2] == ["v100-sxm-32gb", "v100-sxm-16gb"]
    assert all(part.startswith("v100-") for part in parts)


# Hours.


def test_calibration_is_published(ask: Callable[..., Rows]) -> None:
    [(runs, middle)] = ask("SELECT count(calibration_factor), median(calibration_factor) FROM training_hours")
    assert runs > 25
    assert 0.9 < middle < 1.3
    [(palm,)] = ask("SELECT calibration_factor FROM training_hours WHERE run = 'palm-540b' AND as_run")
    assert palm == pytest.approx(8_404_992 / (2.527e24 / (275e12 * 0.42 * 0.92 * 3600)), rel=1e-6)


def test_goodput_divides_per_step_utilisation_only(ask: Callable[..., Rows]) -> None:
    [(step, of_hours)] = ask(
        "SELECT max(share_of_hours) FILTER (accelerator = 'tpu-v4'), max(share_of_hours) FILTER (accelerator = 'tpu-v2')"
        " FROM training_hours WHERE route = 'flop'"
    )
    assert (step, of_hours) == (0.92, 1.0)


def test_no_port_onto_the_part_that_it_was_run_on(ask: Callable[..., Rows]) -> None:
    assert ask("SELECT route FROM training_hours WHERE run = 'llama-65b' AND accelerator = 'a100-sxm-80gb'") == [
        ("reported",)
    ]
    assert ask(
        "SELECT route, as_run FROM training_hours WHERE run = 'llama-65b' AND accelerator = 'a100-sxm-40gb'"
    ) == [("same_die", False)]


def test_unstated_form_covers_the_forms_it_may_be(ask: Callable[..., Rows]) -> None:
    hours = {
        part: (low, mid, high)
        for part, low, mid, high in ask(
            "SELECT accelerator, accelerator_hours_low, accelerator_hours_mid, accelerator_hours_high FROM training_hours"
            " WHERE run = 'palm-540b' AND precision = 'bf16' AND accelerator LIKE 'h100-%-80gb'"
        )
    }
    sxm, pcie, unstated = hours["h100-sxm-80gb"], hours["h100-pcie-80gb"], hours["h100-unstated-80gb"]
    assert sxm[1] < unstated[1] < pcie[1]
    assert unstated[0] < sxm[1]
    assert unstated[2] > pcie[1]
    assert ask(
        "SELECT count(*) FROM training_hours WHERE accelerator = 'h100-unstated-80gb' AND precision = 'fp8'"
    ) == [(0,)]


@pytest.mark.parametrize(
    ("part", "least", "fits"), [("h100-sxm-80gb", 102, True), ("l40s-48gb", 169, False), ("rtx-4090-24gb", 338, False)]
)
def test_memory_of_llama_405b(ask: Callable[..., Rows], part: str, least: int, fits: bool) -> None:
    rows = ask(
        "SELECT DISTINCT minimum_accelerators, fits FROM training_hours WHERE run = 'llama-3.1-405b' AND accelerator = $1 AND precision = 'bf16'",
        part,
    )
    assert rows == [(least, fits)]


def test_uncertainties_of_hours_add_as_squares(ask: Callable[..., Rows]) -> None:
    rows = ask(
        "SELECT ln(accelerator_hours_high / accelerator_hours_mid), log_half_width_high, dominant_uncertainty FROM training_hours WHERE as_run"
        " AND run = 'llama-65b'"
    )
    [(width, told, dominant)] = rows
    assert width == pytest.approx(told)
    assert told == pytest.approx(0.0487902, rel=1e-4)  # ln 1.05
    assert dominant == "hours"


def test_more_machines_lose_more_on_spot(ask: Callable[..., Rows]) -> None:
    rows = ask("SELECT nodes, spot_overhead_mid FROM training_hours WHERE spot_overhead_mid IS NOT NULL ORDER BY nodes")
    assert all(before[1] <= after[1] + 1e-12 for before, after in pairwise(rows))
    assert ask("SELECT count(*) FROM training_hours WHERE spot_overhead_mid < 1 OR spot_overhead_mid > 2") == [(0,)]
    assert ask("SELECT min(nodes) > 1000 FROM training_hours WHERE spot_overhead_mid IS NULL") == [(True,)]


# Bases and costs.


@pytest.mark.parametrize(
    ("run", "basis", "hours", "price", "million"),
    [
        ("llama-65b", "provider:azure", 1_022_362, 4.10, 4.19),
        ("llama-65b", "provider:aws", 1_022_362, 5.12, 5.23),
        ("llama-65b", "provider:gcp", 1_022_362, 5.027702, 5.14),
        ("llama-65b", "provider:lambda", 1_022_362, 1.50, 1.53),
        ("llama-65b", "provider:dgx_cloud", 1_022_362, 6.335445205, 6.48),
        ("llama-65b", "hyperscaler_median", 1_022_362, 5.027702, 5.14),
        ("palm-540b", "hyperscaler_median", 8_404_992, 3.22, 27.06),
        ("palm-540b", "reserved_3y_median", 8_404_992, 1.45, 12.19),
    ],
)
def test_as_run(ask: Callable[..., Rows], run: str, basis: str, hours: float, price: float, million: float) -> None:
    [(told_hours, told_price, cost)] = ask(
        "SELECT accelerator_hours_mid, usd_per_accelerator_hour_mid, cost_usd_mid FROM training_costs WHERE run = $1 AND basis = $2 AND as_run",
        run,
        basis,
    )
    assert told_hours == hours
    assert told_price == pytest.approx(price)
    assert cost / 1e6 == pytest.approx(million, abs=0.005)


def test_accelerator_only_price_is_in_no_basis(ask: Callable[..., Rows]) -> None:
    assert ask(
        "SELECT count(*) FROM training_costs WHERE run = 'llama-65b' AND as_run AND cost_usd_mid BETWEEN 4.01e6 AND 4.03e6"
    ) == [(0,)]


def test_dgx_cloud_is_a_rate_beside_what_its_term_obliges_to(ask: Callable[..., Rows]) -> None:
    [(committed,)] = ask(
        "SELECT committed_usd FROM training_costs WHERE run = 'llama-65b' AND as_run AND basis = 'provider:dgx_cloud'"
    )
    assert committed == pytest.approx(256 * 36_999, rel=1e-6)


def test_same_die_with_less_memory_is_not_as_run(ask: Callable[..., Rows]) -> None:
    rows = ask(
        "SELECT as_run, round(cost_usd_mid / 1e6, 2) FROM training_costs"
        " WHERE run = 'llama-65b' AND accelerator = 'a100-sxm-40gb' AND basis = 'provider:aws'"
    )
    assert rows == [(False, 4.19)]


def test_gpt_3_is_priced_on_the_nearest_series(ask: Callable[..., Rows]) -> None:
    [(accelerator, priced_on, cost)] = ask(
        "SELECT accelerator, priced_on, cost_usd_mid FROM training_costs WHERE run = 'gpt-3-175b' AND as_run AND basis = 'hyperscaler_median'"
    )
    assert (accelerator, priced_on) == ("v100-sxm-32gb", "v100-sxm-16gb")
    assert cost == pytest.approx(3_552_000 * 3.06)


def test_few_providers_are_never_certain(ask: Callable[..., Rows]) -> None:
    [(low, high)] = ask(
        "SELECT exp(min(log_half_width_low)), exp(min(log_half_width_high)) FROM basis_prices_daily WHERE n_providers < 3"
    )
    assert low == pytest.approx(1.1)
    assert high == pytest.approx(1.1)
    assert ask("SELECT count(*) FROM basis_prices_daily WHERE log_half_width_low <= 0 OR log_half_width_high <= 0") == [
        (0,)
    ]


def test_few_providers_take_the_spread_of_their_segment() -> None:
    with open_warehouse() as connection:
        wide = [
            (D1, f"h{i}", "hyperscaler", "h100-sxm-80gb", "on_demand", 0, price)
            for i, price in enumerate((1.0, 2.0, 4.0))
        ]
        set_prices(connection, [*wide, (D1, "h9", "hyperscaler", "l40s-48gb", "on_demand", 0, 1.0)])
        rows = connection.execute(
            "SELECT accelerator, exp(log_half_width_low), exp(log_half_width_high) FROM basis_prices_daily"
            " WHERE basis = 'hyperscaler_median' ORDER BY ALL"
        ).fetchall()
        [(_, low, high), (_, pooled_low, pooled_high)] = rows
        assert (pooled_low, pooled_high) == (pytest.approx(low), pytest.approx(high))
        assert (low, high) == (pytest.approx(2 / 1.5), pytest.approx(1.5))


def test_range_of_a_cost(ask: Callable[..., Rows]) -> None:
    rows = ask(
        """
        SELECT t.cost_usd_low, t.cost_usd_mid, t.cost_usd_high, h.log_half_width_low, h.log_half_width_high, p.log_half_width_low,
            p.log_half_width_high, t.dominant_uncertainty, h.dominant_uncertainty
        FROM training_costs AS t
        JOIN training_hours AS h USING (run, accelerator, precision)
        JOIN basis_prices_daily AS p ON p.day = t.day AND p.basis = t.basis AND p.accelerator = t.priced_on
        WHERE t.basis <> 'spot_median' AND t.cost_usd_mid IS NOT NULL
        """
    )
    assert len(rows) > 100
    for row in rows:
        low, mid, high, hours_low, hours_high, price_low, price_high = (value for value in row[:7])
        assert low == pytest.approx(mid * 2.718281828 ** -((hours_low**2 + price_low**2) ** 0.5))
        assert high == pytest.approx(mid * 2.718281828 ** ((hours_high**2 + price_high**2) ** 0.5))
        assert row[7] in {"price", row[8]}


def test_spot_costs_include_lost_work(ask: Callable[..., Rows]) -> None:
    [(factor, cost)] = ask(
        "SELECT overhead_factor, cost_usd_mid FROM training_costs WHERE run = 'gpt-3-175b' AND as_run AND basis = 'spot_median'"
    )
    assert 1.1 < factor < 1.6
    assert cost == pytest.approx(3_552_000 * 0.918 * factor)


def test_what_does_not_fit_is_said_and_not_priced(ask: Callable[..., Rows]) -> None:
    rows = ask(
        "SELECT DISTINCT fits, cost_usd_mid, price_status FROM training_costs WHERE run = 'gpt-3-175b' AND accelerator = 'rtx-4090-24gb'"
    )
    assert {(fits, cost) for fits, cost, _ in rows} == {(False, None)}


def test_as_run_ends_as_no_longer_listed_and_never_as_a_port() -> None:
    with open_warehouse() as connection:
        days = [D1 + timedelta(days=offset) for offset in range(6)]
        v100 = [(day, "aws", "hyperscaler", "v100-sxm-32gb", "on_demand", 0, 3.90) for day in (days[0], days[2])]
        h100 = [(day, "aws", "hyperscaler", "h100-sxm-80gb", "on_demand", 0, 12.0) for day in days]
        set_prices(connection, [*v100, *h100])
        rows = connection.execute(
            "SELECT day, price_status, cost_usd_mid IS NULL, priced_on FROM training_costs WHERE run = 'gpt-3-175b' AND as_run"
            " AND basis = 'hyperscaler_median' ORDER BY day"
        ).fetchall()
    assert [row[0] for row in rows] == days
    assert [row[1] for row in rows] == [
        "thin",
        "withheld",
        "thin",
        "no_longer_listed",
        "no_longer_listed",
        "no_longer_listed",
    ]
    assert [row[2] for row in rows] == [False, True, False, True, True, True]
    assert {row[3] for row in rows} == {"v100-sxm-32gb", None}


def test_days_before_the_part_came_out_are_marked() -> None:
    with open_warehouse() as connection:
        set_prices(
            connection,
            [
                (day, "aws", "hyperscaler", "h100-sxm-80gb", "on_demand", 0, 12.0)
                for day in (date(2022, 3, 21), date(2022, 3, 22))
            ],
        )
        rows = connection.execute(
            "SELECT DISTINCT day, before_release FROM training_costs"
            " WHERE accelerator = 'h100-sxm-80gb' AND basis = 'hyperscaler_median' ORDER BY day"
        ).fetchall()
    assert rows == [(date(2022, 3, 21), True), (date(2022, 3, 22), False)]


def test_lowest_offer_is_its_own_basis() -> None:
    with open_warehouse() as connection:
        market = [("aws", "hyperscaler", 5.0), ("lambda", "neocloud", 2.0), ("vast", "marketplace", 1.0)]
        set_prices(
            connection,
            [(D1, provider, segment, "h100-sxm-80gb", "on_demand", 0, price) for provider, segment, price in market],
        )
        rows = dict(connection.execute("SELECT basis, usd_per_accelerator_hour_mid FROM basis_prices_daily").fetchall())
        clusters = dict(
            connection.execute("SELECT basis, cluster_usd_per_accelerator_hour FROM basis_prices_daily").fetchall()
        )
    assert rows == {
        "on_demand_median": 2.0, "on_demand_min": 1.0, "hyperscaler_median": 5.0, "neocloud_median": 2.0, "marketplace_median": 1.0,
        "provider:aws": 5.0, "provider:lambda": 2.0, "provider:vast": 1.0,
    }  # fmt: skip
    assert clusters["on_demand_min"] == 2.0
    assert clusters["marketplace_median"] is None
    assert clusters["provider:vast"] is None


# The frontier.


def frontier(connection: Connection, run: str, basis: str) -> Rows:
    return connection.execute(
        "SELECT is_relaxed, accelerator, cost_usd_mid FROM training_cost_frontier WHERE run = $1 AND basis = $2 ORDER BY day, is_relaxed",
        [run, basis],
    ).fetchall()


def test_frontier_takes_the_cheapest_part_that_could() -> None:
    with open_warehouse() as connection:
        three = ("aws", "hyperscaler"), ("azure", "hyperscaler"), ("gcp", "hyperscaler")
        prices: list[Price] = []
        for part, price in (
            ("h100-sxm-80gb", 4.0),
            ("a100-sxm-80gb", 3.0),
            ("l40s-48gb", 0.1),
            ("b200-sxm-180gb", 5.0),
        ):
            prices += [(D1, provider, segment, part, "on_demand", 0, price) for provider, segment in three]
        prices += [(D1, "vast", "marketplace", "h100-sxm-80gb", "on_demand", 0, 0.5)]
        set_prices(connection, prices)
        [firm, relaxed] = frontier(connection, "gpt-3-175b", "hyperscaler_median")
        assert firm[:2] == (False, "h100-sxm-80gb")  # the L40S is cheaper and has no fabric
        assert relaxed[:2] == (True, "b200-sxm-180gb")  # nobody measured a B200
        [(hours,)] = connection.execute(
            "SELECT accelerator_hours_mid FROM training_hours WHERE run = 'gpt-3-175b' AND accelerator = 'h100-sxm-80gb' AND precision = 'bf16'"
        ).fetchall()
        assert firm[2] == pytest.approx(4.0 * float(hours))
        assert frontier(connection, "gpt-3-175b", "marketplace_median") == []
        [small, *_] = frontier(connection, "llm.c-gpt-2-124m", "marketplace_median")
        assert small[1] == "h100-sxm-80gb"


def test_frontier_marks_thin_prices() -> None:
    with open_warehouse() as connection:
        set_prices(connection, [(D1, "aws", "hyperscaler", "h100-sxm-80gb", "on_demand", 0, 4.0)])
        assert [row[:2] for row in frontier(connection, "gpt-3-175b", "hyperscaler_median")] == [
            (True, "h100-sxm-80gb")
        ]


def test_frontier_needs_a_cluster_that_is_sold() -> None:
    with open_warehouse() as connection:
        prices = [
            (D1, f"p{i}", "hyperscaler", part, "on_demand", 0, 0.01)
            for i in range(3)
            for part in ("tpu-v4", "a100-sxm-80gb")
        ]
        set_prices(connection, prices)
        assert frontier(connection, "llama-3.1-405b", "hyperscaler_median") == []


def test_frontier_trusts_no_cluster_that_nobody_tells_of() -> None:
    with open_warehouse() as connection:
        set_prices(connection, [(D1, f"p{i}", "hyperscaler", "v100-sxm-32gb", "on_demand", 0, 3.0) for i in range(3)])
        assert [row[:2] for row in frontier(connection, "gpt-3-175b", "hyperscaler_median")] == [
            (True, "v100-sxm-32gb")
        ]
        assert [row[:2] for row in frontier(connection, "llm.c-gpt-2-124m", "hyperscaler_median")] == [
            (False, "v100-sxm-32gb")
        ]


def test_frontier_of_single_days_is_that_of_all_days() -> None:
    days = [D1, D2, D3]
    prices: list[Price] = [
        (day, f"p{i}", "neocloud", part, "on_demand", 0, 1.0 + i + (day == D3))
        for day in days
        for i in range(3)
        for part in ("h100-sxm-80gb", "a100-sxm-80gb")
    ]
    with open_warehouse() as connection:
        set_prices(connection, prices)
        whole = connection.execute("SELECT * FROM training_cost_frontier ORDER BY ALL").fetchall()
        parts: Rows = []
        for day in days:
            connection.execute("CREATE OR REPLACE TABLE days_to_build AS SELECT $1::DATE AS day", [day])
            make(connection, ("training_cost_frontier",))
            parts += connection.execute("SELECT * FROM training_cost_frontier").fetchall()
        assert whole
        assert sorted(parts, key=str) == sorted(whole, key=str)


# Published estimates and claims.


def test_independent_estimates_come_back(ask: Callable[..., Rows]) -> None:
    rows = ask("SELECT published_cost, error, tolerance FROM published_cost_checks WHERE class = 'independent'")
    assert len(rows) >= 20
    for name, error, tolerance in rows:
        assert abs(error) <= max(0.02, tolerance), name


def test_bands_are_contained_and_nothing_is_left_out(ask: Callable[..., Rows]) -> None:
    assert ask("SELECT count(*) FROM published_cost_checks") == ask("SELECT count(*) FROM reference.published_costs")
    assert ask("SELECT bool_and(is_within_tolerance) FROM published_cost_checks WHERE class = 'band'") == [(True,)]
    missed = ask("SELECT published_cost FROM published_cost_checks WHERE NOT is_within_tolerance")
    assert missed == [("epoch-cloud-grok-3",)]  # its month lies past the deflator's base
    open_rows = ask("SELECT class, note IS NOT NULL FROM published_cost_checks WHERE is_within_tolerance IS NULL")
    assert set(open_rows) == {("reconstructed", True)}


@pytest.mark.parametrize(
    ("claim", "recomputed", "verdict"),
    [
        ("dgx-cloud-month-eur", 36_999 / 1.0776, "differs"),
        ("dgx-cloud-memory", 640, "holds"),
        ("dgx-cloud-32000-gpus", 147_996_000, "derived"),
        ("palm-cost", 16_809_984, "holds"),
        ("llama-cost", 4_017_883, "holds"),
        ("mosaicml-cost", 450_965, "holds"),
        ("llama-2-70b-flop", 8.28e23, "not_met"),
        ("at-home-gpt-3", 172.1, "no"),
    ],
)
def test_claims(ask: Callable[..., Rows], claim: str, recomputed: float, verdict: str) -> None:
    [(told, told_verdict, why)] = ask("SELECT recomputed, verdict, why FROM claims WHERE claim = $1", claim)
    assert told == pytest.approx(recomputed, rel=1e-4)
    assert told_verdict == verdict
    assert why


def test_claims_stand_beside_what_the_ledger_says(ask: Callable[..., Rows]) -> None:
    [(low, high)] = ask("SELECT recomputed_low, recomputed_high FROM claims WHERE claim = 'palm-cost'")
    assert 8.9e6 < low < 9.3e6
    assert 22.9e6 < high < 23.3e6
    [(ledger_usd,)] = ask("SELECT ledger_usd_mid FROM claims WHERE claim = 'llama-cost'")
    assert ledger_usd / 1e6 == pytest.approx(5.14, abs=0.005)
    assert ask("SELECT claim FROM claims WHERE verdict = 'not_recomputable' ORDER BY claim") == [
        ("chatgpt-cost",),
        ("microsoft-spending",),
    ]


# What must always hold.


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.floats(1e9, 1e14), st.floats(1.0, 1000.0))
def test_more_tokens_are_never_cheaper(tokens: float, factor: float) -> None:
    costs = []
    for count in (tokens, tokens * factor):
        with bench(flop=6 * 1e9 * count, tokens=count) as run:
            costs.append([one(run, COST.replace("_mid", end)) for end in ("_low", "_mid", "_high")])
    fewer, more = costs
    assert all(before <= after * (1 + 1e-12) for before, after in zip(fewer, more, strict=True))


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(0.1, 100.0).map(lambda price: round(price, 4)), min_size=1, max_size=6), st.floats(0.01, 1.0))
def test_a_cheaper_market_is_never_dearer(prices: list[float], factor: float) -> None:
    with bench() as run:
        costs = []
        for scale in (factor, 1.0):
            set_prices(
                run,
                [(D1, f"p{i}", "neocloud", "part", "on_demand", 0, price * scale) for i, price in enumerate(prices)],
            )
            costs.append(
                dict(
                    run.execute(
                        "SELECT basis, cost_usd_mid FROM training_costs WHERE NOT starts_with(basis, 'provider')"
                    ).fetchall()
                )
            )
        cheaper, dearer = costs
        assert cheaper.keys() == dearer.keys()
        assert all(cheaper[basis] <= dearer[basis] * (1 + 1e-6) for basis in cheaper)


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.floats(0.05, 0.9), st.floats(0.05, 0.9))
def test_better_utilisation_never_takes_longer(one_share: float, other_share: float) -> None:
    low, high = sorted((one_share, other_share))
    with bench(utilisation=low) as slow, bench(utilisation=high) as fast:
        assert one(fast, HOURS_MID) <= one(slow, HOURS_MID) * (1 + 1e-12)


def test_columns_carry_their_units() -> None:
    models = {model.name: model for model in all_models()}
    units = ("_hours", "_usd", "usd_per_", "_days", "_gb", "_tflops", "mfu", "_on", "_until")
    for name in ("training_hours", "basis_prices_daily", "training_costs", "training_cost_frontier"):
        for column in models[name].columns:
            stem = column.removesuffix("_low").removesuffix("_mid").removesuffix("_high")
            if any(word in stem for word in ("cost", "price_per", "hours", "usd", "memory", "peak")):
                assert any(unit in f"_{stem}" for unit in units), f"{name}.{column}"
