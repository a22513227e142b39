"""The definition of a task: goals, constraints, success criteria, plan and system texts."""

from collections.abc import Iterable, Mapping

from treering.core.errors import InvalidInput
from treering.core.values import Key, Keys, Text, Value
from treering.task.content import content_of
from treering.task.state import SubtaskStatus, TaskState, TaskSubtask


class Constraint(Value):
    """A condition that must hold; a `critical` one is always in the prompt."""

    text: Text
    critical: bool = False


class PlannedSubtask(Value):
    """One subtask of a plan. `uses` names the subtasks whose outputs it needs."""

    id: Key
    description: Text = ""
    uses: Keys = ()


def load_texts(state: TaskState, kind: str, texts: Iterable[str] | str) -> None:
    """Replace all entries of a kind by `texts`."""
    for entry in state.of_kind(kind):
        state.drop(entry.id)
    for text in [texts] if isinstance(texts, str) else texts:
        state.add(kind, content_of(_text(kind, text)))


def load_constraints(state: TaskState, constraints: Iterable[str | Constraint | Mapping[str, object]]) -> None:
    known = [_constraint(each) for each in constraints]
    load_texts(state, "critical", [each.text for each in known if each.critical])
    load_texts(state, "constraint", [each.text for each in known if not each.critical])


def load_plan(state: TaskState, plan: Iterable[str | PlannedSubtask | Mapping[str, object]]) -> None:
    """Replace the plan; subtasks that are in both plans keep their status."""
    steps = [_planned(number, each) for number, each in enumerate(plan, 1)]
    known = {step.id for step in steps} | set(state.subtasks)
    if len({step.id for step in steps}) < len(steps):
        raise InvalidInput("two subtasks of the plan have the same id; give each a unique id")
    if missing := [id for step in steps for id in step.uses if id not in known]:
        raise InvalidInput(
            f"the plan uses {missing[0]!r}, which is not one of its subtasks; add it or remove it from `uses`"
        )
    load_texts(state, "step", [])
    planned = {step.id for step in steps}
    for removed in [
        id for id, each in state.subtasks.items() if each.status is SubtaskStatus.PENDING and id not in planned
    ]:
        del state.subtasks[removed]
    for step in steps:
        before = state.subtasks.get(step.id) or TaskSubtask(id=step.id)
        state.set_subtask(before.replace(uses=step.uses))
        needs = f" (uses {', '.join(step.uses)})" if step.uses else ""
        state.add("step", content_of(f"{step.description}{needs}"), subtask=step.id, label=step.id)


def start(state: TaskState, id: str, description: str) -> None:
    """Make a subtask the current one. The description defaults to that of the plan."""
    if not description:
        planned = [entry for entry in state.of_kind("step") if entry.subtask == id]
        description = planned[0].shown if planned else ""
    _set_status(state, id, SubtaskStatus.IN_PROGRESS)
    state.add("current", content_of(_text("description", description)), subtask=id, label=id)


def finish(state: TaskState, id: str, status: SubtaskStatus) -> None:
    """End a subtask with a status."""
    _set_status(state, id, status)
    if status is SubtaskStatus.COMPLETED:
        state.add("done", content_of(""), subtask=id, label=id)


def _set_status(state: TaskState, id: str, status: SubtaskStatus) -> None:
    for entry in state.of_kind("current", "done"):
        if entry.subtask == id:
            state.drop(entry.id)
    before = state.subtasks.get(id) or TaskSubtask.make(id=id)
    state.set_subtask(before.replace(status=status))


def _constraint(given: str | Constraint | Mapping[str, object]) -> Constraint:
    if isinstance(given, Constraint):
        return given
    return Constraint.make(**given) if isinstance(given, Mapping) else Constraint.make(text=given)


def _planned(number: int, step: str | PlannedSubtask | Mapping[str, object]) -> PlannedSubtask:
    if isinstance(step, PlannedSubtask):
        return step
    if isinstance(step, str):
        return PlannedSubtask.make(id=f"s{number}", description=step)
    return PlannedSubtask.make(**step)


def _text(kind: str, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"a {kind} must be text, not {type(text).__name__}; write it as a sentence")
    return text
