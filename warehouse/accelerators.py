"""The catalogue of accelerators, as `reference/accelerators.csv` has it.

**Keys are stable.** `model` + form factor + memory each, in lower case with hyphens: `h100-sxm-80gb`, `mi300x-oam-192gb`.

* The form factor is left out where the part exists only as a PCIe card (`l40s-48gb`, `rtx-4090-24gb`); a part that exists
  only in one other form keeps it (`b200-sxm-180gb`, `gb200-superchip-186gb`, `rtx-4090-mobile-16gb`).
* `unstated` stands where a seller does not say which of several forms it is (`h100-unstated-80gb`); memory is left out where
  a name means several sizes and tells none (`a100-pcie`, `v100-unstated`). `may_be` lists what such a key can be.
* Makers' own chips have neither (`tpu-v4`, `trainium2`).
* A key counts what is rented as one: one die of a K80, M60 or A16 board, one GPU of a superchip, one TPU chip.

`only_if_printed` marks a size that a name means only when it prints it: cards rebuilt by third parties, and rare versions
whose official name has the size or form in it (the 94 GB H100 is always "H100 NVL").

Price bounds, USD per accelerator-hour: no price outside them can be real. The lowest is about a quarter of the cheapest real
offer known, spot and marketplaces of 2017 to 2026 included; the highest about three times the dearest list price, or more.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

REFERENCE = Path(__file__).parent / "reference"
UNSTATED = "unstated"


@dataclass(frozen=True)
class Accelerator:
    """One row of the catalogue: a part, or a name that leaves its form or memory open (then `may_be` is not empty)."""

    key: str
    vendor: str
    model: str
    form_factor: str
    """`sxm`, `pcie`, `nvl`, `oam`, `superchip`, `mobile`, `unstated`; empty for makers' own chips."""
    memory_gb: Decimal | None
    printed_memory_gb: tuple[Decimal, ...]
    """Other figures that sellers print for the same memory."""
    only_if_printed: bool
    may_be: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """Accelerators by key, and the parts of each model."""

    by_key: dict[str, Accelerator]
    by_model: dict[str, tuple[Accelerator, ...]]
    _by_pieces: dict[tuple[str, str, Decimal | None], str]

    def key_of(self, model: str, form_factor: str, memory_gb: Decimal | None) -> str | None:
        """The key of a model in a form and size; None where the catalogue has no such row."""
        return self._by_pieces.get((model, form_factor, memory_gb))


def read_rows(name: str) -> Iterator[dict[str, str]]:
    """Rows of one reference table."""
    with (REFERENCE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


@cache
def catalogue() -> Catalogue:
    """The catalogue, read once."""
    by_key: dict[str, Accelerator] = {}
    by_model: dict[str, list[Accelerator]] = {}
    by_pieces: dict[tuple[str, str, Decimal | None], str] = {}
    for row in read_rows("accelerators"):
        accelerator = Accelerator(
            key=row["accelerator"],
            vendor=row["vendor"],
            model=row["model"],
            form_factor=row["form_factor"],
            memory_gb=Decimal(row["memory_gb"]) if row["memory_gb"] else None,
            printed_memory_gb=tuple(map(Decimal, filter(None, row["printed_memory_gb"].split("|")))),
            only_if_printed=row["only_if_printed"] == "true",
            may_be=tuple(filter(None, row["may_be"].split("|"))),
        )
        by_key[accelerator.key] = accelerator
        by_pieces[accelerator.model, accelerator.form_factor, accelerator.memory_gb] = accelerator.key
        parts = by_model.setdefault(accelerator.model, [])
        # RTX PRO 6000 Blackwell without its edition is a model of its own: a name, and its only row.
        if not accelerator.may_be or accelerator.model not in {by_key[key].model for key in accelerator.may_be}:
            parts.append(accelerator)
    return Catalogue(by_key, {model: tuple(parts) for model, parts in by_model.items()}, by_pieces)
