"""Observed events of agents, in the schema that every adapter produces."""

from enum import StrEnum

from treering.core.scope import Visibility
from treering.core.taint import Taint, Taintable
from treering.core.values import EMPTY, Count, FilePaths, FrozenMap, Instant, Key, Label, Record, Text


class EventKind(StrEnum):
    SESSION_START = "session_start"
    SESSION_COMPLETE = "session_complete"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    STEP_COMPLETE = "step_complete"
    PLAN = "plan"
    QA_REPORT = "qa_report"
    COMMIT = "commit"


class Event(Taintable, Record):
    """One observed event. Tool calls and results share `call_id`."""

    session: Key
    kind: EventKind
    at: Instant
    step: Count = 0
    agent: Label | None = None
    tool: Label | None = None
    call_id: Key | None = None
    arguments: FrozenMap = EMPTY
    text: Text = ""
    is_error: bool = False
    files: FilePaths = ()
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    tainted: bool = False
    taint: Taint | None = None
    metadata: FrozenMap = EMPTY
