"""Questions about costs, as SQL on the published copy: known runs, one's own, a budget, a machine at home, two days held against each other."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from warehouse import own_runs
from warehouse.ask import Answer, UnknownNameError, ask
from warehouse.database import Connection
from warehouse.own_runs import OwnRun

ASKED = "your-run"
DEFAULT_BASIS = "on_demand_median"
# FLOP of a run so small that it takes one machine of any part; what a budget buys is reckoned from its hours.
UNIT_FLOP = 1e19
FINE_TUNING = ("full", "lora", "qlora")


class ImpossibleQuestionError(ValueError):
    """What is asked can't be answered by anybody; the message says why, and what could be asked."""


@dataclass(frozen=True)
class Money:
    """How amounts are told: dollars of the day unless asked, for the final run unless a whole project is asked for."""

    currency: str = "USD"
    real_year: int | None = None
    project: float = 1.0

    @property
    def unit(self) -> str:
        """What stands for ``usd`` in the names of columns."""
        return f"usd_of_{self.real_year}" if self.real_year is not None else self.currency.lower()


_DOLLARS = Money()
# The logarithmic mean of two amounts; of two that are one to the last digits, that one.
_LOG_MEAN = "(CASE WHEN abs(ln(({1}) / ({0}))) < 1e-9 THEN {0} ELSE (({1}) - ({0})) / ln(({1}) / ({0})) END)"


def price_days(connection: Connection) -> tuple[date, date]:
    """First and last day with prices. Raises ImpossibleQuestionError when there is none."""
    [(first, last)] = connection.execute("SELECT min(day), max(day) FROM basis_prices_daily").fetchall()
    if first is None:
        raise ImpossibleQuestionError(
            "no part has a price yet, so nothing has a cost; collect some with: gpuledger run"
        )
    return first, last


def price_day(connection: Connection, on: date | None) -> date:
    """The day asked for, or the newest. Raises ImpossibleQuestionError for one before or after all prices."""
    first, last = price_days(connection)
    if on is None:
        return last
    if not first <= on <= last:
        raise ImpossibleQuestionError(f"no prices of {on}: they reach from {first} to {last}")
    return on


def known_basis(connection: Connection, basis: str) -> None:
    """Raises UnknownNameError for a basis that no day has."""
    known = [
        row[0] for row in connection.execute("SELECT DISTINCT basis FROM basis_prices_daily ORDER BY 1").fetchall()
    ]
    if basis not in known:
        near = ", ".join(difflib.get_close_matches(basis, known, n=5, cutoff=0.3)) or ", ".join(known[:9])
        raise UnknownNameError(f"no basis {basis!r}; there is {near}")


def after_release(connection: Connection, keys: Sequence[str], on: date) -> None:
    """Raises ImpossibleQuestionError when none of the parts existed on that day."""
    [(released,)] = connection.execute(
        "SELECT min(coalesce(released_on, DATE '0001-01-01')) FROM reference.accelerators WHERE list_contains($1, accelerator)",
        [list(keys)],
    ).fetchall()
    if released is not None and released > on:
        raise ImpossibleQuestionError(f"{', '.join(keys)} came out on {released}; nobody could rent it on {on}")


def of_run(
    connection: Connection, run: str, *, on: date | None, basis: str | None, keys: Sequence[str] | None, money: Money
) -> Answer:
    """What a known run would cost on each part and basis, as run first, then cheapest first. ``on`` defaults to the newest day."""
    day = price_day(connection, on)
    if basis is not None:
        known_basis(connection, basis)
    if keys is not None:
        after_release(connection, keys, day)
    return _told(
        connection,
        """
        SELECT
            day, run, accelerator, precision, basis, as_run, priced_on, accelerator_hours_mid, usd_per_accelerator_hour_mid,
            cost_usd_low, cost_usd_mid, cost_usd_high, committed_usd, n_providers, price_status, mfu_evidence, age_days, fits,
            before_release, dominant_uncertainty
        FROM training_costs
        WHERE run = $run AND day = $on
            AND ($basis IS NULL OR basis = $basis)
            AND ($keys IS NULL OR list_contains($keys, accelerator))
            AND (as_run OR cost_usd_mid IS NOT NULL OR $keys IS NOT NULL)
        ORDER BY as_run DESC, cost_usd_mid IS NULL, cost_usd_mid, accelerator, precision, basis
        """,
        {"run": run, "on": day, "basis": basis, "keys": None if keys is None else list(keys)},
        money,
    )


