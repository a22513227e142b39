"""Order of results for questions about a state: the current one, a former one, or its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.core.language.stance import query_wording, stance_of
from treering.core.language.stems import language_of
from treering.search.statements import StatementSet, stated_at

if TYPE_CHECKING:
    from treering.ports.store import Transaction
    from treering.search.query import Question
    from treering.search.ranked_result import RankedResult

MAX_COMPARED = 20
"""Number of the best results that are compared as statements about the same subject."""
_ONE_DAY = timedelta(days=1)


class StateKind(StrEnum):
    """Which statement about a subject a query asks for."""

    NOW = "now"
    BEFORE = "before"
    FIRST = "first"
    HISTORY = "history"


_WORDINGS = {"history": StateKind.HISTORY, "first": StateKind.FIRST, "former": StateKind.BEFORE}


@dataclass(frozen=True, slots=True)
class StateQuery:
    """The state that a query asks for. `at` is the end of the day that it names; None without one."""

    kind: StateKind
    at: datetime | None = None

    @property
    def is_present(self) -> bool:
        return self.kind is StateKind.NOW and self.at is None


def state_query(tx: Transaction, question: Question, *, as_of: bool) -> StateQuery | None:
    """The state that the query asks for; None for other questions, such as those about past events."""
    wording = query_wording(question.text, query_language(tx, question))
    day = _named_day(question, tx.now) if "then" in wording else None
    if day is not None:
        return StateQuery(StateKind.NOW, day)
    for name, kind in _WORDINGS.items():
        if name in wording:
            return StateQuery(kind)
    if "supposing" in wording or ("past" in wording and not as_of):
        return None
    return StateQuery(StateKind.NOW)


def _named_day(question: Question, now: datetime) -> datetime | None:
    """End of the single past day that the query names; None otherwise."""
    if question.times is None or len(question.times.spans) != 1:
        return None
    since, before = question.times.spans[0].since, question.times.spans[0].before
    is_day = since is not None and before is not None and before - since <= _ONE_DAY and before <= now
    return before if is_day else None


def query_language(tx: Transaction, question: Question) -> str:
    """Language of the query; if it is not recognised, that of most documents."""
    languages = tx.index.languages()
    return language_of(question.text, languages) or next(iter(languages), "en")


def order_by_state(
    tx: Transaction, question: Question, ranked: Sequence[RankedResult], query: StateQuery, *, model: str
) -> Sequence[RankedResult]:
    """The results with the statements that answer the question first, and superseded ones marked.

    A query that is not a question changes the order only if the best result is the leading statement.
    """
    language = query_language(tx, question)
    compared = [each for each in ranked[:MAX_COMPARED] if _was_stated(each, query.at)]
    statements = StatementSet.read(tx, question, compared, model=model, language=language)
    current = statements.current_row() if statements.items else None
    if current is None or not (
        stance_of(question.text, language).asks or statements.results[statements.lead] is ranked[0]
    ):
        return ranked
    if query.kind is StateKind.NOW:
        superseded = statements.superseded_numbers(current)
        marked = [
            _superseded(each, statements.results[current]) if each.number in superseded else each for each in ranked
        ]
        return _placed_first([statements.results[current]], marked)
    if query.kind is StateKind.HISTORY:
        return _placed_first([statements.results[row] for row in statements.chain(current)], ranked)
    previous = statements.previous_row(current, first=query.kind is StateKind.FIRST)
    return ranked if previous is None else _placed_first([statements.results[previous]], ranked)


def _was_stated(result: RankedResult, at: datetime | None) -> bool:
    stated = stated_at(result.record)
    return stated is not None and (at is None or stated < at)


def _superseded(result: RankedResult, by: RankedResult) -> RankedResult:
    return replace(result, superseded_by=by.record.id)


def _placed_first(first: Sequence[RankedResult], ranked: Sequence[RankedResult]) -> list[RankedResult]:
    """The `first` results before the others, raised to the best score."""
    best = max(each.score for each in ranked)
    numbers = {each.number for each in first}
    return [*(_raised(each, best) for each in first), *(each for each in ranked if each.number not in numbers)]


def _raised(result: RankedResult, score: float) -> RankedResult:
    if result.score == score:
        return result
    return replace(result, score=score, factors={**result.factors, "state": score / (result.score or score)})
