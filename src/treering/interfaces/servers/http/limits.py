"""Resource limits of an HTTP server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits that are the same for every server."""

    body_bytes: int = 4 * 1024 * 1024
    """Maximum size of a request: the longest text that is stored, with every character escaped."""
    request_seconds: float = 30.0
    """Maximum time for a request to arrive; slower clients only hold connections."""
    keep_alive_seconds: int = 75
    """Lifetime of an idle connection, longer than that of clients: if both close at once, a request is lost."""
    connections: int = 500
    """Maximum number of connections: half of the usual limit of open files."""
    sessions: int = 1_000
    """Maximum number of sessions of the previous protocol; each takes some kilobytes until it expires."""
    session_idle_seconds: float = 1_800.0
    """Lifetime of a session without open requests; a conforming client then starts another."""
    shutdown_seconds: int = 1
    """Time for calls in progress when the server is asked to stop."""