def same_quality(connection: Connection, run: str, *, on: date | None, basis: str | None, money: Money) -> Answer:
    """The runs of like quality that were published by the day, each on its best part, cheapest first. Raises ImpossibleQuestionError."""
    found = connection.execute("SELECT quality_class FROM intermediate.run_facts WHERE run = $1", [run]).fetchall()
    if not found or found[0][0] is None:
        classes = connection.execute(
            "SELECT DISTINCT quality_class FROM intermediate.run_facts WHERE quality_class IS NOT NULL ORDER BY 1"
        ).fetchall()
        raise ImpossibleQuestionError(
            f"no other run is said to be of the quality of {run}; there are classes for {', '.join(row[0] for row in classes)}"
        )
    return _told(
        connection,
        """
        SELECT
            t.day, f.quality_class, t.run, f.published_on, t.basis, t.is_relaxed, t.accelerator, t.precision, t.accelerators,
            t.wall_clock_hours / 24 AS wall_clock_days, t.accelerator_hours_mid, t.usd_per_accelerator_hour_mid, t.cost_usd_low,
            t.cost_usd_mid, t.cost_usd_high, t.price_status, t.mfu_evidence
        FROM training_cost_frontier AS t
        JOIN intermediate.run_facts AS f USING (run)
        WHERE t.day = $on AND f.quality_class = $class AND f.published_on <= t.day AND ($basis IS NULL OR t.basis = $basis)
        ORDER BY t.is_relaxed, t.cost_usd_mid, t.run, t.basis
        """,
        {"on": price_day(connection, on), "class": found[0][0], "basis": basis},
        money,
    )


def own(
    connection: Connection, run: str, *, on: date | None, basis: str, keys: Sequence[str] | None, money: Money
) -> Answer:
    """A run of one's own on each part: what can do it first, cheapest first; ``why_not`` says what keeps the others from it."""
    day = price_day(connection, on)
    known_basis(connection, basis)
    if keys is not None:
        after_release(connection, keys, day)
    return _told(
        connection,
        """
        WITH priced AS (
            SELECT
                p.day, h.run, h.accelerator, h.precision, p.basis, h.accelerators, h.nodes,
                h.accelerator_hours_mid / h.accelerators / 24 AS wall_clock_days,
                h.accelerator_hours_low, h.accelerator_hours_mid, h.accelerator_hours_high,
                CASE WHEN h.nodes > 1 THEN p.cluster_usd_per_accelerator_hour ELSE p.usd_per_accelerator_hour_mid END AS usd,
                CASE WHEN p.basis = 'spot_median' THEN h.spot_overhead_mid ELSE 1 END AS overhead,
                CASE WHEN p.basis = 'spot_median' THEN h.spot_overhead_width_low ELSE 0 END AS overhead_width_low,
                CASE WHEN p.basis = 'spot_median' THEN h.spot_overhead_width_high ELSE 0 END AS overhead_width_high,
                h.log_half_width_low AS hours_width_low, h.log_half_width_high AS hours_width_high,
                p.log_half_width_low AS price_width_low, p.log_half_width_high AS price_width_high,
                h.minimum_accelerators, h.fits, h.has_fabric, h.largest_cluster, h.deadline_hours, h.released_on,
                h.mfu_mid, h.mfu_evidence, p.n_providers, p.price_status, p.age_days
            FROM training_hours AS h
            JOIN basis_prices_daily AS p USING (accelerator)
            WHERE h.run = $run AND p.day = $on AND p.basis = $basis AND ($keys IS NULL OR list_contains($keys, accelerator))
        ),
        judged AS (
            SELECT
                *,
                CASE WHEN fits IS NOT FALSE AND (nodes = 1 OR has_fabric) THEN accelerator_hours_mid * usd * overhead END AS cost_usd_mid,
                CASE
                    WHEN fits IS FALSE AND NOT has_fabric THEN format('needs the memory of {}, and is rented without a fabric', minimum_accelerators)
                    WHEN fits IS FALSE THEN format('needs the memory of {}', minimum_accelerators)
                    WHEN nodes > 1 AND NOT has_fabric THEN format('takes {} accelerators, and is rented without a fabric', accelerators)
                    WHEN usd IS NULL THEN 'this basis rents no clusters'
                    WHEN overhead IS NULL THEN 'more would be lost to interruptions than gained'
                    WHEN accelerators > largest_cluster THEN format('takes {}, the largest cluster told of has {}', accelerators, largest_cluster)
                    WHEN wall_clock_days * 24 > deadline_hours * 1.001
                        THEN format('takes {:.0f} days on {}, more than {:.0f}', wall_clock_days, accelerators, deadline_hours / 24)
                END AS why_not
            FROM priced
        )
        SELECT
            day, run, accelerator, precision, basis, accelerators, nodes, wall_clock_days,
            accelerator_hours_low, accelerator_hours_mid, accelerator_hours_high, usd AS usd_per_accelerator_hour_mid,
            cost_usd_mid * exp(-sqrt(hours_width_low ** 2 + price_width_low ** 2 + overhead_width_low ** 2)) AS cost_usd_low,
            cost_usd_mid,
            cost_usd_mid * exp(sqrt(hours_width_high ** 2 + price_width_high ** 2 + overhead_width_high ** 2)) AS cost_usd_high,
            n_providers, price_status, mfu_mid, mfu_evidence, age_days, minimum_accelerators, fits, day < released_on AS before_release, why_not
        FROM judged
        ORDER BY why_not IS NOT NULL, cost_usd_mid IS NULL, cost_usd_mid, accelerator, precision
        """,
        {"run": run, "on": day, "basis": basis, "keys": None if keys is None else list(keys)},
        money,
    )


