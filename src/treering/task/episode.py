"""A task as the episode that is kept of it when it is finished."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput
from treering.core.values import thaw
from treering.task.content import Content, content_of
from treering.task.references import Reference
from treering.task.state import Entry, State

_MILLISECOND = timedelta(milliseconds=1)
STARTED_AT = "started_at"
_STEPS = ("trace", "result", "failure", "done")


def episode_of(
    state: State,
    references: Sequence[Reference],
    content: Callable[[str], Content],
    outcome: str | Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    """What `memory.episode` takes, and the ids of what was `retrieved`.

    Steps are in the order in which they were kept, also those that were moved out. The output is the last one of the
    task; of a failure, the last error. Duration and resources come from the metadata.
    """
    description = "\n".join(_texts(state, "description"))
    if not description:
        raise InvalidInput("the task has no description, so there is nothing to finish; load_task_context gives it one")
    steps = _steps(state, references, content)
    told = isinstance(outcome, Mapping) and "output" in outcome
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
        "output": None if told else _output(steps, outcome),
        **_spent(state, now),
    }


def _spent(state: State, now: datetime) -> dict[str, Any]:
    """How long the task took, its metadata, and how its subtasks ended."""
    metadata = {name: thaw(value) for name, value in state.variables.of("metadata").items()}
    started = metadata.pop(STARTED_AT, None)
    ended = Counter(f"subtasks_{subtask.status.value}" for subtask in state.subtasks.values())
    resources = {**ended, **metadata}
    if not isinstance(started, str):
        return {"resources": resources}
    return {"resources": resources, "duration_ms": max(0.0, (now - datetime.fromisoformat(started)) / _MILLISECOND)}


def _texts(state: State, *kinds: str) -> list[str]:
    return [entry.shown for entry in state.of_kind(*kinds)]


def _steps(
    state: State, references: Sequence[Reference], content: Callable[[str], Content]
) -> list[tuple[str, dict[str, Any]]]:
    """The kind of each step, and the step."""
    here = {entry.id: entry for entry in state.of_kind(*_STEPS)}
    begun = min(entry.order for entry in state.of_kind("description"))
    moved = {
        each.entry: Entry(id=each.entry, kind=each.what, order=order, subtask=each.subtask, reference=each.id)
        for each in references
        # What was moved out before the task was cleared belongs to another episode.
        if each.what in _STEPS and ((order := _order(each.entry)) > begun or each.entry in here)
    }
    answered = {entry.subtask for entry in (*here.values(), *moved.values()) if entry.kind == "result"}
    found = list[tuple[str, dict[str, Any]]]()
    for entry in sorted({**moved, **here}.values(), key=lambda entry: entry.order):
        if entry.kind == "done" and entry.subtask in answered:
            continue
        kept = moved[entry.id] if entry.content is None and entry.id in moved else entry
        held = content(kept.reference) if kept.content is None and kept.reference else kept.content or content_of("")
        found.append((entry.kind, _step(entry, held.shown)))
    return found


def _step(entry: Entry, shown: str) -> dict[str, Any]:
    name = entry.subtask or entry.kind
    if entry.kind == "trace":
        return {"action": shown or name}
    return {"action": name, "output": shown, "is_error": entry.kind == "failure"}


def _order(entry: str) -> int:
    return int(entry.rpartition("-")[2])


def _output(steps: Sequence[tuple[str, Mapping[str, Any]]], outcome: str | Mapping[str, Any]) -> str:
    told = outcome.get("status", "") if isinstance(outcome, Mapping) else outcome
    wanted = "failure" if str(told).strip().upper() == OutcomeStatus.FAILURE else "result"
    return next((str(step["output"]) for kind, step in reversed(steps) if kind == wanted), "")


def _named(name: str, text: str) -> str:
    return f"{name}: {text}" if name and text else name or text
