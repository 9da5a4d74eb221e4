"""The Prefect flows: every source its own task, one that fails blocks no other, and artifacts show what happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows import steps
from scrapers.failures import FetchError
from scrapers.source import Adapter, Page
from tests.market import Market, offer
from warehouse import database

pytestmark = pytest.mark.slow


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Market:
    return Market(tmp_path, monkeypatch)


def answers(adapter: Adapter, _: object) -> Iterator[Page]:
    """What the made-up hosts answer now."""
    import json

    if adapter.name == "down":
        raise FetchError("down: could not reach made-up.example (name does not resolve)")
    if adapter.name == "broken":
        raise RuntimeError("a defect of the module")
    body = b"<html>log in</html>" if adapter.name == "login" else json.dumps([offer("a"), offer("b", "3.00")]).encode()
    yield Page("https://made-up.example/", body, "page.json")


@pytest.mark.usefixtures("prefect_harness")
def test_the_pipeline_lands_what_came_and_says_what_did_not(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    from flows.pipeline import run_pipeline

    for name in ("well", "down", "broken", "login"):
        market.source(name)
    monkeypatch.setattr(Adapter, "fetch", answers)
    monkeypatch.setattr(steps, "collect_curated", list)
    monkeypatch.setattr(steps, "collect_rates", lambda: None)
    outcomes, built, page = run_pipeline(fixtures=False)
    assert {one.source: one.status for one in outcomes} == {
        "well": "ok", "down": "failed", "broken": "failed", "login": "failed",
    }  # fmt: skip
    reasons = {one.source: one.reason for one in outcomes}
    assert reasons["down"] == "could not reach made-up.example (name does not resolve)"
    assert reasons["broken"] == "RuntimeError: a defect of the module"
    assert built is not None
    assert page.is_file()
    assert market.sql("SELECT sku FROM offers ORDER BY 1") == [("a",), ("b",)]
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=["collections", "build", "report"]))
        )
    assert {artifact.key for artifact in found} == {"collections", "build", "report"}


@pytest.mark.usefixtures("prefect_harness")
def test_many_sources_at_once_three_times_over_lose_nothing(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefect's own store locks when many tasks report at once: no run fails by it and no row is lost."""
    from flows import pipeline

    names = [market.source(f"source_{place:02}", f"provider-{place:02}") for place in range(12)]
    monkeypatch.setattr(Adapter, "fetch", answers)
    monkeypatch.setattr(steps, "collect_curated", list)
    monkeypatch.setattr(steps, "collect_rates", lambda: None)
    for _ in range(3):
        outcomes = pipeline.collect(fixtures=False)
        assert sorted((one.source, one.status, one.offers) for one in outcomes) == [(name, "ok", 2) for name in names]
    with database.connect_working(read_only=True) as connection:
        kept = connection.execute("SELECT count(*), count(DISTINCT snapshot_id) FROM raw.offers").fetchall()
    assert kept == [(72, 36)]


def test_a_server_that_does_not_start_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import pipeline

    def refused(*, fixtures: bool) -> None:
        raise RuntimeError("Timed out while attempting to connect to ephemeral Prefect API server.")

    monkeypatch.setattr(pipeline, "pipeline", refused)
    with pytest.raises(pipeline.PipelineError, match="gpuledger collect, build and report do the same without it"):
        pipeline.run_pipeline(fixtures=True)
