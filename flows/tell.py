"""Tells the events of ``alerts.toml``, each once by each way: on stdout, into a file, to a webhook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flows.output import say, tell
from scrapers.failures import FetchError
from warehouse import database
from warehouse.alerts import Alerts, AlertsError, Webhook
from warehouse.database import WarehouseError

if TYPE_CHECKING:
    from warehouse.alert_events import Event
    from warehouse.alert_memory import Memory

# A webhook that takes longer than this is down; the next build tells it.
WEBHOOK_SECONDS = 20.0


def tell_alerts() -> bool:
    """Tell what is so now and was not told yet. What goes wrong is said, a line each, and makes the answer False; never raises for it."""
    from warehouse import alert_events, alerts
    from warehouse.alert_memory import Memory

    try:
        path = alerts.file()
        if path is None:
            return True
        wanted = alerts.read(path)
        with database.writer_lock(wait_seconds=60):
            with database.connect_published() as connection:
                events = alert_events.events(connection, path, wanted)
            memory = Memory(events)
            problems = [
                problem for channel in wanted.deliver.channels if (problem := _by(channel, wanted, events, memory))
            ]
            memory.save()
    except (AlertsError, WarehouseError) as error:
        problems = [str(error)]
    for problem in problems:
        say(f"alerts: {problem}")
    return not problems


def _by(channel: str, wanted: Alerts, events: "Sequence[Event]", memory: "Memory") -> str:
    """Tell by one way; returns what went wrong, so that the next build tells it again."""
    untold = memory.untold(events, channel)
    if not untold:
        return ""
    try:
        if channel == "stdout":
            for event in untold:
                tell(f"alert: {event.text}")
        elif channel == "file" and wanted.deliver.file is not None:
            with wanted.deliver.file.open("a", encoding="utf-8") as file:
                file.writelines(f"{database.now():%Y-%m-%dT%H:%M:%SZ} {event.kind}: {event.text}\n" for event in untold)
        elif channel == "webhook" and wanted.deliver.webhook is not None:
            _send(wanted.deliver.webhook, untold)
    except OSError as error:
        return f"cannot write to {wanted.deliver.file}: {error.strerror}"
    except (AlertsError, FetchError) as error:
        return str(error)
    memory.tell(untold, channel)
    return ""


def _send(webhook: Webhook, events: "Sequence[Event]") -> None:
    """One message for all: ``text`` is what Slack shows, ``alerts`` are the same as data."""
    from flows.output import plain
    from scrapers.fetch import Client, Limits

    message = {
        "text": "GPU Ledger\n" + "\n".join(f"• {event.text}" for event in events),
        "alerts": [{"kind": event.kind, "text": event.text, **plain(event.facts)} for event in events],
    }
    with Client("webhook", kind="api", limits=Limits(total_seconds=WEBHOOK_SECONDS)) as client:
        client.send(webhook.address, json=message, hosts=webhook.hosts)
