"""The command ``cost``: known training runs, runs of one's own, a budget, fine-tuning, a machine at home, two days held against each other."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows import complete
from flows.app import FORMAT, WrongUsageError, app
from flows.output import Format, print_rows, say

if TYPE_CHECKING:
    from warehouse.ask import Answer
    from warehouse.cost_questions import Household, Money
    from warehouse.database import Connection
    from warehouse.own_runs import OwnRun

SHOWN_ROWS = 40
MOST_ACCELERATORS = 10_000_000
MOST_PROJECT = 100
# What a table at a terminal has room for; CSV and JSON carry every column.
_SHOWN = {
    "run": (
        "day", "accelerator", "precision", "basis", "as_run", "usd_per_accelerator_hour_mid", "cost_usd_low", "cost_usd_mid",
        "cost_usd_high", "price_status", "mfu_evidence",
    ),
    "quality": (
        "run", "published_on", "basis", "is_relaxed", "accelerator", "accelerator_hours_mid", "cost_usd_low", "cost_usd_mid", "cost_usd_high",
        "price_status",
    ),
    "own": (
        "accelerator", "precision", "accelerators", "wall_clock_days", "accelerator_hours_mid", "usd_per_accelerator_hour_mid", "cost_usd_low",
        "cost_usd_mid", "cost_usd_high", "price_status", "mfu_evidence", "why_not",
    ),
    "budget": (
        "accelerator", "precision", "usd_per_accelerator_hour_mid", "parameters_mid", "tokens_mid", "flop_mid", "accelerator_hours",
        "accelerators", "wall_clock_days", "price_status", "mfu_evidence", "why_not",
    ),
    "home": (
        "run", "fits", "hours_mid", "years_mid", "electricity_usd", "purchase_usd", "resale_usd", "rent_usd", "own_usd",
        "owning_beats_renting_after_hours",
    ),
    "changes": (
        "path", "basis", "accelerator_before", "accelerator_after", "cost_usd_before", "cost_usd_after", "change_usd", "price_usd", "panel_usd",
        "hardware_usd", "recipe_usd", "assumptions_usd", "unsplit_usd", "money_usd",
    ),
}  # fmt: skip
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)\s*([kmbt]?)", re.IGNORECASE)
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(h|d|w)")
_DAY = re.compile(r"\d{4}-|(today|now|newest|yesterday)$")
_HOURS = {"h": 1, "d": 24, "w": 168}


class Method(StrEnum):
    """How a model is fine-tuned."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


class Memory(StrEnum):
    """What has to be held for each parameter."""

    ADAM = "adam"
    ADAM_8BIT = "adam_8bit"
    LORA = "lora"
    QLORA = "qlora"


class Precision(StrEnum):
    """Number format of a run."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    FP32 = "fp32"


def amount(text: str, option: str) -> float:
    """A positive number as people write them: 7e9, 7B, 1.5T. Raises WrongUsageError."""
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        raise WrongUsageError(f"{option} is not a positive number: {text!r}; write it like 7e9 or 7B")
    value = float(found[1]) * _SCALE[found[2].lower()]
    if not 0 < value < 1e300:
        size = "more than nothing" if value <= 0 else "less than 1e300"
        raise WrongUsageError(f"{option} has to be {size} and finite, not {text}")
    if value < 1 and option in {"--params", "--active", "--tokens"}:
        raise WrongUsageError(f"{option} has to be at least 1, not {text}")
    return value


def hours_of(text: str, option: str) -> float:
    """A time such as 21d, 12h or 3w, in hours. Raises WrongUsageError."""
    found = _DURATION.fullmatch(text.strip().lower())
    if not found or float(found[1]) == 0:
        raise WrongUsageError(f"{option} is not a time: {text!r}; write it like 21d, 12h or 3w")
    return float(found[1]) * _HOURS[found[2]]


def day_of(text: str, option: str = "--on") -> date | None:
    """An ISO date; None for today, which is the newest day with prices. Raises WrongUsageError."""
    if text.lower() in {"today", "now", "newest"}:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise WrongUsageError(f"not a date: {option} {text!r}; write it like 2023-03-01, or today") from None


@dataclass(frozen=True)
class Where:
    """On which day's prices, on which parts, on which basis."""

    day: date | None
    keys: list[str] | None
    basis: str | None


