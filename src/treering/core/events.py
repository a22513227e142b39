"""Events of agent sessions, in the one schema that every reader and every door produces."""

from enum import StrEnum

from pydantic import Field

from treering.core.taint import Taint, Taintable
from treering.core.values import EMPTY, Count, FilePaths, FrozenMap, Instant, Key, Label, Text


class EventKind(StrEnum):
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    PROMPT = "prompt"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    STEP = "step"
    PLAN = "plan"
    SUBTASK = "subtask"
    QA_REPORT = "qa_report"
    COMMIT = "commit"
    SUBAGENT = "subagent"

    @classmethod
    def _missing_(cls, value: object) -> "EventKind | None":
        return _FORMER_KINDS.get(value) if isinstance(value, str) else None


_FORMER_KINDS = {"session_complete": EventKind.SESSION_END, "step_complete": EventKind.STEP}


class SessionType(StrEnum):
    """The work that a session does; it decides what may be promoted."""

    BUILD = "build"
    INSIGHTS = "insights"
    ROADMAP = "roadmap"
    TERMINAL = "terminal"
    CHANGELOG = "changelog"
    SPEC = "spec"
    PR_REVIEW = "pr_review"


class SessionOutcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    ABANDONED = "abandoned"


class Event(Taintable):
    """One event of a session. A tool call and its result share `call_id`; an event with a known `id` is ignored.

    `text` is the prompt, the reasoning, the output of a tool, the plan, the report or the subject of a commit.
    """

    kind: EventKind
    at: Instant
    id: Key | None = None
    session: Key | None = None
    step: Count = 0
    agent: Label | None = None
    tool: Label | None = None
    call_id: Key | None = None
    arguments: FrozenMap = EMPTY
    text: Text = ""
    is_error: bool = False
    duration_ms: float | None = Field(default=None, ge=0)
    tokens: Count | None = None
    files: FilePaths = ()
    tainted: bool = False
    taint: Taint | None = None
    metadata: FrozenMap = EMPTY
