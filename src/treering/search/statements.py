"""Results as statements about the same subject: their order in time, which replaced which, and which is current.

Relevance alone prefers the statement whose words are closest to the query, however old it is. Here the most relevant
statement (the lead) is compared with later ones: a later statement about the same subject replaces it if it announces a
change, has another value or is nearly the same. The weights were learned on dialogues in which a fact changes
(`bench/state_weights.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.folding import fold
from treering.core.language.stance import Stance, stance_of
from treering.core.language.stems import language_of
from treering.core.language.text_features import speaker_of
from treering.core.language.values import asks_for_value, differ
from treering.core.messages import Role
from treering.core.payloads import Stated
from treering.core.records import Knowledge
from treering.core.statements import SPEAKER
from treering.core.turns import Turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.store import Transaction
    from treering.search.answer import StoredRecord
    from treering.search.query import Question
    from treering.search.ranked_result import RankedResult

    Matrix = NDArray[np.float64]
    Flags = NDArray[np.bool_]

WEIGHTS: Mapping[str, float] = {
    "relevance": 2.9,
    "others": -1.2,
    "by_agent": -1.6,
    "value": 0.8,
    "change": 1.8,
    "latest": 0.8,
    "other_value": 0.9,
    "linked": 1.0,
}
MARGIN = 0.1
"""Minimum lead in score of a later statement over the most relevant one to replace it."""
_MIN_CONNECTION = 0.3
"""Minimum connection to the query or to an older statement for statements about the same subject."""
_MIN_RELEVANCE = 0.5
"""Share of the best relevance from which a statement is about the same subject."""
_MIN_SIMILARITY = 0.5
"""Similarity from which two statements may differ only in their subject."""
_SAME_SUBJECT = 0.6
"""Similarity from which two statements are about the same subject, whatever their values."""
_MIN_CHANGED = 0.2
"""Minimum similarity of a statement to the one that it changes, if they share neither subject nor former value."""
_MIN_RARITY = 0.5
"""Relative rarity from which a shared word shows that two statements are about the same subject."""
_WORDS_WEIGHT = 1.5
"""Weight of shared rare words relative to the cosine of the vectors."""
_RECENCY_WEIGHT = 0.15
"""Weight of recency relative to relevance in queries for a former state."""
_TIE = 1e-6  # words whose rarity differs by less are equally rare
_OTHERS_FACTOR = 0.7  # relevance of statements about other people when the lead is chosen
_NO_VALUE_FACTOR = 0.85  # relevance of statements without a value if the query asks for one
_MIN_WORDS = 5  # shorter statements without a value do not replace others
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?\n]")
_INNER_WORD = re.compile(r"(?<=[\w,] )[^\W\d_]\w+")
_MANY_RESULTS = 15  # from here on, the lowest score counts as unrelated


@dataclass(frozen=True, slots=True)
class ResultStatement:
    """A result read as a statement, with its time, speaker and stance."""

    text: str
    at: datetime
    speaker: str
    by_agent: bool
    stance: Stance


def statement_of(record: StoredRecord, language: str, likely_languages: Sequence[str]) -> ResultStatement | None:
    """A turn or knowledge record as a statement; None for other kinds."""
    if isinstance(record, Turn):
        text, by_agent = record.text, record.role is not Role.USER
        speaker = record.speaker or speaker_of(text) or record.role.value
    elif isinstance(record, Knowledge):
        text, by_agent = record.content, False
        speaker = (record.payload.speaker if isinstance(record.payload, Stated) else None) or SPEAKER
    else:
        return None
    at = stated_at(record)
    assert at is not None
    spoken_language = record.language or language_of(text, likely_languages) or language
    return ResultStatement(text, at, speaker, by_agent, stance_of(text, spoken_language))


def stated_at(record: StoredRecord) -> datetime | None:
    """Time from which a statement is valid; None for records that are not statements."""
    if isinstance(record, Turn):
        return record.at
    return (record.valid_from or record.created_at) if isinstance(record, Knowledge) else None


@dataclass(frozen=True)
class StatementSet:
    """The best results as statements. `similarity` compares each pair, from 0 to 1."""

    query: str
    names: frozenset[str]
    """Folded names in the query other than those of speakers."""
    results: Sequence[RankedResult]
    items: Sequence[ResultStatement]
    similarity: Matrix
    query_words: Sequence[frozenset[int]]
    """Positions of the query's words that each statement contains."""
    rarities: Sequence[float]
    """Rarity of each word of the query."""
    shared_rarity: Matrix
    """Rarity, from 0 to 1, of the rarest word that each pair shares outside the query, such as a former value."""

    @classmethod
    def read(
        cls, tx: Transaction, question: Question, ranked: Sequence[RankedResult], *, model: str, language: str
    ) -> StatementSet:
        likely_languages = (language, *tx.index.languages())
        read = [(each, statement_of(each.record, language, likely_languages)) for each in ranked]
        results = [each for each, item in read if item is not None]
        numbers = np.array([each.number for each in results], np.int64)
        words = tx.index.words_of(np.sort(numbers)) if len(numbers) else {}
        codes_by_row = [words[number][0] if number in words else np.array([], np.uint32) for number in numbers.tolist()]
        table = _WordTable.of(tx, codes_by_row, question.codes)
        similarity = np.maximum(_cosines(tx, numbers, model), _WORDS_WEIGHT * table.shared_words())
        items = [each for _, each in read if each is not None]
        query_words = [_query_words(question, frozenset(each.tolist())) for each in codes_by_row]
        rarities = [float(table.rarity_of(forms).max(initial=0.0)) for forms in question.codes]
        shared_rarity = table.shared_rarity()
        return cls(
            query=fold(question.text),
            names=_names(question.text, language) - {fold(item.speaker) for item in items},
            results=results,
            items=items,
            similarity=np.clip(similarity, 0.0, 1.0),
            query_words=query_words,
            rarities=rarities,
            shared_rarity=shared_rarity,
        )

    def current_row(self) -> int | None:
        """Row of the current statement; None if no relevant result states something."""
        scores = np.where(self._may_be_current, self.features() @ np.array(list(WEIGHTS.values())), -np.inf)
        lead, best = self.lead, int(np.argmax(scores))
        if not self._may_be_current[lead] or self._relevance[lead] < _MIN_RELEVANCE:
            return None
        return best if scores[best] - scores[lead] >= MARGIN and self._may_replace(best, lead) else lead

    def previous_row(self, current: int, *, first: bool) -> int | None:
        """Row of the statement before the current one, or of the `first` one; None if there is no earlier one."""
        earlier = [row for row in self.chain(current) if self._at[row] < self._at[current]]
        if not earlier:
            return None
        latest = _time_positions(self._at, np.isin(np.arange(len(self.items)), earlier))
        preferred = 1 - latest if first else latest
        return max(earlier, key=lambda row: self._relevance[row] + _RECENCY_WEIGHT * preferred[row])

    def chain(self, current: int) -> list[int]:
        """Rows of the statements about the same subject, oldest first."""
        similarity = np.maximum(self.similarity[self.lead], self.similarity[current])
        connected = (
            (self._relevance >= _MIN_RELEVANCE)
            | (similarity >= _SAME_SUBJECT)
            | ((self._relevance >= _MIN_CONNECTION) & (similarity >= _MIN_CONNECTION))
        )
        rows = np.flatnonzero(connected & self._states & ~self._about_others & ~self._by_agents)
        return sorted(rows.tolist(), key=lambda row: self._at[row])

    def superseded_numbers(self, row: int) -> frozenset[int]:
        """Numbers of the earlier documents that the statement in this row replaces."""
        connected = (self.similarity[row] >= _SAME_SUBJECT) | (
            (self.similarity[row] >= _MIN_CONNECTION) & (self._relevance >= _MIN_RELEVANCE)
        )
        connected[self.lead] = True
        older = np.flatnonzero(connected & self._states & (self._at < self._at[row])).tolist()
        return frozenset(self.results[each].number for each in older if self._may_replace(row, each))

    def features(self) -> Matrix:
        """Matrix with one row per statement and one column for each of `WEIGHTS`."""
        relevance, states, at, lead = self._relevance, self._states, self._at, self.lead
        stances = [item.stance for item in self.items]
        older, stated_relevance, later = at[None, :] < at[:, None], relevance * states, at > at[lead]
        linked = np.where(older, self.similarity * stated_relevance[None, :], 0.0).max(axis=1)
        connected = np.maximum(relevance, linked) * states * np.where(self._about_others, 0.5, 1.0)
        may_be_current = (
            states & ~self._about_others & ~self._by_agents & ~self._is_short & (connected >= _MIN_CONNECTION)
        )
        may_be_current[lead] = True
        differing = _differing([stance.values for stance in stances])
        following = connected * later
        columns = {
            "relevance": relevance,
            "others": self._about_others,
            "by_agent": self._by_agents,
            "value": np.array([bool(stance.values) for stance in stances]) & asks_for_value(self.query),
            # Only of statements for which it counts: looking for a change is a third of reading a text.
            "change": np.array(
                [stance.changes if weight else 0.0 for stance, weight in zip(stances, following, strict=True)]
            )
            * following,
            "latest": _time_positions(at, may_be_current) * connected,
            "other_value": np.where(older & differing, stated_relevance[None, :], 0.0).max(axis=1) * connected,
            "linked": following,
        }
        return np.column_stack([columns[name].astype(np.float64) for name in WEIGHTS])

    @cached_property
    def lead(self) -> int:
        """Row of the most relevant statement; those about other people or without a requested value count for less."""
        weights = np.where(self._about_others, _OTHERS_FACTOR, 1.0)
        if asks_for_value(self.query):
            weights *= np.where([bool(item.stance.values) for item in self.items], 1.0, _NO_VALUE_FACTOR)
        return int(np.argmax(self._relevance * self._may_be_current * weights))

    @cached_property
    def _may_be_current(self) -> Flags:
        """Statements that may be current; those of agents only if no person states anything relevant."""
        by_people = self._states & ~self._by_agents
        return by_people if (by_people & (self._relevance >= _MIN_CONNECTION)).any() else self._states

    def _may_replace(self, later: int, lead: int) -> bool:
        """Whether a later statement replaces another one rather than merely following it."""
        new, old = self.items[later], self.items[lead]
        about_others = bool(self._about_others[later]) and not self._about_others[lead]
        if fold(new.text) == fold(old.text) or self._is_about_another_subject(later, lead):
            return False
        decided = new.stance.changes and new.speaker == old.speaker and self._has_subject(later, lead)
        if about_others and not decided:
            return False
        if old.stance.values and not new.stance.values and asks_for_value(self.query) and not new.stance.ends:
            return False
        similarity, differs = self.similarity[later, lead], differ(old.stance.values, new.stance.values)
        shares_rare_word = bool(self.shared_rarity[later, lead] >= _MIN_RARITY)
        if new.speaker != old.speaker:
            return new.stance.changes and (differs or shares_rare_word or bool(similarity >= _MIN_CONNECTION))
        near = shares_rare_word or bool(similarity >= _MIN_CHANGED) or self._has_subject(later, lead)
        return (near and (new.stance.changes or differs)) or bool(similarity >= _SAME_SUBJECT)

    def _is_about_another_subject(self, later: int, lead: int) -> bool:
        """Whether a similar later statement is about another subject: it lacks the subject and has other words.

        A change needs only one query word of the lead, or a rare word such as the former value.
        """
        new, old = self.items[later].stance, self.items[lead].stance
        shares_rare_word = self.shared_rarity[later, lead] >= _MIN_RARITY
        if new.changes and (shares_rare_word or self.query_words[later] & self.query_words[lead]):
            return False
        if self.similarity[later, lead] < _MIN_SIMILARITY or self._has_subject(later, lead):
            return False
        return bool(new.content_words - old.content_words)

    def _has_subject(self, later: int, lead: int) -> bool:
        """Whether a later statement contains the rarest query word of the lead, or all that are equally rare."""
        rarest = max((self.rarities[position] for position in self.query_words[lead]), default=0.0)
        subject = {position for position in self.query_words[lead] if self.rarities[position] >= rarest - _TIE}
        return subject <= self.query_words[later]

    @cached_property
    def _relevance(self) -> Matrix:
        scores = np.array([each.score for each in self.results])
        floor = scores.min() if len(scores) >= _MANY_RESULTS else 0.0
        return np.clip((scores - floor) / ((scores.max() - floor) or 1.0), 0.0, 1.0)

    @cached_property
    def _at(self) -> Matrix:
        return np.array([item.at.timestamp() for item in self.items])

    @cached_property
    def _states(self) -> Flags:
        return np.array([item.stance.states for item in self.items], np.bool_)

    @cached_property
    def _by_agents(self) -> Flags:
        return np.array([item.by_agent for item in self.items], np.bool_)

    @cached_property
    def _about_others(self) -> Flags:
        """Statements about people that the query does not mention, or by speakers other than those it names."""
        named = {item.speaker for item in self.items if fold(item.speaker) in _WORD.findall(self.query)}
        return np.array([self._is_about_others(item, named) for item in self.items], np.bool_)

    def _is_about_others(self, item: ResultStatement, named: Collection[str]) -> bool:
        text = fold(item.text)
        if others := [each for each in item.stance.others if each not in self.query]:
            return not any(self._names_one_of(others, sentence) for sentence in _SENTENCE_END.split(text))
        return bool(named) and item.speaker not in named and not any(fold(name) in text for name in named)

    def _names_one_of(self, others: Collection[str], sentence: str) -> bool:
        """Whether a sentence has a name from the query beside a word for another person: "my daughter Mira"."""
        named = not self.names.isdisjoint(_WORD.findall(sentence))
        return named and any(each in sentence for each in others)

    @cached_property
    def _is_short(self) -> Flags:
        few = [len(item.text.split()) < _MIN_WORDS and not item.stance.values for item in self.items]
        return np.array(few, np.bool_)