@app.command()
def cost(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN | compare RUN]",
            help="A training run such as gpt-3, palm-540b, llama-65b.",
            autocompletion=complete.runs,
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            help="A day such as 2023-03-01 or today (the newest if not said), or a part such as h100; may stand twice."
        ),
    ] = None,
    and_day: Annotated[str | None, typer.Option("--and", help="With compare: the other day.")] = None,
    basis: Annotated[
        str | None, typer.Option(help="Such as on_demand_median, hyperscaler_median, reserved_3y_median, provider:aws.")
    ] = None,
    accelerator: Annotated[str | None, typer.Option(help="Only on this part; the same as --on PART.")] = None,
    same_quality: Annotated[
        bool, typer.Option("--same-quality", help="The run and others of like quality, cheapest first.")
    ] = False,
    params: Annotated[str | None, typer.Option(help="A run of your own: parameters, such as 7e9 or 7B.")] = None,
    tokens: Annotated[str | None, typer.Option(help="Its training tokens, such as 1e12 or 1T.")] = None,
    active: Annotated[
        str | None, typer.Option(help="Parameters that a token passes through, in a mixture of experts.")
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Number format that it needs; 16 bits if not said.")
    ] = None,
    memory: Annotated[
        Memory | None, typer.Option(help="What has to be held: the optimiser, or adapters; 16-bit Adam if not said.")
    ] = None,
    mfu: Annotated[float | None, typer.Option(help="Utilisation over all hours, on every part, such as 0.4.")] = None,
    accelerators: Annotated[int | None, typer.Option(help="So many, on every part.")] = None,
    deadline: Annotated[str | None, typer.Option(help="The time it may take, such as 21d.")] = None,
    budget: Annotated[str | None, typer.Option(help="US dollars: the most that they train on each part.")] = None,
    finetune: Annotated[str | None, typer.Option(metavar="MODEL", help="Fine-tune a known model on --tokens.")] = None,
    method: Annotated[Method, typer.Option(help="How to fine-tune.")] = Method.FULL,
    at_home: Annotated[
        str | None, typer.Option(metavar="PART", help="On a machine of your own with this part.")
    ] = None,
    count: Annotated[int, typer.Option(help="With --at-home: so many in the machine.")] = 1,
    usd_per_kwh: Annotated[
        float | None, typer.Option(help="Your price of electricity; the US average if not said.")
    ] = None,
    purchase: Annotated[float | None, typer.Option(help="What your machine costs to buy, US dollars.")] = None,
    resale: Annotated[float | None, typer.Option(help="What it sells for later, US dollars.")] = None,
    goodput: Annotated[
        float | None, typer.Option(help="Share of hours spent in steps that count; 0.92 if not said.")
    ] = None,
    project: Annotated[
        float, typer.Option(help="The whole project over its final run: 1, 1.5 as usual, 3.4 as LLaMA took.")
    ] = 1.0,
    currency: Annotated[
        str, typer.Option(help="Tell costs in this currency at the rate of the day of the prices.")
    ] = "USD",
    real: Annotated[int | None, typer.Option(metavar="YEAR", help="Tell costs in US dollars of this year.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every row, not only the first.")] = False,
    form: FORMAT = Format.TABLE,
) -> None:
    """Show what a training run would cost: a known one, your own, what a budget trains, or a machine at home.

    \b
    Examples:
      gpuledger cost llama-65b --on 2023-03-01 --basis provider:azure
      gpuledger cost --params 7e9 --tokens 1e12 --accelerators 256 --deadline 21d
      gpuledger cost --budget 10000
      gpuledger cost --finetune llama-2-70b --tokens 1e8 --method qlora
      gpuledger cost --at-home rtx-4090 --count 2
      gpuledger cost compare gpt-3 --on 2020-09-01 --and today
    """  # noqa: D301  # the backspace keeps the lines below it apart in --help
    from warehouse.cost_questions import Household

    run, is_comparison = _subject(words or [])
    questions = {"--params": params, "--budget": budget, "--finetune": finetune}
    _one_question(
        [name for name, value in questions.items() if value is not None], run, at_home, is_comparison=is_comparison
    )
    for option, number in (("--accelerators", accelerators), ("--count", count)):
        if number is not None and not 1 <= number <= MOST_ACCELERATORS:
            raise WrongUsageError(f"{option} has to be from 1 to {MOST_ACCELERATORS}, not {number}")
    asked = Asked(
        on=tuple(on or []), part=accelerator, basis=basis, money=_money(currency, real, project),
        goodput=_share("--goodput", goodput), mfu=_share("--mfu", mfu), accelerators=accelerators,
        hours=None if deadline is None else hours_of(deadline, "--deadline"), precision=precision, memory=memory or Memory.ADAM,
        form=form, every=every,
    )  # fmt: skip
    own = None if (params is None and tokens is None) or finetune else _own(params, tokens, active, asked)
    if is_comparison:
        _compare(run, and_day, asked)
    elif at_home is not None:
        bought, sold, power = (
            _not_negative(option, value)
            for option, value in (("--purchase", purchase), ("--resale", resale), ("--usd-per-kwh", usd_per_kwh))
        )
        if bought is not None and sold is not None and sold > bought:
            raise WrongUsageError(f"--resale {sold:g} is more than --purchase {bought:g}")
        _at_home(at_home, count, own or run or None, Household(power, bought, sold), asked)
    elif budget is not None:
        _budget(amount(budget, "--budget"), asked)
    elif finetune is not None:
        if memory is not None:
            raise WrongUsageError("--method says what fine-tuning has to hold; leave out --memory")
        _fine_tune(finetune, tokens, method, asked)
    elif own is not None:
        _own_run(own, asked)
    else:
        _known(run, asked, same_quality=same_quality)


