"""Offers, turned into meaning: names, units, currency, daily prices, training costs.

``from warehouse import connect`` opens the published copy for reading, from Python.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.database import connect_published as connect

__all__ = ["connect"]


def __getattr__(name: str) -> Any:
    """``connect``, imported when it is asked for: most modules of this package need no database."""
    if name == "connect":
        from warehouse.database import connect_published

        return connect_published
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
