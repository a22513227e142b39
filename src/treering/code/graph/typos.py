"""Typos: a letter too many, missing, wrong, or two swapped."""

from collections.abc import Iterable

_MIN_LENGTH_FOR_ONE = 4
_MIN_LENGTH_FOR_TWO = 8


def closest(word: str, others: Iterable[str]) -> list[str]:
    """The words with the fewest typos: none allowed in tiny words, one in short ones, two in long ones."""
    allowed = (len(word) >= _MIN_LENGTH_FOR_ONE) + (len(word) >= _MIN_LENGTH_FOR_TWO)
    found: list[str] = []
    letters = set(word)
    for other in others:
        if abs(len(other) - len(word)) > allowed or len(letters.symmetric_difference(other)) > 2 * allowed:
            continue
        slips = distance(word, other, allowed)
        if 0 < slips < allowed:
            allowed, found = slips, [other]
        elif slips == allowed > 0:
            found.append(other)
    return found


def distance(one: str, other: str, limit: int) -> int:
    """Number of typos between two words (optimal string alignment); `limit` + 1 if there are more."""
    one, other = _differing_parts(one, other)
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, last, row = row, before, [place]
        for at, against in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != against))
            if place > 1 and at > 1 and letter == other[at - 2] and one[place - 2] == against:
                cost = min(cost, last[at - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def _differing_parts(one: str, other: str) -> tuple[str, str]:
    """The words without their common prefix and suffix."""
    size = min(len(one), len(other))
    begin = next((place for place in range(size) if one[place] != other[place]), size)
    size -= begin
    end = next((place for place in range(size) if one[-1 - place] != other[-1 - place]), size)
    return one[begin : len(one) - end], other[begin : len(other) - end]