@dataclass(frozen=True)
class Asked:
    """How any of the questions was asked."""

    on: tuple[str, ...]
    part: str | None
    basis: str | None
    money: "Money"
    goodput: float | None
    mfu: float | None
    accelerators: int | None
    hours: float | None
    precision: Precision | None
    memory: Memory
    form: Format
    every: bool

    @property
    def constants(self) -> dict[str, float]:
        """Constants of the ledger that are told otherwise."""
        return {} if self.goodput is None else {"goodput": self.goodput}

    @property
    def stated(self) -> dict[str, Any]:
        """What is said of a run besides its size."""
        said = {
            "mfu": self.mfu,
            "cluster": self.accelerators,
            "wall_clock_hours": self.hours,
            "precision": self.precision and str(self.precision),
        }
        return {name: value for name, value in said.items() if value is not None}


def _subject(words: Sequence[str]) -> tuple[str, bool]:
    """The run that is named, empty for none, and whether two days are to be compared. Raises WrongUsageError."""
    is_comparison = words[:1] == ["compare"]
    named = list(words[1:] if is_comparison else words)
    if len(named) > 1 or (is_comparison and not named):
        raise WrongUsageError(
            "write one run: gpuledger cost gpt-3, or: gpuledger cost compare gpt-3 --on 2020-09-01 --and today"
        )
    return (named[0] if named else ""), is_comparison


def _one_question(asked: Sequence[str], run: str, at_home: str | None, *, is_comparison: bool) -> None:
    """Raises WrongUsageError for none, or for two."""
    if at_home is not None:
        asked = ["--at-home", *(name for name in asked if name != "--params")]
        run = run if "--params" in asked or is_comparison else ""
    named = [*asked, *([f"compare {run}" if is_comparison else f"the run {run}"] if run else [])]
    if not named:
        raise WrongUsageError(
            "say what: a run, --params with --tokens, --budget, --finetune with --tokens, or --at-home PART"
        )
    if len(named) > 1:
        raise WrongUsageError(f"one question at a time, not {' and '.join(named)}")


def _money(currency: str, real: int | None, project: float) -> "Money":
    from warehouse.cost_questions import Money

    if not re.fullmatch(r"[A-Za-z]{3}", currency):
        raise WrongUsageError(f"not a currency: {currency!r}; write it like EUR")
    if not 1 <= project <= MOST_PROJECT:
        raise WrongUsageError(f"--project is the whole over its final run, 1 or more, not {project:g}")
    return Money(currency.upper(), real, project)


def _share(option: str, value: float | None) -> float | None:
    """Raises WrongUsageError for what is no share of something."""
    if value is not None and not 0 < value <= 1:
        raise WrongUsageError(f"{option} is a share, more than 0 and at most 1, not {value:g}")
    return value