def _names(query: str, language: str) -> frozenset[str]:
    """Folded capitalised words inside a query; none in German, which capitalises every noun."""
    words = () if language == "de" else _INNER_WORD.findall(query)
    return frozenset(fold(word) for word in words if word[0].isupper())


def _cosines(tx: Transaction, numbers: NDArray[np.int64], model: str) -> Matrix:
    """Cosine of each pair; 0 if one has no vector."""
    vectors = tx.index.vectors(model, np.sort(numbers)) if model else {}
    if not vectors:
        return np.zeros((len(numbers), len(numbers)))
    zeros = np.zeros(len(next(iter(vectors.values()))))
    rows = np.array([vectors.get(number, zeros) for number in numbers.tolist()], np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1.0)
    return np.clip(rows @ rows.T, 0.0, 1.0)


def _query_words(question: Question, codes: frozenset[int]) -> frozenset[int]:
    """Positions of the query's words that a document with these codes contains."""
    return frozenset(position for position, forms in enumerate(question.codes) if not codes.isdisjoint(forms))


@dataclass(frozen=True)
class _WordTable:
    """Which statement contains which word; `rarity` is that of each of `codes`, those of the query included."""

    codes: NDArray[np.uint32]
    rarity: Matrix
    contains: Flags
    """One row per statement, one column per code."""
    in_query: Flags

    @classmethod
    def of(
        cls, tx: Transaction, codes_by_row: Sequence[NDArray[np.uint32]], query: Sequence[Sequence[int]]
    ) -> _WordTable:
        asked = np.array([code for forms in query for code in forms], np.uint32)
        every = np.concatenate((*codes_by_row, asked))
        codes = np.array(sorted(set(every.tolist())), np.uint32)
        columns = np.searchsorted(codes, every)
        contains = np.zeros((len(codes_by_row), len(codes)), np.bool_)
        rows = np.repeat(np.arange(len(codes_by_row)), [len(each) for each in codes_by_row])
        contains[rows, columns[: len(rows)]] = True
        in_query = np.zeros(len(codes), np.bool_)
        in_query[columns[len(rows) :]] = True
        return cls(codes, tx.index.rarity(codes), contains, in_query)

    def rarity_of(self, codes: Sequence[int]) -> Matrix:
        """Rarities of codes of the query."""
        return self.rarity[np.searchsorted(self.codes, np.array(codes, np.uint32))]

    def shared_words(self) -> Matrix:
        """Share of the word weight of the lighter statement of each pair that both contain; rare words weigh more."""
        weighted = self.contains * np.sqrt(np.maximum(self.rarity, 0.0))
        shared = weighted @ weighted.T
        own_weight = np.diag(shared)
        return np.asarray(shared / np.maximum(np.minimum(own_weight[:, None], own_weight[None, :]), 1e-9))

    def shared_rarity(self) -> Matrix:
        """Rarity of the rarest word that each pair shares outside the query; 1 for the rarest word of all."""
        shared_rarity = np.zeros((len(self.contains), len(self.contains)))
        outside = self.contains.any(axis=0) & ~self.in_query
        if not outside.any():
            return shared_rarity
        rarity = np.maximum(self.rarity[outside], 0.0)
        weighted = self.contains[:, outside] * (rarity / (rarity.max() or 1.0))
        for row, own in enumerate(weighted):
            shared_rarity[row] = np.minimum(weighted, own).max(axis=1)
        return shared_rarity


def _differing(values: Sequence[Mapping[str, frozenset[str]]]) -> Flags:
    """Which pairs have different values; a statement without a value differs from none."""
    differing = np.zeros((len(values), len(values)), np.bool_)
    rows = [row for row, own in enumerate(values) if own]
    for one in rows:
        for other in rows:
            differing[one, other] = differ(values[one], values[other])
    return differing


def _time_positions(at: Matrix, chosen: Flags) -> Matrix:
    """Position in time among the chosen rows, from 0 (oldest) to 1 (latest); 0 for the other rows."""
    times = at[chosen]
    earlier = (times[None, :] < at[:, None]).sum(axis=1)
    return np.where(chosen, earlier / max(len(times) - 1, 1), 0.0)
