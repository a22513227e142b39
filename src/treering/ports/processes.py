"""What Treering needs to know of processes that write for long: who they are, and whether they are still there."""

from dataclasses import dataclass
from typing import Protocol

_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Writer:
    """Whoever writes in a process, told apart from everybody else in this one and in others, as one line of text."""

    host: str
    """The machine, or the part of it in which numbers of processes mean the same."""
    pid: int
    begun: str
    """When the process began, as its machine counts; empty where it does not tell."""
    name: str

    def __str__(self) -> str:
        return f"{self.host} {self.pid} {self.begun or _UNKNOWN} {self.name}"

    @classmethod
    def named(cls, text: str) -> "Writer | None":
        """None where the text is no writer's."""
        parts = text.split(" ")
        if len(parts) != 4 or not parts[1].isdecimal():
            return None
        host, pid, begun, name = parts
        return cls(host, int(pid), "" if begun == _UNKNOWN else begun, name)

    @property
    def told(self) -> str:
        """In words."""
        return f"process {self.pid} on {self.host.partition('/')[0]}"


class Ended(Protocol):
    def __call__(self, writer: Writer) -> bool:
        """Whether its process is known to have ended; False for one of another machine, which cannot be seen."""
        ...
