"""The order of results for questions about a state: how things are now, were before, or came to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.core.language.stance import query_wording, stance_of
from treering.core.language.stems import language_of
from treering.search.statements import Statements, said_at

if TYPE_CHECKING:
    from treering.ports.store import Transaction
    from treering.search.query import Question
    from treering.search.ranked_result import Ranked

COMPARED = 20
"""How many of the best results are read as statements about one thing."""
_ONE_DAY = timedelta(days=1)


class State(StrEnum):
    """Which of the statements about a thing a query asks for."""

    NOW = "now"
    BEFORE = "before"
    FIRST = "first"
    HISTORY = "history"


_WORDINGS = {"history": State.HISTORY, "first": State.FIRST, "former": State.BEFORE}


@dataclass(frozen=True, slots=True)
class AskedState:
    """The state that a query asks for, at the end of the day that it names; None for now."""

    state: State
    at: datetime | None = None

    @property
    def is_present(self) -> bool:
        return self.state is State.NOW and self.at is None


def asked_state(tx: Transaction, question: Question, *, as_of: bool) -> AskedState | None:
    """The state that the query asks for; None where it asks for something else, such as an event in the past."""
    wording = query_wording(question.text, spoken_in(tx, question))
    day = _day_named(question, tx.now) if "then" in wording else None
    if day is not None:
        return AskedState(State.NOW, day)
    for name, state in _WORDINGS.items():
        if name in wording:
            return AskedState(state)
    if "supposing" in wording or ("past" in wording and not as_of):
        return None
    return AskedState(State.NOW)


def _day_named(question: Question, now: datetime) -> datetime | None:
    """The end of the one day that the query names, where it is over."""
    if question.times is None or len(question.times.spans) != 1:
        return None
    since, before = question.times.spans[0].since, question.times.spans[0].before
    is_day = since is not None and before is not None and before - since <= _ONE_DAY and before <= now
    return before if is_day else None


def spoken_in(tx: Transaction, question: Question) -> str:
    """The language of the query; where it cannot be told, that of most documents."""
    languages = tx.index.languages()
    return language_of(question.text, languages) or next(iter(languages), "en")


def in_order_of_state(
    tx: Transaction, question: Question, ranked: Sequence[Ranked], asked: AskedState, *, model: str
) -> Sequence[Ranked]:
    """The results, with those that answer a question about a state first, and what was superseded marked.

    Words that ask nothing change the order only where a statement is the best result anyway.
    """
    language = spoken_in(tx, question)
    compared = [each for each in ranked[:COMPARED] if _was_said(each, asked.at)]
    statements = Statements.read(tx, question, compared, model=model, language=language)
    holds = statements.holding() if statements.said else None
    if holds is None or not (
        stance_of(question.text, language).asks or statements.results[statements.lead] is ranked[0]
    ):
        return ranked
    if asked.state is State.NOW:
        superseded = statements.replaced_by(holds)
        marked = [
            _superseded(each, statements.results[holds]) if each.number in superseded else each for each in ranked
        ]
        return _with_first([statements.results[holds]], marked)
    if asked.state is State.HISTORY:
        return _with_first([statements.results[row] for row in statements.chain(holds)], ranked)
    before = statements.held_before(holds, first=asked.state is State.FIRST)
    return ranked if before is None else _with_first([statements.results[before]], ranked)


def _was_said(result: Ranked, at: datetime | None) -> bool:
    said = said_at(result.record)
    return said is not None and (at is None or said < at)


def _superseded(result: Ranked, by: Ranked) -> Ranked:
    return replace(result, superseded_by=by.record.id)


def _with_first(first: Sequence[Ranked], ranked: Sequence[Ranked]) -> list[Ranked]:
    """These before the others, with no score below one that comes after them."""
    best = max(each.score for each in ranked)
    numbers = {each.number for each in first}
    return [*(_lifted(each, best) for each in first), *(each for each in ranked if each.number not in numbers)]


def _lifted(result: Ranked, score: float) -> Ranked:
    if result.score == score:
        return result
    return replace(result, score=score, factors={**result.factors, "state": score / (result.score or score)})
