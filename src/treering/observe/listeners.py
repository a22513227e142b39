"""Listeners of completed sessions: functions that the caller registers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.observe.reports import SessionReport

SessionListener = Callable[["SessionReport"], object]
_LOG = logging.getLogger(__name__)


class SessionListeners:
    """Listeners of one memory in this process. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: list[SessionListener] = []

    def add(self, listener: SessionListener) -> Callable[[], None]:
        """Call the listener with each report from now on; the returned function removes it."""
        with self._lock:
            self._listeners.append(listener)

        def remove() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return remove

    def notify(self, report: SessionReport) -> None:
        """Call every listener. One that raises is logged and does not keep the others from being called."""
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            try:
                listener(report)
            except Exception:  # noqa: BLE001 - the session is stored, whatever a listener does
                _LOG.exception("a listener of completed sessions failed for session %s", report.id)
