"""A name as printed, cut into words, memory sizes and counts. Nothing here knows a part; `names.py` does.

Spelling is folded first: case, Unicode forms (`×`, `™`, no-break spaces), separators (`_`, `-`, `.`). A glued word is cut only
if known words cover the whole of it (`geforcertx4090`, `8xh100`, `a100x8`), so that no part is found inside another's name:
`A1000` is not an `A100` with something behind it, it is an unknown word.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["word", "memory", "slice", "count", "host", "mark"]

_MARKS = {**dict.fromkeys(map(ord, "™®©℠"), " "), **dict.fromkeys(map(ord, "×✕✖⨯"), "x"), ord("⁄"): "/", ord("–"): "-"}
_PIECES = re.compile(r"\d+g\.\d+gb|\d+\.\d+[a-z]*|[a-z0-9]+|[/*()]")
# "PCIe Gen4 x16" tells the bus, and its x16 is no count.
_BUS = re.compile(r"\b(pci-?e?|pci express)[ -]*(?:gen *\d(?:\.\d)?|\d\.0)(?:[ -]*x\d+)?(?![\w.])")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)(gb|gib|gi|g|mb|mib|tb|tib)")
_UNITS = {"gb": Decimal(1), "gib": Decimal(1), "gi": Decimal(1), "g": Decimal(1), "mb": Decimal(1) / 1024,
          "mib": Decimal(1) / 1024, "tb": Decimal(1024), "tib": Decimal(1024)}  # fmt: skip
# A MIG profile (`1g.10gb`), or one of a vGPU: `A40-8Q` is 8 GB of an A40, `A100-1-5C` 5 GB of an A100.
_SLICE = re.compile(r"\d+g\.(\d+)gb|(\d+)q")
_MIG_BACKED = re.compile(r"(?<=[a-z0-9])-\d-(\d+)c(?![a-z0-9])")
# "8x80GB": as many accelerators, each of that size.
_EACH_OF_SIZE = re.compile(r"(?<![\w.])(\d{1,2})x(?=\d+ ?[gt]i?b?(?![a-z]))")
_HOST = re.compile(r"\d+x?(v|c|t|w|vcpus?|cpus?|v?cores?|threads?|ocpus?|gbps|gbit|gbits|mhz|ghz|nm)")
_HOST_UNITS = {"vcpu", "vcpus", "cpu", "cpus", "core", "cores", "vcores", "threads", "ocpu", "ocpus", "gbps"}
_RAM_BEHIND = [
    [word]
    for word in (
        "ram",
        "ddr4",
        "ddr5",
        "lpddr5",
        "lpddr5x",
        "nvme",
        "ssd",
        "storage",
        "disk",
        "hdd",
        "system",
        "infiniband",
        "ib",
        "ethernet",
        "roce",
    )
]
_RAM_BEFORE = [[word] for word in ("ram", "disk", "storage", "nvme", "ssd")]
# What a host has several of: a count beside them is theirs.
_HOST_PARTS = {
    "xeon",
    "epyc",
    "ryzen",
    "threadripper",
    "cpu",
    "cpus",
    "nic",
    "nics",
    "ssd",
    "nvme",
    "hdd",
    "port",
    "ports",
}
_CPU_MAKERS = {"intel", "amd"}
# A number apart from its sign counts accelerators up to here; above, it is a model: "4090 x 2", "HL 205 x 8".
_MOST_APART = 72
_COUNT = re.compile(r"x([1-9]\d{0,3})|([1-9]\d{0,3}(?:\.\d+)?|0\.\d*[1-9])(?:x|gpus?)")
# SkyPilot's names for what it puts together itself: Cudo's `128x8v64gb` (something, accelerators, cores, host memory), and
# Yotta's `8x240v920g` (accelerators, cores, host memory).
_BUNDLE = re.compile(r"\d+x(\d+)v\d+gb|(\d+)x\d+v\d+g")
_FRONT_COUNT = re.compile(r"([1-9]\d?)x(?=\d{4})|([1-9]\d{0,2})x?(?=[a-z])")
_BACK_COUNT = re.compile(r"x([1-9]\d{0,2})$")
_X_SHARED = re.compile(r"x?([1-9]\d{0,2})$")
_NUMBER_PIECE = re.compile(r"([1-9]\d*)(gb|gib|mb|mib|tb|tib|g(?=x\d|[^a-z]|$)|vcpus?|vram)")
_SUFFIX = re.compile(r"[sd]")


@dataclass(frozen=True)
class Item:
    """A piece of a name. `value` is gigabytes for memory and slices, accelerators for counts."""

    kind: Kind
    text: str
    value: Decimal = Decimal(0)


_WHOLE: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Item]], ...] = (
    (_SLICE, lambda told: Item("slice", told[0], Decimal(told[1] or told[2]))),
    (_MEMORY, lambda told: Item("memory", told[0], Decimal(told[1]) * _UNITS[told[2]])),
    (_HOST, lambda told: Item("host", told[0])),
    (_COUNT, lambda told: Item("count", told[0], Decimal(told[1] or told[2]))),
    (_BUNDLE, lambda told: Item("count", told[0], Decimal(told[1] or told[2]))),
)


def fold(raw: str) -> str:
    """One spelling for every way to write a name: lower case, plain ASCII signs, single spaces."""
    text = unicodedata.normalize("NFKC", raw.translate(_MARKS)).translate(_MARKS).casefold()
    return " ".join(text.split())


def fold_name(raw: str) -> str:
    """A whole name for looking up: as `fold`, with every separator a space."""
    return " ".join(re.split(r"[\s_\-.,:;()\[\]]+", fold(raw))).strip()


def items(raw: str, segment: Callable[[str], tuple[Item, ...]]) -> list[Item]:
    """The pieces of a name in their order, host memory and cores left out."""
    text = _MIG_BACKED.sub(r" \1q", _BUS.sub(r"\1 ", fold(raw).replace("_", " ")))
    text = _EACH_OF_SIZE.sub(r"\1x ", text)
    cut = [item for token in _PIECES.findall(text) for item in segment(token)]
    return list(_without_host(list(_with_counts(list(_with_units(cut))))))


def segmenter(vocabulary: Collection[str], apart: Collection[str]) -> Callable[[str], tuple[Item, ...]]:
    """A function that cuts one token into known pieces; a token that they do not cover stays whole.

    Words that stand only `apart` (the `gb` of "GB 200") are no pieces of glued ones.
    """
    longest = sorted((word for word in vocabulary if len(word) > 1 and word not in apart), key=len, reverse=True)
    starts: dict[str, list[str]] = {}
    for word in longest:
        starts.setdefault(word[0], []).append(word)
    seen: dict[str, tuple[Item, ...]] = {}

    def segment(token: str) -> tuple[Item, ...]:
        if token not in seen:
            if len(seen) > 50_000:
                seen.clear()
            seen[token] = _whole(token, vocabulary) or _glued(token, starts, vocabulary) or (Item("word", token),)
        return seen[token]

    return segment


def _whole(piece: str, vocabulary: Collection[str]) -> tuple[Item, ...] | None:
    """A piece that is one item by itself."""
    if piece in "/*()":
        return (Item("mark", piece),)
    if piece in vocabulary:
        return (Item("word", piece),)
    return next(((read(match),) for pattern, read in _WHOLE if (match := pattern.fullmatch(piece))), None)


def _glued(token: str, starts: dict[str, list[str]], vocabulary: Collection[str]) -> tuple[Item, ...] | None:
    """Pieces that cover all of a glued token, the longest known words first; None if they do not."""
    if len(token) > 60:
        return None
    failed: set[tuple[int, str]] = set()

    def cover(at: int, before: str) -> tuple[Item, ...] | None:
        if at == len(token):
            return ()
        if (at, before) in failed:
            return None
        for item, end in _next_pieces(token, at, before, starts, vocabulary):
            if item.kind == "word" and not _may_follow(before, item.text):
                continue
            rest = cover(end, item.text if item.kind == "word" else "")
            if rest is not None:
                return (item, *rest)
        failed.add((at, before))
        return None

    return cover(0, "")


def _may_follow(before: str, word: str) -> bool:
    """A bare number is glued to letters only: `rtx4090`, `4070super`; but `l40g50` is no L40G, and `1050a10` no A10."""
    if word.isdigit():
        return not before or (before.isalpha() and len(before) > 1)
    return not before.isdigit() or word.isalpha()


def _next_pieces(
    token: str, at: int, before: str, starts: dict[str, list[str]], vocabulary: Collection[str]
) -> Iterator[tuple[Item, int]]:
    """The pieces that a glued token can go on with, and where each ends."""
    after_digit = at > 0 and token[at - 1].isdigit()
    if not (after_digit and token[at].isdigit()):
        for word in starts.get(token[at], ()):
            if token.startswith(word, at):
                yield Item("word", word), at + len(word)
        if match := _NUMBER_PIECE.match(token, at):
            unit = _UNITS.get(match[2])
            yield Item("memory" if unit else "host", match[0], Decimal(match[1]) * (unit or 0)), match.end()
    if at == 0 and (match := _FRONT_COUNT.match(token)):
        yield Item("count", match[0], Decimal(match[1] or match[2])), match.end()
    # `mi300x8` is eight MI300X: one x ends the model and begins the count, as no model is called `mi300`.
    back = _X_SHARED if before.endswith("x") and before[:-1] not in vocabulary else _BACK_COUNT
    if at > 0 and (match := back.match(token, at)):
        yield Item("count", match[0], Decimal(match[1])), match.end()
    if after_digit and (match := _SUFFIX.match(token, at)):
        yield Item("word", match[0]), match.end()


def _with_units(cut: list[Item]) -> Iterator[Item]:
    """Joins a number with the unit that stands apart from it: `16 GB`, `8 vCPU`."""
    skip = False
    for item, behind in zip(cut, (*cut[1:], None), strict=False):
        if skip:
            skip = False
        elif behind and _is_number(item) and behind.text in _UNITS and behind.text != "g":
            yield Item("memory", item.text + behind.text, Decimal(item.text) * _UNITS[behind.text])
            skip = True
        elif behind and _is_number(item) and behind.text in _HOST_UNITS:
            yield Item("host", item.text + behind.text)
            skip = True
        else:
            yield item


def _is_number(item: Item) -> bool:
    return item.kind == "word" and re.fullmatch(r"\d+(\.\d+)?", item.text) is not None


def _with_counts(cut: list[Item]) -> Iterator[Item]:
    """Reads counts whose number and sign stand apart: `8 x`, `x 8`, `*8`, `(8)`, `8 GPUs`, `1/8`."""
    at = 0
    while at < len(cut):
        count, taken = _count_at(cut[at : at + 5])
        if taken:
            yield Item("count", " ".join(item.text for item in cut[at : at + taken]), count)
            at += taken
        else:
            yield cut[at]
            at += 1


def _count_at(window: list[Item]) -> tuple[Decimal, int]:
    """The count that a window of items begins with, and how many items tell it (0: none)."""
    texts = [item.text for item in window] + [""] * 6
    if texts[0] == "(" and re.fullmatch(r"[1-9]\d?", texts[1]) and texts[2] == ")":
        return Decimal(texts[1]), 3
    times = texts[0] in {"x", "*"}
    number, taken = _number_at(texts[1:] if times else texts)
    if not taken or not 0 < number <= _MOST_APART:
        return Decimal(0), 0
    behind = texts[taken + times]
    if times or taken == 3 or behind in {"gpu", "gpus"}:
        return number, taken + times + (behind in {"gpu", "gpus"})
    return (number, taken + 1) if behind in {"x", "*"} else (Decimal(0), 0)


def _number_at(texts: list[str]) -> tuple[Decimal, int]:
    """A number or a proper fraction, and how many items it takes."""
    if not re.fullmatch(r"\d{1,4}(\.\d+)?", texts[0]):
        return Decimal(0), 0
    if texts[1] == "/" and re.fullmatch(r"\d{1,2}", texts[2]) and Decimal(texts[0]) < Decimal(texts[2]):
        return Decimal(texts[0]) / Decimal(texts[2]), 3
    return Decimal(texts[0]), 1


def _without_host(cut: list[Item]) -> Iterator[Item]:
    """Drops cores, host memory (a size beside `RAM`, `NVMe` …, or right behind the cores), sizes per second, and how many of those there are."""
    for at, item in enumerate(cut):
        is_of_host = (item.kind == "memory" and _is_not_gpu_memory(cut, at)) or (
            item.kind == "count" and _counts_host(cut, at)
        )
        if item.kind != "host" and not is_of_host:
            yield item


def _counts_host(cut: list[Item], at: int) -> bool:
    """`2x Intel Xeon`, `2x 960GB NVMe`, `EPYC x2`: a count of what is no accelerator."""
    behind = cut[at + 1 : at + 3]
    if behind and behind[0].text in _CPU_MAKERS:
        behind = behind[1:]
    if behind and behind[0].kind == "memory":
        return _is_not_gpu_memory(cut, cut.index(behind[0], at))
    return (bool(behind) and behind[0].text in _HOST_PARTS) or (at > 0 and cut[at - 1].text in _HOST_PARTS)


def _is_not_gpu_memory(cut: list[Item], at: int) -> bool:
    before = [item.text for item in cut[max(at - 2, 0) : at]]
    behind = [item.text for item in cut[at + 1 : at + 3]]
    return (
        (at > 0 and cut[at - 1].kind == "host")
        or behind[:1] in _RAM_BEHIND
        or (before[-1:] in _RAM_BEFORE and before != ["gpu", "ram"])
        or behind in (["/", "s"], ["/", "sec"])
    )
