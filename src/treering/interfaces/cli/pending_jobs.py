"""Jobs that a command queues: small ones run at its end, the output names the rest."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering import Memory

_MAX_ERROR = 300
"""Characters of an error in the output."""


@dataclass(frozen=True, slots=True)
class PendingJobs:
    """Number of jobs that are left, and why one failed, if one did."""

    count: int
    error: str = ""


_PENDING: ContextVar[PendingJobs | None] = ContextVar("pending_jobs", default=None)


@contextmanager
def small_jobs_after(memory: "Memory", *, is_worker: bool = False) -> Iterator[None]:
    """Run small jobs at the end, if the command queued any; a command that `is_worker` runs them anyway.

    A failing job does not fail the command.
    """
    queued = list[bool]()
    _PENDING.set(None)
    memory.store.on_queued = lambda: queued.append(True)
    yield
    if queued and not is_worker:
        _PENDING.set(_run_small_jobs(memory))


def _run_small_jobs(memory: "Memory") -> PendingJobs:
    try:
        left = memory.run_small_jobs()
    except Exception as exc:  # noqa: BLE001 - the command is done: later failures are reported, not raised
        return PendingJobs(1, f"{type(exc).__name__}: {exc}")
    return PendingJobs(left.pending, left.error)


def pending_document() -> Mapping[str, Any]:
    """JSON fields about the jobs that the last command left; empty if it queued none."""
    pending = _PENDING.get()
    if pending is None:
        return {}
    return {"pending_jobs": pending.count, **({"jobs_error": pending.error} if pending.error else {})}


def pending_lines() -> Iterator[str]:
    """Lines for people about the jobs that the last command left."""
    pending = _PENDING.get()
    if pending is None:
        return
    if pending.error:
        error = " ".join(pending.error.split())[:_MAX_ERROR]
        yield f"a background job failed ({error}); nothing is lost, run `treering doctor` for details"
    if pending.count:
        jobs = "1 job is" if pending.count == 1 else f"{pending.count:,} jobs are"
        yield f"{jobs} pending: run `treering settle`"
