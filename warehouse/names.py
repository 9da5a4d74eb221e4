"""Spelling as printed → accelerator, form factor, memory, count. The one place where a name gets its meaning.

Names are read by tokens, never by substring, against reference rows: `accelerators.csv` (what exists), `spellings.csv` (other
words for it, for all or for one provider) and `instance_types.csv` (what a cloud's types hold). What is not there is not
guessed: an unknown spelling resolves to nothing, is listed, and waits for a row. What a name leaves open stays None, unless
the part exists in one form or size only. How keys are built is told in `accelerators.py`.

Order of belief: the instance type or SKU, then the offer's own count and memory, then the printed name. Facts that disagree
come back in `conflict`, and a memory size that the part does not have leaves `accelerator` empty.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import TypeVar

from warehouse.accelerators import UNSTATED, Accelerator, catalogue, read_rows
from warehouse.instance_types import instance_type, provider_id, shortest
from warehouse.tokens import Item, fold_name, items, segmenter

T = TypeVar("T", bound=Hashable)

# Makers' and product-line words: they may stand inside a model's name or be missing from it.
_SILENT = {
    "nvidia", "amd", "intel", "google", "aws", "amazon", "habana", "qualcomm", "geforce", "tesla", "instinct", "radeon", "firepro",
    "edition", "generation", "gen", "blackwell", "gpu", "gpus", "graphics", "card", "tensor", "core", "accelerator", "cloud",
}  # fmt: skip
_FORMS = {"sxm": "sxm", "pcie": "pcie", "pci": "pcie", "nvl": "nvl", "oam": "oam", "superchip": "superchip"} | {
    f"sxm{n}": "sxm" for n in range(2, 8)
}
# A board of SXM modules; said of parts that have no SXM form, it tells nothing.
_SXM_SYSTEMS = {"hgx", "dgx"}
_LAPTOP = {"laptop", "notebook", "mobile"}
# Words that make another model of the one before them. Where no row knows that model, the name is unknown.
_VARIANTS = {"ti", "super", "s", "d", "sff", "xt", "xtx", "gre", "cnx", "pro", "duo"}
_BRANDS = {
    "nvidia": "NVIDIA", "geforce": "NVIDIA", "tesla": "NVIDIA", "quadro": "NVIDIA", "rtx": "NVIDIA", "gtx": "NVIDIA",
    "radeon": "AMD", "instinct": "AMD", "gaudi": "Intel", "habana": "Intel", "tpu": "Google", "trainium": "AWS", "inferentia": "AWS",
}  # fmt: skip
_DIE = re.compile(r"(gf|gk|gm|gp|gv|tu|ga|ad|gh|gb)\d{3}[a-z]?")
# Behind a name without a number: "Gaudi 4" is a Gaudi that no row knows.
_GENERATION = re.compile(r"v?\d+[a-z]?")
_BROKERED_COUNT = re.compile(r"x(\d{1,2})(?:-\d+)?$")
_OTHER_WORDS = {"mig", "ib", "roce", "vram", "x", "baremetal", "nvlink", "max", "q", "vws", "mega", "ram"} | {
    f"hbm{n}" for n in ("2", "2e", "3", "3e", "4")
}
_APART = {"gb", "gh", "hl", "ai", "mi"} | {f"v{n}" for n in range(1, 10)}
# How far a printed size may be from the part's own: drivers report less than the sheet (22 of 24 GB on an L4).
_MEMORY_TOLERANCE = Decimal("0.09")
_LARGEST_NODE = 16
_SLICES, _SLICE_TOLERANCE = 8, Decimal("0.1")
"""MIG profiles are eighths of a part's memory, printed in whole gigabytes; those of vGPUs are what they say."""
_NODES = re.compile(r"\b([2-9]|[1-9]\d+)[ -]*x?[ -]*nodes?\b")


@dataclass(frozen=True)
class Part:
    """What a name or an offer says. Memory in gigabytes of one whole accelerator; count fractional for slices."""

    raw: str
    vendor: str | None = None
    model: str | None = None
    form_factor: str | None = None
    """None where it is not said, also where `accelerator` says `unstated`."""
    memory_gb: Decimal | None = None
    count: Decimal | None = None
    accelerator: str | None = None
    """Key in `accelerators.csv`; None where nothing is known, or where the facts do not fit together."""
    conflict: str | None = None
    """What disagrees, in one line."""


