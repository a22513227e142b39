"""Pruning of a task over budget, in fixed steps. Items are stored before they leave the task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from treering.core.secrets import redact
from treering.core.values import Count, Key, Text, Value, thaw
from treering.task.blocks import folded
from treering.task.content import extract_of
from treering.task.items import TaskItem, items_of
from treering.task.references import TaskStore
from treering.task.sections import KINDS, Section
from treering.task.state import TaskEntry, TaskState

OLD_AFTER_OUTPUTS = 5  # outputs with this many newer ones are removed first, unless a later subtask uses them
LINES_SHARE = 0.25  # share of a section that such lines may take; the oldest beyond it are only counted
PRUNED_SHARE = 0.8  # how full a summarised section is left, or the next item would be too much again


class StepName(StrEnum):
    MOVE_RESULTS = "move_results"
    SUMMARISE_TRACES = "summarise_traces"
    DROP_UNREAD = "drop_unread"
    SUMMARISE_ALL = "summarise_all"


class PruneStep(Value):
    """One step: the items it changed, total tokens before and after, and the ids of stored turns."""

    name: StepName
    items: tuple[Text, ...] = ()
    tokens_before: Count
    tokens_after: Count
    references: tuple[Key, ...] = ()
    warning: Text = ""


class PruneReport(Value):
    """The steps that ran, in order; a step that changed nothing has no items."""

    steps: tuple[PruneStep, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(item for step in self.steps for item in step.items)


@dataclass(frozen=True, slots=True)
class StepResult:
    """The items a step changed, and the ids of the turns it stored."""

    items: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def __add__(self, more: "StepResult") -> "StepResult":
        items = dict.fromkeys((*self.items, *more.items))
        return StepResult(tuple(items), (*self.references, *more.references))


Sections = tuple[Section, ...]
RunStep = Callable[[TaskState, TaskStore, Sections], StepResult]


def prune(state: TaskState, task_store: TaskStore, *, thorough: bool) -> PruneReport:
    """Change `state` until every section is within its budget.

    With `thorough`, all cold items are moved out first; otherwise only sections over budget are changed.
    """
    state.sizes.count_estimated(state.text)
    steps: list[PruneStep] = []
    for name, (section, _) in STEPS.items():
        over = state.over()
        wanted = over if section is None else (section,) if thorough or section in over else ()
        if wanted:
            steps.append(_run(name, state, task_store, wanted))
    return PruneReport(steps=tuple(steps))


def prune_unread(state: TaskState, task_store: TaskStore) -> tuple[PruneStep, ...]:
    """Run only the step that drops unread passages."""
    state.sizes.count_estimated(state.text)
    return (_run(StepName.DROP_UNREAD, state, task_store, (Section.RETRIEVED,)),)


def _run(name: StepName, state: TaskState, task_store: TaskStore, sections: Sections) -> PruneStep:
    before = sum(state.sizes.totals.values())
    done = STEPS[name][1](state, task_store, sections)
    state.sizes.count_estimated(state.text)
    return PruneStep.make(
        name=name,
        items=done.items,
        tokens_before=before,
        tokens_after=sum(state.sizes.totals.values()),
        references=done.references,
        warning=_warning(sections) if name is StepName.SUMMARISE_ALL and done.items else "",
    )


def _drop_unread(state: TaskState, task_store: TaskStore, sections: Sections) -> StepResult:
    """Drop retrieved passages that were not read; memory still has them."""
    unread = [entry for entry in state.of_kind("retrieved") if not entry.read]
    for entry in unread:
        state.drop(entry.id)
    return StepResult(tuple(entry.reference or entry.id for entry in unread))


def _move_results(state: TaskState, task_store: TaskStore, sections: Sections) -> StepResult:
    """Move out old outputs that no open subtask uses, together with their subtasks' variables."""
    needed = {id for subtask in state.subtasks.values() if subtask.is_ahead for id in subtask.uses}
    old = [
        state.entries[str(item.id)]
        for item in items_of(state, OLD_AFTER_OUTPUTS)
        if item.kind == "result" and item.whole and item.back > OLD_AFTER_OUTPUTS
    ]
    leaving = sorted((entry for entry in old if entry.subtask not in needed), key=lambda entry: entry.order)
    leaving_ids = {entry.id for entry in leaving}
    staying = {
        each.subtask for each in state.of_kind("result") if each.content is not None and each.id not in leaving_ids
    }
    owners = {entry.id: entry.subtask for entry in leaving if entry.subtask and entry.subtask not in staying}
    variables = {id: state.variables.of("intermediate", owner) for id, owner in owners.items()}
    done = _move(state, task_store, leaving, variables)
    for owner in owners.values():
        state.remove_variables("intermediate", owner)
    return done + _fold_lines(state, Section.RESULTS)


def _summarise_traces(state: TaskState, task_store: TaskStore, sections: Sections) -> StepResult:
    whole = [entry for entry in state.of_kind("trace") if entry.content is not None]
    return _move(state, task_store, whole, {}) + _fold_lines(state, Section.EXECUTION)


