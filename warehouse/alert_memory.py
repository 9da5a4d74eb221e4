"""Which events were told by which way, in ``alerts.json`` of the data folder: each is told once, for as long as it lasts."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from warehouse import database
from warehouse.alert_events import Event
from warehouse.database import WarehouseError


class _Lasting(BaseModel):
    model_config = ConfigDict(extra="forbid")

    since: str
    text: str
    told: list[str]
    """By which ways."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    events: dict[str, _Lasting] = {}


class Memory:
    """What was told. Events that are over are forgotten, and told again should they come back."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Remember what lasts of the events, which are all that are so now. Raises WarehouseError for a file that is not its own."""
        self._path = database.data_dir() / "alerts.json"
        remembered = self._read().events
        now = database.now().isoformat()
        self._file = _File(
            events={
                event.key: remembered.get(event.key) or _Lasting(since=now, text=event.text, told=[])
                for event in events
            }
        )

    def untold(self, events: Sequence[Event], channel: str) -> list[Event]:
        """The events that were not told this way yet."""
        return [event for event in events if channel not in self._file.events[event.key].told]

    def tell(self, events: Sequence[Event], channel: str) -> None:
        """Remember that they were told this way."""
        for event in events:
            self._file.events[event.key].told.append(channel)

    def save(self) -> None:
        """Keep it for the next build. Raises WarehouseError."""
        try:
            fresh = self._path.with_suffix(".new")
            fresh.write_text(self._file.model_dump_json(indent=1), encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            raise WarehouseError(f"cannot write {self._path}: {error.strerror}; alerts will be told again") from None

    def _read(self) -> _File:
        try:
            return _File.model_validate_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _File()
        except (OSError, ValidationError, UnicodeDecodeError):
            raise WarehouseError(
                f"{self._path} does not read; move it away, and what lasts is told once more"
            ) from None
