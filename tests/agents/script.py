"""What a model does in a test: turns that call a tool or say something, whichever vendor's words they are put in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Request = Mapping[str, Any]
"""The body of what an agent posts to its model."""


@dataclass(frozen=True)
class Calls:
    """A turn that calls one tool; the agent comes back with the tool's result."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Says:
    """A turn that ends the agent's work with these words."""

    text: str


Turn = Calls | Says


@dataclass(frozen=True)
class Reply:
    kind: str
    body: bytes


@dataclass(frozen=True)
class Dialect:
    """How one vendor's API is spoken: what is asked where, and in what form it is answered."""

    asks_for_a_turn: Callable[[str, Request], bool]
    """Whether a post to this path is the agent's own work, and no side errand such as a title for the session."""
    turns_so_far: Callable[[Request], int]
    """How often the model has spoken in the conversation that the agent sends."""
    spoken: Callable[[Turn, Request], Reply]
    errand: Callable[[str, Request], Reply]
    """The answer to whatever is no turn."""
    tool_results: Callable[[Request], Sequence[str]]
    """What the model reads of the tools' results, in the order of the calls."""
