"""Parts of an answer that a language model writes from stored records."""

from dataclasses import dataclass
from enum import StrEnum


class AnswerStatus(StrEnum):
    """How a written answer ended."""

    WRITTEN = "written"
    NOT_FOUND = "not_found"
    """The model says that the passages do not answer the question."""
    UNSUPPORTED = "unsupported"
    """No sentence had a valid citation, so none is part of the answer."""
    UNAVAILABLE = "unavailable"
    """No model is configured, it may not read the question or the passages, or it failed; `reason` says which."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that a model wrote, without its marks, and the numbers of the passages that it cites: at least one."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of a written answer. `left_out` are sentences without a valid citation; they are not part of it."""

    status: AnswerStatus
    reason: str = ""
    model: str = ""
    left_out: tuple[str, ...] = ()
    withheld: int = 0
    """Passages that the model may not read, because they are private and it runs on another machine."""
