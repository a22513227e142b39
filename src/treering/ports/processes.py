"""Identity of long-running writer processes, and whether they are still alive."""

from dataclasses import dataclass
from typing import Protocol

_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class WriterProcess:
    """A writer in a process, unique across processes and machines, with a one-line text form."""

    host: str
    """The machine, or the container, within which process ids are unique."""
    pid: int
    started: str
    """Start time of the process in its machine's own unit; empty if unknown."""
    name: str

    def __str__(self) -> str:
        return f"{self.host} {self.pid} {self.started or _UNKNOWN} {self.name}"

    @classmethod
    def parse(cls, text: str) -> "WriterProcess | None":
        """Parse the text form; None if the text is not one."""
        parts = text.split(" ")
        if len(parts) != 4 or not parts[1].isdecimal():
            return None
        host, pid, started, name = parts
        return cls(host, int(pid), "" if started == _UNKNOWN else started, name)

    @property
    def description(self) -> str:
        """Process and machine, for messages."""
        return f"process {self.pid} on {self.host.partition('/')[0]}"


class ProcessEnded(Protocol):
    def __call__(self, writer: WriterProcess) -> bool:
        """Whether its process is known to have ended; False for one on another machine, which cannot be checked."""
        ...
