"""What was given to an agent unasked: at which point of its loop, in which session, and with which outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from treering.core.injection_rules import AFTER_COMPACTION, group_of_session
from treering.core.scope import Visibility
from treering.core.values import Count, Instant, Key, Label, Record, Share, Text


class InjectionPoint(StrEnum):
    """Points of an agent's loop at which memory may inject: start of a session, prompt, after a tool, between steps."""

    START = "start"
    PROMPT = "prompt"
    TOOL = "tool"
    STEP = "step"


class ItemKind(StrEnum):
    """What an injected item is. Files are named by their path, everything else by its id."""

    KNOWLEDGE = "knowledge"
    PATTERN = "pattern"
    EPISODE = "episode"
    FILE = "file"


class ItemOutcome(StrEnum):
    """What the session did with an item."""

    USED = "used"
    IGNORED = "ignored"
    CONTRADICTED = "contradicted"


class SessionGroup(StrEnum):
    """How much a session is given: nothing, only at its start, or at every point. Every group is observed."""

    CONTROL = "control"
    PASSIVE = "passive"
    FULL = "full"


def session_group(project: str, session: str) -> SessionGroup:
    """The group of a session, the same on every machine: 5 % control, 10 % passive, 85 % full."""
    return SessionGroup(group_of_session(project, session))


class InjectedItem(Record):
    """One item of an injection. `injection` is the same for all items that were given together.

    `score` is the estimated chance that the session uses it; `outcome` is None until the session has ended.
    """

    session: Key
    point: InjectionPoint
    kind: ItemKind
    item: Text
    injection: Key
    injected_at: Instant
    place: Count = 0
    step: Count = 0
    type: Label | None = None
    text: Text = ""
    reason: Text = ""
    tokens: Count = 0
    score: Share = 0.0
    outcome: ItemOutcome | None = None
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT


class SessionAlert(Protocol):
    """An early notice about a running session, such as a search that was repeated."""

    @property
    def text(self) -> str: ...
    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def priority(self) -> float: ...
    @property
    def taint(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Occasion:
    """What happens in an agent's loop now. Files are relative to the project's folder.

    `begin` says how a session starts: startup, resume, clear or compact. `step` counts the tool calls so far; `files`
    are those that the last calls touched, `search` the pattern and `command` the command of the last one, and `error`
    is its output if it failed.
    """

    session: str
    point: InjectionPoint
    agent: str | None = None
    prompt: str = ""
    files: tuple[str, ...] = ()
    search: str = ""
    command: str = ""
    error: str = ""
    step: int = 0
    begin: str = ""
    alerts: tuple[SessionAlert, ...] = ()


@dataclass(frozen=True, slots=True)
class Injection:
    """Text for the agent, what it contains, and its tokens. If the text is empty, `silence` says why."""

    text: str = ""
    items: tuple[InjectedItem, ...] = ()
    tokens: int = 0
    silence: str = ""


def injected_item_id(injection: str, place: int) -> str:
    """Id of an item: the same if an injection is noted twice."""
    return f"{injection}-{place}"


def items_in_context(items: Sequence[InjectedItem]) -> tuple[InjectedItem, ...]:
    """The items of a session that its agent still has: those since its context was last compacted or cleared."""
    compacted = max((each.injected_at for each in items if each.reason.startswith(AFTER_COMPACTION)), default=None)
    return tuple(items) if compacted is None else tuple(each for each in items if each.injected_at >= compacted)
