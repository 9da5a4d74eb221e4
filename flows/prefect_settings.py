"""Prefect's settings, which it reads once when it is imported: import this first, and put what is ``chosen`` into the environment."""

import os
from pathlib import Path

from warehouse import database

# Runs, their logs and events that are older than this leave Prefect's own database. The ledger keeps its own records.
KEPT_DAYS = 30
_CHOSEN = {
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # A server takes 15 to 25 seconds to start on two cores; its own limit is 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}


def chosen() -> dict[str, str]:
    """What the person has not set; Prefect's own database belongs to this ledger, unless there is a server already.

    Raises WarehouseError when its folder can't be made.
    """
    settings = dict(_CHOSEN)
    if os.environ.get("GPULEDGER_LOG") == "json":
        settings["PREFECT_LOGGING_HANDLERS_CONSOLE_FORMATTER"] = "json"
    if "PREFECT_API_URL" not in os.environ:
        settings["PREFECT_HOME"] = os.environ.get("PREFECT_HOME") or str(database.data_dir() / "prefect")
        try:
            Path(settings["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise database.WarehouseError(
                f"cannot write to {settings['PREFECT_HOME']}: {error.strerror}; set GPULEDGER_DATA or PREFECT_HOME to a folder of yours"
            ) from None
    return {name: os.environ.get(name, value) for name, value in settings.items()}