def _not_negative(option: str, value: float | None) -> float | None:
    if value is not None and not 0 <= value < math.inf:
        raise WrongUsageError(f"{option} can't be {value:g}")
    return value


def _where(connection: "Connection", asked: Asked) -> "Where":
    """Sort what ``--on`` said into days and parts. Raises WrongUsageError for two of one kind."""
    from warehouse import ask

    days: list[str] = []
    parts = [asked.part] if asked.part else []
    for text in asked.on:
        is_day = _DAY.match(text.lower()) or not re.search(r"[a-z]", text.lower())
        (days if is_day else parts).append(text)
    if len(days) > 1 or len(parts) > 1:
        raise WrongUsageError(f"--on takes one day and one part, not {' and '.join(days if len(days) > 1 else parts)}")
    return Where(
        day_of(days[0]) if days else None, ask.accelerators(connection, parts[0]) if parts else None, asked.basis
    )


@contextmanager
def reckoned(own: "Sequence[OwnRun]" = (), constants: dict[str, float] | None = None) -> "Iterator[Connection]":
    """The published copy; with runs of one's own or other constants, those beside it."""
    from warehouse import database, own_runs, what_if

    runs = [*own_runs.read(), *own]
    if runs or constants:
        with what_if.supposing(runs, constants) as connection:
            yield connection
    else:
        with database.connect_published() as connection:
            yield connection


def asked_run(connection: "Connection", name: str) -> str:
    """The id of the run that a name means, said aloud where it is another. Raises UnknownNameError."""
    from warehouse.run_names import known_runs, run_id

    run = run_id(name, known_runs(connection))
    if run != name.lower():
        say(f"{name} is taken as {run}")
    return run


def _own(params: str | None, tokens: str | None, active: str | None, asked: Asked) -> "OwnRun":
    from warehouse import cost_questions, own_runs

    if params is None or tokens is None:
        raise WrongUsageError("a run of your own needs --params and --tokens, such as --params 7e9 --tokens 1e12")
    facts = {
        "parameters": amount(params, "--params"),
        "tokens": amount(tokens, "--tokens"),
        "memory": str(asked.memory),
    }
    if active is not None:
        facts["active_parameters"] = amount(active, "--active")
    return own_runs.of("your question", run=cost_questions.ASKED, **facts, **asked.stated)


def _known(name: str, asked: Asked, *, same_quality: bool) -> None:
    from warehouse import cost_questions

    with reckoned(constants=asked.constants) as connection:
        run = asked_run(connection, name)
        where = _where(connection, asked)
        if same_quality:
            answer = cost_questions.same_quality(connection, run, on=where.day, basis=where.basis, money=asked.money)
        else:
            answer = cost_questions.of_run(
                connection, run, on=where.day, basis=where.basis, keys=where.keys, money=asked.money
            )
    _show(answer, "quality" if same_quality else "run", asked, f"no price for {run} on that day, part and basis")


def _own_run(own: "OwnRun", asked: Asked) -> None:
    from warehouse import cost_questions

    with reckoned([own], asked.constants) as connection:
        where = _where(connection, asked)
        basis = where.basis or cost_questions.DEFAULT_BASIS
        answer = cost_questions.own(connection, own.run, on=where.day, basis=basis, keys=where.keys, money=asked.money)
    _show(answer, "own", asked, f"no part has a price on {basis} that day")
    _note(answer, asked, "{day}, on {basis}; other bases with --basis")


def _fine_tune(name: str, tokens: str | None, method: Method, asked: Asked) -> None:
    from warehouse import cost_questions

    if tokens is None:
        raise WrongUsageError("--finetune needs --tokens: those of all epochs, with their padding")
    with reckoned() as connection:
        run = asked_run(connection, name)
        own = cost_questions.fine_tuning(connection, run, amount(tokens, "--tokens"), str(method), asked.stated)
    _own_run(own, asked)


