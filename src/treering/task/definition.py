"""What a task sets out with: goals, constraints, criteria, a plan, and what the agent can do."""

from collections.abc import Iterable, Mapping

from treering.core.errors import InvalidInput
from treering.core.values import Key, Keys, Text, Value
from treering.task.content import content_of
from treering.task.state import State, Status, Subtask


class Constraint(Value):
    """What must hold; a `critical` one is always in the prompt."""

    text: Text
    critical: bool = False


class Planned(Value):
    """One subtask of a plan. `uses` names those whose outputs it needs."""

    id: Key
    description: Text = ""
    uses: Keys = ()


def load_texts(state: State, kind: str, texts: Iterable[str] | str) -> None:
    """Let `texts` take the place of what stood there."""
    for entry in state.of_kind(kind):
        state.drop(entry.id)
    for text in [texts] if isinstance(texts, str) else texts:
        state.add(kind, content_of(_text(kind, text)))


def load_constraints(state: State, constraints: Iterable[str | Constraint | Mapping[str, object]]) -> None:
    known = [_constraint(each) for each in constraints]
    load_texts(state, "critical", [each.text for each in known if each.critical])
    load_texts(state, "constraint", [each.text for each in known if not each.critical])


def load_plan(state: State, plan: Iterable[str | Planned | Mapping[str, object]]) -> None:
    """Let `plan` take the place of the one before; subtasks that stay keep their status."""
    steps = [_planned(number, each) for number, each in enumerate(plan, 1)]
    known = {step.id for step in steps} | set(state.subtasks)
    if len({step.id for step in steps}) < len(steps):
        raise InvalidInput("two subtasks of the plan have the same id; give each its own")
    if missing := [id for step in steps for id in step.uses if id not in known]:
        raise InvalidInput(
            f"the plan uses {missing[0]!r}, which is not a subtask of it; add it or take it out of `uses`"
        )
    load_texts(state, "step", [])
    planned = {step.id for step in steps}
    for gone in [id for id, each in state.subtasks.items() if each.status is Status.PENDING and id not in planned]:
        del state.subtasks[gone]
    for step in steps:
        before = state.subtasks.get(step.id) or Subtask(id=step.id)
        state.set_subtask(before.replace(uses=step.uses))
        needs = f" (uses {', '.join(step.uses)})" if step.uses else ""
        state.add("step", content_of(f"{step.description}{needs}"), subtask=step.id, label=step.id)


def start(state: State, id: str, description: str) -> None:
    """A subtask is under way; without a description, the plan's is shown."""
    if not description:
        planned = [entry for entry in state.of_kind("step") if entry.subtask == id]
        description = planned[0].shown if planned else ""
    _set_status(state, id, Status.IN_PROGRESS)
    state.add("current", content_of(_text("description", description)), subtask=id, label=id)


def finish(state: State, id: str, status: Status) -> None:
    """A subtask ended, well or not."""
    _set_status(state, id, status)
    if status is Status.COMPLETED:
        state.add("done", content_of(""), subtask=id, label=id)


def _set_status(state: State, id: str, status: Status) -> None:
    for entry in state.of_kind("current", "done"):
        if entry.subtask == id:
            state.drop(entry.id)
    before = state.subtasks.get(id) or Subtask.make(id=id)
    state.set_subtask(before.replace(status=status))


def _constraint(given: str | Constraint | Mapping[str, object]) -> Constraint:
    if isinstance(given, Constraint):
        return given
    return Constraint.make(**given) if isinstance(given, Mapping) else Constraint.make(text=given)


def _planned(number: int, step: str | Planned | Mapping[str, object]) -> Planned:
    if isinstance(step, Planned):
        return step
    if isinstance(step, str):
        return Planned.make(id=f"s{number}", description=step)
    return Planned.make(**step)


def _text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"a {what} is text, not {type(text).__name__}; write it as a sentence")
    return text
