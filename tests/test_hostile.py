"""What a hostile page, host or query could try, beyond what the tests of each part show: see docs/security.md for all of it."""

import hashlib
import json
import os
import re
import tracemalloc
from pathlib import Path

import httpx
import pytest

from flows import logs, steps
from scrapers import keys
from scrapers.fetch import Client, MissingKeyError
from scrapers.source import Page, PageError
from scrapers.source import load as load_source
from tests.command import within
from tests.conftest import ROOT
from tests.market import Market, offer
from warehouse import database

DOCUMENT = ROOT / "docs" / "security.md"
SECRET = "made-up-secret-0123456789"


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    market = Market(tmp_path, monkeypatch)
    market.source("made_up")
    return market


# --- The table of threats


def test_every_defence_named_is_there_and_tested() -> None:
    rows = [
        line
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`tests/" in line
    ]
    assert len(rows) >= 25
    for row in rows:
        for path, name in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row):
            text = (ROOT / path).read_text(encoding="utf-8")
            assert f"def {name or 'test_'}" in text, f"{path}::{name}"
        places = re.findall(r"`((?:scrapers|warehouse|flows|requirements)/[\w./]+)`", row)
        assert places, row
        assert [place for place in places if not (ROOT / place).exists()] == [], row


# --- Pages


@pytest.mark.parametrize(
    "price", ["1e999999999", "-1e999999999", "1e-400", "9" * 5000, "NaN", "Infinity", "-Infinity", "1000000000", "-1", "0x10"]
)  # fmt: skip
def test_numbers_that_are_no_prices_enter_nothing(market: Market, price: str) -> None:
    body = json.dumps([offer("a"), offer("b", "3.00"), offer("c", price)]).encode()
    parsed = load_source(market.source("made_up")).parse([Page("", body, "page.json")])
    assert [one.sku for one in parsed.offers] == ["a", "b"]
    [rejected] = parsed.rejected
    assert rejected.record == "c"


@pytest.mark.parametrize("told", ["9" * 5000, "-" + "9" * 5000, "1e400", "1E999999999999999999"])
def test_bare_numbers_of_any_size_are_read_or_refused(market: Market, told: str) -> None:
    row = json.dumps(offer("c")).replace('"2.00"', told)
    body = f"[{json.dumps(offer('a'))}, {json.dumps(offer('b', '3.00'))}, {row}]".encode()
    try:
        parsed = load_source(market.source("made_up")).parse([Page("", body, "page.json")])
    except PageError as error:
        told = str(error)
    else:
        [rejected] = parsed.rejected
        told = rejected.reason
    assert told.isprintable()
    assert len(told) < 700


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"a":' * 200_000, b'{"gpu": "' + b"\\u0000" * 100_000 + b'"}'])
def test_depth_is_one_clear_line(body: bytes) -> None:
    with pytest.raises(PageError) as caught:
        load_source("vultr").parse([Page("", body, "page.json")])
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700


DECLARED = '<!DOCTYPE a [<!ENTITY b "{inner}">{more}]>'
LAUGHS = DECLARED.format(inner="x" * 1000, more="".join(f'<!ENTITY c{n} "{"&b;" * 10}">' for n in range(9)))


@pytest.mark.parametrize("declared", [LAUGHS, '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'])
@pytest.mark.parametrize("source", ["lambda_page", "crusoe_page", "gcp_page"])
def test_entities_of_a_page_are_not_expanded(source: str, declared: str) -> None:
    body = f"{declared}<html><body><table><tr><th>GPU</th></tr><tr><td>&b;{'&c8;' * 50}</td></tr></table></body></html>".encode()
    tracemalloc.start()
    page = Page("", body, "page.html")
    assert "root:" not in page.soup.get_text()
    with pytest.raises(PageError):
        load_source(source).parse([page])
    assert tracemalloc.get_traced_memory()[1] < 50 * 1024 * 1024
    tracemalloc.stop()


NAMES = [
    "../../../etc/passwd", "/etc/passwd", "..\\..\\windows", "a\x00b", "'; DROP TABLE raw.offers; --", "=cmd|' /C calc'!A0", "@SUM(1)",
    "<script>alert(1)</script>", "\x1b]0;owned\x07\x1b[2J", "{{ 7 * 7 }}", "%s%n", "a" * 300, "\u202egnp.exe", "$(touch owned)", "`touch owned`",
]  # fmt: skip


@pytest.mark.slow
def test_names_are_words_everywhere(market: Market, tmp_path: Path) -> None:
    """As SKU, name, region and tier: they are kept as they came, steer nothing, and reach no file but the ledger."""
    rows = [
        offer(name, region=name, tier=name, accelerator_name=name if place % 2 else "H100 SXM 80GB")
        for place, name in enumerate(NAMES)
    ]
    market.says("made_up", "2026-03-01T12:00", rows)
    market.update()
    kept = {row[0] for row in market.sql("SELECT sku FROM offers")}
    assert kept == {name.strip() for name in NAMES}
    before = {path for path in tmp_path.rglob("*") if "data" not in path.parts}
    for arguments in (["build", "--full"], ["report"], ["export", str(tmp_path / "data" / "out")], ["sources"]):
        done = within(*arguments, data=tmp_path / "data")
        assert done.returncode in {0, 3}, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
    shown = within("sql", "SELECT sku, region, tier FROM offers", data=tmp_path / "data").stdout
    assert not any(not (character.isprintable() or character == "\n") for character in shown)
    cells = within("sql", "SELECT sku FROM offers", "--format", "csv", data=tmp_path / "data").stdout.splitlines()
    assert not any(cell.lstrip('"')[:1] in set("=+-@") for cell in cells)
    pages = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "data" / "site").rglob("*.html"))
    assert "<script>alert(1)" not in pages
    assert {path for path in tmp_path.rglob("*") if "data" not in path.parts} == before
    assert not list(tmp_path.rglob("owned"))


def test_a_source_s_name_is_the_only_part_of_a_path() -> None:
    """What a page says goes into no path: bodies are named by hash, manifests by source and time."""
    manifest = steps.archive().write(
        "made_up",
        [Page("https://x.example/../../x", b"body", "../../../escaped")],
        observed_at=database.now(),
        source_kind="live",
    )
    files = [path for path in database.data_dir().rglob("*") if path.is_file() and path.name != ".lock"]
    assert len(files) == 2
    assert all(database.archive_dir() in path.resolve().parents for path in files)
    assert [page.name for page in steps.archive().pages(manifest)] == ["../../../escaped"]


# --- Keys


def answering(request: httpx.Request) -> httpx.Response:
    """A host that prints the request in its answer, and a validator that holds the key."""
    told = request.headers.get("authorization", "")
    return httpx.Response(200, json={"you sent": told}, headers={"ETag": f'"{told.rpartition(" ")[2]}"'})


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "keys"
    path.write_text(
        f"# providers\n\nGPULEDGER_LAMBDA_API_KEY={SECRET}\nexport GPULEDGER_OTHER_KEY='two words'\n", encoding="utf-8"
    )
    path.chmod(0o600)
    monkeypatch.setenv("GPULEDGER_KEYS", str(path))
    return path


def test_keys_come_from_the_environment_or_a_file_of_ones_own(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert keys.find("GPULEDGER_LAMBDA_API_KEY") == SECRET
    assert keys.find("GPULEDGER_OTHER_KEY") == "two words"
    assert keys.find("GPULEDGER_THIRD_KEY") == ""
    monkeypatch.setenv("GPULEDGER_LAMBDA_API_KEY", "from the environment")
    assert keys.find("GPULEDGER_LAMBDA_API_KEY") == "from the environment"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_key_file_that_others_may_read_is_refused_in_one_line(key_file: Path, tmp_path: Path, mode: int) -> None:
    key_file.chmod(mode)
    with Client("lambda_api", kind="api") as client, pytest.raises(MissingKeyError) as caught:
        client.key("GPULEDGER_LAMBDA_API_KEY")
    assert (
        str(caught.value)
        == f"lambda_api: GPULEDGER_KEYS: others may read or change {key_file}; run: chmod 600 {key_file}"
    )
    told = [
        json.loads(line)
        for line in within(
            "sources", "--format", "json", data=tmp_path, GPULEDGER_KEYS=str(key_file)
        ).stdout.splitlines()
    ]
    assert "chmod 600" in next(one["reason"] for one in told if one["source"] == "lambda_api")


@pytest.mark.parametrize("text", ["no equals sign", f"lambda key={SECRET}", b"\xff\xfe"])
def test_a_key_file_that_does_not_read_is_named_and_not_quoted(key_file: Path, text: str | bytes) -> None:
    key_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(keys.KeysFileError) as caught:
        keys.find("GPULEDGER_LAMBDA_API_KEY")
    assert str(key_file) in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.usefixtures("key_file")
def test_a_key_of_the_file_is_in_no_log(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up()
    logs.LOGGER.warning("sent %s", SECRET)
    monkeypatch.delenv("GPULEDGER_KEYS")
    logs.set_up()
    assert capsys.readouterr().err == "sent [key]\n"


def test_a_key_file_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "missing", tmp_path):
        monkeypatch.setenv("GPULEDGER_KEYS", str(path))
        with pytest.raises(keys.KeysFileError, match="GPULEDGER_KEYS"):
            keys.find("GPULEDGER_LAMBDA_API_KEY")
    os.mkfifo(tmp_path / "pipe", 0o600)
    monkeypatch.setenv("GPULEDGER_KEYS", str(tmp_path / "pipe"))
    with pytest.raises(keys.KeysFileError, match="no ordinary file"):
        keys.find("GPULEDGER_LAMBDA_API_KEY")


@pytest.mark.slow
@pytest.mark.usefixtures("key_file")
def test_a_key_is_in_nothing_that_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Archive, manifest, warehouse, log and output, after a host that sends it back in its body and in a validator."""
    from scrapers.collect import pages_from_network

    caplog.set_level("DEBUG")

    def fetch(client: Client) -> list[Page]:
        return [client.get("https://prices.example.com/", auth_key=client.key("GPULEDGER_LAMBDA_API_KEY"))]

    manifest = pages_from_network(
        "lambda_api", fetch, steps.archive(), lambda: Client("lambda_api", kind="api", transport=httpx.MockTransport(answering)), database.now
    )  # fmt: skip
    assert manifest.outcome == "collected"
    [page] = steps.archive().pages(manifest)
    assert b"[key]" in page.body
    assert manifest.pages[0].etag == ""
    steps.load_archive()
    steps.build()
    kept = [path for path in database.data_dir().rglob("*") if path.is_file()]
    assert len(kept) >= 4
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capsys.readouterr())


def test_no_key_goes_through_prefect() -> None:
    """Flows and tasks take names of sources only: what Prefect keeps of their parameters can hold no key."""
    text = (ROOT / "flows" / "pipeline.py").read_text(encoding="utf-8")
    parameters = re.findall(r"^def (\w+)\((.*?)\) ->", text, re.MULTILINE | re.DOTALL)
    assert parameters
    assert [name for name, told in parameters if re.search(r"key|token|secret|environ", told)] == []
    assert not re.search(r"\bkeys\b|_KEY\b", text)


# --- SQL


@pytest.mark.parametrize(
    "query",
    [
        "COPY offers TO '{file}'", "COPY (SELECT 1) TO '{file}' (FORMAT parquet)", "EXPORT DATABASE '{file}'", "ATTACH '{file}' AS x",
        "ATTACH ':memory:' AS x; CREATE TABLE x.t AS SELECT 1; COPY x.t TO '{file}'", "FROM read_csv('{secret}')", "FROM read_text('{secret}')",
        "FROM read_blob('{secret}')", "FROM '{secret}'", "FROM glob('/*')", "FROM read_json_auto('{secret}')", "FROM parquet_metadata('{secret}')",
        "COPY builds FROM '{secret}'", "INSTALL httpfs", "LOAD httpfs", "FORCE INSTALL httpfs", "SET enable_external_access = true",
        "RESET enable_external_access", "SET lock_configuration = false", "SET temp_directory = '{file}'", "PRAGMA enable_external_access = true",
        "INSERT INTO builds SELECT * FROM builds", "UPDATE builds SET is_full = true", "DELETE FROM builds", "DROP TABLE builds",
        "CREATE TABLE t AS SELECT 1", "CREATE OR REPLACE VIEW offers AS SELECT 1", "TRUNCATE builds", "ALTER TABLE builds ADD COLUMN x INTEGER",
        "CHECKPOINT", "FROM read_csv('https://example.com/x.csv')", "CREATE SECRET s (TYPE s3)", "SELECT 1; COPY (SELECT 1) TO '{file}'",
        "FROM answer", "FROM connection", "IMPORT DATABASE '{file}'", "SELECT getenv('HOME')",
    ],
)  # fmt: skip
def test_sql_reads_the_published_copy_and_nothing_else(ledger: Path, tmp_path: Path, query: str) -> None:
    secret, file = tmp_path / "secret.csv", tmp_path / "written"
    secret.write_text(f"a\n{SECRET}\n", encoding="utf-8")
    published = ledger / "published" / "gpuledger.duckdb"
    before = hashlib.sha256(published.read_bytes()).digest()
    done = within("sql", query.format(secret=secret, file=file), data=ledger)
    assert SECRET not in done.stdout + done.stderr
    assert not file.exists()
    assert hashlib.sha256(published.read_bytes()).digest() == before
    if query != "CHECKPOINT":  # which, on a file that is read only, does nothing
        assert done.returncode == (2 if "; " in query else 1)  # one statement at a time
        assert len(done.stderr.splitlines()) == 1
