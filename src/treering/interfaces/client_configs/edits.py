"""The difference between two texts as one replacement, small enough to be stored and reverted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in a text."""

    at: int
    removed: str
    added: str

    @classmethod
    def between(cls, before: str, after: str) -> "Edit":
        """The smallest edit that turns `before` into `after`."""
        start = _common_prefix(before, after)
        end = _common_prefix(before[start:][::-1], after[start:][::-1])
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])

    def undone(self, after: str) -> str:
        """Revert the edit in exactly the text that it produced."""
        return after[: self.at] + self.removed + after[self.at + len(self.added) :]

    def undone_within(self, text: str) -> str | None:
        """Revert the edit in a text that changed since; None unless the added text occurs exactly once."""
        if not self.added or text.count(self.added) != 1:
            return None
        return text.replace(self.added, self.removed)


def _common_prefix(one: str, other: str) -> int:
    """Length of the common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
