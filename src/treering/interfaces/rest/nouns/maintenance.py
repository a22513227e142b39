"""Maintenance: stages, runs, jobs, vectors and background work."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from treering.core.jobs import Job, JobState
from treering.core.queries import JobFilter, RunFilter
from treering.core.runs import Run, RunState
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import After, Answered, Asked, CountAnswer, Limit, ListPage, Total
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory


class StageSchedule(Answered):
    """A stage: its schedule, when it runs next, whether it is overdue, and its last run."""

    stage: str
    cron: str
    next: datetime | None
    overdue: bool
    last: Run | None


class RunStages(Asked):
    """Stages to run now."""

    stage: str | None = Field(default=None, description="One stage; by default all of them in order.")
    dry_run: bool = Field(default=False, description="Only count what would be done.")


class SettleRequest(Asked):
    seconds: float = Field(default=60.0, gt=0, le=600, description="Maximum time.")


class SettledJobs(Answered):
    """Numbers of finished, waiting and dead jobs."""

    done: int
    waiting: int
    dead: int


class VectorCounts(Answered):
    """How many documents, and code chunks, have a vector."""

    model: str
    documents: int
    vectors: int
    code: int
    code_vectors: int
    missing: int


def list_stages(memory: Memory) -> ListPage[StageSchedule]:
    """When each stage of maintenance runs next, and its last run."""
    found = memory.maintenance.plan()
    return ListPage[StageSchedule](items=[StageSchedule.model_validate(each) for each in found])


def list_runs(
    memory: Memory,
    *,
    stages: Annotated[Sequence[str], Query(description="Any of these; repeatable.")] = (),
    states: Annotated[Sequence[RunState], Query(description="Any of these; repeatable.")] = (),
    limit: Limit = 20,
    after: After = None,
) -> ListPage[Run]:
    """List runs of stages, newest first. Runs of the stage `language model` count the tokens of learning."""
    where = RunFilter.make(stages=tuple(stages), states=tuple(states))
    page = memory.page("runs", where=where, limit=limit, after=after)
    return ListPage[Run].model_construct(items=list(page.items), next=page.next, total=None)


def run_stages(memory: Memory, body: RunStages | None = None) -> ListPage[Run]:
    """Run one stage now, or all of them; an unfinished run is resumed."""
    asked = body or RunStages()
    runs = list(memory.maintenance.run(asked.stage, dry_run=asked.dry_run))
    return ListPage[Run].model_construct(items=runs, next=None, total=None)


def list_jobs(
    memory: Memory,
    *,
    states: Annotated[Sequence[JobState], Query(description="Any of these; repeatable.")] = (),
    kinds: Annotated[Sequence[str], Query(description="Any of these; repeatable.")] = (),
    limit: Limit = 50,
    after: After = None,
    total: Total = False,
) -> ListPage[Job]:
    """List background jobs, newest first; dead ones failed at every attempt."""
    where = JobFilter.make(states=tuple(states), kinds=tuple(kinds))
    page = memory.page("jobs", where=where, limit=limit, after=after)
    counted = memory.count("jobs", where=where) if total else None
    return ListPage[Job].model_construct(items=list(page.items), next=page.next, total=counted)


def settle(memory: Memory, body: SettleRequest | None = None) -> Any:
    """Run the background work, or wait until it is done."""
    return memory.settle((body or SettleRequest()).seconds)


def get_vectors(memory: Memory) -> Any:
    """How many documents have a vector that search by meaning compares."""
    return memory.vectors.coverage()


def update_vectors(memory: Memory) -> CountAnswer:
    """Compute every missing vector."""
    return CountAnswer(count=memory.vectors.update())


_SLOW = CallQueue.SLOW
ROUTES = (
    Route("GET", "/maintenance/stages", list_stages, ListPage[StageSchedule], "List stages of maintenance"),
    Route("GET", "/maintenance/runs", list_runs, ListPage[Run], "List runs"),
    Route("POST", "/maintenance/runs", run_stages, ListPage[Run], "Run maintenance now", _SLOW),
    Route("GET", "/jobs", list_jobs, ListPage[Job], "List jobs"),
    Route("POST", "/jobs/settle", settle, SettledJobs, "Wait for background work", _SLOW),
    Route("GET", "/vectors", get_vectors, VectorCounts, "Get the coverage of vectors"),
    Route("POST", "/vectors", update_vectors, CountAnswer, "Compute missing vectors", _SLOW),
)
