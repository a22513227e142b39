"""Which texts say what a better one says already."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

SAME_TEXT = 0.9  # texts that share this much of their words and word pairs say the same: one word in thirty may differ
# A text this long that a better one contains is repeated; a shorter one may be contained by chance.
MIN_CONTAINED_WORDS = 6

# A character of a script without spaces (Thai to Khmer, kana, Han), a word, or a sign that is not plain punctuation:
# `x > 5` and `x < 5` do not say the same.
_TOKEN = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\w+|[^\s\w.,;:!?\"'`、。，]")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as its words in order, and as the words and neighbouring pairs that it is made of."""

    words: tuple[str, ...]
    line: str
    parts: frozenset[str]
    figures: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        words = tuple(_TOKEN.findall(text.casefold())) or tuple(text.split())
        pairs = (f"{first} {second}" for first, second in pairwise(words))
        figures = frozenset(word for word in words if any(character.isdigit() for character in word))
        return cls(words, f" {' '.join(words)} ", frozenset((*words, *pairs)), figures)

    def repeats(self, better: Self) -> bool:
        """Whether nothing is lost when only `better` is shown. Texts with other figures never say the same."""
        if len(self.words) >= MIN_CONTAINED_WORDS and self.line in better.line:
            return True
        if self.figures != better.figures or self._alike_at_most(better) < SAME_TEXT:
            return False
        shared = len(self.parts & better.parts)
        return shared >= SAME_TEXT * (len(self.parts) + len(better.parts) - shared)

    def _alike_at_most(self, other: Self) -> float:
        """What Jaccard's measure cannot exceed, from the sizes alone."""
        small, large = sorted((len(self.parts), len(other.parts)))
        return small / large if large else 1.0


def repetitions(texts: Sequence[str]) -> dict[int, int]:
    """For each text that repeats an earlier one, the place of that one; the best text comes first."""
    kept: dict[int, Wording] = {}
    repeats: dict[int, int] = {}
    for place, text in enumerate(texts):
        wording = Wording.of(text)
        earlier = next((index for index, better in kept.items() if wording.repeats(better)), None)
        if earlier is None:
            kept[place] = wording
        else:
            repeats[place] = earlier
    return repeats


def says_all(text: str, said: str) -> bool:
    """Whether whoever reads `text` reads all that `said` says."""
    return Wording.of(said).repeats(Wording.of(text))
