"""Pages damaged in every way that a provider may damage them; what is still read of one has to be what the whole page says."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scrapers.offer import Offer
from scrapers.source import Page, PageError, load

Change = Callable[[dict[str, Any], str], None]


def priced(offers: Sequence[Offer]) -> set[tuple[object, ...]]:
    """What a price is made of."""
    return {
        (one.sku, one.price, one.currency, one.per, one.price_scope, one.pricing_model, one.commitment_days, one.accelerator_count)
        for one in offers
    }  # fmt: skip


def refuse_other_prices(name: str, pages: Sequence[Page], damage: Callable[[Page], Iterator[bytes]]) -> None:
    """Fails when the source reads prices of a damaged page that the whole pages do not hold."""
    truth = priced(load(name).parse(pages).offers)
    for place, page in enumerate(pages):
        for body in damage(page):
            damaged = Page(page.url, body, page.name)
            try:
                offers = load(name).parse([*pages[:place], damaged, *pages[place + 1 :]]).offers
            except PageError:
                continue
            assert priced(offers) <= truth, body


def cut_pages(page: Page) -> Iterator[bytes]:
    """The page, ended in some 150 places."""
    for end in range(1, len(page.body), max(1, len(page.body) // 150)):
        yield page.body[:end]


def changed_pages(page: Page, change: Change) -> Iterator[bytes]:
    """The page of JSON with the change done to every object that has a field, one field after another.

    Region and size names are keys in some lists; renamed, they are other names, not other fields.
    """
    whole = json.loads(page.text)
    for key in sorted({key for key in _keys(whole) if not any(mark in key for mark in (" ", "_x", "-"))}):
        yield json.dumps(_changed(whole, key, change)).encode()


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _changed(value: Any, key: str, change: Change) -> Any:
    if isinstance(value, dict):
        inner = {name: _changed(one, key, change) for name, one in value.items()}
        if key in inner:
            change(inner, key)
        return inner
    return [_changed(one, key, change) for one in value] if isinstance(value, list) else value


def rename(inner: dict[str, Any], key: str) -> None:
    inner[f"{key}New"] = inner.pop(key)


def drop(inner: dict[str, Any], key: str) -> None:
    del inner[key]


def nothing(inner: dict[str, Any], key: str) -> None:
    inner[key] = None


def swap(inner: dict[str, Any], key: str) -> None:
    inner[key] = [inner[key]] if isinstance(inner[key], dict | list) else {"value": inner[key]}


def negative(inner: dict[str, Any], key: str) -> None:
    if isinstance(inner[key], int | float) and not isinstance(inner[key], bool):
        inner[key] = -inner[key] - 1


CHANGES: Sequence[Change] = (rename, drop, nothing, swap, negative)
