"""Offer: the one record every source yields, in the provider's own words."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Per = Literal["second", "minute", "hour", "day", "month", "year", "term"]
PriceScope = Literal["offer", "accelerator", "component", "host_vcpu", "host_gib"]
PricingModel = Literal["on_demand", "spot", "reserved", "flex", "floor"]

Text = Annotated[str, Field(min_length=1, max_length=300)]
# DECIMAL(18,9) in the warehouse: nine digits before the point, nine after it.
Price = Annotated[Decimal, Field(ge=Decimal("1e-9"), lt=Decimal("1e9"), allow_inf_nan=False)]
Amount = Annotated[Decimal, Field(gt=0, lt=Decimal("1e9"), allow_inf_nan=False)]


def _none_below_zero(count: object) -> object:
    return 0 if isinstance(count, int) and count < 0 else count


class Offer(BaseModel):
    """What a provider asks for one thing, copied and not interpreted.

    A price that is not one (zero, negative, not finite, placeholder) cannot be an offer: the parser leaves the row out.
    Raises ``pydantic.ValidationError`` for anything outside the contract.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    sku: Text
    """The provider's own stable name for the thing; on marketplaces machine and size."""
    accelerator_name: Text
    """As printed; the SKU where the provider prints nothing else."""
    accelerator_count: Amount | None = None
    """Accelerators in the offer; fractional for slices; None when only the SKU tells."""
    memory_gb: Amount | None = None
    """Accelerator memory as printed, in the provider's gigabytes."""
    memory_scope: Literal["each", "total"] | None = None
    """What ``memory_gb`` counts: each accelerator, or all of the offer together."""

    price: Price
    """In whole units of ``currency``."""
    price_text: Annotated[str, Field(max_length=100)] | None = None
    """The price as sent, where it was scaled or cut out of text."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    """ISO 4217."""
    per: Per = "hour"
    price_scope: PriceScope = "offer"

    pricing_model: PricingModel = "on_demand"
    commitment_days: Annotated[int, Field(ge=0, le=3660)] = 0
    tier: Text | None = None
    provider: Text | None = None
    """The upstream firm, as printed; set by aggregators only."""

    region: Text = "global"
    zone: Text | None = None
    available: bool | None = None
    """Rentable now; None where the page does not tell."""
    quantity: Annotated[int, BeforeValidator(_none_below_zero), Field(ge=0)] | None = None
    """How many offers of this kind are rentable now, where told. A negative count, of more allocated than there is, is none."""

    minimum_accelerators: Amount | None = None
    minimum_days: Annotated[int, Field(ge=0)] | None = None
    upfront: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    """Paid at the start, in ``currency``."""
    tax: Literal["excluded", "included", "unknown"] = "unknown"

    vcpus: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    ram_gb: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    storage_gb: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = None
    interconnect: Text | None = None
    effective_at: date | None = None
    """From when the price holds, if the page says another date than that of its capture."""

    @model_validator(mode="after")
    def _consistent(self) -> "Offer":
        if (self.memory_gb is None) != (self.memory_scope is None):
            raise ValueError("memory_gb and memory_scope are told together or not at all")
        if self.pricing_model in {"on_demand", "spot"} and self.commitment_days:
            raise ValueError(f"{self.pricing_model} has no commitment, got {self.commitment_days} days")
        return self