@dataclass(frozen=True)
class Limits:
    """How many accelerators, and for how long; None is as many as the time needs, and the ledger's own limit."""

    accelerators: int | None = None
    deadline_hours: float | None = None


def unit_run(mfu: float | None = None) -> OwnRun:
    """The run whose hours tell what a budget buys."""
    return OwnRun(run=ASKED, parameters=1e6, flop=UNIT_FLOP, mfu=mfu)


def budget(
    connection: Connection,
    usd: float,
    limits: Limits,
    *,
    on: date | None,
    basis: str,
    keys: Sequence[str] | None,
    money: Money,
) -> Answer:
    """The most that a budget trains on each part, tokens and parameters at their best ratio. For a connection that has ``unit_run``."""
    day = price_day(connection, on)
    known_basis(connection, basis)
    if keys is not None:
        after_release(connection, keys, day)
    return _told(
        connection,
        """
        WITH constants AS (
            SELECT
                max(value) FILTER (name = 'tokens_per_parameter_optimal') AS tokens_per_parameter,
                max(value) FILTER (name = 'bytes_per_parameter') AS bytes_per_parameter,
                max(value) FILTER (name = 'usable_memory_share') AS usable_memory_share,
                coalesce($deadline, max(value) FILTER (name = 'deadline_default') * 24) AS deadline_hours
            FROM reference.training_constants
        ),
        priced AS (
            SELECT
                c.*, p.day, h.accelerator, h.precision, p.basis, h.accelerator_hours_mid / $unit_flop AS hours_per_flop,
                p.usd_per_accelerator_hour_mid * CASE WHEN p.basis = 'spot_median' THEN h.spot_overhead_mid ELSE 1 END AS usd_alone,
                p.cluster_usd_per_accelerator_hour AS usd_in_cluster, h.memory_gb, a.node_size, h.has_fabric, h.largest_cluster, h.mfu_evidence,
                p.price_status, p.n_providers, p.age_days,
                sqrt(h.log_half_width_low ** 2 + p.log_half_width_low ** 2) AS width_low,
                sqrt(h.log_half_width_high ** 2 + p.log_half_width_high ** 2) AS width_high
            FROM training_hours AS h
            JOIN basis_prices_daily AS p USING (accelerator)
            JOIN (
                SELECT accelerator, CASE WHEN coalesce(has_fabric, false) OR node_size > 1 THEN coalesce(node_size, 1) ELSE 8 END AS node_size
                FROM reference.accelerators
            ) AS a USING (accelerator)
            CROSS JOIN constants AS c
            WHERE h.run = $run AND p.day = $on AND p.basis = $basis AND ($keys IS NULL OR list_contains($keys, accelerator))
        ),
        -- Whether it takes a cluster is asked at the price of a machine, and answered at that of a cluster.
        alone AS (
            SELECT
                *,
                $usd / usd_alone AS hours_alone,
                sqrt(hours_alone / hours_per_flop / (6 * tokens_per_parameter)) AS parameters_alone,
                coalesce($accelerators, greatest(
                    ceil(bytes_per_parameter * parameters_alone / (usable_memory_share * memory_gb * 1e9)), ceil(hours_alone / deadline_hours * 0.999)
                )) > node_size AS is_cluster
            FROM priced
        ),
        trained AS (
            SELECT
                *,
                CASE WHEN is_cluster THEN usd_in_cluster ELSE usd_alone END AS usd,
                $usd / usd AS hours,
                hours / hours_per_flop AS flop,
                sqrt(flop / (6 * tokens_per_parameter)) AS parameters,
                ceil(bytes_per_parameter * parameters / (usable_memory_share * memory_gb * 1e9)) AS minimum_accelerators,
                coalesce($accelerators, greatest(minimum_accelerators, ceil(hours / deadline_hours * 0.999))) AS least,
                CAST(CASE WHEN least <= node_size THEN least ELSE ceil(least / node_size) * node_size END AS BIGINT) AS accelerators
            FROM alone
        )
        SELECT
            day, accelerator, precision, basis, $usd AS budget_usd, usd AS usd_per_accelerator_hour_mid,
            parameters * exp(-width_high / 2) AS parameters_low, parameters AS parameters_mid, parameters * exp(width_low / 2) AS parameters_high,
            parameters * tokens_per_parameter AS tokens_mid,
            flop * exp(-width_high) AS flop_low, flop AS flop_mid, flop * exp(width_low) AS flop_high,
            hours AS accelerator_hours, accelerators, hours / accelerators / 24 AS wall_clock_days,
            CAST(minimum_accelerators AS BIGINT) AS minimum_accelerators, n_providers, price_status, mfu_evidence, age_days,
            CASE
                WHEN is_cluster AND NOT has_fabric THEN 'takes more than a machine, and is rented without a fabric'
                WHEN usd IS NULL THEN 'this basis rents no clusters'
                WHEN minimum_accelerators > accelerators THEN format('needs the memory of {:.0f}', minimum_accelerators)
                WHEN accelerators > largest_cluster THEN format('takes {}, the largest cluster told of has {}', accelerators, largest_cluster)
                WHEN hours / accelerators > deadline_hours * 1.001 THEN format('takes {:.0f} days', hours / accelerators / 24)
            END AS why_not
        FROM trained
        ORDER BY why_not IS NOT NULL, flop DESC, accelerator, precision
        """,
        {
            "run": ASKED, "on": day, "basis": basis, "keys": None if keys is None else list(keys), "usd": usd, "accelerators": limits.accelerators,
            "deadline": limits.deadline_hours, "unit_flop": UNIT_FLOP,
        },
        money,
    )  # fmt: skip


