"""The jobs that a command leaves: done if they are small, and named in its output if not."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering.maintenance.inline_jobs import JobsLeft
    from treering.memory import Memory

_LEFT: "ContextVar[JobsLeft | None]" = ContextVar("jobs_left", default=None)


@contextmanager
def jobs_done(memory: "Memory", *, works: bool = False) -> "Iterator[None]":
    """Do small jobs at the end, if the command queued any and does not itself work on jobs.

    Whatever goes wrong with them fails no command.
    """
    queued = list[bool]()
    _LEFT.set(None)
    memory.store.on_queued = lambda: queued.append(True)
    yield
    if queued and not works:
        _LEFT.set(_left(memory))


def _left(memory: "Memory") -> "JobsLeft":
    try:
        return memory.run_small_jobs()
    except Exception as exc:  # noqa: BLE001 - the command is done: what fails after it is reported, not raised
        from treering.maintenance.inline_jobs import JobsLeft

        return JobsLeft(1, f"{type(exc).__name__}: {exc}")


def in_document() -> Mapping[str, Any]:
    """For programs: what is left of the last command that queued jobs."""
    left = _LEFT.get()
    if left is None:
        return {}
    return {"pending_jobs": left.pending, **({"jobs_error": left.error} if left.error else {})}


def in_words() -> Iterator[str]:
    """For people, a line each."""
    left = _LEFT.get()
    if left is not None and left.error:
        yield f"work on it failed ({' '.join(left.error.split())[:300]}); nothing is lost, `treering doctor` says more"
    if left is not None and left.pending:
        told = "1 job is" if left.pending == 1 else f"{left.pending:,} jobs are"
        yield f"{told} pending: run `treering settle`"
