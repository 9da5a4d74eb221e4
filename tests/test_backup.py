"""Back-ups that can be relied on, and an archive that grows no further than it is let."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from flows import steps
from scrapers.archive import Archive
from scrapers.source import Page
from tests.command import within
from tests.market import Market, at, offer
from warehouse import database


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    monkeypatch.setenv("GPULEDGER_NOW", "2026-03-05T12:00:00Z")
    market = Market(tmp_path, monkeypatch)
    market.source("one", offers=range(2, 100))
    return market


def fill(market: Market) -> None:
    market.says("one", "2026-03-01T06:00", [offer("a"), offer("b")])
    market.says("one", "2026-03-02T06:00", [offer("a"), offer("b", "3.00")])


def backup(folder: Path) -> None:
    done = within("backup", str(folder), data=database.data_dir())
    assert done.returncode == 0, done.stderr
    assert "read again and well" in done.stderr


@pytest.mark.slow
def test_a_restored_back_up_is_the_ledger(market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(market)
    market.update()
    snapshot = market.sql("SELECT snapshot_id FROM offers LIMIT 1")[0][0]
    within("reject", snapshot, "--reason", "a test page", data=database.data_dir())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("alerts.toml").write_text("# mine\n")
    backup(tmp_path / "copy")
    expected = market.tables()
    assert (tmp_path / "copy" / "settings" / "alerts.toml").read_text() == "# mine\n"
    # As docs/operations.md says it: copy the folder to where the data is to be, and build.
    shutil.copytree(tmp_path / "copy", tmp_path / "other")
    monkeypatch.setenv("GPULEDGER_DATA", str(tmp_path / "other"))
    assert within("build", data=tmp_path / "other").returncode == 0
    assert market.tables() == expected
    assert market.sql("SELECT count(*) FROM offers") == [(4,)]
    assert within("doctor", data=tmp_path / "other").returncode == 0
    assert market.update() == [], "the archive came along, and all of it is loaded"


@pytest.mark.slow
def test_again_into_the_same_folder_copies_what_is_new(market: Market, tmp_path: Path) -> None:
    fill(market)
    market.update()
    backup(tmp_path / "copy")
    first = {path: path.stat().st_ino for path in (tmp_path / "copy" / "archive").rglob("*.gz")}
    market.says("one", "2026-03-03T06:00", [offer("a"), offer("c")])
    market.update()
    backup(tmp_path / "copy")
    second = {path: path.stat().st_ino for path in (tmp_path / "copy" / "archive").rglob("*.gz")}
    assert len(second) == 3
    assert {path: second[path] for path in first} == first
    assert not list((tmp_path / "copy").glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damaged", "told"),
    [
        ("warehouse.duckdb", "missing, or not what was written"),
        ("archive/objects/*/*.gz", "does not hold what its name says|cannot read"),
        ("archive/snapshots/one/*.json", "cannot read the manifest"),
        ("backup.json", "does not read; make the back-up again"),
    ],
)
def test_a_damaged_back_up_is_not_well(market: Market, tmp_path: Path, damaged: str, told: str) -> None:
    fill(market)
    market.update()
    backup(tmp_path / "copy")
    file = next((tmp_path / "copy").glob(damaged))
    file.write_bytes(file.read_bytes()[:-20] + b"\0" * 5)
    done = within("doctor", "--backup", str(tmp_path / "copy"), data=database.data_dir())
    assert done.returncode == 1
    assert any(part in done.stdout + done.stderr for part in told.split("|"))


@pytest.mark.slow
def test_a_body_that_is_missing_is_not_well(market: Market, tmp_path: Path) -> None:
    fill(market)
    market.update()
    backup(tmp_path / "copy")
    next((tmp_path / "copy" / "archive" / "objects").rglob("*.gz")).unlink()
    assert within("doctor", "--backup", str(tmp_path / "copy"), data=database.data_dir()).returncode == 1


@pytest.mark.slow
def test_where_a_back_up_does_not_belong(market: Market, tmp_path: Path) -> None:
    data = database.data_dir()
    assert "there is no warehouse" in within("backup", str(tmp_path / "copy"), data=data).stderr
    fill(market)
    market.update()
    assert "in one another" in within("backup", str(data / "copy"), data=data).stderr
    assert "in one another" in within("backup", str(tmp_path), data=data).stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    assert "is no back-up and not empty" in within("backup", str(tmp_path / "mine"), data=data).stderr
    assert "is no whole back-up" in within("doctor", "--backup", str(tmp_path / "mine"), data=data).stderr


@pytest.mark.slow
def test_a_back_up_that_is_cut_short_is_none_and_the_next_completes_it(
    market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(market)
    market.update()
    with monkeypatch.context() as patch:

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(Archive, "copy_to", full)
        done = within("backup", str(tmp_path / "copy"), data=database.data_dir())
        assert (done.returncode, "No space left on device" in done.stderr) == (1, True)
    assert within("doctor", "--backup", str(tmp_path / "copy"), data=database.data_dir()).returncode == 1
    backup(tmp_path / "copy")


def days(market: Market) -> set[str]:
    """The days of which the archive has live pages."""
    return {f"{one.observed_at:%m-%d}" for one in market.archive.manifests() if one.source_kind == "live"}


@pytest.mark.slow
def test_retention_takes_old_live_pages_only_and_keeps_every_price(market: Market) -> None:
    market.says("one", "2025-11-01T06:00", [offer("a"), offer("b")])
    market.says("one", "2025-11-02T06:00", [offer("a"), offer("b", "3.00")])
    market.says("one", "2025-11-03T06:00", [offer("a")])  # withheld: it waits for a decision
    market.says("one", "2025-11-04T06:00", [offer("a"), offer("b", "3.00")], kind="archived_page")
    market.says("one", "2026-03-04T06:00", [offer("a"), offer("b")])  # the page of the first day again
    market.update()
    before = market.tables()
    market.says("one", "2025-11-05T06:00", [offer("a"), offer("b", "7.00")])  # not loaded yet
    done = within("archive", "prune", "--keep", "60d", "--dry-run", data=database.data_dir())
    assert "2 collections older than 60d would go" in done.stderr
    assert len(days(market)) == 5
    done = within("archive", "prune", "--keep", "60d", data=database.data_dir())
    assert done.returncode == 0, done.stderr
    assert "2 collections older than 60d are gone" in done.stderr
    assert "1 stay until they are decided" in done.stderr
    assert "1 stay until they are loaded" in done.stderr
    assert days(market) == {"11-03", "11-05", "03-04"}
    for manifest in market.archive.manifests():
        market.archive.pages(manifest)
    assert market.tables() == before
    market.update()
    assert within("doctor", data=database.data_dir()).returncode == 0
    assert within("explain", "offer", market.sql("SELECT snapshot_id FROM offers ORDER BY day LIMIT 1")[0][0], "0",
                  data=database.data_dir()).returncode == 0  # fmt: skip


@pytest.mark.slow
def test_each_source_keeps_its_newest_pages(market: Market) -> None:
    market.says("one", "2025-01-01T06:00", [offer("a"), offer("b")])
    market.says("one", "2025-01-02T06:00", [offer("a"), offer("b")])
    market.says("one", "2025-01-03T06:00", [], outcome="failed", reason="gone")
    market.update()
    within("archive", "prune", "--keep", "60d", data=database.data_dir())
    assert days(market) == {"01-02", "01-03"}


@pytest.mark.slow
def test_what_a_killed_prune_left_the_next_takes(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    market.says("one", "2025-01-01T06:00", [offer("a"), offer("b", "4.00")])
    market.says("one", "2026-03-02T06:00", [offer("a"), offer("b")])
    market.update()
    with monkeypatch.context() as patch:

        def killed(_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(Archive, "_bodies", killed)
        with pytest.raises(KeyboardInterrupt):
            steps.prune_archive(timedelta(days=60), dry_run=False)
    bodies = list(market.archive.root.glob("objects/*/*.gz"))
    assert len(bodies) == 2
    assert steps.prune_archive(timedelta(days=60), dry_run=False).freed_bytes > 0
    assert len(list(market.archive.root.glob("objects/*/*.gz"))) == 1


def test_no_body_goes_while_a_collection_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that finds its body there already counts on it."""
    import fcntl

    archive = Archive(tmp_path)
    page = Page("https://made-up.example/", b"[]", "page.json")
    old = archive.write("one", [page], observed_at=at("2025-01-01T06:00"), source_kind="live")
    held: list[int] = []
    real = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lambda file, how: (held.append(how), real(file, how)))
    archive.write("one", [page], observed_at=at("2025-01-02T06:00"), source_kind="live")
    archive.remove([old.snapshot_id])
    assert held == [fcntl.LOCK_SH, fcntl.LOCK_EX]
    [kept] = archive.manifests()
    assert archive.pages(kept) == [page]


@pytest.mark.parametrize("keep", ["29d", "400", "forever"])
def test_a_time_that_keeps_too_little_is_wrong_usage(tmp_path: Path, keep: str) -> None:
    done = within("archive", "prune", "--keep", keep, data=tmp_path)
    assert (done.returncode, "--keep" in done.stderr) == (2, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_mark_says_what_it_is(market: Market, tmp_path: Path) -> None:
    fill(market)
    market.update()
    backup(tmp_path / "copy")
    mark = json.loads((tmp_path / "copy" / "backup.json").read_text())
    assert (mark["collections"], mark["made_at"]) == (2, "2026-03-05T12:00:00Z")
