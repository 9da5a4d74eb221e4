"""Runs the real collecting, loading and building through the days of a simulated market, twice a day on a clock of its own."""

import resource
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import httpx
import pyarrow.compute as pc
import pytest

from flows import steps
from scrapers import exchange_rates
from scrapers.fetch import Client
from scrapers.politeness import Politeness
from scrapers.source import SourceType
from scrapers.unchanged import KnownPage
from tests.market import Market
from tests.simulator import shapes
from tests.simulator.market import HOSTILE, Item, SimulatedMarket, SimulatedSource, market
from tests.simulator.server import BOMB, Answer, Hosts
from tests.simulator.truth import Sighting, Truth
from warehouse import database

START = datetime(2024, 2, 15, 6, 10, tzinfo=UTC)
"""A leap day and a change to summer time lie within thirty days of it."""
RUNS_A_DAY = 2
SEEN_IN_FULL = {"", "asked to wait", "one bad record", "hostile names"}
# At these runs of sixty this machine's clock is wrong, by so much. More than a day is told by the hosts' own clocks.
CLOCK_ERRORS = {
    9: timedelta(days=2, minutes=7), 21: timedelta(hours=-13), 33: timedelta(hours=3), 45: timedelta(hours=-40, minutes=7),
}  # fmt: skip
CLOCK_IS_TOLD = timedelta(hours=24)


@dataclass(frozen=True)
class RunFigures:
    """What one run took."""

    day: int
    collect_cpu_seconds: float
    load_cpu_seconds: float
    build_cpu_seconds: float
    resident_mib: float


@dataclass
class Played:
    """A simulation that has been played, its ledger still in the data folder."""

    folder: Path
    """Its data folder."""
    ledger: Market
    market: SimulatedMarket
    truth: Truth
    figures: list[RunFigures]
    not_modified: int
    """Answers that said no more than that nothing has changed."""
    asked: Counter[str]
    """Collections by what was wrong with the host; those that did not ask it are not among them."""
    runs: int
    expected_collections: int


@dataclass
class _Stage:
    """What the hosts answer in the run that is on."""

    sources: list[SimulatedSource]
    episodes: dict[tuple[str, int], str]
    run: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    shown: dict[str, tuple[Item, ...]] = field(default_factory=dict)

    def begin(self, run: int) -> None:
        self.run, self.requests, self.shown = run, Counter(), {}
        for one in self.sources:
            one.move(run)

    def episode(self, source: SimulatedSource) -> str:
        return self.episodes.get((source.name, self.run), "")

    def answer(self, host: str, page: int, _: int) -> Answer:
        source = self.sources[int(host.rpartition(".")[2]) - 1]
        self.requests[source.name] += 1
        kind = self.episode(source)
        if refusal := _refusal(kind, self.requests[source.name]):
            return refusal
        items = self._items(source, kind)
        if kind == "strange layout":
            return Answer(body=shapes.strange(source.shape))
        factor = {"hundredfold": Decimal(100), "per month": Decimal(730), "prices of zero": Decimal(0)}.get(
            kind, Decimal(1)
        )
        pages = shapes.pages_of(source, items, factor, bad=3 if kind == "one bad record" else None)
        if kind in SEEN_IN_FULL:
            self.shown[source.name] = tuple(
                item for place, item in enumerate(items) if kind != "one bad record" or place != 3
            )
        return Answer(
            body=pages[page - 1], has_validators=source.has_validators and kind != "cut", is_cut=kind == "cut"
        )

    def _items(self, source: SimulatedSource, kind: str) -> list[Item]:
        if kind == "empty":
            return []
        if kind == "a part of the list":
            return source.items[:5]
        if kind == "hostile names":
            first = source.items[0]
            return source.items + [replace(first, sku=name, part=name) for name in HOSTILE]
        return source.items


def _refusal(kind: str, requests: int) -> Answer | None:
    match kind:
        case "asked to wait" if requests == 1:
            return Answer(429, b"slower", {"Retry-After": "20"})
        case "server errors" | "gone for weeks":
            return Answer(503, b"<html><title>down</title></html>")
        case "asked to wait for hours":
            return Answer(429, b"slower", {"Retry-After": "7200"})
        case "login page":
            return Answer(body=b"<!doctype html><html><body><form><input type=password></form></body></html>")
        case "bot check":
            return Answer(403, b"<html><head><title>Just a moment...</title></head></html>")
        case "bomb":
            return Answer(body=BOMB, headers={"Content-Encoding": "gzip"})
        case "not what it says":
            return Answer(body=bytes(range(256)) * 8)
        case "connection reset":
            return Answer(is_reset=True)
        case _:
            return None