@dataclass(frozen=True)
class Household:
    """What a machine of one's own costs where the reference rows don't say, or one knows better. US dollars."""

    usd_per_kwh: float | None = None
    purchase_usd: float | None = None
    resale_usd: float | None = None


@dataclass(frozen=True)
class Machine:
    """A machine of one's own: so many of a part, what has to fit into them, and what it costs."""

    key: str
    count: int
    memory: str
    household: Household


def at_home(
    connection: Connection, machine: Machine, run: str | None, *, on: date | None, basis: str, money: Money
) -> Answer:
    """Known runs, or one, on a machine of one's own: how long, does it fit, electricity, and the hours of use at which owning beats renting."""
    day = price_day(connection, on)
    known_basis(connection, basis)
    after_release(connection, [machine.key], day)
    return _told(
        connection,
        """
        WITH constants AS (
            SELECT
                max(value) FILTER (name = 'usable_memory_share') AS usable_memory_share,
                max(value) FILTER (name = CASE $memory WHEN 'adam' THEN 'bytes_per_parameter' ELSE 'bytes_per_parameter_' || $memory END)
                    AS bytes_per_parameter,
                max(value) FILTER (name = 'usd_per_kwh_home') AS usd_per_kwh_home,
                max(value) FILTER (name = 'usd_per_kwh_machine_room') AS usd_per_kwh_machine_room,
                max(value) FILTER (name = 'home_host_watts') AS home_host_watts,
                max(value) FILTER (name = 'server_power_factor') * max(value) FILTER (name = 'power_load_share') * max(value) FILTER (name = 'pue')
                    AS room_power_factor,
                max(value) FILTER (name = 'hardware_depreciation_per_year') AS depreciation_per_year
            FROM reference.training_constants
        ),
        -- A part with a fabric stands in a machine room; a card stands at home.
        machine AS (
            SELECT
                a.accelerator, a.memory_gb, coalesce(a.has_fabric, false) AS is_in_room,
                CASE WHEN is_in_room THEN a.tdp_w * $count * c.room_power_factor ELSE a.tdp_w * $count + c.home_host_watts END AS watts,
                coalesce($usd_per_kwh, CASE WHEN is_in_room THEN c.usd_per_kwh_machine_room ELSE c.usd_per_kwh_home END) AS usd_per_kwh,
                c.usable_memory_share, c.bytes_per_parameter, c.depreciation_per_year
            FROM reference.accelerators AS a
            CROSS JOIN constants AS c
            WHERE a.accelerator = $key
        ),
        bought AS (
            SELECT usd / accelerators * $count AS usd, priced_on, what
            FROM reference.hardware_prices
            WHERE accelerator = $key AND condition = 'new' AND priced_on <= $on
            QUALIFY row_number() OVER (ORDER BY priced_on DESC) = 1
        ),
        sold AS (
            SELECT usd / accelerators * $count AS usd, priced_on
            FROM reference.hardware_prices
            WHERE accelerator = $key AND condition = 'used' AND priced_on <= $on
            QUALIFY row_number() OVER (ORDER BY priced_on DESC) = 1
        ),
        rented AS (
            SELECT usd_per_accelerator_hour_mid * $count AS usd_per_hour, price_status
            FROM basis_prices_daily
            WHERE day = $on AND basis = $basis AND accelerator = $key
        ),
        owned AS (
            SELECT
                m.*, m.watts / 1000 * m.usd_per_kwh AS electricity_usd_per_hour,
                coalesce($purchase_usd, b.usd) AS purchase_usd, CASE WHEN $purchase_usd IS NULL THEN b.priced_on END AS purchase_priced_on,
                -- Without a price of used ones: two years at the rate at which accelerators lose their value.
                least(coalesce($resale_usd, s.usd, purchase_usd * 10 ** (-m.depreciation_per_year * 2)), purchase_usd) AS resale_usd,
                CASE
                    WHEN $resale_usd > purchase_usd THEN 'as told, but at most what it cost'
                    WHEN $resale_usd IS NOT NULL THEN 'as told'
                    WHEN s.usd IS NOT NULL THEN format('used ones on {}', CAST(s.priced_on AS VARCHAR))
                    WHEN purchase_usd IS NOT NULL THEN format('{:.0f} % left after two years', 100 * 10 ** (-m.depreciation_per_year * 2))
                END AS resale_from,
                r.usd_per_hour AS rent_usd_per_hour, r.price_status
            FROM machine AS m
            LEFT JOIN bought AS b ON true
            LEFT JOIN sold AS s ON true
            LEFT JOIN rented AS r ON true
        ),
        runs AS (
            SELECT
                o.*, h.run, h.precision, h.accelerator_hours_low / $count AS hours_low, h.accelerator_hours_mid / $count AS hours_mid,
                h.accelerator_hours_high / $count AS hours_high, h.mfu_evidence,
                ceil(o.bytes_per_parameter * f.parameters / (o.usable_memory_share * o.memory_gb * 1e9)) AS minimum_accelerators
            FROM owned AS o
            JOIN training_hours AS h USING (accelerator)
            JOIN intermediate.run_facts AS f USING (run)
            WHERE ($run IS NULL OR h.run = $run) AND h.precision IN ('bf16', 'fp16')
        )
        SELECT
            CAST($on AS DATE) AS day, run, accelerator, $count AS accelerators, precision, minimum_accelerators <= $count AS fits,
            CAST(minimum_accelerators AS BIGINT) AS minimum_accelerators, hours_low, hours_mid, hours_high, hours_mid / 24 AS days_mid,
            hours_mid / 8766 AS years_mid, watts, hours_mid * watts / 1000 AS kwh, usd_per_kwh,
            hours_mid * electricity_usd_per_hour AS electricity_usd,
            purchase_usd, purchase_priced_on, resale_usd, resale_from, $basis AS basis, rent_usd_per_hour, price_status,
            hours_mid * rent_usd_per_hour AS rent_usd,
            hours_mid * electricity_usd_per_hour + purchase_usd - resale_usd AS own_usd,
            CASE
                WHEN rent_usd_per_hour > electricity_usd_per_hour
                    THEN (purchase_usd - resale_usd) / (rent_usd_per_hour - electricity_usd_per_hour)
            END AS owning_beats_renting_after_hours,
            mfu_evidence
        FROM runs
        ORDER BY fits IS NULL, NOT fits, hours_mid, run
        """,
        {
            "key": machine.key, "count": machine.count, "memory": machine.memory, "run": run, "on": day, "basis": basis,
            "usd_per_kwh": machine.household.usd_per_kwh, "purchase_usd": machine.household.purchase_usd,
            "resale_usd": machine.household.resale_usd,
        },
        money,
    )  # fmt: skip


