"""Results as statements about one thing: which was said first, which replaced which, which of them holds.

Relevance alone prefers the statement whose words are nearest to the query's, however old it is. Here the most relevant
statement is compared with those that came after it: one that is about the same thing, and announces a change, tells
another value or says nearly the same, takes its place. The weights were learned on dialogues in which a fact changes
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
    from treering.search.ranked_result import Ranked

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
"""By how much a later statement must be better than the most relevant one to take its place."""
_LINKED = 0.3
"""How firmly a statement must be tied to the query or to an older one to be about the same thing."""
_RELEVANT = 0.5
"""The share of the best relevance that alone makes a statement one about the same thing."""
_ALIKE = 0.5
"""How near two statements are that differ in little but the thing that they are about."""
_SAME_THING = 0.6
"""How near two statements are that are about the same thing, whatever their values."""
_RARE = 0.5
"""How rare a word must be, of the rarest there are, for two statements that share it to be about the same thing."""
_WORDS_COUNT = 1.5
"""What shared rare words count against nearness in meaning."""
_ORDER = 0.15
"""What the order of time counts against relevance where the query asks for what held before."""
_DOUBTFUL = 0.7
_FEW_WORDS = 5
_WORD = re.compile(r"[^\W_]+")
_MANY = 15


@dataclass(frozen=True, slots=True)
class Said:
    """A result as a statement: what it says, who said it and when."""

    text: str
    at: datetime
    speaker: str
    by_agent: bool
    stance: Stance


def said_of(record: StoredRecord, language: str, likely: Sequence[str]) -> Said | None:
    """A turn or a record of knowledge as a statement; None for other kinds."""
    if isinstance(record, Turn):
        text, by_agent = record.text, record.role is not Role.USER
        speaker = record.speaker or speaker_of(text) or record.role.value
    elif isinstance(record, Knowledge):
        text, by_agent = record.content, False
        speaker = (record.payload.speaker if isinstance(record.payload, Stated) else None) or SPEAKER
    else:
        return None
    at = said_at(record)
    assert at is not None
    spoken = record.language or language_of(text, likely) or language
    return Said(text, at, speaker, by_agent, stance_of(text, spoken))


def said_at(record: StoredRecord) -> datetime | None:
    """Since when a statement holds; None for what is none."""
    if isinstance(record, Turn):
        return record.at
    return (record.valid_from or record.created_at) if isinstance(record, Knowledge) else None


@dataclass(frozen=True)
class Statements:
    """The best results as statements. `near` says how near each two are to each other, from 0 to 1."""

    query: str
    results: Sequence[Ranked]
    said: Sequence[Said]
    near: Matrix
    asked: Sequence[frozenset[int]]
    """Which of the query's words each of them holds."""
    telling: Sequence[float]
    """How rare each word of the query is."""
    common: Matrix
    """How rare the rarest word is that each two share and the query does not hold, from 0 to 1: a former value."""

    @classmethod
    def read(
        cls, tx: Transaction, question: Question, ranked: Sequence[Ranked], *, model: str, language: str
    ) -> Statements:
        likely = (language, *tx.index.languages())
        read = [(each, said_of(each.record, language, likely)) for each in ranked]
        results = [each for each, said in read if said is not None]
        numbers = np.array([each.number for each in results], np.int64)
        words = tx.index.words_of(np.sort(numbers)) if len(numbers) else {}
        held = [words[number][0] if number in words else np.array([], np.uint32) for number in numbers.tolist()]
        near = np.maximum(_likeness(tx, numbers, model), _WORDS_COUNT * _shared_words(tx, held))
        said = [each for _, each in read if each is not None]
        asked = [_words_asked(question, frozenset(each.tolist())) for each in held]
        telling = [float(tx.index.rarity(np.array(forms, np.uint32)).max(initial=0.0)) for forms in question.codes]
        common = _rarest_in_common(tx, held, {code for forms in question.codes for code in forms})
        return cls(fold(question.text), results, said, np.clip(near, 0.0, 1.0), asked, telling, common)

    def holding(self) -> int | None:
        """The row of the statement that holds; None where nothing is stated."""
        scores = np.where(self._may_hold, self.features() @ np.array(list(WEIGHTS.values())), -np.inf)
        lead, best = self.lead, int(np.argmax(scores))
        if not self._may_hold[lead] or self._relevance[lead] < _RELEVANT:
            return None
        return best if scores[best] - scores[lead] >= MARGIN and self._may_replace(best, lead) else lead

    def held_before(self, holds: int, *, first: bool) -> int | None:
        """The row of the statement before the one that holds, or of the `first` one; None where there is none."""
        earlier = [row for row in self.chain(holds) if self._at[row] < self._at[holds]]
        if not earlier:
            return None
        latest = _places(self._at, np.isin(np.arange(len(self.said)), earlier))
        preferred = 1 - latest if first else latest
        return max(earlier, key=lambda row: self._relevance[row] + _ORDER * preferred[row])

    def chain(self, holds: int) -> list[int]:
        """The rows of the statements about the same thing, oldest first."""
        near = np.maximum(self.near[self.lead], self.near[holds])
        tied = (
            (self._relevance >= _RELEVANT) | (near >= _SAME_THING) | ((self._relevance >= _LINKED) & (near >= _LINKED))
        )
        rows = np.flatnonzero(tied & self._states & ~self._others & ~self._agents)
        return sorted(rows.tolist(), key=lambda row: self._at[row])

    def replaced_by(self, row: int) -> frozenset[int]:
        """The numbers of the documents that were said before this one and that it takes the place of."""
        tied = (self.near[row] >= _SAME_THING) | ((self.near[row] >= _LINKED) & (self._relevance >= _RELEVANT))
        tied[self.lead] = True
        older = np.flatnonzero(tied & self._states & (self._at < self._at[row])).tolist()
        return frozenset(self.results[each].number for each in older if self._may_replace(row, each))

    def features(self) -> Matrix:
        """One row a result, one column for each of `WEIGHTS`."""
        relevance, states, at, lead = self._relevance, self._states, self._at, self.lead
        stances = [said.stance for said in self.said]
        older, stated, later = at[None, :] < at[:, None], relevance * states, at > at[lead]
        linked = np.where(older, self.near * stated[None, :], 0.0).max(axis=1)
        tied = np.maximum(relevance, linked) * states * np.where(self._others, 0.5, 1.0)
        may_hold = states & ~self._others & ~self._agents & ~self._says_little & (tied >= _LINKED)
        may_hold[lead] = True
        differing = np.array([[differ(one.values, other.values) for other in stances] for one in stances], np.bool_)
        columns = {
            "relevance": relevance,
            "others": self._others,
            "by_agent": self._agents,
            "value": np.array([bool(stance.values) for stance in stances]) & asks_for_value(self.query),
            "change": np.array([stance.changes for stance in stances]) * tied * later,
            "latest": _places(at, may_hold) * tied,
            "other_value": np.where(older & differing, stated[None, :], 0.0).max(axis=1) * tied,
            "linked": tied * later,
        }
        return np.column_stack([columns[name].astype(np.float64) for name in WEIGHTS])

    @cached_property
    def lead(self) -> int:
        """The row of the most relevant statement; what is said of others counts for less."""
        return int(np.argmax(self._relevance * self._may_hold * np.where(self._others, _DOUBTFUL, 1.0)))

    @cached_property
    def _may_hold(self) -> Flags:
        """Those that state something; an agent's only where no person states anything that has to do with the query."""
        by_people = self._states & ~self._agents
        return by_people if (by_people & (self._relevance >= _LINKED)).any() else self._states

    def _may_replace(self, later: int, lead: int) -> bool:
        """Whether a statement can be seen to take the place of another, and is not only the later of the two."""
        new, old = self.said[later], self.said[lead]
        of_others = bool(self._others[later]) and not self._others[lead]
        if fold(new.text) == fold(old.text) or self._is_of_another(later, lead):
            return False
        if of_others and not (new.stance.changes and self._holds_subject(later, lead)):
            return False
        if old.stance.values and not new.stance.values and asks_for_value(self.query) and not new.stance.ends:
            return False
        near, differs = self.near[later, lead], differ(old.stance.values, new.stance.values)
        names_former = bool(self.common[later, lead] >= _RARE)
        if new.speaker != old.speaker:
            return new.stance.changes and (differs or names_former or bool(near >= _LINKED))
        return new.stance.changes or differs or bool(near >= _SAME_THING)

    def _is_of_another(self, later: int, lead: int) -> bool:
        """Whether it says nearly the same of something else: it has another word where the query's word stands."""
        if self.near[later, lead] < _ALIKE or self._holds_subject(later, lead) or self.common[later, lead] >= _RARE:
            return False
        return bool(self.said[later].stance.things - self.said[lead].stance.things)

    def _holds_subject(self, later: int, lead: int) -> bool:
        """Whether it holds the rarest of the query's words that the other holds; true where that holds none."""
        rarest = max(self.asked[lead], key=lambda place: (self.telling[place], -place), default=None)
        return rarest is None or rarest in self.asked[later]

    @cached_property
    def _relevance(self) -> Matrix:
        scores = np.array([each.score for each in self.results])
        floor = scores.min() if len(scores) >= _MANY else 0.0
        return np.clip((scores - floor) / ((scores.max() - floor) or 1.0), 0.0, 1.0)

    @cached_property
    def _at(self) -> Matrix:
        return np.array([said.at.timestamp() for said in self.said])

    @cached_property
    def _states(self) -> Flags:
        return np.array([said.stance.states for said in self.said], np.bool_)

    @cached_property
    def _agents(self) -> Flags:
        return np.array([said.by_agent for said in self.said], np.bool_)

    @cached_property
    def _others(self) -> Flags:
        """Those that speak of other people than the query does, or are said by others than it names."""
        named = {said.speaker for said in self.said if fold(said.speaker) in _WORD.findall(self.query)}
        return np.array([self._is_of_others(said, named) for said in self.said], np.bool_)

    def _is_of_others(self, said: Said, named: Collection[str]) -> bool:
        if any(each not in self.query for each in said.stance.others):
            return True
        text = fold(said.text)
        return bool(named) and said.speaker not in named and not any(fold(name) in text for name in named)

    @cached_property
    def _says_little(self) -> Flags:
        few = [len(said.text.split()) < _FEW_WORDS and not said.stance.values for said in self.said]
        return np.array(few, np.bool_)


