"""Requests and answers of working memory."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from treering.core.errors import InvalidInput
from treering.interfaces.rest.schemas import Answered, Asked, Text

StepName = Literal[
    "load_task_context",
    "start",
    "complete",
    "add_intermediate",
    "fail",
    "trace",
    "set",
    "accumulate",
    "record_model_call",
    "push_state",
    "pop_state",
    "retrieve_from_episodic",
    "read",
    "prune",
    "bring_back",
    "clear",
]
STEP_FIELDS: Mapping[StepName, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load_task_context": (("context",), ()),
    "start": (("subtask",), ("description",)),
    "complete": (("subtask",), ()),
    "add_intermediate": (("subtask", "output"), ()),
    "fail": (("subtask", "error"), ()),
    "trace": (("text",), ()),
    "set": (("key", "value"), ("scope", "subtask")),
    "accumulate": (("key", "value"), ()),
    "record_model_call": (("tokens",), ("cost",)),
    "push_state": (("phase",), ("subtask", "data")),
    "pop_state": ((), ()),
    "retrieve_from_episodic": (("query",), ("limit", "tainted")),
    "read": (("id",), ()),
    "prune": ((), ()),
    "bring_back": (("reference",), ()),
    "clear": ((), ()),
}
"""Required and optional fields of each step: the arguments of the verb of the same name."""


class TaskContextBody(Asked):
    """Definition of a task; what is left out stays as it is."""

    description: str | None = Field(default=None, min_length=1)
    goals: list[str] | None = None
    constraints: list[str | dict[str, Any]] | None = Field(
        default=None, description="Texts, or objects with `text` and `critical`."
    )
    success_criteria: list[str] | None = None
    plan: list[str | dict[str, Any]] | None = Field(
        default=None, description="Texts, or objects with `id`, `description` and `uses`."
    )
    system: list[str] | None = None


class TaskRequest(TaskContextBody):
    """A task to start."""

    description: Text
    id: str | None = Field(default=None, description="Id; by default a new one.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"description": "Add token authentication", "plan": [{"id": "choose"}, {"id": "write"}]}]
        },
    )


class TaskStep(Asked):
    """One verb of working memory with its arguments; which ones it takes depends on `do`."""

    do: StepName
    context: TaskContextBody | None = None
    subtask: str | None = None
    description: str | None = None
    output: Any = None
    error: str | None = None
    text: str | None = None
    key: str | None = None
    value: Any = None
    scope: Literal["execution", "intermediate", "task", "global", "metadata"] | None = None
    tokens: int | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0)
    phase: str | None = None
    data: dict[str, Any] | None = None
    query: str | None = Field(default=None, max_length=20_000)
    limit: int | None = Field(default=None, ge=1, le=100)
    tainted: bool | None = None
    id: str | None = None
    reference: str | None = Field(
        default=None, description="Id of an item that was moved out, or its name in a prompt."
    )

    @model_validator(mode="after")
    def _takes_its_own_fields(self) -> Self:
        required, optional = STEP_FIELDS[self.do]
        given = self.model_fields_set - {"do"}
        if missing := [name for name in required if name not in given]:
            raise ValueError(f"{self.do} needs {', '.join(missing)}")
        if foreign := sorted(given - {*required, *optional}):
            raise ValueError(f"{self.do} does not take {', '.join(foreign)}")
        return self

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the verb."""
        given = {name: getattr(self, name) for name in self.model_fields_set - {"do", "context", "data"}}
        if nulls := sorted(name for name, value in given.items() if value is None and name not in ("value", "output")):
            raise InvalidInput(f"{', '.join(nulls)} of {self.do} is null; leave it out or give it a value")
        if taken := sorted({"phase", "subtask"} & (self.data or {}).keys()):
            raise InvalidInput(f"data of push_state has {', '.join(taken)}, which is a field of its own; rename it")
        context = {} if self.context is None else self.context.given()
        return {**given, **context, **(self.data or {})}


class StepsRequest(Asked):
    """Steps in their order: all of them are carried out and saved, or none."""

    steps: list[TaskStep] = Field(min_length=1, max_length=100)

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"steps": [{"do": "start", "subtask": "choose"}, {"do": "set", "key": "a", "value": 1}]}]
        },
    )


class FinishTaskRequest(Asked):
    """How a task ended, and what the task cannot know."""

    outcome: Literal["SUCCESS", "PARTIAL", "FAILURE"] = "SUCCESS"
    insights: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class SaveRequest(Asked):
    name: str = Field(default="latest", min_length=1, max_length=200)


class SubtaskAnswer(Answered):
    id: str
    uses: tuple[str, ...]
    status: str
    output: str | None = Field(description="Where its output was moved, if it was.")


class StateFrame(Answered):
    """A state of the stack."""

    phase: str
    at: datetime
    subtask: str | None
    data: dict[str, Any]


class SectionTokens(Answered):
    """Tokens of a section, in total and by temperature."""

    section: str
    tokens: int
    budget: int
    items: int
    unseen: int
    hot: int
    warm: int
    cold: int


class TaskTokens(Answered):
    tokens: int
    budget: int
    sections: list[SectionTokens]


class PruneStepAnswer(Answered):
    """A step of pruning that changed something."""

    name: str
    items: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    references: tuple[str, ...]
    warning: str


class TaskAnswer(Answered):
    """A task as it was saved last."""

    id: str
    description: str
    subtasks: list[SubtaskAnswer]
    stack: list[StateFrame]
    usage: TaskTokens


class StepsAnswer(Answered):
    """What each step returned (null if it returns nothing), what was pruned meanwhile, and the task."""

    results: list[Any]
    pruned: list[PruneStepAnswer]
    task: TaskAnswer


class OmittedTaskItem(Answered):
    item: str
    why: str


class TaskPrompt(Answered):
    """The task as text for a prompt, within its budget."""

    text: str
    tokens: int
    budget: int
    shown: tuple[str, ...]
    left_out: list[OmittedTaskItem]
    warnings: tuple[str, ...]


class TaskValue(Answered):
    """A value of a task: JSON, or bytes as `base64`."""

    value: Any = None
    base64: str | None = None


class TaskReference(Answered):
    """An item that was moved out."""

    id: str
    entry: str
    what: str
    subtask: str | None
    form: str
    size: int
    extract: str
    at: datetime


class TaskReferences(Answered):
    items: list[TaskReference]
