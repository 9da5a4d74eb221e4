"""Why a page could not be had, as an error with a kind, one line for a person, and no key in it."""

import http
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from scrapers.answer import is_challenge
from scrapers.politeness import MAX_RETRY_AFTER_SECONDS, retry_after_seconds

FetchErrorKind = Literal[
    "unreachable",
    "timeout",
    "status",
    "cut",
    "blocked",
    "robots",
    "too_large",
    "redirect",
    "rate_limited",
    "no_key",
    "clock",
]

_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_SAMPLE_BYTES = 2048


class FetchError(RuntimeError):
    """A page that could not be had; the message is one line that names the source and what to do."""

    def __init__(
        self,
        message: str,
        *,
        kind: FetchErrorKind = "unreachable",
        is_transient: bool = False,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        sample: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_transient = is_transient
        """Whether asking again soon can help; by then, the client has done so."""
        self.status = status
        """HTTP status, when there was an answer."""
        self.retry_after_seconds = retry_after_seconds
        """How long the host asks to be left alone."""
        self.sample = sample
        """The first bytes of an answer that was refused."""


class MissingKeyError(FetchError):
    """The environment variable that should hold a key does not; the source is skipped."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="no_key")


def blocked(host: str, status: int, body: bytes) -> FetchError:
    """A bot check in the place of the page."""
    text = f"{host} answered {status} with a bot check in place of the page, which is not got round"
    return FetchError(text, kind="blocked", status=status, sample=body[:_SAMPLE_BYTES])


def refused(host: str, status: int, headers: Mapping[str, str], body: bytes, key_names: Sequence[str]) -> FetchError:
    """Any answer but 200; ``key_names`` are the environment variables whose keys were sent."""
    if is_challenge(headers, body):
        return blocked(host, status, body)
    text = f"{host} answered {status} ({_phrase(status)})"
    sample = body[:_SAMPLE_BYTES]
    if status not in _TRANSIENT:
        return FetchError(text + _advice(status, key_names), kind="status", status=status, sample=sample)
    wait = retry_after_seconds(headers.get("retry-after"), datetime.now(UTC))
    is_too_long = wait is not None and wait > MAX_RETRY_AFTER_SECONDS
    if is_too_long:
        text += (
            f" and asks to wait {wait:.0f} s, where a run waits {MAX_RETRY_AFTER_SECONDS:.0f} s at most; run it later"
        )
    return FetchError(
        text,
        kind="rate_limited" if status == 429 or is_too_long else "status",
        is_transient=not is_too_long,
        status=status,
        retry_after_seconds=wait,
        sample=sample,
    )


def _advice(status: int, key_names: Sequence[str]) -> str:
    if status in {401, 403} and key_names:
        return f"; check the key in {' and '.join(dict.fromkeys(key_names))}"
    return "; the page has moved or is gone" if status in {404, 410} else ""


def _phrase(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "no standard status"
