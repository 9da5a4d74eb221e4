"""The body of an HTTP answer: read up to a size, unpacked with care, and told apart from a bot challenge."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping

START_BYTES = 64 * 1024
"""As much of a body as is looked at to see what it is."""

_PIECE_BYTES = 1024 * 1024
_TITLE = re.compile(rb"<title[^>]*>\s*([^<]{1,200})", re.IGNORECASE)
_CHALLENGE_TITLES = (
    b"just a moment",
    b"attention required! | cloudflare",
    b"vercel security checkpoint",
    b"pardon our interruption",
    b"ddos-guard",
    b"checking your browser",
    b"human verification",
    b"are you a robot",
    b"access denied",
)
# These stand in challenge pages only, whatever the language of their title.
_CHALLENGE_MARKS = (b"_cf_chl_opt", b"Incapsula incident ID")
_CHALLENGE_HEADERS = ("cf-mitigated", "x-amzn-waf-action", "x-vercel-mitigated")


class TooLargeError(ValueError):
    """A body with more bytes than the limit, packed or unpacked."""


class BrokenBodyError(ValueError):
    """A body that ends early or does not unpack."""


def whole(chunks: Iterable[bytes], encoding: str, limit_bytes: int) -> bytes:
    """The unpacked body. Raises TooLargeError as soon as it passes the limit, and BrokenBodyError."""
    body = bytearray()
    for piece in _unpacked(_capped(chunks, limit_bytes), encoding):
        body += piece
        if len(body) > limit_bytes:
            raise TooLargeError
    return bytes(body)


def start(chunks: Iterable[bytes], encoding: str) -> bytes:
    """The first START_BYTES of the unpacked body, or what of them can be read."""
    body = bytearray()
    try:
        for piece in _unpacked(chunks, encoding):
            body += piece
            if len(body) >= START_BYTES:
                break
    except BrokenBodyError:
        pass  # what could be read of an error page is enough
    return bytes(body[:START_BYTES])


def is_challenge(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an answer is a bot challenge in the place of the page."""
    if any(headers.get(name, "").lower() in {"challenge", "captcha"} for name in _CHALLENGE_HEADERS):
        return True
    head = body[:START_BYTES]
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return False
    title = _TITLE.search(head)
    if title is not None and title.group(1).lower().startswith(_CHALLENGE_TITLES):
        return True
    return any(mark in head for mark in _CHALLENGE_MARKS)


def _capped(chunks: Iterable[bytes], limit_bytes: int) -> Iterator[bytes]:
    """The chunks as they come. Counting the packed ones too stops a stream that unpacks to nothing and never ends."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit_bytes:
            raise TooLargeError
        yield chunk


def _unpacked(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return iter(chunks)
    if name in {"gzip", "x-gzip"}:
        return _gunzipped(chunks)
    raise BrokenBodyError(f"it is packed as {name!r}, which was not asked for")


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of at most 1 MiB, so that one small chunk can't fill the memory before it is counted."""
    inflate = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        rest = chunk
        while rest:
            if inflate.eof:  # another gzip member follows
                inflate = zlib.decompressobj(wbits=31)
            try:
                yield inflate.decompress(rest, _PIECE_BYTES)
            except zlib.error as error:
                raise BrokenBodyError(f"it does not unpack: {error}") from None
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
    yield inflate.flush()
    if not inflate.eof:
        raise BrokenBodyError("its gzip data ends early")