def _likeness(tx: Transaction, numbers: NDArray[np.int64], model: str) -> Matrix:
    """The cosine of each two; 0 where one has no vector."""
    vectors = tx.index.vectors(model, np.sort(numbers)) if model else {}
    if not vectors:
        return np.zeros((len(numbers), len(numbers)))
    nothing = np.zeros(len(next(iter(vectors.values()))))
    rows = np.array([vectors.get(number, nothing) for number in numbers.tolist()], np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1.0)
    return np.clip(rows @ rows.T, 0.0, 1.0)


def _words_asked(question: Question, held: frozenset[int]) -> frozenset[int]:
    """The places of the query's words that a document with these codes holds."""
    return frozenset(place for place, forms in enumerate(question.codes) if not held.isdisjoint(forms))


def _shared_words(tx: Transaction, held: Sequence[NDArray[np.uint32]]) -> Matrix:
    """How much of what the words of the shorter one weigh is in the other one too; rare words weigh more."""
    codes = np.unique(np.concatenate(held)) if held else np.array([], np.uint32)
    if not len(codes):
        return np.zeros((len(held), len(held)))
    holds = np.array([np.isin(codes, each) for each in held], np.float64)
    weighed = holds * np.sqrt(np.maximum(tx.index.rarity(codes), 0.0))
    shared = weighed @ weighed.T
    whole = np.diag(shared)
    return np.asarray(shared / np.maximum(np.minimum(whole[:, None], whole[None, :]), 1e-9))


def _rarest_in_common(tx: Transaction, held: Sequence[NDArray[np.uint32]], asked: Collection[int]) -> Matrix:
    """The rarity of the rarest word that each two share, of those that are not asked for; 1 for the rarest of all."""
    common = np.zeros((len(held), len(held)))
    codes = np.unique(np.concatenate(held)) if held else np.array([], np.uint32)
    codes = codes[~np.isin(codes, np.fromiter(asked, np.uint32, len(asked)))]
    if not len(codes):
        return common
    rarity = np.maximum(tx.index.rarity(codes), 0.0)
    weighed = np.array([np.isin(codes, each) for each in held]) * (rarity / (rarity.max() or 1.0))
    for row, own in enumerate(weighed):
        common[row] = np.minimum(weighed, own).max(axis=1)
    return common


def _places(at: Matrix, chosen: Flags) -> Matrix:
    """From 0 for the oldest of those chosen to 1 for the latest; 0 for the others."""
    among = at[chosen]
    earlier = (among[None, :] < at[:, None]).sum(axis=1)
    return np.where(chosen, earlier / max(len(among) - 1, 1), 0.0)
