"""Scripts of a model: what it does turn by turn, in words that fit every agent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.agents.pages import Page

Request = Mapping[str, Any]
"""Body of a request that an agent sends to its model."""


@dataclass(frozen=True)
class Read:
    """Read a file of the project with the agent's own tool."""

    path: str


@dataclass(frozen=True)
class Edit:
    """Replace a text in a file of the project with the agent's own tool."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Run:
    """Run a shell command in the project with the agent's own tool."""

    command: str


@dataclass(frozen=True)
class Fetch:
    """Read a web page with the agent's own tool, or with a shell command if the agent has none."""

    page: Page


@dataclass(frozen=True)
class UseMemory:
    """Call a tool of the Treering server."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Say:
    """End the agent's turn with a message."""

    text: str


@dataclass(frozen=True)
class After:
    """Call `action` in the test while the agent waits for its model, then do `step`."""

    action: Callable[[], object]
    step: "Step"


Step = Read | Edit | Run | Fetch | UseMemory | Say | After


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by its name in one agent. Arguments that are a string are the input of a free-form tool."""

    tool: str
    arguments: Mapping[str, Any] | str


Turn = ToolCall | Say
"""One answer of the model, in the names of one agent."""


@dataclass(frozen=True)
class Reply:
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Dialect:
    """The API of one vendor: which requests ask for a turn, and the format of the answers."""

    asks_for_turn: Callable[[str, Request], bool]
    """Whether a request to this path continues the session; others ask for a title, a token count and the like."""
    turns_so_far: Callable[[Request], int]
    """Number of turns of the model in the conversation that the agent sends."""
    turn: Callable[[Turn, Request], Reply]
    other: Callable[[str, Request, str], Reply]
    """Answer to a request that does not ask for a turn; the text is that of a page which the agent wants to be read."""
    tool_results: Callable[[Request], Sequence[str]]
    """Results of the tool calls, in order, as the model reads them."""
    pause: Callable[[ToolCall, Request], Reply | None] = lambda _call, _request: None
    """Answer that makes the agent ask again a little later, if it does not offer the called tool yet."""
