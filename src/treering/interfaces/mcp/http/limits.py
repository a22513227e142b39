"""What one client may take of a server that others want too."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The same for every server: whoever starts one is not asked for them."""

    body_bytes: int = 4 * 1024 * 1024
    """How long a request can be: the longest text that is kept, each of its characters escaped, with room to spare."""
    request_seconds: float = 30.0
    """How long a request may take to arrive; who is slower only holds a connection that others want."""
    keep_alive_seconds: int = 75
    """How long an idle connection stays. Longer than clients keep theirs: if both let go at once, a request is lost."""
    connections: int = 500
    """Connections at once: half of the files that a process may usually have open."""
    sessions: int = 1_000
    """Sessions of clients that speak the previous protocol: each costs some kilobytes until it is left alone."""
    session_idle_seconds: float = 1_800.0
    """How long a session without any open request is kept; a client that keeps to the protocol then begins
    another by itself."""
    ending_seconds: int = 1
    """How long calls may go on when the server is asked to end: what nobody waits for longer at a prompt."""
