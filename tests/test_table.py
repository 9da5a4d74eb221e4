"""Tables fit a terminal and lose nothing silently; lines of blocks; what goes into a file is never cut."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.table import BLOCKS, PLAIN, sparkline, table
from tests.command import gpuledger

NAMES = ["accelerator", "provider", "usd_per_accelerator_hour", "note"]
ROWS = [["h100-sxm-80gb", f"provider-{place}", f"{place}.25", f"{place} " + "words " * 20] for place in range(4)]
NUMBERS = [False, False, True, False]


def test_what_has_room_is_left_as_it_is() -> None:
    laid_out = table(["a", "number"], [["x", "1.5"], ["yy", "12"]], [False, True], 80)
    assert laid_out.lines == ["a   number", "--  ------", "x      1.5", "yy      12"]
    assert table(NAMES, ROWS, NUMBERS, None).lines[2].endswith("words words")


def test_headers_break_at_underscores_what_is_alike_stands_above_and_words_are_cut() -> None:
    laid_out = table(NAMES[:3], [row[:3] for row in ROWS], NUMBERS[:3], 30)
    assert laid_out.lines[:6] == [
        "accelerator: h100-sxm-80gb",
        "                usd_per_",
        "            accelerator_",
        "provider            hour",
        "----------  ------------",
        "provider-0          0.25",
    ]
    cut = table(NAMES, ROWS, NUMBERS, 60)
    assert cut.left_out == []
    assert max(map(len, cut.lines)) <= 60
    assert cut.lines[-1].endswith("…")


def test_what_has_no_room_is_left_out_from_the_right_and_told_and_what_matters_goes_last() -> None:
    names = [f"column_{letter}" for letter in "abcdef"]
    rows = [[f"{place}{letter}" * 6 for letter in "abcdef"] for place in range(3)]
    assert table(names, rows, [False] * 6, 40).left_out == ["column_d", "column_e", "column_f"]
    assert table(names, rows, [False] * 6, 40, keep=["column_f"]).left_out == ["column_c", "column_d", "column_e"]


def test_numbers_are_never_cut() -> None:
    laid_out = table(["name", "usd"], [["a" * 40, "1234567890.123"]], [False, True], 30)
    assert laid_out.lines[-1] == f"{'a' * 13}…  1234567890.123"


words = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30)


@given(st.lists(st.tuples(words, words, words), max_size=6), st.integers(40, 120))
def test_any_rows_fit_any_terminal(rows: list[tuple[str, str, str]], width: int) -> None:
    laid_out = table(["first_name", "second", "third_long_name_of_it"], rows, [False] * 3, width)
    body = [line for line in laid_out.lines if ": " not in line]
    assert all(len(line) <= width for line in body)
    assert laid_out.left_out == [] or width < 60


def test_a_line_of_blocks() -> None:
    assert sparkline([1, 2, 3, None, 8]) == "▁▂▃ █"
    assert sparkline([1, 2, 3, None, 8], is_plain=True) == "_.: #"
    assert (sparkline([5, 5]), sparkline([None]), sparkline([])) == ("▁▁", "", "")
    assert len(BLOCKS) == len(PLAIN)
    assert PLAIN.isascii()


def at_a_terminal(*arguments: str, data: Path, columns: int = 80, **more: str) -> list[str]:
    """The lines that a person sees."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", *arguments],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment | {"GPULEDGER_DATA": str(data)} | more,
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    process.communicate()
    assert process.returncode in {0, 1}
    return seen.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "prices H100",
        "trend H100",
        "sources",
        "cost llama-65b",
        "sql|FROM offers_current",
        "sql|FROM training_hours LIMIT 5",
        "doctor",
    ],
)
def test_every_table_fits_80_columns(ledger: Path, arguments: str) -> None:
    lines = at_a_terminal(*arguments.split("|" if "|" in arguments else " "), data=ledger)
    assert len(lines) > 3
    rule = next(place for place, line in enumerate(lines) if line.startswith("--"))
    assert max(map(len, lines[rule:])) <= 80


def test_a_file_gets_every_column_however_wide(ledger: Path) -> None:
    names = gpuledger("prices", "H100", data=ledger, COLUMNS="80").stdout.splitlines()[0].split()
    csv = gpuledger("prices", "H100", "--format", "csv", data=ledger, COLUMNS="80").stdout.splitlines()[0].split(",")
    assert names == csv


def test_trend_draws_a_line_for_each_part_in_tables_only(ledger: Path) -> None:
    shown = gpuledger("trend", "H100", data=ledger, PYTHONUTF8="1").stdout.splitlines()
    drawn = [line for line in shown if line.endswith("USD an hour")]
    assert len(drawn) >= 3
    assert set(drawn[0].split("  ")[1]) <= set(BLOCKS)
    plain = gpuledger("trend", "H100", data=ledger, PYTHONIOENCODING="ascii").stdout
    assert plain.isascii()
    assert gpuledger("trend", "H100", "--format", "csv", data=ledger).stdout.startswith("accelerator,day,")