def _summarise_all(state: TaskState, task_store: TaskStore, sections: Sections) -> StepResult:
    """Reduce items to one line each, oldest first; if that is not enough, reduce lines to a count."""
    done = StepResult()
    for section in sections:
        done += _fold_lines(state, section)
        for choose, change in ((_to_shorten, _shorten), (_to_fold, _fold)):
            chosen = choose(state, section, _by_age(state, section))
            leaving = [entry for item in chosen if (entry := _entry_to_store(state, item)) is not None]
            done += StepResult((), _move(state, task_store, leaving, {}).references)
            done += change(state, section, chosen)
    return done


STEPS: Mapping[StepName, tuple[Section | None, RunStep]] = {
    StepName.MOVE_RESULTS: (Section.RESULTS, _move_results),
    StepName.SUMMARISE_TRACES: (Section.EXECUTION, _summarise_traces),
    StepName.DROP_UNREAD: (Section.RETRIEVED, _drop_unread),
    StepName.SUMMARISE_ALL: (None, _summarise_all),
}
"""In order; the last acts on every section that is still over budget."""


def _move(
    state: TaskState, task_store: TaskStore, entries: Sequence[TaskEntry], variables: Mapping[str, Mapping[str, object]]
) -> StepResult:
    """Store entries and keep one line of each. Redacts before cutting: half a secret would not be recognised."""
    characters = state.extract_characters
    lines = [entry.replace(extract=extract_of(redact(entry.shown).text, characters)) for entry in entries]
    ids = task_store.put(
        lines, {id: {key: thaw(value) for key, value in values.items()} for id, values in variables.items()}
    )
    for entry in lines:
        state.put(entry.replace(content=None, reference=ids[entry.id]))
        if entry.kind == "result" and entry.subtask in state.subtasks:
            moved = state.subtasks[entry.subtask].replace(output=ids[entry.id])
            state.subtasks[entry.subtask] = moved
    return StepResult(tuple(entry.id for entry in lines), tuple(ids.values()))


def _by_age(state: TaskState, section: Section) -> list[TaskItem]:
    in_section = (item for item in items_of(state, OLD_AFTER_OUTPUTS) if item.section is section)
    return sorted(in_section, key=lambda item: item.by_age)


def _fold_lines(state: TaskState, section: Section) -> StepResult:
    """Limit the lines of moved items to their share of the section; the oldest beyond it are only counted."""
    lines = [item for item in _by_age(state, section) if item.id in state.entries and not item.whole]
    need = sum(state.sizes.of(item.id) for item in lines) - int(LINES_SHARE * state.budgets[section])
    chosen = []
    for item in lines:
        if need > 0:
            chosen.append(item)
            need -= state.sizes.of(item.id)
    return _fold(state, section, chosen)


def _entry_to_store(state: TaskState, item: TaskItem) -> TaskEntry | None:
    """The entry of an item, if its content exists nowhere else."""
    entry = state.entries.get(item.id) if isinstance(item.id, str) else None
    return entry if entry is not None and item.whole and KINDS[item.kind].leaves else None


def _to_shorten(state: TaskState, section: Section, items: Sequence[TaskItem]) -> list[TaskItem]:
    """The first items whose shortening brings the section to its target, or all that become shorter."""
    need = _excess(state, section)
    chosen = []
    for item in items:
        if need > 0 and (gain := _saved_tokens(state, item)) > 0:
            chosen.append(item)
            need -= gain
    return chosen


def _saved_tokens(state: TaskState, item: TaskItem) -> int:
    """Tokens saved by showing one line instead of the full item; 0 if the line is not shorter."""
    line = state.text(item.id, short=True)
    if not item.whole or len(line) >= len(state.text(item.id)):
        return 0
    return state.sizes.of(item.id) - state.count(line)


def _excess(state: TaskState, section: Section) -> int:
    """Tokens to remove from a section over budget. The target is below the budget, to leave space for new items."""
    if state.sizes.totals[section] <= state.budgets[section]:
        return 0
    return state.sizes.totals[section] - int(PRUNED_SHARE * state.budgets[section])


def _to_fold(state: TaskState, section: Section, items: Sequence[TaskItem]) -> list[TaskItem]:
    need = _excess(state, section)
    if need <= 0:
        return []
    need += state.count(folded(state.unseen(section) + len(items)))
    chosen = []
    for item in items:
        if need > 0:
            chosen.append(item)
            need -= state.sizes.of(item.id)
    return chosen


def _shorten(state: TaskState, section: Section, items: Sequence[TaskItem]) -> StepResult:
    for item in items:
        if isinstance(item.id, tuple):
            state.show_less(item.id, hidden=False)
        elif item.kind == "state":
            state.show_frame(item.id, "line")
        elif (entry := state.entries[item.id]).content is not None:
            state.put(entry.replace(content=None, extract=extract_of(entry.shown, state.extract_characters)))
    state.sizes.count_estimated(state.text, section)
    return StepResult(tuple(item.name for item in items))


def _fold(state: TaskState, section: Section, items: Sequence[TaskItem]) -> StepResult:
    for item in items:
        if isinstance(item.id, tuple):
            state.show_less(item.id, hidden=True)
        elif item.kind == "state":
            state.show_frame(item.id, "nothing")
        else:
            state.drop(item.id)
            state.folded[section] += 1
    state.measure_fold(section)
    state.sizes.count_estimated(state.text, section)
    return StepResult(tuple(item.name for item in items))


def _warning(sections: Sequence[Section]) -> str:
    return (
        f"{', '.join(sections)}: over budget after all cold items were moved out, so the rest was summarised; "
        "split the task, or raise `task.total`"
    )