@dataclass(frozen=True)
class _Reading:
    """What a text says, before it is checked against the catalogue. `usual_…` holds where the text itself says nothing else."""

    models: tuple[str, ...] = ()
    form: str | None = None
    sizes: tuple[Decimal, ...] = ()
    slice_gb: Decimal | None = None
    is_slice: bool = False
    count: Decimal | None = None
    usual_form: str | None = None
    usual_gb: Decimal | None = None
    usual_count: Decimal | None = None
    vendor: str | None = None
    conflict: str | None = None
    names_something: bool = False
    """Words of the catalogue are in it, even if they do not come to one part."""
    decides: bool = False
    """It is an instance type or key: its form, size and count are not up for debate."""


@dataclass(frozen=True)
class _Meaning:
    """What a phrase of words stands for."""

    models: tuple[str, ...]
    form: str | None = None
    memory_gb: Decimal | None = None
    count: Decimal | None = None


@dataclass
class _Node:
    behind: "dict[str, _Node]" = field(default_factory=dict)
    meaning: dict[str | None, _Meaning] = field(default_factory=dict)
    """By provider; None is anyone."""


def resolve(raw: str, provider: str | None = None) -> Part:
    """What one printed name or instance type means, at a provider if told. Never raises; unknown names give an empty Part."""
    return replace(_settled(_read(raw, provider_id(provider))), raw=raw)


def resolve_text(
    *,
    provider: str,
    sku: str,
    accelerator_name: str,
    accelerator_count: Decimal | None,
    memory_gb: Decimal | None,
    memory_scope: str | None,
) -> Part:
    """What an offer rents: its SKU and name read together, with its own count and memory.

    `memory_scope` is `each` or `total`, as the offer says; sizes that only fit the other way are taken the other way.
    """
    asked = provider_id(provider)
    name, code = _read(accelerator_name, asked), _read(sku, asked)
    part = _settled(_with_offer(_together(name, code), accelerator_count, memory_gb, memory_scope))
    return replace(part, raw=accelerator_name, conflict=part.conflict or _count_conflict(name, code, accelerator_count))


# --- reading a text -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=100_000)
def _read(raw: str, provider: str | None) -> _Reading:
    known = catalogue().by_key.get(raw.strip().casefold())
    if known and (fold_name(raw), provider) not in _names():
        return _of_row(known)
    if found := instance_type(raw, provider):
        return replace(_of_row(catalogue().by_key[found.accelerator]), count=found.count)
    if provider == "shadeform" and "_" in raw:
        return _read_brokered(raw, provider)
    if meaning := _names().get((fold_name(raw), provider or "none")) or _names().get((fold_name(raw), "")):
        return _Reading(meaning.models, usual_form=meaning.form, usual_gb=meaning.memory_gb, count=meaning.count)
    return _read_words(raw, provider)


def _read_brokered(raw: str, broker: str) -> _Reading:
    """Shadeform's `cloud_GPUxN`, where no xN means one: read as that cloud's own name."""
    cloud, _, rest = raw.partition("_")
    if _read_words(cloud, broker).models:
        return _read_words(raw, broker)
    told = _BROKERED_COUNT.search(rest)
    rest = rest[: told.start()] if told else rest
    reading = _filled(_read(rest, provider_id(cloud)), _read_words(rest, broker))
    return replace(reading, count=Decimal(told[1] if told else 1)) if reading.models else reading


def _of_row(row: Accelerator) -> _Reading:
    form = None if row.form_factor in {UNSTATED, ""} else row.form_factor
    return _Reading((row.model,), form, (row.memory_gb,) if row.memory_gb else (), vendor=row.vendor, decides=True)


def _read_words(raw: str, provider: str | None) -> _Reading:
    cut = items(raw, _segment())
    words = [item for item in cut if item.kind == "word"]
    texts = [word.text for word in words]
    meanings, used, unknown = _meanings(texts, provider)
    rest = [text for at, text in enumerate(texts) if at not in used]
    count, count_conflict = _one({item.value for item in cut if item.kind == "count"}, "count")
    reading = _Reading(
        sizes=tuple(item.value for item in cut if item.kind == "memory"),
        slice_gb=next((item.value for item in cut if item.kind == "slice"), None),
        is_slice="mig" in rest,
        count=shortest(count) if count else _leading_count(cut, used),
        vendor=next((_BRANDS[text] for text in texts if text in _BRANDS), _die_maker(raw)),
        conflict=count_conflict or (f"is of {told[1]} machines" if (told := _NODES.search(fold_name(raw))) else None),
        names_something=bool(meanings),
    )
    if unknown or not meanings:
        return reading
    if len({meaning.models for meaning in meanings}) > 1:
        named = " and ".join(sorted({"/".join(meaning.models) for meaning in meanings}))
        return replace(reading, conflict=f"names more than one part: {named}")
    return _with_meaning(reading, meanings[0], rest)


