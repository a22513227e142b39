"""How many tokens the items of each section take: guessed high until it matters, then counted, once."""

from collections.abc import Callable, Mapping

from treering.core.tokens import CountTokens
from treering.task.sections import Section

# So many changes may wait to be counted: fewer than one verb in a hundred then waits for the counting.
_OWED = 1_000

CHARACTERS = 16
"""No tokenizer gets more out of a token in running text: a text longer than a budget times this does not fit."""

Address = tuple[str, str, str]
"""A variable's scope, whom in that scope it belongs to, and its name."""
ItemId = str | Address


def most_tokens(characters: int, *, plain: bool) -> int:
    """More than any tokenizer makes of a text, by its length: twice its bytes; for ASCII half as many again."""
    return characters + characters // 2 + 4 if plain else 8 * characters + 2


class Sizes:
    """Sizes by item, and their sum by section. `text` says how an item looks; `count` what that costs."""

    def __init__(self, count: CountTokens, budgets: Mapping[Section, int]) -> None:
        self._count = count
        self._budgets = budgets
        self._sizes: dict[ItemId, int] = {}
        self._sections: dict[ItemId, Section] = {}
        self._most: dict[ItemId, int] = {}
        self._guessed: set[ItemId] = set()
        self._owed = 0
        self.totals: dict[Section, int] = dict.fromkeys(Section, 0)

    def copy(self) -> "Sizes":
        twin = Sizes(self._count, self._budgets)
        twin._sizes, twin._sections = dict(self._sizes), dict(self._sections)
        twin._most, twin._guessed, twin._owed = dict(self._most), set(self._guessed), self._owed
        twin.totals = dict(self.totals)
        return twin

    def put(self, id: ItemId, section: Section, most: int, text: Callable[[ItemId], str]) -> None:
        """Take an item in. One whose guess does not fit is counted at once."""
        self.remove(id)
        self._most[id] = most
        if self.totals[section] + most > self._budgets[section]:
            most = self._counted(section, text(id))
        else:
            self._guessed.add(id)
        self._sizes[id] = most
        self._sections[id] = section
        self.totals[section] += most

    def put_if_sure(self, id: ItemId, section: Section, most: int, text: Callable[[], str]) -> bool:
        """Take an item in where it surely fits: by its guess, else by its count. False changes nothing.

        One that is no longer than it was keeps its size, to be counted before sizes are used; too many of those, and
        the answer is False, so that somebody counts.
        """
        known = self._sections.get(id)
        before = 0 if known is None else self._sizes[id]
        room = self._budgets[section] - self.totals[section] + (before if known is section else 0)
        guessed = most <= room
        if not guessed and known is section and most <= self._most[id]:
            self._owed += 1
            self._guessed.add(id)
            return self._owed <= _OWED
        counted = most if guessed else self._counted(section, text())
        if counted > room:
            return False
        if known is not None:
            self.totals[known] -= before
        self.totals[section] += counted
        self._sizes[id], self._most[id] = counted, most
        self._sections[id] = section
        (self._guessed.add if guessed else self._guessed.discard)(id)
        return True

    def remove(self, id: ItemId) -> None:
        size = self._sizes.pop(id, None)
        if size is not None:
            self.totals[self._sections.pop(id)] -= size
            self._guessed.discard(id)
            del self._most[id]

    def over(self, text: Callable[[ItemId], str]) -> tuple[Section, ...]:
        """The sections that take more than their budget."""
        return tuple(section for section in Section if self.is_over(section, text))

    def is_over(self, section: Section, text: Callable[[ItemId], str]) -> bool:
        if self._owed:
            self.settle(text)
        if self.totals[section] <= self._budgets[section]:
            return False
        self.settle(text, section)
        return self.totals[section] > self._budgets[section]

    def settle(self, text: Callable[[ItemId], str], section: Section | None = None) -> None:
        """Count what was guessed."""
        for id in [id for id in self._guessed if section is None or self._sections[id] is section]:
            counted = self._counted(self._sections[id], text(id))
            self.totals[self._sections[id]] += counted - self._sizes[id]
            self._sizes[id] = counted
            self._guessed.discard(id)
        if section is None:
            self._owed = 0

    def grow(self, id: ItemId, by: int) -> None:
        """An item got longer, by at most so much."""
        self._sizes[id] += by
        self._most[id] += by
        self.totals[self._sections[id]] += by
        self._guessed.add(id)

    def of(self, id: ItemId) -> int:
        return self._sizes.get(id, 0)

    def _counted(self, section: Section, text: str) -> int:
        """The tokens of a text; of one that is far too long, more than the section holds."""
        budget = self._budgets[section]
        if len(text) <= budget * CHARACTERS:
            return self._count(text)
        return max(budget + 1, len(text) // CHARACTERS)
