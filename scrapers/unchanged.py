"""Conditional requests: what a host gave to know an answer by, and the body that still holds when it says that nothing has changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

MOST_CHARACTERS = 500
"""A longer validator is not kept: no server needs one."""

LONGEST = timedelta(days=7)
"""An answer that came in full longer ago is asked for in full again: a host may say "unchanged" by mistake, for ever."""


@dataclass(frozen=True)
class Validators:
    """What a host gave with an answer, to be asked later whether it still holds."""

    etag: str = ""
    last_modified: str = ""
    received_at: datetime | None = None
    """When the body came in full, UTC."""

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)

    @property
    def request_headers(self) -> dict[str, str]:
        """What asks for the answer only if it has changed; as RFC 9110 has it, the tag goes before the date."""
        told = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in told.items() if value}

    def holds(self, now: datetime) -> bool:
        """Whether to ask by them: they are not too old, nor from a clock that was ahead."""
        return bool(self) and self.received_at is not None and timedelta() <= now - self.received_at <= LONGEST


NO_VALIDATORS = Validators()


def validators_of(headers: Mapping[str, str], clean: Callable[[str], str], received_at: datetime) -> Validators:
    """The validators of an answer; ``clean`` takes keys out, and what it changes, or what is no plain short text, is no validator."""

    def told(name: str) -> str:
        value = headers.get(name, "").strip()
        is_plain = value.isascii() and value.isprintable() and len(value) <= MOST_CHARACTERS
        return value if is_plain and clean(value) == value else ""

    return Validators(told("etag"), told("last-modified"), received_at)


@dataclass(frozen=True)
class KnownPage:
    """An answer of the last collection."""

    validators: Validators
    read: Callable[[], bytes]
    """Its body from the archive; raises RuntimeError where that is damaged or gone."""
