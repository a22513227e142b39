"""Occasions and sessions for tests of injections."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from treering.core.injections import Injection, InjectionPoint, Occasion, SessionGroup, session_group
from treering.core.records import Knowledge, Source
from treering.memory import Memory

LONG = 3.0
"""Seconds; times are not what these tests are about."""


def sessions_of(memory: Memory, group: SessionGroup = SessionGroup.FULL) -> Iterator[str]:
    """Ids of sessions of this group."""
    names = (f"session {number}" for number in count())
    return (name for name in names if session_group(memory.scope.project, name) is group)


def session_of(memory: Memory, group: SessionGroup = SessionGroup.FULL) -> str:
    return next(sessions_of(memory, group))


def offer(memory: Memory, point: str, session: str | None = None, **fields: Any) -> Injection:
    return offered(memory, Occasion(session or session_of(memory), InjectionPoint(point), **fields))


def offered(memory: Memory, occasion: Occasion) -> Injection:
    """The offer, made again if the machine is too busy for the longest deadline."""
    tries = (memory.injections.offer(occasion, seconds=LONG) for _ in range(20))
    return next(given for given in tries if given.silence != "deadline")


def taught(memory: Memory, text: str, **fields: Any) -> Knowledge:
    return memory.remember(text, **{"source": Source.USER_TAUGHT, "confidence": 0.95, **fields})


def names(injection: Injection) -> list[str]:
    return [each.item for each in injection.items]
