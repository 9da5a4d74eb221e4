"""Whether this machine's clock can be right, going by the hosts' own.

A price belongs to the day on which it was seen; with a wrong clock it would stand on another, and stay there. Years are told by TLS, whose
certificates are then not valid; days are told by the ``Date`` of the answers.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

MOST_APART = timedelta(hours=24)


def host_time(headers: Mapping[str, str]) -> datetime | None:
    """The time by an answer's ``Date``, and ``Age`` where a cache kept it; None where it tells none."""
    age = headers.get("age", "0").strip()
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
        told = told if told.tzinfo else told.replace(tzinfo=UTC)
        return told + timedelta(seconds=int(age) if age.isascii() and age.isdecimal() and len(age) < 10 else 0)
    except (ValueError, OverflowError):
        return None
