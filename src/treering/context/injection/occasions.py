"""Occasions as they are looked up: without values that no record can have."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock

from treering.core.errors import InvalidInput
from treering.core.injections import InjectionPoint, Occasion
from treering.core.queries import KnowledgeFilter

_MAX_FILES = 20
_MAX_TEXT = 100_000  # characters
_MAX_SESSIONS, _MAX_SAID, _MAX_TOUCHED = 200, 2_000, 500


def readable_occasion(occasion: Occasion) -> Occasion:
    """The occasion with texts that can be stored and files inside the project. Raises `ValueError` for its point."""
    return replace(
        occasion,
        point=InjectionPoint(occasion.point),
        files=tuple(path for path in occasion.files[:_MAX_FILES] if _is_inside(path)),
        prompt=_text(occasion.prompt),
        search=_text(occasion.search),
        command=_text(occasion.command),
        error=_text(occasion.error),
    )


def says_nothing(occasion: Occasion) -> bool:
    """Whether nothing could be looked up for it."""
    asked = {
        InjectionPoint.PROMPT: (occasion.prompt.strip(),),
        InjectionPoint.TOOL: (occasion.files, occasion.search, occasion.error),
        InjectionPoint.STEP: (occasion.files, occasion.alerts),
    }
    return occasion.point in asked and not any(asked[occasion.point])


def _text(text: str) -> str:
    return text[:_MAX_TEXT].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def _is_inside(path: str) -> bool:
    try:
        KnowledgeFilter.make(files=(path,))
    except InvalidInput:
        return False
    return True


@dataclass(slots=True)
class SessionSoFar:
    """What the user said last in a session, and the files that its agent touched."""

    said: str = ""
    files: dict[str, None] = field(default_factory=dict)


class RecentSessions:
    """The sessions that occasions were about, in bounded memory. Safe to share between threads."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, SessionSoFar] = OrderedDict()
        self._lock = Lock()

    def after(self, occasion: Occasion) -> SessionSoFar:
        """The session of an occasion, which is part of it."""
        with self._lock:
            session = self._sessions.pop(occasion.session, None) or SessionSoFar()
            session.said = "\n".join(filter(None, (occasion.prompt, session.said)))[:_MAX_SAID]
            if len(session.files) < _MAX_TOUCHED:
                session.files |= dict.fromkeys(occasion.files)
            self._sessions[occasion.session] = session
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return SessionSoFar(session.said, dict(session.files))
