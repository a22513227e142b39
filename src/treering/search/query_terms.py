"""The words of a query that tell what it is about, what each weighs, and what is proof enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.terms import QueryTerm, code_of, codes_of
from treering.core.language.words import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import PreciseSettings
    from treering.ports.index import SearchIndex
    from treering.search.query import Question

# A word in so few records is rare even in a small memory; else the square root of the record count decides.
FEW_RECORDS = 3
MIN_TYPO_LETTERS = 5  # in shorter words another letter makes another word (search engines take 3 to 5)

_ASKING = frozenset(files("treering.core.language").joinpath("asking.txt").read_text("utf-8").split())
# No word holds this character, so what it weighs is what a word weighs that nobody wrote.
_UNHEARD = code_of("\0")

Codes = frozenset[int]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: what it weighs, how many documents hold it, the codes of its forms and of its parts."""

    term: QueryTerm
    weight: float
    holding: int
    codes: Codes
    parts: tuple[Codes, ...] = ()

    def is_in(self, document: Codes) -> bool:
        """Whether a document with these codes holds it: as it is, or all that it is made of."""
        if not self.codes.isdisjoint(document):
            return True
        return bool(self.parts) and not any(part.isdisjoint(document) for part in self.parts)


@dataclass(frozen=True)
class Telling:
    """A query's words without grammar and without what only asks."""

    question: Question
    index: SearchIndex
    grammar: frozenset[str]
    settings: PreciseSettings

    def codes(self) -> list[list[int]]:
        """Of each word and each part, for the index to look for."""
        return [sorted(codes) for word in self.words for codes in (word.codes, *word.parts)]

    def shared(self, document: NDArray[np.uint32]) -> Sequence[Word]:
        """The words that a document with these (ascending) codes has, if they are enough to be what is asked about.

        More than half of what the query weighs; and two words, one of them rare, unless the query has only one.
        """
        places = np.searchsorted(document, self._asked).clip(max=len(document) - 1)
        held = frozenset(self._asked[document[places] == self._asked].tolist())
        own = [word for word in self.words if word.is_in(held)]
        total, rare = sum(word.weight for word in self.words), max(FEW_RECORDS, self._documents**0.5)
        most = sum(word.weight for word in own) > self.settings.share * total
        several = len(own) >= min(2, len(self.words))
        return own if most and several and any(word.holding <= rare for word in own) else ()

    def unknown(self) -> frozenset[str]:
        """Long words that stand in no document: who misspells a name writes what nobody else writes."""
        forms = (form for word in self.words if not word.holding for form in word.term.forms)
        return frozenset(form for form in forms if len(form) >= MIN_TYPO_LETTERS and form.isalpha())

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """A compound is one word, however many parts it is found by. An unheard word weighs what a rare one does."""
        most = max(0.0, log((self._documents + 1) / 1.5))
        codes = [codes_of(term.forms) for term in self._terms]
        ends = np.cumsum([len(each) for each in codes], dtype=np.int64).tolist()
        weights = [float(self._rarity[end - len(each) : end].min()) for each, end in zip(codes, ends, strict=True)]
        by_form = {form: place for place, term in reversed([*enumerate(self._terms)]) for form in term.forms}
        parts = {by_form[whole]: [by_form[part] for part in own] for whole, own in self._compounds(by_form)}
        inner = {place for own in parts.values() for place in own} - {by_form[word] for word in self._alone(by_form)}
        return tuple(
            Word(
                term=self._terms[place],
                weight=min(weights[place], most),
                holding=round((self._documents + 1) / exp(weights[place]) - 0.5),
                codes=frozenset(codes[place]),
                parts=tuple(frozenset(codes[part]) for part in parts.get(place, ())),
            )
            for place in range(len(codes))
            if place not in inner
        )

    def _compounds(self, known: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
        """Words that hold others, such as `tokenStore`, with these."""
        for whole, *rest in self._pieces:
            parts = [part for part in rest if part in known and part in whole and known[part] != known.get(whole)]
            if parts and whole in known:
                yield whole, parts

    def _alone(self, known: Mapping[str, int]) -> Iterator[str]:
        """Words that the query also has by themselves."""
        return (word for word, *rest in self._pieces if not rest and word in known)

    @cached_property
    def _pieces(self) -> Sequence[tuple[str, ...]]:
        return [words for piece in self.question.text.split() if (words := words_of(piece))]

    @cached_property
    def _terms(self) -> tuple[QueryTerm, ...]:
        return tuple(term for term in self.question.terms if term.word not in self.grammar | _ASKING)

    @cached_property
    def _asked(self) -> NDArray[np.uint32]:
        return np.array([code for term in self._terms for code in codes_of(term.forms)], np.uint32)

    @cached_property
    def _rarity(self) -> NDArray[np.float64]:
        """Of each form of each word, asked for at once; then of a word that nobody wrote."""
        return self.index.rarity(np.append(self._asked, np.uint32(_UNHEARD)))

    @cached_property
    def _documents(self) -> float:
        """How many there are, from what a word weighs that none of them holds (`core/ranking.py`)."""
        return exp(float(self._rarity[-1])) / 2 - 1