def _with_meaning(reading: _Reading, meaning: _Meaning, rest: list[str]) -> _Reading:
    models = meaning.models
    if _LAPTOP & set(rest) or ("max" in rest and "q" in rest):
        models = tuple(laptop for model in models if (laptop := f"{model} Laptop") in catalogue().by_model)
        if not models:
            return replace(reading, conflict="a laptop part that no row knows")
    forms = {_FORMS[text] for text in rest if text in _FORMS}
    if _SXM_SYSTEMS & set(rest) and _has_form(models, "sxm"):
        forms.add("sxm")
    form, conflict = _one(forms, "form factor")
    return replace(
        reading,
        models=models,
        sizes=reading.sizes or _bare_size(models, rest),
        form=form,
        usual_form=meaning.form,
        usual_gb=meaning.memory_gb,
        usual_count=meaning.count,
        conflict=reading.conflict or conflict,
    )


def _bare_size(models: tuple[str, ...], rest: list[str]) -> tuple[Decimal, ...]:
    """`A100-40`: a number that is a size of a module sold in several. Of cards it may be anything, cores for one."""
    sizes = {part.memory_gb for model in models if _has_form((model,), "sxm") for part in catalogue().by_model[model]}
    return tuple(size for text in rest if text.isdigit() and (size := Decimal(text)) in sizes)[:1]


def _meanings(texts: list[str], provider: str | None) -> tuple[list[_Meaning], set[int], bool]:
    """The parts that the words name, the places of the words used for it, and whether a variant is unknown."""
    found: list[_Meaning] = []
    used: set[int] = set()
    unknown = False
    at = 0
    while at < len(texts):
        meaning, places = _longest(texts, at, provider)
        if meaning is None:
            at += 1
            continue
        found.append(meaning)
        used.update(places)
        at = max(places) + 1
        behind = next((text for text in texts[at:] if text not in _SILENT), "")
        unnumbered = not any(char.isdigit() for place in places for char in texts[place])
        unknown = unknown or _is_variant(meaning, behind) or (unnumbered and _GENERATION.fullmatch(behind) is not None)
    return found, used, unknown


def _is_variant(meaning: _Meaning, behind: str) -> bool:
    """A word behind a model that makes it another one. "L40S (Ada)" only tells the family; "RTX A6000 Ada" is no A6000."""
    if behind == "ada":
        return any(model.startswith(("RTX A", "Quadro")) for model in meaning.models)
    return behind in _VARIANTS


def _longest(texts: list[str], start: int, provider: str | None) -> tuple[_Meaning | None, list[int]]:
    """The longest phrase that begins at a word; silent words inside it may be passed over."""
    best: tuple[_Meaning | None, list[int]] = (None, [])
    open_paths: list[tuple[_Node, int, list[int]]] = [(_phrases(), start, [])]
    while open_paths:
        node, at, places = open_paths.pop()
        meaning = node.meaning.get(provider) or node.meaning.get(None)
        if meaning and len(places) > len(best[1]):
            best = (meaning, places)
        if at >= len(texts):
            continue
        if behind := node.behind.get(texts[at]):
            open_paths.append((behind, at + 1, [*places, at]))
        if places and texts[at] in _SILENT:
            open_paths.append((node, at + 1, places))
    return best


def _leading_count(cut: list[Item], used: set[int]) -> Decimal | None:
    """`8 H100 SXM`: a bare number in front of the part."""
    if not cut or cut[0].kind != "word" or 0 in used or not re.fullmatch(r"[1-9]|1[0-6]", cut[0].text):
        return None
    behind = next((at for at, item in enumerate(cut[1:], 1) if item.text not in _SILENT), None)
    return Decimal(cut[0].text) if behind is not None and behind in used else None


def _die_maker(raw: str) -> str | None:
    """GB202 or GH100 is a die of NVIDIA's, sold under several names: its maker is known and its model is not."""
    return "NVIDIA" if any(_DIE.fullmatch(word) for word in fold_name(raw).split()) else None


def _one(values: AbstractSet[T], what: str) -> tuple[T | None, str | None]:
    if len(values) > 1:
        return None, f"more than one {what}: {', '.join(sorted(map(str, values)))}"
    return next(iter(values), None), None


