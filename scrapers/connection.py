"""What a connection may reach, and how long it may take as a whole.

httpx limits each wait for data, not their sum, and it resolves names itself, out of sight. Its ``trace`` hook shows the
socket as soon as it is connected: there the address is checked (a look-up beforehand could be answered differently),
and there a timer can cut it, whichever part of the answer trickles.
"""

import contextlib
import ipaddress
import re
import socket
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self


class PrivateAddressError(RuntimeError):
    """A name led to an address that is not on the public internet."""


# The last label has a letter: a number there is another way to write an IPv4 address.
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*(?!0x[0-9a-f]*\.?$)(?=[0-9_-]*[a-z])[a-z0-9_-]{1,63}\.?")


def why_not(scheme: str, host: str, port: int | None, *, allow_loopback: bool) -> str | None:
    """Why a URL must not be asked, going by what it says; None when it may. Only loopback may do without TLS."""
    if not (_address(host) or (len(host) < 254 and _NAME.fullmatch(host.lower()))) or not 0 < (port or 443) < 65536:
        return "it names no host"
    is_loopback = _is_loopback(host)
    if is_loopback and allow_loopback:
        return None if scheme in {"http", "https"} else f"it is {scheme}, not https"
    if scheme != "https":
        return f"it is {scheme or 'no full URL'}, not https"
    return f"{host} is a private address" if is_loopback or _is_private(host) else None


def _is_loopback(host: str) -> bool:
    name = host.lower().rstrip(".")
    address = _address(name)
    return address.is_loopback if address else name == "localhost" or name.endswith(".localhost")


def _is_private(host: str) -> bool:
    address = _address(host)
    return address is not None and (not address.is_global or address.is_multicast)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class Watch:
    """Cuts one exchange with a host after so many seconds, and refuses a private address before anything is sent to it.

    A proxy from the environment may well be at a private address; it is then the proxy that resolves names.
    """

    def __init__(self, host: str, seconds: float, *, allow_loopback: bool) -> None:
        self._host = host
        self._allow_loopback = allow_loopback
        self._is_direct = True
        self._stream: Any = None
        self._expired = threading.Event()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.cancel()

    @property
    def expired(self) -> bool:
        """Whether the time ran out."""
        return self._expired.is_set()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Follow httpx's trace events. Raises PrivateAddressError, TimeoutError when time is up, OSError."""
        if event == "connection.connect_tcp.started":
            self._is_direct = info["host"] == self._host
        elif event == "connection.connect_tcp.complete":
            self._connected(info["return_value"])
            self._check_address()
        elif event.endswith(".start_tls.complete"):
            self._connected(info["return_value"])

    def _connected(self, stream: Any) -> None:
        self._stream = stream
        if self.expired:
            stream.close()
            raise TimeoutError

    def _check_address(self) -> None:
        address = self._stream.get_extra_info("server_addr")[0]
        if self._is_direct and _is_private(address) and not (self._allow_loopback and _is_loopback(address)):
            self._stream.close()
            raise PrivateAddressError(address)

    def _cut(self) -> None:
        self._expired.set()
        if self._stream is not None:
            # The plain shutdown wakes the thread that is reading; SSLSocket's own would take its TLS state away.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)
