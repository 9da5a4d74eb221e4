"""The ``gpuledger`` command. Prefect is imported only by the commands that run flows.

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 nothing succeeded or bad data, 2 wrong usage, 3 done in part.
"""

import sys

from flows import (  # noqa: F401  # they register their commands
    ask,
    backfill,
    costs,
    explain,
    history,
    keep,
    logs,
    look,
    report,
    serve,
    store,
    watch,
)  # fmt: skip
from flows.app import app
from flows.errors import explained


def main() -> None:
    """Run the command; every expected failure is one line and an exit status."""
    try:
        logs.set_up()
    except logs.LogError as error:
        sys.stderr.write(f"gpuledger: {error}\n")
        sys.exit(2)
    with explained():
        app()


if __name__ == "__main__":
    main()
