"""Of several statements about one thing, the one that holds at the time that the query asks for.

Relevance alone prefers the statement whose words are nearest to the query's, however old it is. Here the best
statement is held against those that came after it: one that is about the same thing and tells another value, announces
a change or is simply the latest takes its place. The weights were learned on dialogues in which a fact changes
(`bench/changing_facts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.folding import fold
from treering.core.language.marks import speaker_of
from treering.core.language.stance import Stance, query_wording, stance_of
from treering.core.language.stems import language_of
from treering.core.language.values import asks_for_value, differ
from treering.core.messages import Role
from treering.core.payloads import Stated
from treering.core.records import Knowledge
from treering.core.statements import SPEAKER
from treering.core.turns import Turn
from treering.retrieve.ranked import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.store import Transaction
    from treering.retrieve.answer import Remembered
    from treering.retrieve.question import Question

    Matrix = NDArray[np.float64]

COMPARED = 20
"""How many of the best results are read as statements about one thing."""
WEIGHTS: Mapping[str, float] = {
    "relevance": 2.3,
    "states": 1.5,
    "asks": -0.8,
    "supposes": -0.6,
    "others": -1.0,
    "by_agent": -1.3,
    "value": 1.2,
    "change": 1.3,
    "latest": 0.8,
    "other_value": 0.6,
    "linked": 1.0,
}
MARGIN = 0.1
"""By how much a later statement must be better than the most relevant one to take its place."""
_LINKED = 0.3
"""How firmly a statement must be tied to the query or to an older statement to count as one about the same thing."""
_SAME_THING = 0.6
_RELEVANT = 0.5
_FEW_WORDS = 5
_ORDER = 0.15
"""What the order of time counts against relevance where the query asks for what held before."""
_ONE_DAY = timedelta(days=1)


class State(StrEnum):
    """Which statement about a thing a query asks for."""

    NOW = "now"
    BEFORE = "before"
    FIRST = "first"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Said:
    """A result as a statement: what it says, who said it and when."""

    text: str
    at: datetime
    speaker: str
    by_agent: bool
    stance: Stance


@dataclass(frozen=True, slots=True)
class Asked:
    """The state that a query asks for, `at` the end of the day that it names; None for now."""

    state: State
    at: datetime | None = None


def asked_state(question: Question, language: str, now: datetime, *, as_of: bool) -> Asked | None:
    """The state that the query asks for; None where it asks for something else, such as an event in the past."""
    wording = query_wording(question.text, language)
    for state, name in ((State.HISTORY, "history"), (State.FIRST, "first"), (State.BEFORE, "former")):
        if name in wording:
            return Asked(state)
    day = _day_named(question, now)
    if day is not None and "then" in wording:
        return Asked(State.NOW, day)
    return None if "past" in wording and not as_of else Asked(State.NOW)


def _day_named(question: Question, now: datetime) -> datetime | None:
    """The end of the one day that the query names, where it is over."""
    if question.times is None or len(question.times.spans) != 1:
        return None
    since, before = question.times.spans[0].since, question.times.spans[0].before
    if since is None or before is None or before > now or before - since > _ONE_DAY:
        return None
    return before


def said_of(record: Remembered, language: str, likely: Sequence[str]) -> Said | None:
    """A turn or a record of knowledge as a statement; None for what is no statement."""
    if isinstance(record, Turn):
        text, at, by_agent = record.text, record.at, record.role is not Role.USER
        speaker = record.speaker or speaker_of(text) or record.role.value
    elif isinstance(record, Knowledge):
        text, at, by_agent = record.content, record.valid_from or record.created_at, False
        speaker = (record.payload.speaker if isinstance(record.payload, Stated) else None) or SPEAKER
    else:
        return None
    spoken = record.language or language_of(text, likely) or language
    return Said(text, at, speaker, by_agent, stance_of(text, spoken))


class Statements:
    """The best results as statements, compared with each other."""

    def __init__(
        self, tx: Transaction, question: Question, ranked: Sequence[Ranked], model: str, language: str
    ) -> None:
        likely = (language, *tx.index.languages())
        read = [(each, said_of(each.record, language, likely)) for each in ranked]
        self.results = [each for each, said in read if said is not None]
        self.said = [said for _, said in read if said is not None]
        self._query = fold(question.text)
        self._asks_value = asks_for_value(self._query)
        self._numbers = np.array([each.number for each in self.results], np.int64)
        self._at = np.array([said.at.timestamp() for said in self.said])
        self._states = np.array([said.stance.states for said in self.said], np.float64)
        self._tx, self._model = tx, model

    def features(self) -> Matrix:
        """One row a result, one column for each of `WEIGHTS`."""
        relevance = self._relevance()
        states = self._states
        others = np.array([any(each not in self._query for each in said.stance.others) for said in self.said])
        agents = np.array([said.by_agent for said in self.said])
        nearness = self._near
        at = self._at
        older = at[None, :] < at[:, None]
        stated = relevance * states
        linked = np.where(older, nearness * stated[None, :], 0.0).max(axis=1, initial=0.0)
        tied = np.clip(np.maximum(relevance, linked), 0.0, 1.0) * states * np.where(others, 0.5, 1.0)
        lead = int(np.argmax(stated))
        may_hold = (states > 0) & ~others & ~agents & ~self._says_little() & (tied >= _LINKED)
        may_hold[lead] = True
        valued = np.array([bool(said.stance.values) for said in self.said])
        columns = {
            "relevance": relevance,
            "states": states,
            "asks": np.array([said.stance.asks for said in self.said]) * (1 - states),
            "supposes": np.array([said.stance.supposes for said in self.said]) * (1 - states),
            "others": others,
            "by_agent": agents,
            "value": valued * self._asks_value,
            "change": np.array([said.stance.changes for said in self.said]) * tied * (at > at[lead]),
            "latest": _places(at, may_hold) * tied,
            "other_value": np.where(older & self._differing(), stated[None, :], 0.0).max(axis=1, initial=0.0) * tied,
            "linked": tied * (at > at[lead]),
        }
        return np.column_stack([columns[name].astype(np.float64) for name in WEIGHTS])

    def answering(self, state: State) -> list[int]:
        """The rows that answer, best first; empty where nothing is stated."""
        features = self.features()
        holds = self._holding(features)
        if holds is None:
            return []
        if state is State.NOW:
            return [holds]
        at, relevance = self._at, features[:, 0]
        chain = self._chain(features, holds)
        if state is State.HISTORY:
            return sorted(chain, key=lambda row: at[row])
        earlier = [row for row in chain if at[row] < at[holds]]
        if not earlier:
            return []
        latest = _places(at, np.isin(np.arange(len(at)), earlier))
        preferred = latest if state is State.BEFORE else 1 - latest
        return [max(earlier, key=lambda row: relevance[row] + _ORDER * preferred[row])]

    def replaced_by(self, row: int) -> frozenset[int]:
        """The numbers of the documents that were said before and that this one takes the place of."""
        lead = int(np.argmax(self._relevance() * self._states))
        same = (self._near[lead] >= _SAME_THING) & self._states.astype(bool)
        same[lead] = True
        return frozenset(self._numbers[same & (self._at < self._at[row])].tolist())

    def _chain(self, features: Matrix, holds: int) -> list[int]:
        """The rows of statements about the same thing."""
        relevance, states, others, agents = features[:, 0], features[:, 1], features[:, 4], features[:, 5]
        lead = int(np.argmax(relevance * states))
        near = np.maximum(self._near[lead], self._near[holds])
        tied = (relevance >= _RELEVANT) | (near >= _SAME_THING) | ((relevance >= _LINKED) & (near >= _LINKED))
        return np.flatnonzero(tied & (states > 0) & (others == 0) & (agents == 0)).tolist()

    def _holding(self, features: Matrix) -> int | None:
        """The statement that holds now; None where nothing is stated."""
        scores = features @ np.array(list(WEIGHTS.values()))
        lead, best = int(np.argmax(features[:, 0] * features[:, 1])), int(np.argmax(scores))
        replaces = scores[best] - scores[lead] >= MARGIN and self._may_replace(best, lead)
        holds = best if replaces else lead
        return holds if self.said[holds].stance.states else None

    def _may_replace(self, later: int, lead: int) -> bool:
        """Whether one statement can be seen to take the place of another, and not only to be the later of the two."""
        new, old = self.said[later], self.said[lead]
        if new.stance.changes:
            return True
        near = differ(old.stance.values, new.stance.values) or self._near[later, lead] >= _SAME_THING
        return new.speaker == old.speaker and bool(near)

    def _relevance(self) -> Matrix:
        scores = np.array([each.score for each in self.results])
        return scores / (scores.max(initial=0.0) or 1.0)

    @cached_property
    def _near(self) -> Matrix:
        """How near each two are: in meaning, or in the share of rare words of the shorter one, which says more."""
        return np.maximum(self._likeness(), 1.5 * self._shared_words())

    def _likeness(self) -> Matrix:
        vectors = self._tx.index.vectors(self._model, np.sort(self._numbers)) if self._model else {}
        size = len(next(iter(vectors.values()), ()))
        if not size:
            return np.zeros((len(self.said), len(self.said)))
        nothing = np.zeros(size)
        rows = np.array([vectors.get(int(number), nothing) for number in self._numbers], np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1.0)
        return np.clip(rows @ rows.T, 0.0, 1.0)

    def _shared_words(self) -> Matrix:
        words = self._tx.index.words_of(np.sort(self._numbers))
        held = [words[int(number)][0] if int(number) in words else np.array([], np.uint32) for number in self._numbers]
        codes = np.unique(np.concatenate(held))
        if not len(codes):
            return np.zeros((len(held), len(held)))
        holds = np.array([np.isin(codes, each) for each in held], np.float64)
        weighed = holds * np.sqrt(self._tx.index.rarity(codes))
        shared = weighed @ weighed.T
        whole = np.diag(shared)
        return shared / np.maximum(np.minimum(whole[:, None], whole[None, :]), 1e-9)

    def _differing(self) -> NDArray[np.bool_]:
        values = [said.stance.values for said in self.said]
        return np.array([[differ(one, other) for other in values] for one in values], np.bool_).reshape(len(values), -1)

    def _says_little(self) -> NDArray[np.bool_]:
        return np.array([len(said.text.split()) < _FEW_WORDS and not said.stance.values for said in self.said])


def _places(at: Matrix, chosen: NDArray[np.bool_]) -> Matrix:
    """From 0 for the oldest of those chosen to 1 for the latest; 0 for the others."""
    among = at[chosen]
    earlier = (among[None, :] < at[:, None]).sum(axis=1)
    return np.where(chosen, earlier / max(len(among) - 1, 1), 0.0)


def in_order_of_state(
    tx: Transaction, question: Question, ranked: Sequence[Ranked], model: str, *, as_of: bool
) -> Sequence[Ranked]:
    """The results, with the statement that holds at the time asked for before those that it replaced."""
    language = spoken_in(tx, question)
    asked = asked_state(question, language, tx.now, as_of=as_of)
    if asked is None:
        return ranked
    known = [each for each in ranked[:COMPARED] if asked.at is None or _said_at(each.record) < asked.at]
    statements = Statements(tx, question, known, model, language)
    if len(statements.said) < 2:
        return [*known[:1], *(each for each in ranked if each not in known[:1])] if asked.at else ranked
    chosen = statements.answering(asked.state)
    first = [statements.results[row] for row in chosen]
    if not first:
        return ranked
    replaced = statements.replaced_by(chosen[0]) if asked.state is State.NOW else ()
    by = first[0].record.id
    rest = [replace(each, superseded_by=by) if each.number in replaced else each for each in ranked if each not in first]
    return [*_lifted(first, ranked), *rest]


def spoken_in(tx: Transaction, question: Question) -> str:
    languages = tx.index.languages()
    return language_of(question.text, languages) or next(iter(languages), "en")


def _said_at(record: Remembered) -> datetime:
    if isinstance(record, Turn):
        return record.at
    return record.valid_from or record.created_at if isinstance(record, Knowledge) else datetime.max.replace(tzinfo=UTC)


def _lifted(first: Sequence[Ranked], ranked: Sequence[Ranked]) -> list[Ranked]:
    """Those that come first, with no score below one that comes after them."""
    best = max(each.score for each in ranked)
    return [each if each.score == best else replace(each, score=best, factors={**each.factors, "state": best / (each.score or best)}) for each in first]
