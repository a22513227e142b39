"""Everything that a task holds, as it stands. A change is tried on a copy, which then takes its place."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal

from treering.core.errors import InvalidInput
from treering.core.tokens import CountTokens
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Keys, Label, Text, Value
from treering.task import blocks
from treering.task.content import Content, extract_of
from treering.task.sections import KINDS, Section
from treering.task.sizes import Address, ItemId, Sizes, most_tokens
from treering.task.variables import (
    Variables,
    added,
    checked_key,
    checked_scope,
    first_gathered,
    most_shown,
    shown_value,
)

# Beside its name and value, the line of a variable has a heading and some signs.
_LINE = 14


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class Subtask(Value):
    """One step of the plan. `uses` names those whose outputs it needs, `output` where its own was moved to."""

    id: Key
    uses: Keys = ()
    status: Status = Status.PENDING
    output: Key | None = None

    @property
    def is_ahead(self) -> bool:
        """Whether it may still need something; a failed one may be tried again."""
        return self.status is not Status.COMPLETED


class Frame(Value):
    """One state of the stack, shown whole, in one line, or not at all."""

    phase: Label
    at: Instant
    subtask: Key | None = None
    data: FrozenMap = EMPTY
    show: Literal["whole", "line", "nothing"] = "whole"


class Entry(Value):
    """One item of a section: whole (`content`), or one line about what lies in the store under `reference`."""

    id: Key
    kind: Label
    order: Count
    subtask: Key | None = None
    label: Text = ""
    content: Content | None = None
    extract: Text = ""
    reference: Key | None = None
    read: bool = False

    @property
    def shown(self) -> str:
        return self.extract if self.content is None else self.content.shown


class State:
    """Entries, subtasks, frames and variables of a task, with their sizes."""

    def __init__(self, count: CountTokens, budgets: Mapping[Section, int], extract_characters: int) -> None:
        self.count = count
        self.budgets = budgets
        self.extract_characters = extract_characters
        self.entries: dict[str, Entry] = {}
        self.subtasks: dict[str, Subtask] = {}
        self._running: dict[str, None] = {}
        self.frames: list[Frame] = []
        self.variables = Variables()
        self.folded: dict[Section, int] = dict.fromkeys(Section, 0)
        self.order = 0
        self.sizes = Sizes(count, budgets)

    def copy(self) -> "State":
        twin = self.empty()
        twin.entries, twin.subtasks, twin._running = dict(self.entries), dict(self.subtasks), dict(self._running)
        twin.frames, twin.variables = list(self.frames), self.variables.copy()
        twin.folded, twin.order, twin.sizes = dict(self.folded), self.order, self.sizes.copy()
        return twin

    def empty(self) -> "State":
        return State(self.count, self.budgets, self.extract_characters)

    def cleared(self) -> "State":
        """Only what survives clear; names are not given twice."""
        rest = self.empty()
        rest.order = self.order
        rest.variables = self.variables.kept()
        for address, value in list(rest.variables.values.items()):
            rest.set_variable(address, value)
        return rest

    @property
    def current(self) -> str | None:
        """The subtask that was started last and is not finished."""
        return next(reversed(self._running), None)

    def add(self, kind: str, content: Content, **fields: Any) -> Entry:
        """A new entry, the youngest of all."""
        self.order += 1
        entry = Entry.make(id=f"{kind}-{self.order}", kind=kind, order=self.order, content=content, **fields)
        self.put(entry)
        return entry

    def put(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self._measure(entry.id, KINDS[entry.kind].section)

    def drop(self, id: str) -> None:
        del self.entries[id]
        self.sizes.remove(id)

    def of_kind(self, *kinds: str) -> list[Entry]:
        """Oldest first."""
        return sorted((entry for entry in self.entries.values() if entry.kind in kinds), key=lambda entry: entry.order)

    def set_subtask(self, subtask: Subtask) -> None:
        """The last one started stands last: it is the current one."""
        self._running.pop(subtask.id, None)
        if subtask.status is Status.IN_PROGRESS:
            self.subtasks.pop(subtask.id, None)
            self._running[subtask.id] = None
        self.subtasks[subtask.id] = subtask

    def push(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._measure(f"state-{len(self.frames)}", Section.EXECUTION)

    def pop(self) -> Frame:
        depth = len(self.frames)
        self.forget_variables("execution", str(depth))
        self.sizes.remove(f"state-{depth}")
        popped = self.frames.pop()
        self.measure_fold(Section.EXECUTION)
        return popped

    def frame(self, id: str) -> Frame:
        return self.frames[int(id.removeprefix("state-")) - 1]

    def show_frame(self, id: str, show: Literal["line", "nothing"]) -> None:
        """Show less of a frame; its data stays."""
        self.frames[int(id.removeprefix("state-")) - 1] = self.frame(id).replace(show=show)
        self._measure(id, Section.EXECUTION)

    def set_variable(self, address: Address, frozen: Any) -> None:
        """Keep a frozen value; it is shown whole again."""
        hidden = address in self.variables.hidden
        self.variables.put(address, frozen)
        self.sizes.put(address, self.section_of(address), _most(address[2], frozen), self.text)
        if hidden:
            self.measure_fold(self.section_of(address))

    def set_lightly(self, address: Address, frozen: Any) -> bool:
        """Keep a frozen value where it surely fits beside everything else; False changes nothing."""

        def text() -> str:
            return blocks.value(KINDS[self.kind_of(address)].heading, address[2], shown_value(frozen))

        section = self.variables.section_of(address)
        if not self.sizes.put_if_sure(address, section, _most(address[2], frozen), text):
            return False
        hidden = address in self.variables.hidden
        self.variables.put(address, frozen)
        if hidden:
            self.measure_fold(section)
        return True

    def grow_variable(self, address: Address, frozen: Any, more: Any) -> bool:
        """Keep a value that grew by `more`, where that surely fits; what is shown in one line stays so."""
        if address not in self.variables.short and address not in self.variables.hidden:
            section, by = self.section_of(address), most_shown(more) + 4
            if self.sizes.totals[section] + by > self.budgets[section]:
                return False
            self.sizes.grow(address, by)
        self.variables.values[address] = frozen
        return True

    def address(self, key: str, scope: str, subtask: str | None) -> Address:
        """Where a variable is set: in the innermost frame, for the current subtask, or for the whole task."""
        checked_scope(scope)
        owner = ""
        if scope == "execution":
            if not self.frames:
                raise InvalidInput("an execution variable belongs to a state; `push_state` first, or use scope 'task'")
            owner = str(len(self.frames))
        elif scope == "intermediate":
            owner = subtask or self.current or ""
            if not owner:
                raise InvalidInput("an intermediate variable belongs to a subtask; `start` one, or name it")
            checked_key(owner)
        address = (scope, owner, key)
        if address not in self.variables.values:
            checked_key(key)
        return address

    def gather_lightly(self, key: str, more: Any) -> bool:
        """Add to an accumulator where the result surely fits; False changes nothing."""
        address = ("task", "", key)
        if address not in self.variables.values or not self.variables.is_accumulator(address):
            return False
        return self.grow_variable(address, added(key, self.variables.values[address], more), more)

    def gather(self, key: str, more: Any) -> None:
        """Add to an accumulator; a task variable of that name becomes one."""
        address = ("task", "", key)
        known = address in self.variables.values
        total = added(key, self.variables.values[address], more) if known else first_gathered(more)
        self.variables.accumulators.add(key)
        self.set_variable(address, total)

    def forget_variables(self, scope: str, owner: str) -> None:
        for address in self.variables.remove(scope, owner):
            self.sizes.remove(address)
            self.measure_fold(self.section_of(address))

    def show_less(self, address: Address, *, hidden: bool) -> None:
        """Show a variable as an extract, or not at all; its value stays."""
        (self.variables.hidden if hidden else self.variables.short).add(address)
        self._measure(address, self.section_of(address))

    def unseen(self, section: Section) -> int:
        """How many items are not shown at all: entries that are only in the store, and what is hidden."""
        hidden = sum(self.section_of(address) is section for address in self.variables.hidden)
        frames = sum(frame.show == "nothing" for frame in self.frames) if section is Section.EXECUTION else 0
        return self.folded[section] + hidden + frames

    def measure_fold(self, section: Section) -> None:
        """The one line that counts what is not shown stands where there is such, and where it fits."""
        id = f"fold-{section}"
        self.sizes.remove(id)
        if self.unseen(section) and self.count(self.text(id)) <= self.budgets[section]:
            self._measure(id, section)

    def ids(self) -> Iterator[ItemId]:
        """Every item that can be shown."""
        yield from self.entries
        yield from (f"state-{depth}" for depth, frame in enumerate(self.frames, 1) if frame.show != "nothing")
        yield from (address for address in self.variables.values if address not in self.variables.hidden)

    def kind_of(self, id: ItemId) -> str:
        if isinstance(id, tuple):
            return self.variables.kind_of(id)
        return self.entries[id].kind if id in self.entries else "state"

    def section_of(self, id: ItemId) -> Section:
        return KINDS[self.kind_of(id)].section

    def settle(self) -> None:
        """Count whatever was guessed."""
        self.sizes.settle(self.text)

    def over(self) -> tuple[Section, ...]:
        """The sections that take more than their budget."""
        return self.sizes.over(self.text)

    def text(self, id: ItemId, *, short: bool = False) -> str:
        """What an item adds to the prompt, or would in one line. A binary counts as if it were shown."""
        if isinstance(id, tuple):
            return self._variable(id, short=short)
        if id in self.entries:
            return self._entry(self.entries[id], short=short)
        if id.startswith("fold-"):
            return blocks.folded(self.unseen(Section(id.removeprefix("fold-"))))
        return self._frame(self.frame(id), short=short)

    def block(self, entry: Entry, text: str) -> str:
        """An entry whole, with `text` for what it holds."""
        kind = KINDS[entry.kind]
        return (blocks.data if kind.outside else blocks.told)(kind.heading, entry.label, text)

    def _entry(self, entry: Entry, *, short: bool) -> str:
        if entry.content is None or short:
            extract = extract_of(entry.shown, self.extract_characters)
            return blocks.line(KINDS[entry.kind].heading, entry.label, extract, entry.id)
        return self.block(entry, entry.content.data if entry.content.is_binary else entry.shown)

    def _frame(self, frame: Frame, *, short: bool) -> str:
        if frame.show == "nothing":
            return ""
        label = frame.phase if frame.subtask is None else f"{frame.phase} ({frame.subtask})"
        if not frame.data:
            return blocks.line("State", label, "entered", None)
        text = shown_value(frame.data)
        if frame.show == "line" or short:
            return blocks.line("State", label, extract_of(text, self.extract_characters), None)
        return blocks.data("State", label, text)

    def _variable(self, address: Address, *, short: bool) -> str:
        variables = self.variables
        if address in variables.hidden:
            return ""
        text = shown_value(variables.values[address])
        if short or address in variables.short:
            text = extract_of(text, self.extract_characters)
        return blocks.value(KINDS[variables.kind_of(address)].heading, address[2], text)

    def _measure(self, id: ItemId, section: Section) -> None:
        text = self.text(id)
        self.sizes.put(id, section, most_tokens(len(text), plain=text.isascii()), self.text)


def _most(key: str, frozen: Any) -> int:
    """More tokens than the line of a variable takes."""
    return most_shown(frozen) + most_tokens(len(key) + _LINE, plain=key.isascii())
