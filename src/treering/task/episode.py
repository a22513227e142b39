"""The episode of a finished task."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput
from treering.core.values import thaw
from treering.task.content import Content, content_of
from treering.task.references import Reference
from treering.task.state import TaskEntry, TaskState

_MILLISECOND = timedelta(milliseconds=1)
STARTED_AT = "started_at"
_STEPS = ("trace", "result", "failure", "done")


def episode_of(
    state: TaskState,
    references: Sequence[Reference],
    content: Callable[[str], Content],
    outcome: str | Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    """The arguments of `memory.episode`, with the ids of the `retrieved` records.

    Steps are in chronological order, including those that were moved out. The output is the last output of the task, or
    the last error if it failed. Duration and resources come from the metadata.
    """
    description = "\n".join(_texts(state, "description"))
    if not description:
        raise InvalidInput("the task has no description, so it cannot be finished; set one with load_task_context")
    steps = _steps(state, references, content)
    has_output = isinstance(outcome, Mapping) and "output" in outcome
    criteria = _texts(state, "criterion")
    context = {name: thaw(value) for name, value in state.variables.of("task").items()}
    return {
        "task": description,
        "goals": _texts(state, "goal"),
        "constraints": _texts(state, "critical", "constraint"),
        "context": {**context, "success_criteria": criteria} if criteria else context,
        "plan": [_named(entry.label, entry.shown) for entry in state.of_kind("step")],
        "trace": [step for _, step in steps],
        "retrieved": [entry.reference for entry in state.of_kind("retrieved") if entry.reference],
        "outcome": outcome,
        "output": None if has_output else _output(steps, outcome),
        **_resources(state, now),
    }


def _resources(state: TaskState, now: datetime) -> dict[str, Any]:
    """Duration, metadata, and the number of subtasks by status."""
    metadata = {name: thaw(value) for name, value in state.variables.of("metadata").items()}
    started = metadata.pop(STARTED_AT, None)
    ended = Counter(f"subtasks_{subtask.status.value}" for subtask in state.subtasks.values())
    resources = {**ended, **metadata}
    if not isinstance(started, str):
        return {"resources": resources}
    return {"resources": resources, "duration_ms": max(0.0, (now - datetime.fromisoformat(started)) / _MILLISECOND)}


def _texts(state: TaskState, *kinds: str) -> list[str]:
    return [entry.shown for entry in state.of_kind(*kinds)]


def _steps(
    state: TaskState, references: Sequence[Reference], content: Callable[[str], Content]
) -> list[tuple[str, dict[str, Any]]]:
    """Each step with its kind."""
    present = {entry.id: entry for entry in state.of_kind(*_STEPS)}
    started = min(entry.order for entry in state.of_kind("description"))
    moved = {
        each.entry: TaskEntry(id=each.entry, kind=each.what, order=order, subtask=each.subtask, reference=each.id)
        for each in references
        # Entries from before the last clear belong to another episode.
        if each.what in _STEPS and ((order := _order(each.entry)) > started or each.entry in present)
    }
    answered = {entry.subtask for entry in (*present.values(), *moved.values()) if entry.kind == "result"}
    found = list[tuple[str, dict[str, Any]]]()
    for entry in sorted({**moved, **present}.values(), key=lambda entry: entry.order):
        if entry.kind == "done" and entry.subtask in answered:
            continue
        source = moved[entry.id] if entry.content is None and entry.id in moved else entry
        held = (
            content(source.reference)
            if source.content is None and source.reference
            else source.content or content_of("")
        )
        found.append((entry.kind, _step(entry, held.shown)))
    return found


def _step(entry: TaskEntry, shown: str) -> dict[str, Any]:
    name = entry.subtask or entry.kind
    if entry.kind == "trace":
        return {"action": shown or name}
    return {"action": name, "output": shown, "is_error": entry.kind == "failure"}


def _order(entry: str) -> int:
    return int(entry.rpartition("-")[2])


def _output(steps: Sequence[tuple[str, Mapping[str, Any]]], outcome: str | Mapping[str, Any]) -> str:
    status = outcome.get("status", "") if isinstance(outcome, Mapping) else outcome
    wanted = "failure" if str(status).strip().upper() == OutcomeStatus.FAILURE else "result"
    return next((str(step["output"]) for kind, step in reversed(steps) if kind == wanted), "")


def _named(name: str, text: str) -> str:
    return f"{name}: {text}" if name and text else name or text