def fine_tuning(connection: Connection, model: str, tokens: float, method: str, stated: Mapping[str, Any]) -> OwnRun:
    """Fine-tuning a known model as a run: its FLOP, what it has to hold, and what it reaches of pre-training's utilisation.

    LoRA and QLoRA need no gradients of the frozen weights. Tokens count with their padding. Raises ImpossibleQuestionError.
    """
    if method not in FINE_TUNING:
        raise ImpossibleQuestionError(f"no method {method!r}; there is {', '.join(FINE_TUNING)}")
    constants = {
        name: (low, value, high)
        for name, low, value, high in connection.execute(
            "SELECT name, coalesce(low, value), value, coalesce(high, value) FROM reference.training_constants"
        ).fetchall()
    }
    [(parameters, active)] = connection.execute(
        "SELECT parameters, coalesce(active_parameters, parameters) FROM intermediate.run_facts WHERE run = $1", [model]
    ).fetchall()
    if parameters is None:
        raise ImpossibleQuestionError(
            f"nobody has told how large {model} is, so what fine-tuning it takes can't be said"
        )
    share = 1.0 if method == "full" else constants["lora_flop_share"][1]
    return own_runs.of(
        "your question",
        run=ASKED,
        parameters=parameters,
        flop=6 * active * tokens * share,
        memory={"full": "adam"}.get(method, method),
        utilisation=constants["qlora_utilisation" if method == "qlora" else "finetune_utilisation"],
        **stated,
    )


