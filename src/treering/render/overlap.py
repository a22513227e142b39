"""Repetitions among texts: which ones add nothing to an earlier one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

SAME_TEXT = 0.9  # texts that share this much of their words and word pairs say the same: one word in thirty may differ
# A text this long that a better one contains is repeated; a shorter one may be contained by chance.
MIN_CONTAINED_WORDS = 6

# A character of a script without spaces (Thai to Khmer, kana, Han), a word, or a sign other than plain punctuation:
# `x > 5` and `x < 5` differ.
_TOKEN = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\w+|[^\s\w.,;:!?\"'`、。，]")


@dataclass(frozen=True, slots=True)
class WordSet:
    """Words, adjacent word pairs and figures of a text."""

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
        """Whether `better` contains or nearly equals this text. Texts with other figures never match."""
        if len(self.words) >= MIN_CONTAINED_WORDS and self.line in better.line:
            return True
        if self.figures != better.figures or self._max_jaccard(better) < SAME_TEXT:
            return False
        shared = len(self.parts & better.parts)
        return shared >= SAME_TEXT * (len(self.parts) + len(better.parts) - shared)

    def _max_jaccard(self, other: Self) -> float:
        """Upper bound of the Jaccard index, from the sizes alone."""
        small, large = sorted((len(self.parts), len(other.parts)))
        return small / large if large else 1.0


def repetitions(texts: Sequence[str]) -> dict[int, int]:
    """Index of the earlier text by the index of each text that repeats it; the best text comes first."""
    distinct: dict[int, WordSet] = {}
    repeats: dict[int, int] = {}
    for position, text in enumerate(texts):
        wording = WordSet.of(text)
        earlier = next((index for index, better in distinct.items() if wording.repeats(better)), None)
        if earlier is None:
            distinct[position] = wording
        else:
            repeats[position] = earlier
    return repeats


def contains_all(text: str, other: str) -> bool:
    """Whether `text` contains all that `other` says."""
    return WordSet.of(other).repeats(WordSet.of(text))