# --- putting readings and an offer's own fields together ------------------------------------------------------------


def _together(name: _Reading, code: _Reading) -> _Reading:
    """The SKU's reading where it decides or the name says nothing, the name's otherwise, each filled up from the other."""
    first, second = (code, name) if code.decides or (code.models and not name.models) else (name, code)
    if not second.models or not first.models:
        return first
    shared = tuple(model for model in _meant(first.models) if model in _meant(second.models))
    if not shared:
        other = f"SKU says {'/'.join(code.models)}, name says {'/'.join(name.models)}"
        return replace(first, conflict=other) if first.decides else first
    if not set(first.models) & set(second.models):  # one of them leaves open which edition it is
        first, second = replace(first, models=shared), replace(second, models=shared)
    return _filled(first, second)


def _meant(models: tuple[str, ...]) -> tuple[str, ...]:
    """The models that names stand for: those of `may_be` too, where a model is only a name for several."""
    rows = catalogue()
    wider = (rows.by_key[key].model for model in models for part in rows.by_model[model] for key in part.may_be)
    return tuple(dict.fromkeys((*models, *wider)))


def _filled(first: _Reading, second: _Reading) -> _Reading:
    """The first reading, with what only the second says, if both mean the same model."""
    shared = tuple(model for model in first.models if model in second.models)
    if not shared:
        return first
    return replace(
        first,
        models=shared,
        form=first.form or second.form,
        sizes=first.sizes or tuple(size for size in second.sizes if _fits(shared, size)),
        slice_gb=first.slice_gb or second.slice_gb,
        is_slice=first.is_slice or second.is_slice,
        count=second.count if first.count is None else first.count,
        usual_form=first.usual_form or second.usual_form,
        usual_gb=first.usual_gb or second.usual_gb,
        usual_count=first.usual_count or second.usual_count,
        conflict=first.conflict or second.conflict,
    )


def _with_offer(reading: _Reading, count: Decimal | None, memory_gb: Decimal | None, scope: str | None) -> _Reading:
    """A reading with the offer's own count and memory."""
    told = reading.count if reading.decides and reading.count is not None else count
    if told is None:
        told = reading.count if reading.count is not None else reading.usual_count
    if memory_gb is not None and not (reading.decides and reading.sizes):
        ways = tuple(_ways(memory_gb, told, scope) if told or scope != "total" else _shares(reading.models, memory_gb))
        reading = _with_sizes(reading, ways)
    return replace(reading, count=told)


def _with_sizes(reading: _Reading, ways: tuple[Decimal, ...]) -> _Reading:
    """A reading with what the offer's own memory may be of one accelerator. Where the name prints a size too, they have to agree."""
    parts = [part for model in reading.models for part in catalogue().by_model[model]]
    named = {snapped for size in reading.sizes if (snapped := _snapped(parts, size))}
    told = [snapped for size in ways if (snapped := _snapped(parts, size))]
    if named and told and not reading.is_slice and reading.slice_gb is None:
        agreed = tuple(size for size in told if size in named)
        if agreed:
            return replace(reading, sizes=agreed)
        conflict = f"name says {min(named):.4g} GB, offer says {told[0]:.4g} GB"
        return replace(reading, sizes=(*ways, *reading.sizes), conflict=reading.conflict or conflict)
    return replace(reading, sizes=(*ways, *reading.sizes))


def _shares(models: tuple[str, ...], total_gb: Decimal) -> Iterator[Decimal]:
    """What a total without a count may be of one accelerator: itself, or the one size that it is a multiple of."""
    yield total_gb
    sizes = {part.memory_gb for model in models for part in catalogue().by_model[model] if not part.only_if_printed}
    size = _only({size for size in sizes if size and total_gb % size == 0 and total_gb / size <= _LARGEST_NODE})
    if size:
        yield size


def _ways(memory_gb: Decimal, count: Decimal | None, scope: str | None) -> Iterator[Decimal]:
    """A printed size as the memory of one accelerator: as the scope says first, then the other way."""
    divided = [memory_gb / count] if count and count != 1 else []
    yield from [*divided, memory_gb] if scope == "total" else [memory_gb, *divided]


def _count_conflict(name: _Reading, code: _Reading, count: Decimal | None) -> str | None:
    if count is None or name.count is None or code.decides or name.decides or name.is_slice or name.slice_gb:
        return None
    return (
        f"name says {name.count:f}x, offer says {shortest(count):f}"
        if abs(name.count - count) > Decimal("0.01")
        else None
    )


