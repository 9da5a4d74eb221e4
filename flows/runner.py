"""Prefect's runner with the ledger's deployments: starts what is due, one at a time, each in a process of its own."""

import asyncio
import logging
import subprocess
import threading
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.deployments.runner import RunnerDeployment
from prefect.runner import Runner
from prefect.types.entrypoint import EntrypointType

from flows import schedule, scheduled
from flows.output import say
from flows.schedule import Schedule

# How often Prefect's server is asked for what is due: a run begins at most so late.
QUERY_SECONDS = 10


class ServeError(RuntimeError):
    """The schedules are served no longer; the message is one line that says what to do."""


class _Patient(Runner):
    """Stops once, however often it is told to."""

    def handle_sigterm(self, *args: Any, **kwargs: Any) -> None:
        """Stop what runs, then itself."""
        if not self.stopping:
            super().handle_sigterm(*args, **kwargs)


def serve(chosen: list[Schedule], server: subprocess.Popen[bytes] | None, *, fixtures: bool) -> None:
    """Serve until a signal ends it. Raises ServeError when the server is gone."""
    runner = _Patient(name="gpuledger", pause_on_shutdown=False, limit=1, query_seconds=QUERY_SECONDS)
    with get_client(sync_client=True) as client:
        for one in chosen:
            identity: UUID = runner.add_deployment(deployment(one, fixtures=fixtures))  # type: ignore[assignment]  # Prefect's dispatch hides it
            _forget_missed(client, identity)
            if schedule.is_missed(one, datetime.now(UTC)):
                say(f"{one.name}: missed its time, made up for now", logging.WARNING, deployment=one.name)
                client.create_flow_run_from_deployment(identity)
    say("serving; stop it with Ctrl-C or SIGTERM")
    is_gone = _watch(server, runner)
    try:
        asyncio.run(runner.start())
    except KeyboardInterrupt:
        pass
    except RuntimeError as error:
        if not is_gone.is_set():
            raise ServeError(f"Prefect's server does not answer ({' '.join(str(error).split())[:200]})") from None
    if is_gone.is_set():
        raise ServeError("Prefect's server ended by itself, so nothing is scheduled any more; start this again")
    say("stopped")


def deployment(one: Schedule, *, fixtures: bool = False) -> RunnerDeployment:
    """A schedule and its flow as Prefect has them."""
    flow = getattr(scheduled, one.name)
    parameters: dict[str, object] = {"jitter_seconds": one.jitter.total_seconds()}
    if fixtures and one.name in {"marketplaces", "lists"}:
        parameters["fixtures"] = True
    made: RunnerDeployment = flow.to_deployment(
        name=one.name,
        schedule=IntervalSchedule(interval=one.every, anchor_date=one.first, timezone="UTC"),
        parameters=parameters,
        description=one.does,
        tags=["gpuledger"],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    return made


def _forget_missed(client: SyncPrefectClient, identity: UUID) -> None:
    """Take away the runs that waited, or were killed, while nothing served: one that is made now does for them all."""
    open_states = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
    waiting = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=open_states)),
        expected_start_time=FlowRunFilterExpectedStartTime(before_=datetime.now(UTC)),
    )
    mine = DeploymentFilter(id=DeploymentFilterId(any_=[identity]))
    while found := client.read_flow_runs(flow_run_filter=waiting, deployment_filter=mine, limit=200):
        for run in found:
            client.delete_flow_run(run.id)


def _watch(server: subprocess.Popen[bytes] | None, runner: Runner) -> threading.Event:
    """Stop the runner when its server ends; the event says that it did."""
    is_gone = threading.Event()

    def wait() -> None:
        if server is not None:
            server.wait()
            is_gone.set()
            runner.handle_sigterm()

    threading.Thread(target=wait, daemon=True, name="server-watch").start()
    return is_gone
