"""Token sizes of items and sections: an upper bound until a section may be over budget, then an exact count."""

from collections.abc import Callable, Mapping

from treering.core.tokens import CountTokens
from treering.render.page import MAX_CHARACTERS_PER_TOKEN
from treering.task.sections import Section

# Changes that may wait to be counted: high enough that fewer than 1 % of calls wait for counting.
_MAX_UNCOUNTED_CHANGES = 1_000

Address = tuple[str, str, str]
"""Scope, owner within the scope, and name of a variable."""
ItemId = str | Address


def max_tokens_of(characters: int, *, plain: bool) -> int:
    """Upper bound of the tokens of a text of this length: 1.5 per ASCII character, else 8 per character."""
    return characters + characters // 2 + 4 if plain else 8 * characters + 2


class ItemSizes:
    """Sizes by item and totals by section. `text` renders an item; `count` counts its tokens."""

    def __init__(self, count: CountTokens, budgets: Mapping[Section, int]) -> None:
        self._count = count
        self._budgets = budgets
        self._sizes: dict[ItemId, int] = {}
        self._sections: dict[ItemId, Section] = {}
        self._max_sizes: dict[ItemId, int] = {}
        self._estimated: set[ItemId] = set()
        self._uncounted_changes = 0
        self.totals: dict[Section, int] = dict.fromkeys(Section, 0)

    def copy(self) -> "ItemSizes":
        copied = ItemSizes(self._count, self._budgets)
        copied._sizes, copied._sections = dict(self._sizes), dict(self._sections)
        copied._max_sizes, copied._estimated, copied._uncounted_changes = (
            dict(self._max_sizes),
            set(self._estimated),
            self._uncounted_changes,
        )
        copied.totals = dict(self.totals)
        return copied

    def put(self, id: ItemId, section: Section, max_size: int, text: Callable[[ItemId], str]) -> None:
        """Add or replace an item. It is counted at once if its upper bound does not fit."""
        self.remove(id)
        self._max_sizes[id] = max_size
        if self.totals[section] + max_size > self._budgets[section]:
            max_size = self._counted(section, text(id))
        else:
            self._estimated.add(id)
        self._sizes[id] = max_size
        self._sections[id] = section
        self.totals[section] += max_size

    def put_if_it_fits(self, id: ItemId, section: Section, max_size: int, text: Callable[[], str]) -> bool:
        """Add or replace an item if its upper bound or its count fits. Returns False, changing nothing, otherwise.

        An item that did not grow keeps its size until sizes are read. After too many of those the answer is False, so
        that the caller counts.
        """
        known_section = self._sections.get(id)
        before = 0 if known_section is None else self._sizes[id]
        free = self._budgets[section] - self.totals[section] + (before if known_section is section else 0)
        is_estimated = max_size <= free
        if not is_estimated and known_section is section and max_size <= self._max_sizes[id]:
            self._uncounted_changes += 1
            self._estimated.add(id)
            return self._uncounted_changes <= _MAX_UNCOUNTED_CHANGES
        counted = max_size if is_estimated else self._counted(section, text())
        if counted > free:
            return False
        if known_section is not None:
            self.totals[known_section] -= before
        self.totals[section] += counted
        self._sizes[id], self._max_sizes[id] = counted, max_size
        self._sections[id] = section
        (self._estimated.add if is_estimated else self._estimated.discard)(id)
        return True

    def remove(self, id: ItemId) -> None:
        size = self._sizes.pop(id, None)
        if size is not None:
            self.totals[self._sections.pop(id)] -= size
            self._estimated.discard(id)
            del self._max_sizes[id]

    def over(self, text: Callable[[ItemId], str]) -> tuple[Section, ...]:
        """The sections that take more than their budget."""
        return tuple(section for section in Section if self.is_over(section, text))

    def is_over(self, section: Section, text: Callable[[ItemId], str]) -> bool:
        if self._uncounted_changes:
            self.count_estimated(text)
        if self.totals[section] <= self._budgets[section]:
            return False
        self.count_estimated(text, section)
        return self.totals[section] > self._budgets[section]

    def count_estimated(self, text: Callable[[ItemId], str], section: Section | None = None) -> None:
        """Replace upper bounds by counts."""
        for id in [id for id in self._estimated if section is None or self._sections[id] is section]:
            counted = self._counted(self._sections[id], text(id))
            self.totals[self._sections[id]] += counted - self._sizes[id]
            self._sizes[id] = counted
            self._estimated.discard(id)
        if section is None:
            self._uncounted_changes = 0

    def grow(self, id: ItemId, by: int) -> None:
        """Raise the upper bound of an item that got longer by at most `by` tokens."""
        self._sizes[id] += by
        self._max_sizes[id] += by
        self.totals[self._sections[id]] += by
        self._estimated.add(id)

    def of(self, id: ItemId) -> int:
        return self._sizes.get(id, 0)

    def _counted(self, section: Section, text: str) -> int:
        """The tokens of a text; for one that is far too long, a number above the budget without counting."""
        budget = self._budgets[section]
        if len(text) <= budget * MAX_CHARACTERS_PER_TOKEN:
            return self._count(text)
        return max(budget + 1, len(text) // MAX_CHARACTERS_PER_TOKEN)