def compared(
    connection: Connection, run: str, earlier: date, later: date, basis: str | None, money: Money = _DOLLARS
) -> Answer:
    """Why a run's cost changed between two days, per path and basis. For a connection on which those days were taken apart.

    In another currency or real dollars the money is a part of its own (``money_…``: the exchange rate, or inflation), and the parts add up as
    before: each is its share of the change in logarithms, at the logarithmic mean of the costs as told. Raises ImpossibleQuestionError.
    """
    asked = """
        SELECT * EXCLUDE (period)
        FROM training_cost_changes
        WHERE run = $run AND from_day = $earlier AND to_day = $later AND ($basis IS NULL OR basis = $basis)
        ORDER BY list_position(['as_run', 'cheapest_part', 'cheapest_part_relaxed', 'cheapest_recipe'], path), basis
        """
    parameters = {"run": run, "earlier": earlier, "later": later, "basis": basis}
    if money == _DOLLARS:
        return ask(connection, asked, parameters)
    ask(connection, f"CREATE OR REPLACE TEMP TABLE changes AS {asked}", parameters)
    connection.execute("CREATE OR REPLACE TEMP TABLE told AS SELECT unnest([$1, $2]::DATE[]) AS day", [earlier, later])
    factors = dict(
        connection.execute(
            f"SELECT day, CAST({_factor(connection, money) or 1.0} AS DOUBLE) * {money.project!r} FROM told"
        ).fetchall()
    )
    before, after = factors[earlier], factors[later]
    columns = [row[0] for row in connection.execute("DESCRIBE changes").fetchall()]
    changed = {"cost_usd_before": f"{before!r} * cost_usd_before", "cost_usd_after": f"{after!r} * cost_usd_after"}
    changed["change_usd"] = f"{changed['cost_usd_after']} - {changed['cost_usd_before']}"
    scale = f"({_LOG_MEAN.format(changed['cost_usd_before'], changed['cost_usd_after'])} / {_LOG_MEAN.format('cost_usd_before', 'cost_usd_after')})"
    shown = [
        f"{changed.get(column, f'{column} * {scale}' if column.endswith('_usd') else column)} AS {column.replace('usd', money.unit)}"
        for column in columns
    ]
    mean = _LOG_MEAN.format(changed["cost_usd_before"], changed["cost_usd_after"])
    shown.append(f"{mean} * ln({after!r} / {before!r}) AS money_{money.unit}")
    return ask(connection, f"SELECT {', '.join(shown)} FROM changes ORDER BY rowid")


