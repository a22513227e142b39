"""What goes when room is short, in a fixed order. What leaves is in the store before it leaves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from treering.core.secrets import redact
from treering.core.values import Count, Key, Text, Value, thaw
from treering.task.blocks import folded
from treering.task.content import extract_of
from treering.task.items import Item, items_of
from treering.task.references import Shelf
from treering.task.sections import KINDS, Section
from treering.task.state import Entry, State

OLD_AFTER_OUTPUTS = 5  # an output with so many after it leaves first, unless a later subtask uses it
LINES_SHARE = 0.25  # share of a section that such lines may take; the oldest beyond it are only counted
PRUNED_SHARE = 0.8  # how full a summarised section is left, or the next item would be too much again


class StepName(StrEnum):
    MOVE_RESULTS = "move_results"
    SUMMARISE_TRACES = "summarise_traces"
    DROP_UNREAD = "drop_unread"
    SUMMARISE_ALL = "summarise_all"


class Step(Value):
    """What one step did: to which items, what all sections took before and after, what was stored."""

    name: StepName
    items: tuple[Text, ...] = ()
    tokens_before: Count
    tokens_after: Count
    references: tuple[Key, ...] = ()
    warning: Text = ""


class Report(Value):
    """The steps that ran, in order; those that found nothing have no items."""

    steps: tuple[Step, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(item for step in self.steps for item in step.items)


@dataclass(frozen=True, slots=True)
class Done:
    """What a step touched, and the ids of the turns it stored."""

    items: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def __add__(self, more: "Done") -> "Done":
        items = dict.fromkeys((*self.items, *more.items))
        return Done(tuple(items), (*self.references, *more.references))


Sections = tuple[Section, ...]
Act = Callable[[State, Shelf, Sections], Done]


def prune(state: State, shelf: Shelf, *, thorough: bool) -> Report:
    """Change `state` until every section fits.

    A `thorough` pruning first puts away all that is cold; otherwise a step only touches sections that are over budget.
    """
    state.sizes.settle(state.text)
    steps: list[Step] = []
    for name, (section, _) in STEPS.items():
        over = state.over()
        wanted = over if section is None else (section,) if thorough or section in over else ()
        if wanted:
            steps.append(_run(name, state, shelf, wanted))
    return Report(steps=tuple(steps))


def prune_unread(state: State, shelf: Shelf) -> tuple[Step, ...]:
    """Only the step that makes room for new passages."""
    state.sizes.settle(state.text)
    return (_run(StepName.DROP_UNREAD, state, shelf, (Section.RETRIEVED,)),)


def _run(name: StepName, state: State, shelf: Shelf, sections: Sections) -> Step:
    before = sum(state.sizes.totals.values())
    done = STEPS[name][1](state, shelf, sections)
    state.sizes.settle(state.text)
    return Step.make(
        name=name,
        items=done.items,
        tokens_before=before,
        tokens_after=sum(state.sizes.totals.values()),
        references=done.references,
        warning=_warning(sections) if name is StepName.SUMMARISE_ALL and done.items else "",
    )


def _drop_unread(state: State, shelf: Shelf, sections: Sections) -> Done:
    """What memory brought and nobody read goes; it is still in memory."""
    unread = [entry for entry in state.of_kind("retrieved") if not entry.read]
    for entry in unread:
        state.drop(entry.id)
    return Done(tuple(entry.reference or entry.id for entry in unread))


def _move_results(state: State, shelf: Shelf, sections: Sections) -> Done:
    """Old outputs that no subtask to come uses leave, and their subtasks' variables with them."""
    needed = {id for subtask in state.subtasks.values() if subtask.is_ahead for id in subtask.uses}
    old = [
        state.entries[str(item.id)]
        for item in items_of(state, OLD_AFTER_OUTPUTS)
        if item.kind == "result" and item.whole and item.back > OLD_AFTER_OUTPUTS
    ]
    leaving = sorted((entry for entry in old if entry.subtask not in needed), key=lambda entry: entry.order)
    gone = {entry.id for entry in leaving}
    staying = {each.subtask for each in state.of_kind("result") if each.content is not None and each.id not in gone}
    owners = {entry.id: entry.subtask for entry in leaving if entry.subtask and entry.subtask not in staying}
    own = {id: state.variables.of("intermediate", owner) for id, owner in owners.items()}
    done = _move(state, shelf, leaving, own)
    for owner in owners.values():
        state.forget_variables("intermediate", owner)
    return done + _fold_lines(state, Section.RESULTS)


def _summarise_traces(state: State, shelf: Shelf, sections: Sections) -> Done:
    whole = [entry for entry in state.of_kind("trace") if entry.content is not None]
    return _move(state, shelf, whole, {}) + _fold_lines(state, Section.EXECUTION)


