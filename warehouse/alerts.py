"""What someone wants to be told of, from ``alerts.toml``: a low price or cost, an index that moved, a cheaper provider, a stale source.

    [deliver]
    file = "alerts.log"

    [[alert]]
    kind = "price_below"
    accelerator = "h100-sxm-80gb"
    usd_per_accelerator_hour = 2.0

``GPULEDGER_ALERTS`` names the file; else it is ``alerts.toml`` in the current folder, where there is one.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
Percent = Annotated[float, Field(gt=0, lt=1000, allow_inf_nan=False, strict=True)]


Segment = Literal["hyperscaler", "neocloud", "marketplace", "aggregator", "other", "all"]
PricingModel = Literal["on_demand", "spot", "reserved", "flex"]


class AlertsError(ValueError):
    """A file of alerts that can't be used; the message is one line that says which alert and what is wrong."""


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PriceBelow(_Said):
    """An accelerator's price on a basis is below so many US dollars per accelerator and hour."""

    kind: Literal["price_below"]
    accelerator: str
    basis: str = "on_demand_min"
    usd_per_accelerator_hour: Positive


class IndexMoved(_Said):
    """An accelerator's price index has moved by so many percent, up or down, within so many days."""

    kind: Literal["index_moved"]
    accelerator: str
    segment: Segment = "all"
    pricing_model: PricingModel = "on_demand"
    percent: Percent
    within_days: Annotated[int, Field(gt=0, le=400)] = 7


class CheaperElsewhere(_Said):
    """Someone asks so many percent less than the provider that one rents from, in the segments given."""

    kind: Literal["cheaper_elsewhere"]
    accelerator: str
    provider: str
    percent: Percent
    pricing_model: PricingModel = "on_demand"
    commitment_days: Annotated[int, Field(ge=0)] = 0
    segments: list[Segment] = ["hyperscaler", "neocloud"]


class SourceStale(_Said):
    """A source has had no good collection for so many days; of all that ever had one, where none is named."""

    kind: Literal["source_stale"]
    source: str | None = None
    days: Positive


class CostBelow(_Said):
    """A training run costs less than so many US dollars on a basis: on the part named, else on the cheapest that does it in time."""

    kind: Literal["cost_below"]
    run: str
    basis: str = "on_demand_median"
    accelerator: str | None = None
    cost_usd: Positive


Alert = Annotated[PriceBelow | IndexMoved | CheaperElsewhere | SourceStale | CostBelow, Field(discriminator="kind")]


class Webhook(_Said):
    """An address that takes JSON with a ``text``, as Slack's do. The address is a key, so it may stand in an environment variable."""

    url: str | None = None
    url_env: str | None = None
    hosts: Annotated[list[str], Field(min_length=1)]
    """Nothing is sent to any other."""

    @model_validator(mode="after")
    def _one_address(self) -> "Webhook":
        if (self.url is None) == (self.url_env is None):
            raise ValueError("one of url and url_env belongs here")
        return self

    @property
    def address(self) -> str:
        """Where to send. Raises AlertsError when the environment has none."""
        found = self.url or os.environ.get(self.url_env or "", "")
        if not found:
            raise AlertsError(f"the webhook's address is not in the environment; set {self.url_env}")
        return found


class Deliver(_Said):
    """How events are told."""

    stdout: bool = True
    file: Path | None = None
    """A line each is added to it; relative to the file of alerts."""
    webhook: Webhook | None = None

    @property
    def channels(self) -> list[str]:
        """Names of the ways chosen."""
        chosen = {"stdout": self.stdout, "file": self.file, "webhook": self.webhook}
        return [name for name, value in chosen.items() if value]


class Alerts(_Said):
    """The file."""

    deliver: Deliver = Deliver()
    alert: list[Alert] = []


def file() -> Path | None:
    """Where the alerts stand. Raises AlertsError when ``GPULEDGER_ALERTS`` names no file."""
    told = os.environ.get("GPULEDGER_ALERTS")
    path = Path(told or "alerts.toml").expanduser()
    if path.is_file():
        return path
    if told:
        raise AlertsError(f"GPULEDGER_ALERTS names {told}, which is not a file")
    return None


def read(path: Path) -> Alerts:
    """The alerts of a file. Raises AlertsError."""
    try:
        said = tomllib.loads(path.read_bytes().decode())
        found = Alerts(**said)
    except OSError as error:
        raise AlertsError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AlertsError(f"{path} is not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise AlertsError(f"{path}: {_place(first['loc'])}{first['msg'].removeprefix('Value error, ')}") from None
    if found.deliver.file is not None:
        whole = found.deliver.model_copy(update={"file": path.parent / found.deliver.file.expanduser()})
        found = found.model_copy(update={"deliver": whole})
    return found


def _place(parts: tuple[int | str, ...]) -> str:
    if parts[0] == "alert" and len(parts) > 1:
        field = f" {parts[3]}:" if len(parts) > 3 else ""
        return f"alert {int(parts[1]) + 1}{f' ({parts[2]})' if len(parts) > 2 else ''}:{field} "
    return f"{'.'.join(map(str, parts))}: "
