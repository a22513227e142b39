"""Messages between a supervisor and its workers. The supervisor imports no part of the server itself."""

from dataclasses import dataclass, field

READY = b"r"
CLOSED = b"c"
"""Messages to the supervisor: this worker accepts connections; one of its connections has ended."""


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """Configuration of a worker, sent on its standard input, so that no other user sees the token."""

    channel: int
    """File descriptor on which connections arrive. It is closed when the supervisor ends, for whatever reason."""
    db: str | None
    project: str | None
    session: str
    hosts: tuple[str, ...]
    token: str = field(repr=False)

    @property
    def session_key(self) -> bytes:
        """Key of what the workers of one server sign for each other."""
        return f"{self.session} {self.token}".encode()
