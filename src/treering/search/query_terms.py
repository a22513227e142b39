"""Content words of a query with their weights, and which of them make a document a precise match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from math import exp, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.terms import QueryTerm, code_of, codes_of
from treering.core.language.words import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import PreciseSettings
    from treering.ports.index import Numbers, SearchIndex
    from treering.search.query import Question

# A word in this few records is rare even in a small memory; else the square root of the record count decides.
FEW_RECORDS = 3
MIN_TYPO_LETTERS = 5  # in shorter words another letter makes another word (search engines take 3 to 5)

_INTERROGATIVES = frozenset(files("treering.core.language").joinpath("asking.txt").read_text("utf-8").split())
# No word contains this character, so its rarity is that of a word in no document.
_UNUSED_CODE = code_of("\0")

_ROUNDED = 1 - 1e-9
"""Sums in another order may differ by this share."""

Codes = frozenset[int]


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the query: weight, number of documents with it, codes of its forms and of its parts."""

    term: QueryTerm
    weight: float
    documents: int
    codes: Codes
    parts: tuple[Codes, ...] = ()


@dataclass(frozen=True)
class QueryWords:
    """Words of a query without stop words and interrogative words."""

    question: Question
    index: SearchIndex
    stop_words: frozenset[str]
    settings: PreciseSettings

    def codes(self) -> list[list[int]]:
        """Codes of each word and each part, to search the index for."""
        return [sorted(codes) for word in self.words for codes in (word.codes, *word.parts)]

    def holding(self, kinds: Sequence[str]) -> Numbers | None:
        """The documents of these kinds with a rare word, all matches among them; None if they are not in memory."""
        return self.index.holding([sorted(codes) for codes in self._rare_codes()], kinds)

    def matches(self, numbers: Numbers) -> Mapping[int, Sequence[QueryWord]]:
        """The words of the query in each of these documents that matches it.

        A match needs more than half of the query's weight, one rare word, and two words unless the query has only one.
        """
        contained = self._contained(numbers)
        weights = np.array([word.weight for word in self.words])
        found: dict[int, Sequence[QueryWord]] = {}
        # Most documents share a word or two, which is too little whatever the words are.
        for row in np.flatnonzero(contained @ weights >= _ROUNDED * self._least_weight).tolist():
            shared = [word for word, is_in in zip(self.words, contained[row].tolist(), strict=True) if is_in]
            has_weight = sum(word.weight for word in shared) > self._least_weight
            several = len(shared) >= min(2, len(self.words))
            if has_weight and several and any(word.documents <= self._rare for word in shared):
                found[int(numbers[row])] = shared
        return found

    def _contained(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether each document (row) has each word (column) itself or all of its parts."""
        coded = self.index.containing(self.codes(), numbers)
        contained = np.zeros((len(numbers), len(self.words)), np.bool_)
        column = 0
        for place, word in enumerate(self.words):
            parts = slice(column + 1, column + 1 + len(word.parts))
            contained[:, place] = coded[:, column]
            if word.parts:
                contained[:, place] |= coded[:, parts].all(axis=1)
            column = parts.stop
        return contained

    def _rare_codes(self) -> Iterator[Codes]:
        """Each match contains a code of one of these sets: of a rare word, or of a part of it."""
        for word in self.words:
            if word.documents <= self._rare:
                yield word.codes
                yield from word.parts[-1:]

    def unknown(self) -> frozenset[str]:
        """Long words that occur in no document, such as misspelt names."""
        forms = (form for word in self.words if not word.documents for form in word.term.forms)
        return frozenset(form for form in forms if len(form) >= MIN_TYPO_LETTERS and form.isalpha())

    @cached_property
    def words(self) -> tuple[QueryWord, ...]:
        """The words; a compound counts once, and a word in no document weighs as much as a rare one."""
        max_weight = max(0.0, log((self._documents + 1) / 1.5))
        codes = [codes_of(term.forms) for term in self._terms]
        ends = np.cumsum([len(each) for each in codes], dtype=np.int64).tolist()
        weights = [float(self._rarity[end - len(each) : end].min()) for each, end in zip(codes, ends, strict=True)]
        by_form = {form: position for position, term in reversed([*enumerate(self._terms)]) for form in term.forms}
        parts = {by_form[compound]: [by_form[part] for part in own] for compound, own in self._compounds(by_form)}
        inner = {position for own in parts.values() for position in own} - {
            by_form[word] for word in self._outside_compounds(by_form)
        }
        return tuple(
            QueryWord(
                term=self._terms[position],
                weight=min(weights[position], max_weight),
                documents=round((self._documents + 1) / exp(weights[position]) - 0.5),
                codes=frozenset(codes[position]),
                parts=tuple(frozenset(codes[part]) for part in parts.get(position, ())),
            )
            for position in range(len(codes))
            if position not in inner
        )

    def _compounds(self, known: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
        """Compounds such as `tokenStore`, with their parts."""
        for compound, *rest in self._pieces:
            parts = [part for part in rest if part in known and part in compound and known[part] != known.get(compound)]
            if parts and compound in known:
                yield compound, parts

    def _outside_compounds(self, known: Mapping[str, int]) -> Iterator[str]:
        """Words that occur in the query outside compounds."""
        return (word for word, *rest in self._pieces if not rest and word in known)

    @cached_property
    def _pieces(self) -> Sequence[tuple[str, ...]]:
        return [words for piece in self.question.text.split() if (words := words_of(piece))]

    @cached_property
    def _terms(self) -> tuple[QueryTerm, ...]:
        return tuple(term for term in self.question.terms if term.word not in self.stop_words | _INTERROGATIVES)

    @cached_property
    def _asked(self) -> NDArray[np.uint32]:
        return np.array([code for term in self._terms for code in codes_of(term.forms)], np.uint32)

    @cached_property
    def _least_weight(self) -> float:
        return float(self.settings.share * sum(word.weight for word in self.words))

    @cached_property
    def _rare(self) -> float:
        return max(float(FEW_RECORDS), sqrt(self._documents))

    @cached_property
    def _rarity(self) -> NDArray[np.float64]:
        """Rarity of each form of each word, and last that of a word in no document."""
        return self.index.rarity(np.append(self._asked, np.uint32(_UNUSED_CODE)))

    @cached_property
    def _documents(self) -> float:
        """Number of documents, derived from the rarity of a word in no document (`core/ranking.py`)."""
        return exp(float(self._rarity[-1])) / 2 - 1
