"""The state of a task. Changes are applied to a copy, which then replaces the state."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal

from treering.core.errors import InvalidInput
from treering.core.tokens import CountTokens
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Keys, Label, Text, Value
from treering.task import blocks
from treering.task.content import Content, extract_of
from treering.task.sections import KINDS, Section
from treering.task.sizes import Address, ItemId, ItemSizes, max_tokens_of
from treering.task.variables import (
    Variables,
    accumulated,
    checked_key,
    checked_scope,
    initial_accumulator,
    max_shown_tokens,
    shown_value,
)

# Characters of a variable's line besides its name and value.
_LINE = 14


class SubtaskStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class TaskSubtask(Value):
    """One step of the plan. `uses` names the subtasks whose outputs it needs; `output` is where its own was moved."""

    id: Key
    uses: Keys = ()
    status: SubtaskStatus = SubtaskStatus.PENDING
    output: Key | None = None

    @property
    def is_ahead(self) -> bool:
        """Whether it may still need other outputs: a failed subtask may be retried."""
        return self.status is not SubtaskStatus.COMPLETED


class Frame(Value):
    """One state of the stack, shown in full, in one line, or not at all."""

    phase: Label
    at: Instant
    subtask: Key | None = None
    data: FrozenMap = EMPTY
    show: Literal["whole", "line", "nothing"] = "whole"


class TaskEntry(Value):
    """One item: in full (`content`), or one line (`extract`) about the content stored under `reference`."""

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


class TaskState:
    """Entries, subtasks, frames and variables of a task, with their sizes."""

    def __init__(self, count: CountTokens, budgets: Mapping[Section, int], extract_characters: int) -> None:
        self.count = count
        self.budgets = budgets
        self.extract_characters = extract_characters
        self.entries: dict[str, TaskEntry] = {}
        self.subtasks: dict[str, TaskSubtask] = {}
        self._running: dict[str, None] = {}
        self.frames: list[Frame] = []
        self.variables = Variables()
        self.folded: dict[Section, int] = dict.fromkeys(Section, 0)
        self.order = 0
        self.sizes = ItemSizes(count, budgets)

    def copy(self) -> "TaskState":
        copied = self.empty()
        copied.entries, copied.subtasks, copied._running = dict(self.entries), dict(self.subtasks), dict(self._running)
        copied.frames, copied.variables = list(self.frames), self.variables.copy()
        copied.folded, copied.order, copied.sizes = dict(self.folded), self.order, self.sizes.copy()
        return copied

    def empty(self) -> "TaskState":
        return TaskState(self.count, self.budgets, self.extract_characters)

    def cleared(self) -> "TaskState":
        """The state after `clear`. `order` goes on counting, so that ids are never reused."""
        remaining = self.empty()
        remaining.order = self.order
        remaining.variables = self.variables.retained()
        for address, value in list(remaining.variables.values.items()):
            remaining.set_variable(address, value)
        return remaining

    @property
    def current(self) -> str | None:
        """The subtask that was started last and has not ended."""
        return next(reversed(self._running), None)

    def add(self, kind: str, content: Content, **fields: Any) -> TaskEntry:
        """Add a new entry, the newest of all."""
        self.order += 1
        entry = TaskEntry.make(id=f"{kind}-{self.order}", kind=kind, order=self.order, content=content, **fields)
        self.put(entry)
        return entry

    def put(self, entry: TaskEntry) -> None:
        self.entries[entry.id] = entry
        self._measure(entry.id, KINDS[entry.kind].section)

    def drop(self, id: str) -> None:
        del self.entries[id]
        self.sizes.remove(id)

    def of_kind(self, *kinds: str) -> list[TaskEntry]:
        """Oldest first."""
        return sorted((entry for entry in self.entries.values() if entry.kind in kinds), key=lambda entry: entry.order)

    def set_subtask(self, subtask: TaskSubtask) -> None:
        """Add or replace a subtask. One in progress becomes the current one."""
        self._running.pop(subtask.id, None)
        if subtask.status is SubtaskStatus.IN_PROGRESS:
            self.subtasks.pop(subtask.id, None)
            self._running[subtask.id] = None
        self.subtasks[subtask.id] = subtask

    def push(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._measure(f"state-{len(self.frames)}", Section.EXECUTION)

    def pop(self) -> Frame:
        depth = len(self.frames)
        self.remove_variables("execution", str(depth))
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
        """Set a frozen value; it is shown in full again."""
        hidden = address in self.variables.hidden
        self.variables.put(address, frozen)
        self.sizes.put(address, self.section_of(address), _max_line_tokens(address[2], frozen), self.text)
        if hidden:
            self.measure_fold(self.section_of(address))

    def set_if_it_fits(self, address: Address, frozen: Any) -> bool:
        """Set a frozen value if it certainly fits. Returns False, changing nothing, otherwise."""

        def text() -> str:
            return blocks.value(KINDS[self.kind_of(address)].heading, address[2], shown_value(frozen))

        section = self.variables.section_of(address)
        if not self.sizes.put_if_it_fits(address, section, _max_line_tokens(address[2], frozen), text):
            return False
        hidden = address in self.variables.hidden
        self.variables.put(address, frozen)
        if hidden:
            self.measure_fold(section)
        return True

    def grow_variable(self, address: Address, frozen: Any, more: Any) -> bool:
        """Set a value that grew by `more` if it certainly fits; one shown as an extract stays so."""
        if address not in self.variables.short and address not in self.variables.hidden:
            section, by = self.section_of(address), max_shown_tokens(more) + 4
            if self.sizes.totals[section] + by > self.budgets[section]:
                return False
            self.sizes.grow(address, by)
        self.variables.values[address] = frozen
        return True

    def address(self, key: str, scope: str, subtask: str | None) -> Address:
        """The address of a variable: in the innermost frame, the given or current subtask, or the task."""
        checked_scope(scope)
        owner = ""
        if scope == "execution":
            if not self.frames:
                raise InvalidInput(
                    "an execution variable needs a state frame; call `push_state` first, or use scope 'task'"
                )
            owner = str(len(self.frames))
        elif scope == "intermediate":
            owner = subtask or self.current or ""
            if not owner:
                raise InvalidInput("an intermediate variable needs a subtask; `start` one, or pass subtask=")
            checked_key(owner)
        address = (scope, owner, key)
        if address not in self.variables.values:
            checked_key(key)
        return address

    def accumulate_if_it_fits(self, key: str, more: Any) -> bool:
        """Add to an accumulator if the result certainly fits. Returns False, changing nothing, otherwise."""
        address = ("task", "", key)
        if address not in self.variables.values or not self.variables.is_accumulator(address):
            return False
        return self.grow_variable(address, accumulated(key, self.variables.values[address], more), more)

    def accumulate(self, key: str, more: Any) -> None:
        """Add to an accumulator; a task variable of that name becomes an accumulator."""
        address = ("task", "", key)
        known = address in self.variables.values
        total = accumulated(key, self.variables.values[address], more) if known else initial_accumulator(more)
        self.variables.accumulators.add(key)
        self.set_variable(address, total)

    def remove_variables(self, scope: str, owner: str) -> None:
        for address in self.variables.remove(scope, owner):
            self.sizes.remove(address)
            self.measure_fold(self.section_of(address))

    def show_less(self, address: Address, *, hidden: bool) -> None:
        """Show a variable as an extract, or not at all; its value stays."""
        (self.variables.hidden if hidden else self.variables.short).add(address)
        self._measure(address, self.section_of(address))

    def unseen(self, section: Section) -> int:
        """Number of items that are not shown at all: stored entries, hidden variables and frames."""
        hidden = sum(self.section_of(address) is section for address in self.variables.hidden)
        frames = sum(frame.show == "nothing" for frame in self.frames) if section is Section.EXECUTION else 0
        return self.folded[section] + hidden + frames

    def measure_fold(self, section: Section) -> None:
        """Measure the line that counts items not shown; it is left out if it exceeds the budget."""
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

    def count_estimated(self) -> None:
        """Replace all upper bounds of sizes by counts."""
        self.sizes.count_estimated(self.text)

    def over(self) -> tuple[Section, ...]:
        """The sections over budget."""
        return self.sizes.over(self.text)

    def text(self, id: ItemId, *, short: bool = False) -> str:
        """The prompt text of an item, in full or `short`. Binary content counts as if it were shown."""
        if isinstance(id, tuple):
            return self._variable(id, short=short)
        if id in self.entries:
            return self._entry(self.entries[id], short=short)
        if id.startswith("fold-"):
            return blocks.folded(self.unseen(Section(id.removeprefix("fold-"))))
        return self._frame(self.frame(id), short=short)

    def block(self, entry: TaskEntry, text: str) -> str:
        """An entry in full, with `text` as its content."""
        kind = KINDS[entry.kind]
        return (blocks.data if kind.outside else blocks.labelled)(kind.heading, entry.label, text)

    def _entry(self, entry: TaskEntry, *, short: bool) -> str:
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
        self.sizes.put(id, section, max_tokens_of(len(text), plain=text.isascii()), self.text)


def _max_line_tokens(key: str, frozen: Any) -> int:
    """Upper bound of the tokens of a variable's line."""
    return max_shown_tokens(frozen) + max_tokens_of(len(key) + _LINE, plain=key.isascii())
