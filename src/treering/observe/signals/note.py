"""Notes: single observations of one session."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from treering.observe.scratchpad import Activity, Signal


@dataclass(frozen=True, slots=True)
class Note:
    """One observation. `subject` is the same in every session that observes the same thing.

    `data` is JSON evidence for the text of a record. `step` is where the evidence was complete. `taint` is the source
    of outside content that came before any part of it. `agents` counts the parallel agents that observed it.
    """

    signal: Signal
    subject: str
    data: Mapping[str, object]
    files: tuple[str, ...]
    step: int
    taint: str | None
    agents: int = 1


@dataclass(frozen=True, slots=True)
class SignalFinding:
    """What a detector found; of too many, the strongest are kept."""

    subject: str
    data: Mapping[str, object]
    files: tuple[str, ...]
    step: int
    strength: float


Detector = Callable[[Activity], Iterator[SignalFinding]]