def _budget(usd: float, asked: Asked) -> None:
    from warehouse import cost_questions

    if asked.money.project != 1:
        raise WrongUsageError("--project is for costs; divide the budget by it instead")
    with reckoned([cost_questions.unit_run(asked.mfu)], asked.constants) as connection:
        where = _where(connection, asked)
        basis = where.basis or cost_questions.DEFAULT_BASIS
        limits = cost_questions.Limits(asked.accelerators, asked.hours)
        answer = cost_questions.budget(
            connection, usd, limits, on=where.day, basis=basis, keys=where.keys, money=asked.money
        )
    _show(answer, "budget", asked, f"no part has a price on {basis} that day")
    _note(answer, asked, "{day}, on {basis}; 20 tokens for each parameter, in 16-bit Adam's memory")


def _at_home(part: str, count: int, subject: "OwnRun | str | None", household: "Household", asked: Asked) -> None:
    from warehouse import ask, cost_questions
    from warehouse.own_runs import OwnRun

    with reckoned([subject] if isinstance(subject, OwnRun) else [], asked.constants) as connection:
        keys = ask.accelerators(connection, part)
        if len(keys) > 1:
            raise WrongUsageError(f"{part} may be {', '.join(keys)}; say which")
        where = _where(connection, asked)
        if where.keys is not None:
            raise WrongUsageError("--at-home names the part; leave it out of --on and --accelerator")
        run = (
            subject.run if isinstance(subject, OwnRun) else None if subject is None else asked_run(connection, subject)
        )
        machine = cost_questions.Machine(keys[0], count, str(asked.memory), household)
        basis = where.basis or cost_questions.DEFAULT_BASIS
        answer = cost_questions.at_home(connection, machine, run, on=where.day, basis=basis, money=asked.money)
    _show(
        answer, "home", asked, f"what {keys[0]} reaches in training that run is not known, so nothing can be said of it"
    )
    if answer.rows[0][answer.columns.index(f"purchase_{asked.money.unit}")] is None:
        said = "nobody told what it costs to buy, so say it with --purchase"
    else:
        bought = (
            "bought as told" if household.purchase_usd is not None else "bought at the price of {purchase_priced_on}"
        )
        said = f"{bought}; resale: {{resale_from}}"
    _note(answer, asked, f"{{accelerators}} x {{accelerator}}; {said}; {{day}}, on {{basis}}")


def _compare(name: str, and_day: str | None, asked: Asked) -> None:
    from warehouse import cost_questions, own_runs, what_if

    if not asked.on:
        raise WrongUsageError("compare needs two days: --on 2020-09-01 --and today")
    with what_if.supposing(own_runs.read(), asked.constants) as connection:
        run = asked_run(connection, name)
        where = _where(connection, asked)
        if where.keys is not None:
            raise WrongUsageError("compare follows the run's own part and the cheapest ones; leave the part out")
        if where.basis is not None:
            cost_questions.known_basis(connection, where.basis)
        other = None if and_day is None else day_of(and_day, "--and")
        earlier, later = sorted(cost_questions.price_day(connection, day) for day in (where.day, other))
        if earlier == later:
            raise WrongUsageError(f"compare needs two days, not {earlier} twice")
        what_if.between(connection, earlier, later)
        answer = cost_questions.compared(connection, run, earlier, later, where.basis, asked.money)
    _show(answer, "changes", asked, f"{run} has no cost on both {earlier} and {later} on any basis")


def _note(answer: "Answer", asked: Asked, text: str) -> None:
    """Below a table, what all its rows have in common."""
    if asked.form is Format.TABLE:
        say(text.format(**dict(zip(answer.columns, answer.rows[0], strict=True))))


def _show(answer: "Answer", table: str, asked: Asked, nothing: str) -> None:
    """Print the rows; with none, say so and exit with 1."""
    if not answer.rows:
        say(nothing)
        raise typer.Exit(1)
    rows, columns = answer.rows, answer.columns
    if asked.form is Format.TABLE:
        # Costs may be told in another unit than dollars of the day.
        unit = asked.money.unit
        wanted = [column.replace("usd", unit) for column in _SHOWN[table]]
        places = [columns.index(column) for column in wanted if column in columns or not column.startswith("money_")]
        rows = [tuple(row[place] for place in places) for row in rows]
        columns = [columns[place] for place in places]
        rows = rows if asked.every else rows[:SHOWN_ROWS]
    print_rows(columns, rows, asked.form)
    if len(rows) < len(answer.rows):
        say(f"{len(answer.rows) - len(rows)} more rows with --all")
