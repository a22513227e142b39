"""What memory brings into a task: passages that fit, none twice."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from treering.core.turns import Turn
from treering.core.values import Key, Text, Value
from treering.task.blocks import CUT
from treering.task.content import content_of
from treering.task.sections import Section
from treering.task.sizes import CHARACTERS
from treering.task.state import Entry, State


class Retrieved(Value):
    """A passage: the record's id, its citation, and its text, which ends with a mark where it was cut."""

    id: Key
    source: Text
    text: Text


Find = Callable[[str, int, bool], Sequence[Retrieved]]
"""Looks for passages: a query, how many, and whether they may be tainted."""


class Hit(Protocol):
    """What recall gives."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def record(self) -> Any: ...


def finder(recall: Callable[..., Iterable[Hit]], task: str) -> Find:
    """Recall as the task's port: what the task itself moved out is left to `resolve`."""

    def find(query: str, limit: int, tainted: bool) -> Sequence[Retrieved]:
        hits = recall(query, limit=2 * limit, thorough=False, tainted=tainted)
        others = [hit for hit in hits if not (isinstance(hit.record, Turn) and hit.record.session == task)]
        return [Retrieved(id=hit.id, source=hit.source, text=hit.text) for hit in others[:limit]]

    return find


def passage(entry: Entry) -> Retrieved:
    return Retrieved.make(id=entry.reference, source=entry.label, text=entry.shown)


def new_among(state: State, found: Iterable[Retrieved]) -> list[Retrieved]:
    """Those that are not here yet, neither by id nor by text."""
    here = state.of_kind("retrieved")
    ids, texts = {entry.reference for entry in here}, {entry.shown for entry in here}
    fresh = []
    for each in found:
        if each.id not in ids and each.text not in texts:
            fresh.append(each)
            ids.add(each.id)
            texts.add(each.text)
    return fresh


def fits(state: State, found: Iterable[Retrieved]) -> bool:
    """Whether all fit whole beside what is here."""
    trial = state.copy()
    for each in found:
        _add(trial, each)
    return not trial.sizes.is_over(Section.RETRIEVED, trial.text)


def fill(state: State, found: Iterable[Retrieved]) -> tuple[Retrieved, ...]:
    """Take in as many as fit, the last one cut."""
    taken = []
    for each in found:
        room = _room(state)
        entry = _add(state, each)
        if not state.sizes.is_over(Section.RETRIEVED, state.text):
            taken.append(each)
            continue
        state.drop(entry.id)
        if (cut := _cut(state, entry, each, room)) is not None:
            taken.append(cut)
        break
    return tuple(taken)


def _add(state: State, found: Retrieved) -> Entry:
    return state.add("retrieved", content_of(found.text), label=found.source, reference=found.id)


def _room(state: State) -> int:
    state.sizes.settle(state.text, Section.RETRIEVED)
    return state.budgets[Section.RETRIEVED] - state.sizes.totals[Section.RETRIEVED]


def _cut(state: State, entry: Entry, found: Retrieved, room: int) -> Retrieved | None:
    """The longest beginning that fits; None where not even a line of it does."""
    low, high = 0, min(len(found.text) - 1, room * CHARACTERS)
    while low < high:
        middle = (low + high + 1) // 2
        whole = state.count(state.block(entry, found.text[:middle] + CUT))
        low, high = (middle, high) if whole <= room else (low, middle - 1)
    if low < min(state.extract_characters, len(found.text) // 2):
        return None
    short = found.replace(text=found.text[:low].rstrip() + CUT)
    _add(state, short)
    return short
