"""Starts the listener for hooks beside an MCP server. Importing this module must stay cheap: clients wait for it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from treering.interfaces.hooks.live_sessions import LiveSessions
    from treering.memory import Memory


class Host(Protocol):
    """The host of an MCP server: its memory, opened on first use, and whether the first answer was given."""

    @property
    def memory(self) -> Memory: ...
    @property
    def prepared(self) -> threading.Event: ...


def hooks_beside(db: str | None, project: str | None) -> Callable[[Host], Callable[[], None]]:
    """A function that starts the listener for a host, and returns the function that ends it."""

    def start(host: Host) -> Callable[[], None]:
        from treering.interfaces.hooks.listener import Listener
        from treering.interfaces.hooks.location import HookLocation

        try:
            location = HookLocation.here(db, project)
        except OSError:  # the working directory is gone: the server reports it
            return lambda: None

        def open_sessions(socket: str) -> LiveSessions:
            sessions = location.sessions(host.memory, socket)
            sessions.warm_up()
            # What was just loaded stays: a collection during an answer need not go through it.
            gc.freeze()
            return sessions

        listener = Listener(location.folder, open_sessions, ready=host.prepared)
        listener.start()
        return listener.close

    return start