# --- checking a reading against the catalogue -----------------------------------------------------------------------


def _settled(reading: _Reading) -> Part:
    parts = [part for model in reading.models for part in catalogue().by_model.get(model, ())]
    count = reading.count if reading.count is not None else reading.usual_count
    if not parts:
        return Part("", vendor=reading.vendor, conflict=reading.conflict if reading.names_something else None)
    size, is_slice, conflict = _size(parts, reading, count)
    candidates = [part for part in parts if size is None or part.memory_gb == size]
    models = {part.model for part in candidates}
    if len(models) > 1:
        return Part("", vendor=parts[0].vendor, conflict=f"may be {' or '.join(sorted(models))}")
    model = candidates[0].model
    form, form_conflict = _form(candidates, reading)
    size = size if size or conflict else _only_size(candidates, form, reading.usual_gb)
    form = form or _only({part.form_factor for part in candidates if size is None or part.memory_gb == size})
    conflict = reading.conflict or form_conflict or conflict
    if is_slice and not size:
        conflict = conflict or f"a slice of {is_slice:.4g} GB of a part that comes in more than one size"
    key = None if form_conflict or conflict else catalogue().key_of(model, UNSTATED if form is None else form, size)
    if is_slice and size:
        count = _share(is_slice, size) * (count if count is not None and count >= 1 else 1)
    return Part(
        "",
        vendor=candidates[0].vendor,
        model=model,
        form_factor=form or None,
        memory_gb=size,
        count=shortest(count) if count is not None else None,
        accelerator=key,
        conflict=conflict,
    )


def _size(
    parts: list[Accelerator], reading: _Reading, count: Decimal | None
) -> tuple[Decimal | None, Decimal | None, str | None]:
    """Memory of one accelerator, the memory of the slice where it is one, and what does not fit."""
    wanted = _form_of(parts, reading.form)
    parts = [part for part in parts if part.form_factor == wanted] or parts
    own_slice = reading.slice_gb
    sizes = reading.sizes
    if own_slice is None and reading.is_slice:
        own_slice = next((size for size in sizes if not _snapped(parts, size)), None)
    if own_slice is not None:
        sizes = tuple(size for size in sizes if size != own_slice)
    if not sizes:
        return None, own_slice, None
    known = [snapped for size in sizes if (snapped := _snapped(parts, size))]
    if not known and count and count > 1:
        known = [snapped for size in sizes if (snapped := _snapped(parts, size / count))]
    if not known:
        printed = ", ".join(f"{size:.4g}" for size in sizes)
        return None, own_slice, f"{printed} GB is no size of {parts[0].model}"
    return known[0], own_slice, None


def _snapped(parts: list[Accelerator], size: Decimal) -> Decimal | None:
    """The part's own size that a printed one stands for."""
    best: tuple[Decimal, Decimal] | None = None
    for part in parts:
        for printed in (part.memory_gb, *part.printed_memory_gb):
            if part.memory_gb is None or not printed:
                continue
            distance = abs(size - printed) / printed
            if distance <= _MEMORY_TOLERANCE and (best is None or distance < best[0]):
                best = (distance, part.memory_gb)
    return best[1] if best else None


def _only_size(parts: list[Accelerator], form: str | None, usual_gb: Decimal | None) -> Decimal | None:
    """The memory that a name without a size means: what the provider usually means, or the only size there is."""
    rows = [part for part in parts if form is None or part.form_factor == form]
    if usual_gb is not None and any(part.memory_gb == usual_gb for part in rows):
        return usual_gb
    plain = {part.memory_gb for part in rows if not part.only_if_printed}
    return _only(plain or {part.memory_gb for part in rows})


def _form(parts: list[Accelerator], reading: _Reading) -> tuple[str | None, str | None]:
    """The form factor that is said or the only one there is, and what does not fit."""
    forms = {part.form_factor for part in parts}
    if reading.form and (form := _form_of(parts, reading.form)):
        return form, None
    if reading.form:
        return _only(forms), f"{parts[0].model} has no form {reading.form}"
    if reading.usual_form in forms:
        return reading.usual_form, None
    return _only(forms), None


def _form_of(parts: list[Accelerator], said: str | None) -> str | None:
    """A said form as the catalogue calls it: superchips are said to be NVL or SXM, the NVL card to be PCIe."""
    forms = {part.form_factor for part in parts}
    if said is None or said in forms:
        return said
    if said in {"sxm", "nvl"} and "superchip" in forms:
        return "superchip"
    return "nvl" if said == "pcie" and "nvl" in forms else None


