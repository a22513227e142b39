"""The items of a task as one list, with their kind, temperature and removal order."""

from dataclasses import dataclass

from treering.task.sections import COLD, HOT, KINDS, RANKS, WARM, Section, Temperature
from treering.task.sizes import ItemId
from treering.task.state import TaskState
from treering.task.temperature import temperature

_WARMTH = {COLD: 0, WARM: 1, HOT: 2}


@dataclass(frozen=True, slots=True)
class TaskItem:
    """One item. Newer items have a higher `order`; `back` is 1 for the latest output, 2 for the one before."""

    id: ItemId
    kind: str
    temperature: Temperature
    order: int
    whole: bool
    back: int = 0

    @property
    def section(self) -> Section:
        return KINDS[self.kind].section

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.id if isinstance(self.id, str) else "/".join(filter(None, self.id))

    @property
    def by_age(self) -> tuple[int, bool, int]:
        """Sort key for removal: coldest first, then variables (their values are never removed), then oldest."""
        return _WARMTH[self.temperature], not isinstance(self.id, tuple), self.order

    @property
    def by_warmth(self) -> tuple[int, int, int]:
        """Sort key for prompts: hottest first, then by kind; outputs from the latest to the oldest."""
        return -_WARMTH[self.temperature], RANKS[self.kind], -self.order if self.kind == "result" else self.order


def items_of(state: TaskState, old_after: int) -> list[TaskItem]:
    """Every item that can be shown."""
    outputs = [entry.id for entry in reversed(state.of_kind("result"))]
    back = {id: number for number, id in enumerate(outputs, 1)}
    found = []
    for place, id in enumerate(state.ids()):
        kind, whole, behind = state.kind_of(id), _is_whole(state, id), back.get(id, 0) if isinstance(id, str) else 0
        order = state.entries[id].order if isinstance(id, str) and id in state.entries else place
        warmth = temperature(kind, behind, whole=whole, old_after=old_after)
        found.append(TaskItem(id, kind, warmth, order, whole, behind))
    return found


def _is_whole(state: TaskState, id: ItemId) -> bool:
    if isinstance(id, tuple):
        return id not in state.variables.short
    if id in state.entries:
        return state.entries[id].content is not None
    return state.frame(id).show == "whole"
