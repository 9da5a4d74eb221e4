"""Whether an answer stops where a page ends: exactly as many records as a page holds, and no word of how many there are.

Vast answers 64 offers, whatever limit is sent, and says nothing of the rest. Such a list may be whole; it is marked, not refused.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from scrapers.source import Page, PageError

MAYBE_TRUNCATED = "maybe truncated"
# Sizes that interfaces stop at by themselves.
PAGE_SIZES = frozenset({10, 20, 25, 30, 40, 50, 60, 64, 75, 100, 128, 150, 200, 250, 256, 300, 400, 500, 512})
# Words by which an answer tells that there is more, or how much there is.
TELLS = re.compile(
    r"[Tt]otal|^counts?$|_count|Count|[Nn]ext|[Mm]ore$|[Cc]ursor|[Tt]oken|[Pp]ag(e|es|ing|ination)$|^links?$|^meta$"
)
DEPTH = 3


def maybe_truncated(pages: Sequence[Page]) -> str:
    """A remark on the last page where it stops like one of several; empty where it does not, or is not JSON."""
    sizes = [_longest(page) for page in pages]
    last = sizes[-1] if sizes else 0
    if not _is_page_size(last) or last < max(sizes):
        return ""
    return f"{MAYBE_TRUNCATED}: exactly {last} records, and no word of how many there are"


def _is_page_size(count: int) -> bool:
    return count in PAGE_SIZES or (count > 0 and (count % 500 == 0 or count % 1024 == 0))


def _longest(page: Page) -> int:
    """Records in the longest list of a page; 0 where the page tells of others, or is not JSON."""
    if page.body.lstrip()[:1] not in {b"{", b"["}:
        return 0
    try:
        lists = list(_lists(page.json, DEPTH))
    except PageError:
        return 0
    return max(lists, default=0)


def _lists(value: Any, depth: int) -> Iterator[int]:
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value):
            yield len(value)
    elif isinstance(value, dict) and depth and not any(TELLS.search(key) for key in value):
        for inner in value.values():
            yield from _lists(inner, depth - 1)