def _share(slice_gb: Decimal, size: Decimal) -> Decimal:
    told = slice_gb * _SLICES / size
    eighths = told.to_integral_value()
    return (eighths if abs(told - eighths) <= _SLICE_TOLERANCE * eighths else told) / _SLICES


def _only(values: AbstractSet[T]) -> T | None:
    return next(iter(values)) if len(values) == 1 else None


def _has_form(models: tuple[str, ...], form: str) -> bool:
    return any(part.form_factor == form for model in models for part in catalogue().by_model[model])


def _fits(models: tuple[str, ...], size: Decimal) -> bool:
    return any(_snapped(list(catalogue().by_model[model]), size) for model in models)


# --- words of the reference rows ------------------------------------------------------------------------------------


@cache
def _phrases() -> _Node:
    """All phrases that name a part, as a tree of words."""
    root = _Node()
    for model in catalogue().by_model:
        for phrase in _own_phrases(model):
            _plant(root, phrase, None, _Meaning((model,)))
    for row in read_rows("spellings"):
        if row["applies_to"] == "words":
            for provider in row["provider"].split("|"):
                _plant(root, tuple(row["spelling"].split()), provider or None, _meaning(row))
    return root


@cache
def _names() -> dict[tuple[str, str], _Meaning]:
    """Whole names that mean a part, by provider (`none`: where no provider is told; empty: anyone's)."""
    return {
        (fold_name(row["spelling"]), provider): _meaning(row)
        for row in read_rows("spellings")
        if row["applies_to"] == "name"
        for provider in row["provider"].split("|")
    }


def _meaning(row: dict[str, str]) -> _Meaning:
    number = {column: Decimal(row[column]) if row[column] else None for column in ("memory_gb", "count")}
    return _Meaning(tuple(row["model"].split("|")), row["form_factor"] or None, number["memory_gb"], number["count"])


def _plant(root: _Node, phrase: tuple[str, ...], provider: str | None, meaning: _Meaning) -> None:
    """Adds a phrase to the tree. What is an RTX PRO is also called PRO."""
    for words in {phrase, phrase[phrase[:2] == ("rtx", "pro") :]}:
        node = root
        for word in words:
            node = node.behind.setdefault(word, _Node())
        node.meaning[provider] = meaning


def _own_phrases(model: str) -> Iterator[tuple[str, ...]]:
    """The ways to write a model's own name: without makers' words, glued, Ti and SUPER in either order."""
    words = fold_name(model).split()
    if words[-1] == "laptop":
        return
    spoken = tuple(word for word in words if word not in _SILENT)
    if len(spoken) == 1 and len(spoken[0]) == 2 and spoken[0] not in {"l4", "t4", "p4"}:
        return  # "A2" is also a family of machines: it needs its maker, and has a row for that
    for phrase in _spellings_of(spoken):
        yield phrase
        if "super" in phrase:
            yield tuple("s" if word == "super" else word for word in phrase)


def _spellings_of(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if words[-2:] == ("ti", "super"):
        yield (*words[:-2], "super", "ti")
    if len(words) == 2 and words[0] in {"gaudi", "tpu"}:
        yield ("".join(words),)
    if len(words) == 1 and (match := re.fullmatch(r"(trainium|inferentia|mi)(\d+[ax]?)", words[0])):
        yield (match[1], match[2])
    if words[0] == "quadro" and words[1] != "rtx":
        yield words[1:]
    if words[0] == "rtx" and re.fullmatch(r"a\d+", words[1]):
        yield words[1:]
    if words[0] == "rtx" and re.fullmatch(r"[345]0[5-9]0", words[1]):
        yield words[1:]
    if words[0] == "gtx" and len(words) > 2 and words[1].isdigit():
        yield words[1:]
    if words[0] in {"pro", "ai"} and len(words) > 1 and re.fullmatch(r"[vw]\d+", words[-1]):
        yield words[1:]


@cache
def _segment() -> Callable[[str], tuple[Item, ...]]:
    vocabulary = set(_SILENT) | set(_FORMS) | _SXM_SYSTEMS | _LAPTOP | _OTHER_WORDS | (_VARIANTS - {"s", "d"}) | {"ada"}
    open_nodes = [_phrases()]
    while open_nodes:
        node = open_nodes.pop()
        vocabulary.update(node.behind)
        open_nodes.extend(node.behind.values())
    return segmenter(vocabulary, _APART)
