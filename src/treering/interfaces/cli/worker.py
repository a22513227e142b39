"""work: a worker in the foreground that runs queued jobs and scheduled stages."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import StoreUnavailable
from treering.core.visible_text import visible
from treering.interfaces.cli.options import AsJson, Db, Project, Repository, drain_hooks, opened, repository_for
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from types import FrameType

    from treering.memory import Memory

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """Number of jobs that a worker did, that are pending, and that will not be retried."""

    done: int
    waiting: int
    dead: int


def work(
    *,
    once: Annotated[bool, typer.Option("--once", help="Run what is due now, then exit.")] = False,
    every: Annotated[
        float | None,
        typer.Option(
            "--every", metavar="SECONDS", min=0.1, help="Interval between checks of the schedule. Default: 60."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing until the end.")] = False,
    repository: Repository = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Run queued jobs and scheduled stages until Ctrl-C.

    Several workers may share one memory: no job is done twice. A stopped worker returns its job to the queue; the job
    of a killed worker is resumed by another one.
    """
    compared = repository_for(db, project, repository, wanted=False)
    with opened(db, project, compared, is_worker=True) as memory, _stopped_by_signals(memory.maintenance.stop):
        drain = partial(drain_hooks, memory, db, project)
        drain()
        done = _work(memory, drain, once=once, every=every, quiet=quiet)
        left = memory.stats().jobs
    found = WorkerResult(done, left["queued"] + left["leased"], left["dead"])
    from treering.interfaces.cli import views as show

    summary = f"{found.done:,} jobs done, {found.waiting:,} waiting, {found.dead:,} failed for good"
    advice = "`treering doctor` shows why" if found.dead else ""
    emit(found, lambda: show.done("worked", summary, advice), as_json=as_json)


def _work(memory: "Memory", drain: Callable[[], None], *, once: bool, every: float | None, quiet: bool) -> int:
    """Number of jobs done. Keeps trying while the server is unavailable, unless `once`."""
    rounds: list[int] = []

    def report_done(done: int) -> None:
        drain()
        rounds.append(done)
        if done and not quiet:
            _print(f"{done:,} jobs done")

    def report_error(error: Exception) -> None:
        _print(f"the schedule cannot be read ({error}); queued jobs still run")

    stop, pause = memory.maintenance.runner.stop, memory.maintenance.schedule_seconds
    while not stop.is_set():
        try:
            memory.maintenance.work(once=once, every=every, on_done=report_done, on_error=report_error)
        except StoreUnavailable as exc:
            if once:
                raise
            _print(f"{exc}; trying again")
            stop.wait(every or pause)
        else:
            break
    return sum(rounds)


def _print(message: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {visible(' '.join(message.split()))}", file=sys.stderr, flush=True)


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM stops the worker cleanly, the second ends the process at once."""

    def on_signal(_number: int, _frame: "FrameType | None") -> None:
        restore()
        # In a thread: the handler may interrupt a wait for the same event, whose lock is then held.
        threading.Thread(target=stop, daemon=True).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        restore()
