"""Instance types of clouds: which accelerator an `ND96isr_H100_v5` or a `vcg-a16-2c-8g-2vram` holds, and how many.

The rows are in `reference/instance_types.csv`. A type there is exact, or a pattern: `*` is anything, `#` any number, `{n}`
the number that counts. The count is that of the row, else `{n}`, divided by `per` (and by `{per}`, where the type itself
tells the divisor: Alibaba's `gn6i-c24g1.12xlarge` has a GPU per 24 cores). A row without any count leaves it open. An exact
row wins over a pattern, an earlier pattern over a later one. `only_for_provider` rows are too short to be told from other
names (`v3-8`, `l4-90`): they hold only where the provider is told.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from warehouse.accelerators import read_rows

# A provider has more than one name: renamed firms, and the sources that read it.
ALIASES = {
    "datacrunch": "verda", "lambdalabs": "lambda", "lambdacloud": "lambda", "vastai": "vast", "ovhcloud": "ovh", "oci": "oracle",
    "oraclecloud": "oracle", "amazon": "aws", "amazonwebservices": "aws", "ec2": "aws", "microsoftazure": "azure", "google": "gcp",
    "googlecloud": "gcp", "googlecloudplatform": "gcp", "akamai": "linode", "do": "digitalocean", "flow": "mithril", "foundry": "mithril",
    "mlfoundry": "mithril", "jarvis": "jarvislabs", "crusoecloud": "crusoe", "cudocompute": "cudo", "alicloud": "alibaba",
    "alibabacloud": "alibaba", "aliyun": "alibaba", "ibmcloud": "ibm", "prime": "primeintellect", "civocloud": "civo",
    "nebiusai": "nebius", "hotaislecloud": "hotaisle",
}  # fmt: skip
_SOURCE_SUFFIX = re.compile(
    r"_(page|api|prices|pricing|catalog|catalogue|spot|capacity_blocks(_page)?|website|retail|skus|billing|dataset|history)$"
)
_CLEAN = {
    "aws": (re.compile(r"^ml\.|\.search$"), ""),
    "gcp": (re.compile(r"^tpu[ _-]?v(?=\d)"), "tpu-v"),
    "azure": (re.compile(r"^(standard|basic)_|_(promo|spot|low_priority)$"), ""),
    "ovh": (re.compile(r"^win-|\.(consumption|monthly).*$"), ""),
}
_COUNT_PLACES = Decimal("1e-9")


@dataclass(frozen=True)
class InstanceType:
    """What a type holds: an accelerator's key, and how many of it (fractional for slices; None where the type leaves it open)."""

    accelerator: str
    count: Decimal | None


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    accelerator: str
    count: Decimal | None
    per: Decimal

    def read(self, text: str) -> InstanceType | None:
        match = self.pattern.fullmatch(text)
        if not match:
            return None
        told = match.groupdict()
        if self.count is not None or "n" not in told:
            return InstanceType(self.accelerator, self.count)
        divisor = self.per * Decimal(told.get("per") or 1)
        if not divisor:
            return None
        count = Decimal(told["n"]) / divisor
        # More than one and a part of another is rented nowhere: the size is one that the rule was not made for.
        return InstanceType(self.accelerator, None if count > 1 and count % 1 else shortest(count))


@dataclass(frozen=True)
class _Rules:
    exact: dict[str, InstanceType]
    patterns: list[_Rule]
    any_pattern: re.Pattern[str]
    """Matches where one of the patterns does: most names match none, and one look settles it."""


def provider_id(provider: str | None) -> str | None:
    """The one name of a provider, from any name of it or of a source that reads it."""
    if not provider:
        return None
    name = re.sub(r"[^a-z0-9]", "", _SOURCE_SUFFIX.sub("", provider.strip().casefold().replace("-", "_")))
    return ALIASES.get(name, name)


def shortest(number: Decimal) -> Decimal:
    """A count without trailing zeros, to nine places at the most."""
    rounded = number.quantize(_COUNT_PLACES).normalize()
    return rounded if rounded != rounded.to_integral_value() else rounded.quantize(Decimal(1))


def instance_type(text: str, provider: str | None) -> InstanceType | None:
    """What an instance type holds; None where no row knows it.

    A provider's own rows are asked first, then those of all clouds whose types cannot be mistaken for anything else.
    """
    folded = re.sub(r"\s+", " ", text.strip().casefold())
    for asked in (provider, *_distinct_providers()):
        rules = _rules().get((asked, asked == provider)) if asked else None
        found = _find(_cleaned(folded, asked), rules) if asked and rules else None
        if found:
            return found
    return None


def _find(text: str, rules: _Rules) -> InstanceType | None:
    if exact := rules.exact.get(text):
        return exact
    if not rules.any_pattern.fullmatch(text):
        return None
    return next((found for rule in rules.patterns if (found := rule.read(text))), None)


def _cleaned(text: str, provider: str) -> str:
    if provider == "azure":
        text = text.replace(" ", "_")
    if provider not in _CLEAN:
        return text
    pattern, plain = _CLEAN[provider]
    return pattern.sub(plain, text)


@cache
def _distinct_providers() -> tuple[str, ...]:
    return tuple(dict.fromkeys(provider for provider, told in _rules() if not told))


@cache
def _rules() -> dict[tuple[str, bool], _Rules]:
    """Rules by provider and whether the provider is told."""
    rows: dict[tuple[str, bool], list[dict[str, str]]] = {}
    for row in read_rows("instance_types"):
        for told in (True, False):
            if told or row["only_for_provider"] != "true":
                rows.setdefault((row["provider"], told), []).append(row)
    return {key: _compiled(group) for key, group in rows.items()}


def _compiled(rows: list[dict[str, str]]) -> _Rules:
    exact: dict[str, InstanceType] = {}
    patterns: list[_Rule] = []
    for row in rows:
        count = Decimal(row["count"]) if row["count"] else None
        if re.search(r"[*#{]", row["instance_type"]):
            pattern = re.escape(row["instance_type"]).replace(r"\*", ".*").replace(r"\#", "[0-9]+")
            pattern = re.sub(r"\\\{(n|per)\\\}", r"(?P<\1>[0-9]{1,6})", pattern)
            patterns.append(_Rule(re.compile(pattern), row["accelerator"], count, Decimal(row["per"] or 1)))
        else:
            exact[row["instance_type"]] = InstanceType(row["accelerator"], count)
    together = "|".join(re.sub(r"\(\?P<\w+>", "(?:", rule.pattern.pattern) for rule in patterns)
    return _Rules(exact, patterns, re.compile(together))
