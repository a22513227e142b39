"""BM25 as a textbook has it, to compare with: whole words or our own analysis, k1 = 1.2, b = 0.75."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log

from bench.retrieval.sets import Document
from treering.core.language.terms import query_terms, terms_of

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")

# Each word of a query, in the forms that count as that word.
Forms = Iterable[Sequence[str]]


class BM25:
    """An index of one group."""

    def __init__(self, documents: Sequence[Document], analyse: Callable[[str], Iterable[str]]) -> None:
        self._ids = [document.id for document in documents]
        counted = [Counter(analyse(document.text)) for document in documents]
        lengths = [count.total() for count in counted]
        average = sum(lengths) / len(lengths) or 1.0
        self._evened = [K1 * (1 - B + B * length / average) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counted):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((place, times))

    def best(self, words: Forms, limit: int) -> list[str]:
        """Documents that hold a word, best first; equals in their order."""
        scores: dict[int, float] = {}
        for forms in words:
            holding: Counter[int] = Counter()
            for form in dict.fromkeys(forms):
                holding.update(dict(self._postings.get(form, ())))
            rarity = log(1 + (len(self._ids) - len(holding) + 0.5) / (len(holding) + 0.5))
            for place, times in holding.items():
                scores[place] = scores.get(place, 0.0) + rarity * times * (K1 + 1) / (times + self._evened[place])
        order = sorted(scores, key=lambda place: (-scores[place], place))
        return [self._ids[place] for place in order[:limit]]


def plain_words(text: str) -> Iterable[str]:
    """Lower-cased words; pairs of characters where words are written without spaces. Nothing is stemmed or left out."""
    for word in _WORD.findall(text.lower()):
        rest = 0
        for run in _CJK.finditer(word):
            if run.start() > rest:
                yield word[rest : run.start()]
            characters, rest = run[0], run.end()
            yield from (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
        if rest < len(word):
            yield word[rest:]


def plain_forms(query: str) -> Forms:
    return [(word,) for word in dict.fromkeys(plain_words(query))]


def our_forms(query: str) -> Forms:
    return [term.forms for term in query_terms(query)]


def our_words(text: str) -> Iterable[str]:
    return terms_of(text)
