"""What a supervisor and its workers tell each other. The supervisor imports nothing of the server itself."""

from dataclasses import dataclass, field

READY = b"r"
CLOSED = b"c"
"""Messages to the supervisor: this worker accepts connections; one of its connections has ended."""


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """What a worker is told on its standard input, so that no other user sees the token."""

    channel: int
    """File descriptor on which connections arrive. It is closed when the supervisor ends, for whatever reason."""
    db: str | None
    project: str | None
    session: str
    hosts: tuple[str, ...]
    token: str = field(repr=False)
