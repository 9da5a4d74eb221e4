"""Forty sources whose prices move, and what goes wrong at which run. Everything follows from a seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

Shape = Literal["json", "paged", "table", "csv"]
Way = Literal["on_demand", "spot", "reserved"]
SHAPES: tuple[Shape, ...] = ("json", "paged", "table", "csv")

# Part as printed: key, whether it is sold in nodes of eight, US dollars an hour.
PARTS = {
    "H100 SXM 80GB": ("h100-sxm-80gb", 8, 2.6),
    "A100 SXM4 80GB": ("a100-sxm-80gb", 8, 1.7),
    "A100 PCIe 40GB": ("a100-pcie-40gb", 1, 1.2),
    "RTX 4090": ("rtx-4090-24gb", 1, 0.45),
    "L40S": ("l40s-48gb", 1, 0.95),
    "RTX A6000": ("rtx-a6000-48gb", 1, 0.62),
    "V100 SXM2 16GB": ("v100-sxm-16gb", 8, 0.71),
}
HYPERSCALERS = ("aws", "azure", "gcp", "oracle", "alibaba")
MARKETPLACES = ("vast", "akash", "clore", "salad", "tensordock", "io_net")
NEOCLOUDS = (
    "lambda", "runpod", "crusoe", "coreweave", "vultr", "nebius", "hyperstack", "paperspace", "together", "voltage_park", "verda",
    "massed_compute", "jarvislabs", "latitude", "linode", "hot_aisle", "gmi", "genesis", "fluidstack", "digitalocean", "cudo", "civo",
    "cloudrift", "novita", "ori", "oblivus", "denvr", "cirrascale",
)  # fmt: skip
IN_EUROS = ("verda", "genesis", "civo")
DISCOUNT: dict[Way, float] = {"on_demand": 1.0, "spot": 0.55, "reserved": 0.62}

# What goes wrong, and for how many runs at least and at most. Of the first three nothing is lost.
EPISODES = {
    "asked to wait": (1, 2),
    "one bad record": (1, 2),
    "hostile names": (2, 4),
    "server errors": (1, 6),
    "asked to wait for hours": (1, 3),
    "hundredfold": (2, 10),
    "empty": (1, 2),
    "login page": (1, 3),
    "strange layout": (2, 6),
    "bot check": (1, 2),
    "cut": (1, 2),
    "per month": (2, 10),
    "bomb": (1, 1),
    "a part of the list": (1, 2),
    "prices of zero": (1, 2),
    "not what it says": (1, 2),
    "connection reset": (1, 3),
    "gone for weeks": (40, 44),
}
# An unchanged price of a hyperscaler fills a gap of any length, which a simulation need not tell again.
NOT_OF_HYPERSCALERS = "gone for weeks"
HOSTILE = (
    '=HYPERLINK("http://x.example")',
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "'; DROP TABLE offers; --",
    "\u202eevil",
    "a\\b,c",
)


@dataclass(frozen=True)
class Item:
    """One thing that a source sells."""

    sku: str
    part: str
    accelerators: int
    way: Way
    price: Decimal
    """Of the whole offer, an hour, in the source's currency."""
    available: bool | None

    @property
    def commitment_days(self) -> int:
        """Days bound."""
        return 365 if self.way == "reserved" else 0


