"""What the ledger has to hold, worked out from what the hosts truly showed, without SQL and without the pipeline's own code."""

import bisect
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from tests.simulator.market import PARTS, Item, SimulatedSource

CARRY_DAYS = {"marketplace": 3, "spot": 3, "list": 14}
NODE = 8

Series = tuple[str, str, int]
"""Accelerator, way of buying, days bound."""


@dataclass(frozen=True)
class Sighting:
    """What a host showed of itself, whole and well, and when by the collector's clock."""

    source: str
    observed_at: datetime
    items: tuple[Item, ...]
    is_whole: bool


@dataclass(frozen=True)
class ProviderPrice:
    """A provider's price of a day, as ``provider_prices_daily`` has it."""

    lowest: float | None
    median: float
    offers: int
    age_days: int


@dataclass(frozen=True)
class MarketPrice:
    """The price of a day in one segment, as ``prices_daily`` has it; None where it is withheld."""

    median: float | None
    providers: int
    status: str


@dataclass(frozen=True)
class _Standing:
    item: Item
    seen_day: date
    usd_per_accelerator_hour: float


class Truth:
    """Built from the sightings; ``usd_per_euro`` has the reference rate of each day that has one."""

    def __init__(
        self, sources: Iterable[SimulatedSource], sightings: Sequence[Sighting], usd_per_euro: Mapping[date, float]
    ) -> None:
        self._sources = {one.name: one for one in sources}
        self._rates = usd_per_euro
        self._rate_days = sorted(usd_per_euro)
        self.sightings = sorted(sightings, key=lambda one: one.observed_at)

    def offers(self) -> set[tuple[str, datetime, str, Decimal]]:
        """Source, time, SKU and price of everything that was shown."""
        return {(one.source, one.observed_at, item.sku, item.price) for one in self.sightings for item in one.items}

    def provider_prices(self) -> dict[tuple[date, str, Series], ProviderPrice]:
        """By day, provider and series."""
        found: dict[tuple[date, str, Series], ProviderPrice] = {}
        for day, standing in self._days():
            by_series: dict[tuple[str, Series], dict[str, list[_Standing]]] = defaultdict(lambda: defaultdict(list))
            for source, offers in standing.items():
                for one in offers:
                    if one.item.part in PARTS:
                        by_series[self._sources[source].provider, _series(one.item)][source].append(one)
            for (provider, series), speakers in by_series.items():
                # An interface speaks before a page.
                speaker = min(speakers, key=lambda name: (self._sources[name].kind == "page", name))
                found[day, provider, series] = self._price(day, self._sources[speaker].segment, speakers[speaker])
        return found

    def market_prices(self) -> dict[tuple[date, Series, str], MarketPrice]:
        """By day, series and segment, also ``all``."""
        segments = {one.provider: one.segment for one in self._sources.values()}
        medians: dict[tuple[date, Series, str], list[float]] = defaultdict(list)
        for (day, provider, series), price in self.provider_prices().items():
            for segment in (segments[provider], "all"):
                medians[day, series, segment].append(price.median)
        first_days: dict[tuple[Series, str], date] = {}
        for day, series, segment in medians:
            first_days[series, segment] = min(day, first_days.get((series, segment), day))
        found = {}
        for day, _ in self._days():
            for (series, segment), first_day in first_days.items():
                if day >= first_day:
                    prices = medians.get((day, series, segment), [])
                    status = "withheld" if not prices else "ok" if len(prices) >= 3 else "thin"
                    median = statistics.median(prices) if prices else None
                    found[day, series, segment] = MarketPrice(median, len(prices), status)
        return found

    def _days(self) -> Iterator[tuple[date, dict[str, list[_Standing]]]]:
        """Each day of the ledger, and what stands at its end: seen that day or carried from before."""
        held: dict[str, dict[str, _Standing]] = defaultdict(dict)
        place = 0
        day, last_day = self.sightings[0].observed_at.date(), self.sightings[-1].observed_at.date()
        while day <= last_day:
            while place < len(self.sightings) and self.sightings[place].observed_at.date() == day:
                self._see(held, self.sightings[place])
                place += 1
            yield (
                day,
                {
                    source: [one for one in offers.values() if self._stands(source, one, day)]
                    for source, offers in held.items()
                },
            )
            day += timedelta(days=1)

    def _see(self, held: dict[str, dict[str, _Standing]], one: Sighting) -> None:
        day = one.observed_at.date()
        seen = {item.sku: _Standing(item, day, self._usd(one.source, item, day)) for item in one.items}
        # Only a whole list says that something is gone.
        held[one.source] = seen if one.is_whole else held[one.source] | seen

    def _stands(self, source: str, one: _Standing, day: date) -> bool:
        segment = self._sources[source].segment
        kind = segment if segment == "marketplace" else "spot" if one.item.way == "spot" else "list"
        return (day - one.seen_day).days <= CARRY_DAYS[kind]

    def _usd(self, source: str, item: Item, day: date) -> float:
        rate = 1.0
        if self._sources[source].currency == "EUR":
            rate = self._rates[self._rate_days[bisect.bisect_right(self._rate_days, day) - 1]]
        return float(item.price) * rate / item.accelerators

    def _price(self, day: date, segment: str, offers: list[_Standing]) -> ProviderPrice:
        nodes = [
            one for one in offers
            if segment != "marketplace" and PARTS[one.item.part][1] == NODE and one.item.accelerators >= NODE
        ]  # fmt: skip
        rentable = [one.usd_per_accelerator_hour for one in offers if one.item.available is not False]
        return ProviderPrice(
            lowest=min(rentable, default=None),
            median=statistics.median(one.usd_per_accelerator_hour for one in nodes or offers),
            offers=len(offers),
            age_days=min((day - one.seen_day).days for one in offers),
        )


def _series(item: Item) -> Series:
    return PARTS[item.part][0], item.way, item.commitment_days
