"""Walks docs/first-steps.md as a newcomer would: opens the report, then asks its five questions by command and by SQL.

Speaks to the ledger only by the ``gpuledger`` command beside this interpreter, as the page does. ``make run`` has to be done.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GPULEDGER = str(Path(sys.executable).with_name("gpuledger"))
DATA = Path(os.environ.get("GPULEDGER_DATA", ROOT / "data"))
QUESTION = re.compile(
    r"^## (?P<number>\d)\. (?P<question>[^\n]+)\n\n```sh\ngpuledger (?P<command>[^\n]+)\n```\n\n```sql\n(?P<sql>.*?)```\n\n"
    r"Answer: \*\*(?P<answer>[\d.,]+)\*\*",
    re.MULTILINE | re.DOTALL,
)
Rows = list[dict[str, Any]]
# What the page tells the reader to look for in what the command prints.
LOOKED_FOR: dict[str, Callable[[Rows], float]] = {
    "1": lambda rows: next(row for row in rows if row["pricing_model"] == "on_demand")["usd_per_accelerator_hour"],
    "2": lambda rows: rows[-1]["usd_per_accelerator_hour_median"],
    "3": lambda rows: rows[0]["cost_usd_mid"] / 1e6,
    "4": lambda rows: rows[0]["cost_usd_mid"] / 1e6,
    "5": len,
}


def lines(*arguments: str) -> Rows:
    done = subprocess.run([GPULEDGER, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"gpuledger {shlex.join(arguments)}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    page = (ROOT / "docs" / "first-steps.md").read_text(encoding="utf-8")
    front = (DATA / "site" / "index.html").read_text(encoding="utf-8")
    for words in ("What moved", "Today&#39;s cheapest", "The price index", "What known training runs would cost"):
        assert words in front, f"the report does not show: {words}"
    found = list(QUESTION.finditer(page))
    assert [one["number"] for one in found] == list(LOOKED_FOR), (
        "not five questions with a command, a query and an answer"
    )
    for one in found:
        digits = len(one["answer"].partition(".")[2])
        asked = LOOKED_FOR[one["number"]](lines(*shlex.split(one["command"])))
        [row] = lines("sql", one["sql"])
        answers = {f"{value:,.{digits}f}" for value in (asked, float(row["answer"]))}
        assert answers == {one["answer"]}, f"{one['question']} The page says {one['answer']}, command and SQL {answers}"
        print(f"{one['question']} {one['answer']}", flush=True)


main()