@dataclass
class SimulatedSource:
    """One source: what it sells now, and what is wrong with it when."""

    name: str
    provider: str
    segment: str
    shape: Shape
    kind: Literal["api", "page"]
    currency: str
    has_validators: bool
    chance: random.Random
    items: list[Item] = field(default_factory=list)
    layout: int = 1
    _next_sku: int = 0

    def move(self, run: int) -> None:
        """Another half day: some prices move, each by itself; now and then something comes or goes; once the page is another."""
        if run and self.has_validators and self.chance.random() < 0.6:
            return  # a day on which nothing changed
        self.items = [self._moved(item) for item in self.items]
        if run and self.chance.random() < 0.06 and len(self.items) > 13:
            self.items.pop(self.chance.randrange(len(self.items)))
        if run and self.chance.random() < 0.06 and len(self.items) < 22:
            self.items.append(self.new_item())
        if run and self.chance.random() < 0.01:
            self.layout = 3 - self.layout

    def new_item(self) -> Item:
        """One more thing to sell."""
        self._next_sku += 1
        part = self.chance.choice(list(PARTS))
        accelerators = self.chance.choice([1, 1, 2, 4, 8, 8])
        ways: list[Way] = ["on_demand", "on_demand", "on_demand", "spot", "reserved"]
        way = self.chance.choice(ways[:4] if self.segment == "marketplace" else ways)
        usd = PARTS[part][2] * accelerators * DISCOUNT[way] * self.chance.uniform(0.92, 1.08)
        tells = self.segment == "marketplace" and self.shape in {"json", "paged"}
        available = self.chance.choice([True, False, None]) if tells else None
        return Item(f"{part.split()[0]}-{self._next_sku:04}", part, accelerators, way, _price(usd), available)

    def _moved(self, item: Item) -> Item:
        if self.chance.random() > 0.15:
            return item
        usual = PARTS[item.part][2] * item.accelerators * DISCOUNT[item.way]
        ratio = float(item.price) / usual * self.chance.uniform(0.97, 1.03)
        return replace(item, price=_price(usual * min(max(ratio, 0.88), 1.15)))


def _price(amount: float) -> Decimal:
    """Four decimals, of which the last tells it from round amounts that stand in for a price."""
    return Decimal(round(amount * 1000) * 10 + 3).scaleb(-4)


@dataclass
class SimulatedMarket:
    """All sources, and which episode each is in at which run."""

    sources: list[SimulatedSource]
    episodes: dict[tuple[str, int], str]
    """By source and run; what is not in it is well."""


def market(seed: int, runs: int, sources: int = 40) -> SimulatedMarket:
    """A market of so many sources for so many runs."""
    providers = [*HYPERSCALERS, *MARKETPLACES, *NEOCLOUDS]
    made = [
        _source(seed, place, providers[place % len(providers)], place >= len(providers)) for place in range(sources)
    ]
    episodes = {(one.name, run): kind for place, one in enumerate(made) for run, kind in _episodes(one, place, runs)}
    return SimulatedMarket(made, episodes)


def _source(seed: int, place: int, provider: str, is_second: bool) -> SimulatedSource:
    """A source; a provider's second one is its page beside its interface."""
    shape: Shape = "table" if is_second else SHAPES[place % len(SHAPES)]
    one = SimulatedSource(
        name=f"{provider}_page" if is_second else f"{provider}_list",
        provider=provider,
        segment="hyperscaler"
        if provider in HYPERSCALERS
        else "marketplace"
        if provider in MARKETPLACES
        else "neocloud",
        shape=shape,
        kind="page" if shape == "table" else "api",
        currency="EUR" if provider in IN_EUROS else "USD",
        has_validators=place % 3 == 0,
        chance=random.Random(f"{seed} {place}"),
    )
    one.items = [one.new_item() for _ in range(17)]
    return one


def _episodes(one: SimulatedSource, place: int, runs: int) -> Iterator[tuple[int, str]]:
    """Runs of one source that do not go well; each source goes through all that can happen, from another start."""
    kinds = [kind for kind in EPISODES if kind != NOT_OF_HYPERSCALERS or one.segment != "hyperscaler"]
    chance = random.Random(f"{one.name} episodes")
    run = chance.randrange(4, 12)
    turn = place
    while run < runs:
        kind = kinds[turn % len(kinds)]
        least, most = EPISODES[kind]
        for _ in range(chance.randint(least, most)):
            yield run, kind
            run += 1
        run += chance.randrange(5, 16)
        turn += 5