def _told(connection: Connection, sql: str, parameters: dict[str, object], money: Money) -> Answer:
    """Run a query whose columns named ``…usd…`` are US dollars of its column ``day``, and tell them as asked."""
    if money == Money():
        return ask(connection, sql, parameters)
    used = {name: value for name, value in parameters.items() if f"${name}" in sql}
    ask(connection, f"CREATE OR REPLACE TEMP TABLE told AS {sql}", used)
    columns = [row[0] for row in connection.execute("DESCRIBE told").fetchall()]
    factor = _factor(connection, money)
    shown = []
    for column in columns:
        value = column
        if column.startswith("cost_usd") and money.project != 1:
            value = f"{value} * {money.project!r}"
        if "usd" in column and factor:
            value = f"{value} * {factor}"
        shown.append(f"{value} AS {column.replace('usd', money.unit)}")
    if money.project != 1:
        shown.append(f"{money.project!r}::DOUBLE AS project_factor")
    return ask(connection, f"SELECT {', '.join(shown)} FROM told ORDER BY rowid")


def _factor(connection: Connection, money: Money) -> str:
    """SQL of what a dollar of ``day`` is multiplied by; empty for one. Raises ImpossibleQuestionError."""
    if money.real_year is not None:
        if money.currency != "USD":
            raise ImpossibleQuestionError("--real is for US dollars: the deflator is that of the United States")
        [(months, base, last)] = connection.execute(
            "SELECT count(*) FILTER (year(month) = $1), avg(index_value) FILTER (year(month) = $1), max(month) FROM reference.producer_prices",
            [money.real_year],
        ).fetchall()
        if months < 12:
            raise ImpossibleQuestionError(
                f"no whole year {money.real_year} in the producer prices, which end with {last:%Y-%m}"
            )
        late = connection.execute(
            "SELECT max(day) FROM told WHERE day >= $1::DATE + INTERVAL 1 MONTH", [last]
        ).fetchall()[0][0]
        if late is not None:
            raise ImpossibleQuestionError(
                f"the producer prices end with {last:%Y-%m}, so dollars of {late} can't be told in dollars of {money.real_year};"
                f" ask for a day up to then with --on, or leave --real"
            )
        deflator = "(SELECT index_value FROM reference.producer_prices WHERE month = date_trunc('month', day))"
        return f"{base!r} / {deflator}"
    if money.currency == "USD":
        return ""
    rates = "SELECT usd_per_unit FROM intermediate.usd_rates AS r WHERE r.day = told.day AND r.currency"
    [(missing,)] = connection.execute(
        f"SELECT min(day) FROM told WHERE ({rates} = $1) IS NULL", [money.currency]
    ).fetchall()
    if missing is not None:
        known = connection.execute("SELECT DISTINCT currency FROM intermediate.usd_rates ORDER BY 1").fetchall()
        raise ImpossibleQuestionError(
            f"no exchange rate of {money.currency} within 45 days of {missing}; there are {', '.join(row[0] for row in known[:40])}"
        )
    return f"(1 / ({rates} = '{money.currency}'))"