def _summarise_all(state: State, shelf: Shelf, sections: Sections) -> Done:
    """Items become one line, oldest first; where that is not enough, lines become a number."""
    done = Done()
    for section in sections:
        done += _fold_lines(state, section)
        for choose, change in ((_to_shorten, _shorten), (_to_fold, _fold)):
            chosen = choose(state, section, _by_age(state, section))
            leaving = [entry for item in chosen if (entry := _leaves(state, item)) is not None]
            done += Done((), _move(state, shelf, leaving, {}).references)
            done += change(state, section, chosen)
    return done


STEPS: Mapping[StepName, tuple[Section | None, Act]] = {
    StepName.MOVE_RESULTS: (Section.RESULTS, _move_results),
    StepName.SUMMARISE_TRACES: (Section.EXECUTION, _summarise_traces),
    StepName.DROP_UNREAD: (Section.RETRIEVED, _drop_unread),
    StepName.SUMMARISE_ALL: (None, _summarise_all),
}
"""In order; the last acts on whatever section is still over budget."""


def _move(state: State, shelf: Shelf, entries: Sequence[Entry], own: Mapping[str, Mapping[str, object]]) -> Done:
    """Store entries, then keep one line of each; half a secret would not be known for one, so it goes first."""
    characters = state.extract_characters
    lines = [entry.replace(extract=extract_of(redact(entry.shown).text, characters)) for entry in entries]
    ids = shelf.put(lines, {id: {key: thaw(value) for key, value in values.items()} for id, values in own.items()})
    for entry in lines:
        state.put(entry.replace(content=None, reference=ids[entry.id]))
        if entry.kind == "result" and entry.subtask in state.subtasks:
            moved = state.subtasks[entry.subtask].replace(output=ids[entry.id])
            state.subtasks[entry.subtask] = moved
    return Done(tuple(entry.id for entry in lines), tuple(ids.values()))


def _by_age(state: State, section: Section) -> list[Item]:
    mine = (item for item in items_of(state, OLD_AFTER_OUTPUTS) if item.section is section)
    return sorted(mine, key=lambda item: item.by_age)


def _fold_lines(state: State, section: Section) -> Done:
    """Lines about what was moved out get their share of the section; the oldest above it are only counted."""
    lines = [item for item in _by_age(state, section) if item.id in state.entries and not item.whole]
    need = sum(state.sizes.of(item.id) for item in lines) - int(LINES_SHARE * state.budgets[section])
    chosen = []
    for item in lines:
        if need > 0:
            chosen.append(item)
            need -= state.sizes.of(item.id)
    return _fold(state, section, chosen)


def _leaves(state: State, item: Item) -> Entry | None:
    """The entry behind an item, where its content would be lost."""
    entry = state.entries.get(item.id) if isinstance(item.id, str) else None
    return entry if entry is not None and item.whole and KINDS[item.kind].leaves else None


def _to_shorten(state: State, section: Section, items: Sequence[Item]) -> list[Item]:
    """As many as bring the section to where it shall be, or all whose one line is shorter."""
    need = _excess(state, section)
    chosen = []
    for item in items:
        if need > 0 and (gain := _gain(state, item)) > 0:
            chosen.append(item)
            need -= gain
    return chosen


def _gain(state: State, item: Item) -> int:
    """What one line instead of the whole saves; a variable stands in one line anyway."""
    line = state.text(item.id, short=True)
    if not item.whole or len(line) >= len(state.text(item.id)):
        return 0
    return state.sizes.of(item.id) - state.count(line)


def _excess(state: State, section: Section) -> int:
    """Tokens that have to go from a section that is over budget, and some more: or the next item would be too much."""
    if state.sizes.totals[section] <= state.budgets[section]:
        return 0
    return state.sizes.totals[section] - int(PRUNED_SHARE * state.budgets[section])


def _to_fold(state: State, section: Section, items: Sequence[Item]) -> list[Item]:
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


def _shorten(state: State, section: Section, items: Sequence[Item]) -> Done:
    for item in items:
        if isinstance(item.id, tuple):
            state.show_less(item.id, hidden=False)
        elif item.kind == "state":
            state.show_frame(item.id, "line")
        elif (entry := state.entries[item.id]).content is not None:
            state.put(entry.replace(content=None, extract=extract_of(entry.shown, state.extract_characters)))
    state.sizes.settle(state.text, section)
    return Done(tuple(item.name for item in items))


def _fold(state: State, section: Section, items: Sequence[Item]) -> Done:
    for item in items:
        if isinstance(item.id, tuple):
            state.show_less(item.id, hidden=True)
        elif item.kind == "state":
            state.show_frame(item.id, "nothing")
        else:
            state.drop(item.id)
            state.folded[section] += 1
    state.measure_fold(section)
    state.sizes.settle(state.text, section)
    return Done(tuple(item.name for item in items))


def _warning(sections: Sequence[Section]) -> str:
    return (
        f"{', '.join(sections)}: over budget after everything cold was put away; what is left was summarised. "
        "Split the task, or raise `working.total`"
    )
