"""Short names of training runs: gpt-3, palm, Llama 2."""

import difflib
import re
from collections.abc import Collection

from warehouse.ask import UnknownNameError
from warehouse.database import Connection

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([mbt])")
_SCALE = {"m": 1e6, "b": 1e9, "t": 1e12}


def known_runs(connection: Connection) -> list[str]:
    """Ids of the runs that the ledger can cost."""
    return [row[0] for row in connection.execute("SELECT DISTINCT run FROM training_hours ORDER BY 1").fetchall()]


def run_id(name: str, known: Collection[str]) -> str:
    """The run that a name means: its id, the largest of those that differ in size alone, or the only one that begins so.

    Raises UnknownNameError, with the candidates.
    """
    asked = re.sub(r"[\s_]+", "-", name.strip().lower())
    if asked in known:
        return asked
    begun = sorted(run for run in known if run.startswith(f"{asked}-"))
    sizes = {run: size for run in begun if (size := _SIZE.fullmatch(run.removeprefix(f"{asked}-")))}
    if sizes:
        return max(sizes, key=lambda run: float(sizes[run][1]) * _SCALE[sizes[run][2]])
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UnknownNameError(f"{name!r} may be {', '.join(begun)}; say which")
    near = [run for run in sorted(known) if asked and asked in run] or difflib.get_close_matches(
        asked, known, n=4, cutoff=0.3
    )
    raise UnknownNameError(f"no training run {name!r}; there is {', '.join(near[:12]) or ', '.join(sorted(known))}")
