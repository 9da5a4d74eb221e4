"""The Prefect flows: which step runs when. Each task is one call to a plain function of ``flows.steps``."""

import os
from pathlib import Path
from typing import Any

from flows import prefect_settings

os.environ.update(prefect_settings.chosen())

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.client.schemas.objects import State
from prefect.futures import wait
from prefect.task_runners import ThreadPoolTaskRunner

from flows import prefect_database, steps, tell
from flows.prefect_database import PrefectDatabaseError
from flows.steps import Outcome
from scrapers.archive import Manifest
from scrapers.source import Adapter
from warehouse import database
from warehouse.build import Built
from warehouse.database import WarehouseError
from warehouse.gates import CheckError

SOURCES_AT_ONCE = 8


class PipelineError(RuntimeError):
    """Prefect could not run the flows; the message says what to do without it."""


# The client retries what is transient; a task that retried too would multiply its waits. A second try an hour of trouble later is the schedule's.
@task(task_run_name="collect {source}")
def collect_source(source: str) -> Manifest:
    """One live collection of one source."""
    [adapter] = steps.live_sources([source])
    return steps.collect_live(adapter)


@task
def collect_rates() -> Manifest:
    """Today's exchange rates."""
    return steps.collect_rates()


@task
def collect_fixtures() -> list[Manifest]:
    """Every recorded fixture."""
    return steps.collect_fixtures()


@task
def collect_curated() -> list[Manifest]:
    """The dated list prices of the reference rows."""
    return steps.collect_curated()


@task(retries=2, retry_delay_seconds=30)
def load_archive() -> list[Outcome]:
    """What is archived and not loaded yet; waits its turn when another process writes."""
    return steps.load_archive()


def _is_busy(_: object, __: object, state: State[Any]) -> bool:
    """Another process writes: worth waiting for. A failed check is no better half a minute later."""
    return isinstance(state.result(raise_on_failure=False), WarehouseError)


@task(retries=2, retry_delay_seconds=30, retry_condition_fn=_is_busy)
def build_models() -> Built | None:
    """The models, the checks, the published copy."""
    return steps.build()


@task(retries=2, retry_delay_seconds=30)
def publish_parquet() -> Path | None:
    """What is published, as Parquet."""
    return steps.publish_parquet()


@task
def tell_alerts() -> bool:
    """What someone wants to be told of; what goes wrong with that is said, and stops nothing."""
    return tell.tell_alerts()


@task
def write_report() -> Path:
    """The report."""
    return steps.report()


def _chosen(sources: list[str] | None) -> list[Adapter]:
    """The sources named, which may be none; all for None."""
    return steps.live_sources(sources) if sources is None or sources else []


@task
def write_digest() -> Path:
    """The digest of the week."""
    return steps.digest()


@flow(name="collect", task_runner=ThreadPoolTaskRunner(max_workers=SOURCES_AT_ONCE))  # type: ignore[arg-type]  # Prefect's own generics
def collect(*, fixtures: bool = False, sources: list[str] | None = None, references: bool = True) -> list[Outcome]:
    """Fetch the sources named, or all, each in its own task, and load what came; ``references`` are exchange rates and dated prices."""
    if fixtures:
        collect_fixtures()
    else:
        steps.begin_run()
        submitted = [collect_source.submit(one.name) for one in _chosen(sources)]
        wait([*submitted, *([collect_rates.submit()] if references else [])])
    if references:
        collect_curated()
    outcomes = load_archive()
    create_table_artifact(
        key="collections",
        table=[
            {"source": one.source, "status": one.status, "offers": one.offers, "reason": one.reason} for one in outcomes
        ],
        description="How each source fared.",
    )
    return outcomes


@flow(name="build")
def build() -> Built | None:
    """Bring the tables up to date and publish."""
    built = build_models()
    publish_parquet()
    tell_alerts()
    if built is not None:
        create_table_artifact(
            key="build",
            table=[
                {
                    "build": built.build_id,
                    "from": str(built.first_day),
                    "to": str(built.last_day),
                    "days made": built.days_built,
                }
            ],
            description="What the build made.",
        )
    return built


@flow(name="report")
def report() -> Path:
    """Write the report."""
    page = write_report()
    create_link_artifact(key="report", link=page.as_uri(), link_text="the report")
    return page


@flow(name="write-digest")
def digest() -> Path:
    """Write the digest of the week."""
    return write_digest()


@flow(name="pipeline")
def pipeline(*, fixtures: bool = False) -> tuple[list[Outcome], Built | None, Path]:
    """Collect, load, build, report. When a check fails, the report of what stands says so, and the error is raised after it."""
    outcomes = collect(fixtures=fixtures)
    try:
        built = build()
    except CheckError:
        if database.published_file().exists():
            report()
        raise
    return outcomes, built, report()


def run_pipeline(*, fixtures: bool) -> tuple[list[Outcome], Built | None, Path]:
    """Run the pipeline in this process. Raises PipelineError when Prefect's server does not start."""
    try:
        prefect_database.check()
        return pipeline(fixtures=fixtures)
    except PrefectDatabaseError as error:
        raise PipelineError(f"{error}, or do without Prefect: gpuledger collect, build, report") from None
    except RuntimeError as error:
        if "ephemeral Prefect API server" not in str(error):
            raise
        raise PipelineError(
            f"Prefect's server did not start ({' '.join(str(error).split())[:120]});"
            " gpuledger collect, build and report do the same without it"
        ) from None
