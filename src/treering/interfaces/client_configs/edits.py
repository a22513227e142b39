"""The difference that we made to a file, small enough to be kept and taken back."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One place of a text, as it was and as it became."""

    at: int
    removed: str
    added: str

    @classmethod
    def between(cls, before: str, after: str) -> "Edit":
        """The smallest one that leads from a text to another."""
        start = _same(before, after)
        end = _same(before[start:][::-1], after[start:][::-1])
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])

    def undone(self, after: str) -> str:
        """The text as it was before, from the very text that the edit led to."""
        return after[: self.at] + self.removed + after[self.at + len(self.added) :]

    def undone_within(self, text: str) -> str | None:
        """The same in a text that others have changed since; None where what was added does not stand in it once."""
        if not self.added or text.count(self.added) != 1:
            return None
        return text.replace(self.added, self.removed)


def _same(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    known, most = 0, min(len(one), len(other))
    while known < most:
        middle = (known + most + 1) // 2
        if one[known:middle] == other[known:middle]:
            known = middle
        else:
            most = middle - 1
    return known
