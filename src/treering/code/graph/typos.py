"""Words that differ by a slip: a letter too many, missing, wrong, or two swapped."""

from collections.abc import Iterable

_SHORTEST_WITH_ONE = 4
_SHORTEST_WITH_TWO = 8


def near(word: str, others: Iterable[str]) -> list[str]:
    """The words with the fewest slips from this one: one at most in a short word, two in a long one, none in a tiny."""
    allowed = (len(word) >= _SHORTEST_WITH_ONE) + (len(word) >= _SHORTEST_WITH_TWO)
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


def distance(one: str, other: str, most: int) -> int:
    """How many slips make one word the other; more than `most` are not told apart."""
    one, other = _where_they_differ(one, other)
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, last, row = row, before, [place]
        for at, against in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != against))
            if place > 1 and at > 1 and letter == other[at - 2] and one[place - 2] == against:
                cost = min(cost, last[at - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _where_they_differ(one: str, other: str) -> tuple[str, str]:
    """The words without what both begin with and both end with."""
    most = min(len(one), len(other))
    begin = next((place for place in range(most) if one[place] != other[place]), most)
    most -= begin
    end = next((place for place in range(most) if one[-1 - place] != other[-1 - place]), most)
    return one[begin : len(one) - end], other[begin : len(other) - end]
