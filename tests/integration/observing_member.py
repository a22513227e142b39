"""Members of a crew that observe sessions until they are killed."""

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.integration.crew_members import die_after, open_place
from tests.integration.fork_server import tell
from tests.observed import RULE, failing
from tests.session_events import ROOT, Session
from treering.observe import after_session
from treering.observe.promotion.finish import Promotion


def events_of(session: str) -> list[dict[str, object]]:
    """A failing test, a rule that is said in every session, and words of the session's own."""
    return failing().prompt(RULE).think(f"I looked at {session}.").prompt(f"This is {session}.").events


def observe_all(sessions: list[str], commits: int = 0, every: int = 3, **place: Any) -> None:
    """Observe sessions with a checkpoint after every few events, finish them and do what follows.

    Each step is told before it is done. With `commits`, the process is killed after so many.
    """
    Promotion.run = _told("promoting", Promotion.run)  # type: ignore[method-assign]
    after_session._store_turns = _told("storing_turns", after_session._store_turns)
    with open_place(**place) as memory:
        die_after(memory, commits)
        for session in sessions:
            watch = memory.observe(session, root=ROOT)
            for number, event in enumerate(events_of(session)):
                tell(event=session)
                watch.event(event)
                if number % every == every - 1:
                    tell(checkpoint=session)
                    watch.checkpoint()
            tell(finishing=session)
            watch.finish()
            tell(finished=session)
            # Jobs that a killed process has leased are left to it for a while.
            memory.settle(timeout=0.5)
            tell(settled=session)


def observe_forever(worker: str, **place: Any) -> None:
    for number in count():
        observe_all([f"{worker}s{number}"], **place)


def share_of(worker: int, workers: int, session: str = "shared") -> list[dict[str, object]]:
    """The part of a session's events that one of several processes sees; each edits files of its own, too."""
    own = Session()
    for number in range(12):
        own.edit(f"tides/w{worker}n{number}.go")
    mine = [{**each, "id": f"w{worker}-{each['id']}", "call_id": f"w{worker}-{each['call_id']}"} for each in own.events]
    return [*mine, *(each for at, each in enumerate(events_of(session)) if at % workers == worker)]


def observe_share(worker: int, workers: int, session: str = "shared", **place: Any) -> None:
    """Pass one's part of a session's events on, a few with each watch, as hooks do; then finish the session."""
    events = share_of(worker, workers, session)
    with open_place(**place) as memory:
        for start in range(0, len(events), 3):
            watch = memory.observe(session, root=ROOT)
            for event in events[start : start + 3]:
                watch.event(event)
            tell(checkpoint=worker)
            watch.checkpoint()
        tell(finishing=worker)
        memory.observe(session, root=ROOT).finish()
        memory.settle(timeout=0.5)


def observe_share_in_one_watch(worker: int, workers: int, session: str = "shared", **place: Any) -> None:
    """Pass one's part of a session's events on with one watch and many checkpoints; then finish the session."""
    with open_place(**place) as memory:
        watch = memory.observe(session, root=ROOT)
        tell(opened=worker)
        for event in share_of(worker, workers, session):
            watch.event(event)
            watch.checkpoint()
        watch.finish()
        memory.settle(timeout=0.5)


def _told(step: str, work: Callable[..., Any]) -> Callable[..., Any]:
    def told(*given: Any, **named: Any) -> Any:
        tell(**{step: True})
        return work(*given, **named)

    return told
