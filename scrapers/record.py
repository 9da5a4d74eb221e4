"""Makes a fixture of a live answer: a few records of each list, nothing that names a person or a machine, and the offers it parses to."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Comment

from scrapers.archive import STAMP
from scrapers.collect import EXPECTED
from scrapers.source import Adapter, Page, PageError

RECORDS = 12
MAX_FIXTURE_BYTES = 50_000
# Addresses that documentation is free to print (RFC 5737 and RFC 2606).
_ANY_ADDRESS, _ANY_MAIL = "192.0.2.1", "someone@example.com"
_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
_DROPPED = (
    "svg, style, link, noscript, iframe, img, video, picture, script:not([type*='json']):not(:-soup-contains('price'))"
)


class RecordError(ValueError):
    """The answer makes no fixture; the message says why."""


def record(adapter: Adapter, pages: Sequence[Page], observed_at: datetime, fixtures: Path) -> Path:
    """Write the fixture of one collection; returns its folder. Raises PageError when the answer does not parse, RecordError."""
    whole = adapter.parse(pages).offers
    if not whole:
        raise RecordError(f"{adapter.name}: the answer lists no offer, so it makes no fixture")
    kept = [_trimmed(page) for page in pages]
    offers = _offers_of(adapter, kept)
    if not offers or not set(offers) <= set(whole):
        kept = [Page(page.url, _anonymous(page.text).encode(), page.name) for page in pages]
        offers = adapter.parse(kept).offers
    folder = fixtures / adapter.name / observed_at.astimezone(UTC).strftime(STAMP)
    folder.mkdir(parents=True, exist_ok=True)
    for page in kept:
        (folder / page.name).write_bytes(page.body)
    lines = ",\n".join(
        f" {json.dumps(offer.model_dump(mode='json', exclude_defaults=True), ensure_ascii=False)}" for offer in offers
    )
    (folder / EXPECTED).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return folder


def _offers_of(adapter: Adapter, pages: Sequence[Page]) -> list[Any]:
    try:
        return list(adapter.parse(pages).offers)
    except PageError:
        return []


def _trimmed(page: Page) -> Page:
    try:
        found = json.loads(page.text)
    except ValueError:
        return Page(page.url, _anonymous(_bare(page.soup)).encode(), page.name)
    return Page(page.url, _anonymous(json.dumps(_few(found), indent=1, ensure_ascii=False)).encode(), page.name)


def _few(value: Any) -> Any:
    """JSON with long lists and long objects of objects cut to a few members, spread over their length."""
    if isinstance(value, list):
        return [_few(item) for item in _spread(value)]
    if isinstance(value, dict):
        members = list(value.items())
        if len(members) > 3 * RECORDS and all(isinstance(item, dict) for item in value.values()):
            members = _spread(members)
        return {key: _few(item) for key, item in members}
    return value


def _spread(items: list[Any]) -> list[Any]:
    if len(items) <= RECORDS:
        return items
    return [items[place * len(items) // RECORDS] for place in range(RECORDS)]


def _bare(soup: BeautifulSoup) -> str:
    """A page without what no price is read from."""
    for node in soup.select(_DROPPED):
        node.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return str(soup)


def _anonymous(text: str) -> str:
    return _MAIL.sub(_ANY_MAIL, _ADDRESS.sub(_ANY_ADDRESS, text))
