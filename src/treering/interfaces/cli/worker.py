"""work: a worker in the foreground, which does what is queued and what the schedule says."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import StoreUnavailable
from treering.core.visible_text import visible
from treering.interfaces.cli.options import AsJson, Db, Project, Repository, opened, repository_for
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from types import FrameType

    from treering.memory import Memory

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Worked:
    """What a worker did, what still waits, and what failed for good."""

    done: int
    waiting: int
    dead: int


def work(
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, then end.")] = False,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", min=0.1, help="How often to look at the schedule.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing until the end.")] = False,
    repository: Repository = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Do what is queued, and what the schedule says, until Ctrl-C.

    Several may work on one memory: no job is done twice. Stopped, a worker gives back what it is at; killed, another
    goes on where it was.
    """
    compared = repository_for(db, project, repository, wanted=False)
    with opened(db, project, compared, works=True) as memory, _stopped_by_signals(memory.maintenance.stop):
        done = _work(memory, once=once, every=every, quiet=quiet)
        left = memory.stats().jobs
    found = Worked(done, left["queued"] + left["leased"], left["dead"])
    from treering.interfaces.cli import views as show

    told = f"{found.done:,} jobs done, {found.waiting:,} waiting, {found.dead:,} failed for good"
    advice = "`treering doctor` shows why" if found.dead else ""
    emit(found, lambda: show.done("worked", told, advice), as_json=as_json)


def _work(memory: "Memory", *, once: bool, every: float | None, quiet: bool) -> int:
    """Also through times when the server is away; how many jobs were done is returned."""
    rounds: list[int] = []

    def tell(done: int) -> None:
        rounds.append(done)
        if done and not quiet:
            _say(f"{done:,} jobs done")

    def hear(error: Exception) -> None:
        _say(f"the schedule cannot be looked at ({error}); jobs are done all the same")

    from treering.maintenance.schedule import SCHEDULE_SECONDS

    stop, pause = memory.maintenance.maintenance.stop, SCHEDULE_SECONDS
    while not stop.is_set():
        try:
            memory.maintenance.work(once=once, every=every, tell=tell, trouble=hear)
        except StoreUnavailable as exc:
            if once:
                raise
            _say(f"{exc}; trying again")
            stop.wait(every or pause)
        else:
            break
    return sum(rounds)


def _say(what: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {visible(' '.join(what.split()))}", file=sys.stderr, flush=True)


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM lets the worker stop in good order, the second ends it at once."""

    def heard(_number: int, _frame: "FrameType | None") -> None:
        restore()
        # Not from here: this may stand in the middle of a wait for the same event.
        threading.Thread(target=stop, daemon=True).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield
    finally:
        restore()