class _Waits:
    """A monotonic clock that only sleeping moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def clock(self) -> float:
        return self.seconds


def play(
    folder: Path,
    patch: pytest.MonkeyPatch,
    *,
    days: int,
    seed: int = 1,
    sources: int = 40,
    told: Callable[[str], None] | None = None,
) -> Played:
    """Play so many days; what the network, the clock and the waiting are is replaced, and nothing else of the pipeline."""
    runs = days * RUNS_A_DAY
    made = market(seed, runs, sources)
    ledger = Market(folder, patch)
    stage = _Stage(made.sources, made.episodes)
    now = START
    hosts = Hosts(sources, stage.answer, lambda: format_datetime(now, usegmt=True))
    for place, one in enumerate(made.sources):
        url = f"http://{hosts.address(place)}:{hosts.port}/prices"
        (ledger.modules / f"{one.name}.py").write_text(shapes.module(one, url), encoding="utf-8")
    _speak_to_loopback(patch)
    patch.setenv("NO_PROXY", "*")
    played = Played(folder / "data", ledger, made, Truth([], [], {}), [], 0, Counter(), runs, 0)
    sightings: list[Sighting] = []
    try:
        for run in range(runs):
            now = START + run * timedelta(days=1) / RUNS_A_DAY
            error = CLOCK_ERRORS.get(run % 60, timedelta())
            machine = now + error
            patch.setenv("GPULEDGER_NOW", machine.isoformat())
            stage.begin(run)
            played.figures.append(_run(run // RUNS_A_DAY))
            played.expected_collections += sources
            for one in made.sources:
                if stage.requests[one.name]:
                    played.asked[stage.episode(one)] += 1
                if one.name in stage.shown and abs(error) <= CLOCK_IS_TOLD:
                    is_whole = stage.episode(one) != "one bad record"
                    sightings.append(Sighting(one.name, machine, stage.shown[one.name], is_whole))
            if told:
                told(f"run {run + 1} of {runs}: {played.figures[-1]}")
    finally:
        hosts.close()
    played.not_modified = hosts.not_modified
    played.truth = Truth(made.sources, sightings, _usd_per_euro())
    return played


def _run(day: int) -> RunFigures:
    """One run as ``gpuledger collect`` and ``build`` make it."""
    times = [time.process_time()]
    steps.begin_run()
    for adapter in steps.live_sources():
        steps.collect_live(adapter)
    times.append(time.process_time())
    steps.load_archive()
    times.append(time.process_time())
    steps.build()
    times.append(time.process_time())
    collect, load, build = (after - before for before, after in pairwise(times))
    return RunFigures(day, collect, load, build, _resident_mib())


def _speak_to_loopback(patch: pytest.MonkeyPatch) -> None:
    """The real client, allowed to speak to this machine and never truly waiting."""
    waits = _Waits()
    # Made once, since a trust store takes longer to read than a page that comes from this machine.
    trust = ssl.create_default_context()

    @cache
    def manners() -> Politeness:
        return Politeness(sleep=waits.sleep, clock=waits.clock)

    def client(name: str, kind: SourceType, known: Mapping[str, KnownPage] | None = None) -> Client:
        transport = httpx.HTTPTransport(verify=trust, limits=httpx.Limits(max_keepalive_connections=0))
        return Client(
            name,
            kind=kind,
            politeness=manners(),
            allow_loopback=True,
            transport=transport,
            known=known,
            now=database.now,
        )

    patch.setattr(steps, "_manners", manners)
    patch.setattr(steps, "_client", client)


def _resident_mib() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 1024**2


def _usd_per_euro() -> dict[date, float]:
    rates = exchange_rates.history()
    dollars = rates.filter(pc.equal(rates["currency"], "USD"))
    return {row["day"]: float(row["units_per_eur"]) for row in dollars.to_pylist()}
