"""Passages that a task retrieves from memory, without duplicates and within the budget of their section."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from treering.core.turns import Turn
from treering.core.values import Key, Text, Value
from treering.render.page import longest_beginning
from treering.task.blocks import CUT_MARK
from treering.task.content import content_of
from treering.task.sections import Section
from treering.task.state import TaskEntry, TaskState


class RetrievedPassage(Value):
    """A passage: record id, citation, and text, which ends with a mark if it was cut."""

    id: Key
    source: Text
    text: Text


FindPassages = Callable[[str, int, bool], Sequence[RetrievedPassage]]
"""Searches for passages: query, limit, and whether tainted records are included."""


class TaskSearchHit(Protocol):
    """A search result, as far as a task uses it."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def record(self) -> Any: ...


def passage_finder(search: Callable[..., Iterable[TaskSearchHit]], task: str) -> FindPassages:
    """Search without the items that the task itself moved out: `resolve` returns those."""

    def find(query: str, limit: int, tainted: bool) -> Sequence[RetrievedPassage]:
        hits = search(query, limit=2 * limit, thorough=False, tainted=tainted)
        others = [hit for hit in hits if not (isinstance(hit.record, Turn) and hit.record.session == task)]
        return [RetrievedPassage(id=hit.id, source=hit.source, text=hit.text) for hit in others[:limit]]

    return find


def passage(entry: TaskEntry) -> RetrievedPassage:
    return RetrievedPassage.make(id=entry.reference, source=entry.label, text=entry.shown)


def new_passages(state: TaskState, found: Iterable[RetrievedPassage]) -> list[RetrievedPassage]:
    """Passages whose id and text are not in the task yet."""
    present = state.of_kind("retrieved")
    ids, texts = {entry.reference for entry in present}, {entry.shown for entry in present}
    fresh = []
    for each in found:
        if each.id not in ids and each.text not in texts:
            fresh.append(each)
            ids.add(each.id)
            texts.add(each.text)
    return fresh


def fits(state: TaskState, found: Iterable[RetrievedPassage]) -> bool:
    """Whether all passages fit uncut into the section."""
    trial = state.copy()
    for each in found:
        _add(trial, each)
    return not trial.sizes.is_over(Section.RETRIEVED, trial.text)


def fill(state: TaskState, found: Iterable[RetrievedPassage]) -> tuple[RetrievedPassage, ...]:
    """Add as many passages as fit, cutting the last one. Returns those added."""
    taken = []
    for each in found:
        free = _free_tokens(state)
        entry = _add(state, each)
        if not state.sizes.is_over(Section.RETRIEVED, state.text):
            taken.append(each)
            continue
        state.drop(entry.id)
        if (cut := _cut(state, entry, each, free)) is not None:
            taken.append(cut)
        break
    return tuple(taken)


def _add(state: TaskState, found: RetrievedPassage) -> TaskEntry:
    return state.add("retrieved", content_of(found.text), label=found.source, reference=found.id)


def _free_tokens(state: TaskState) -> int:
    state.sizes.count_estimated(state.text, Section.RETRIEVED)
    return state.budgets[Section.RETRIEVED] - state.sizes.totals[Section.RETRIEVED]


def _cut(state: TaskState, entry: TaskEntry, found: RetrievedPassage, free: int) -> RetrievedPassage | None:
    """The longest beginning that fits, or None if that is shorter than an extract."""
    beginning = longest_beginning(
        found.text, free, lambda start: state.count(state.block(entry, start + CUT_MARK)) <= free
    )
    if len(beginning) < min(state.extract_characters, len(found.text) // 2):
        return None
    short = found.replace(text=beginning + CUT_MARK)
    _add(state, short)
    return short
