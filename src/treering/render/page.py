"""Texts within a token budget: the longest beginning that fits, and a page that takes pieces until it is full."""

from collections.abc import Callable

from treering.core.tokens import CountTokens

MAX_CHARACTERS_PER_TOKEN = 16  # no tokenizer gets more out of a token in running text


def longest_beginning(text: str, budget: int, fits: Callable[[str], bool]) -> str:
    """The longest beginning of `text`, short of all of it, that `fits`; empty if none does."""
    low, high = 0, min(len(text) - 1, budget * MAX_CHARACTERS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle].rstrip()) else (low, middle - 1)
    return text[: max(0, low)].rstrip()


class BudgetedPage:
    """Pieces between an opening and a closing, counted one by one; `trim` makes the whole fit."""

    def __init__(self, opening: str, closing: str, budget: int, count: CountTokens) -> None:
        self._opening, self._closing = opening, closing
        self._budget = budget
        self._count = count
        self._used = count(opening + closing)
        self.pieces: list[tuple[str, str]] = []

    @property
    def text(self) -> str:
        return self._opening + "".join(piece for _, piece in self.pieces) + self._closing

    def add(self, name: str, piece: str) -> bool:
        """Add a piece if it fits; return whether it did."""
        cost = self._count(piece)
        if self._used + cost > self._budget:
            return False
        self._used += cost
        self.pieces.append((name, piece))
        return True

    def add_beginning(self, text: str, piece: Callable[[str], str]) -> bool:
        """Add the longest beginning of `text` that fits; `piece` renders a beginning. Return whether any fits."""
        free = self._budget - self._used
        beginning = longest_beginning(text, self._budget, lambda start: self._count(piece(start)) <= free)
        return bool(beginning) and self.add("", piece(beginning))

    def trim(self) -> list[str]:
        """Drop the last pieces until the text fits, since a whole can count more tokens than its pieces.

        Returns the names of the dropped pieces.
        """
        dropped = list[str]()
        while self.pieces and self._count(self.text) > self._budget:
            name, _ = self.pieces.pop()
            dropped += [name] if name else []
        return dropped
