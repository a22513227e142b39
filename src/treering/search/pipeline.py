"""From a query to ranked, explained results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from treering.core.citations import cite
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.language.greetings import is_greeting
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.search.answer import Answer, Confidence, Hit, StoredRecord
from treering.search.asked_types import asked_type, names_only_a_time, names_only_type_and_time, narrowed_to_type
from treering.search.duplicates import fold_duplicates
from treering.search.entity_names import MAX_LINKS, query_name_keys
from treering.search.expansion import expand_query, has_few_results
from treering.search.explanation import explain_ranking
from treering.search.fusion import normalised
from treering.search.graph_path import (
    BOOST_LEADERS,
    COLLECTIONS,
    MAX_BOOSTED_RANK,
    GraphMatch,
    changed_top,
    coupled_files,
    files_in,
    neighbourhood_boost,
)
from treering.search.paths import Paths, RankedCandidates, narrow_to_time
from treering.search.precise_search import PreciseSearch
from treering.search.private_words import QueryPrivacy
from treering.search.query import Question, interpret
from treering.search.query_vector import QueryVector, embed_query, embed_query_within
from treering.search.ranked_result import RankedResult
from treering.search.relevance_feedback import with_feedback
from treering.search.request import SearchRequest, valid_at
from treering.search.reranking import rerank
from treering.search.scoring import lower_with_age, score_record
from treering.search.states import MAX_COMPARED, order_by_state, state_query
from treering.search.successors import with_successor
from treering.search.timings import Stopwatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treering.core.queries import Filter
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

MAX_RUNNERS_UP = 10  # runners-up that an explanation names


@dataclass
class _SearchRun:
    """State of one search; unavailable parts are collected in `missing`."""

    request: SearchRequest
    privacy: QueryPrivacy
    settings: Settings
    models: Models
    now: datetime
    watch: Stopwatch
    missing: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    passed: Mapping[int, GraphMatch] = field(default_factory=dict)
    nothing_listed: bool = False

    def answer(self, tx: Transaction, meaning: QueryVector) -> Answer:
        """Run all stages, from interpreting the query to the hits."""
        self.missing |= meaning.missing(tx)
        with self.watch.stage("understand"):
            files = (*self.request.files, *files_in(self.request.query))
            question = interpret(
                self.request.query, self.now, languages=tx.index.languages(), speakers=tx.index.speakers(), files=files
            )
        if listing := self._typed_listing(tx, question):
            return listing
        found, meaning = self._candidates(tx, question, meaning)
        with self.watch.stage("score"):
            ranked = self._boost_neighbourhood(tx, self._ranked_records(tx, found))
        with self.watch.stage("rerank"):
            reranked = rerank(tx, self.privacy, ranked, self.models, self.settings.reranker)
            if reranked.skip_reason:
                self.missing["reranker"] = reranked.skip_reason
        with self.watch.stage("state"):
            ordered = self._order_by_state(tx, question, found, meaning, reranked.results)
        results, left_out = self._select(tx, ordered)
        explanation = None
        if self.request.explain:
            with self.watch.stage("explain"):
                explanation = explain_ranking(
                    question,
                    meaning,
                    found,
                    results=results,
                    lost=left_out[:MAX_RUNNERS_UP],
                    noted=self.notes,
                    passed=self.passed,
                )
        best = max((result.score for result in results), default=1.0) or 1.0
        top_relevance = float(found.fused.total[found.order].max(initial=0.0))
        return Answer(
            query=self.request.query,
            hits=tuple(_hit(result, best) for result in results),
            missing=self.missing,
            unreadable=tuple(self.unreadable),
            milliseconds=self.watch.milliseconds(),
            embedder=meaning.model,
            explanation=explanation,
            confidence=Confidence.HIGH if results and self._is_answered(found) else Confidence.LOW,
            strength=top_relevance * best,
        )

    def _order_by_state(
        self,
        tx: Transaction,
        question: Question,
        found: RankedCandidates,
        meaning: QueryVector,
        ranked: Sequence[RankedResult],
    ) -> Sequence[RankedResult]:
        """Reorder by state, except uncertain results; superseded facts are handled in both cases."""
        state = state_query(tx, question, as_of=self.request.as_of)
        if state is None:
            return ranked
        if found.certain or not state.is_present:
            ranked = order_by_state(tx, question, ranked, state, model=meaning.model)
        if state.is_present and not self.request.as_of:
            ranked = with_successor(tx, ranked, self.request.filters, partial(self._read, tx))
        return ranked

    def _is_answered(self, found: RankedCandidates) -> bool:
        """Whether the results answer the query; a greeting has no answer."""
        return found.certain and not self.nothing_listed and not is_greeting(self.request.query)

    def _typed_listing(self, tx: Transaction, question: Question) -> Answer | None:
        """Records of the type and time that the query asks for if it names no subject; None if there are none."""
        type = asked_type(question)
        if type is None or self.request.precise or not names_only_type_and_time(question, type):
            return None
        filters = narrowed_to_type(self.request.filters, question, type)
        listing = _newest(tx, replace(self.request, filters=filters)) if filters else None
        if listing is not None and not listing.hits:
            self.nothing_listed = True
            self.missing["time"] = (
                f"no {type.replace('_', ' ')} was stored at that time, so other times were searched too"
            )
        return listing or None

    def _candidates(
        self, tx: Transaction, question: Question, meaning: QueryVector
    ) -> tuple[RankedCandidates, QueryVector]:
        with self.watch.stage("search"):
            found = self._search_paths(tx, question, meaning)
        if self.request.thorough and not self.request.precise and has_few_results(found):
            with self.watch.stage("expand"):
                wider = expand_query(tx, self.privacy, meaning, self.models)
                if wider.skip_reason:
                    self.missing["hypothetical answer"] = wider.skip_reason
                else:
                    meaning = wider.meaning
                    found = self._search_paths(tx, question, meaning)
        with self.watch.stage("feedback"):
            return with_feedback(tx, found, self.settings), meaning

    def _search_paths(self, tx: Transaction, question: Question, meaning: QueryVector) -> RankedCandidates:
        """Candidates within the time that the query names; if there are none, that time is only preferred."""
        filters = self.request.filters
        in_time = narrow_to_time(filters, question)
        found = self._search_within(tx, question, meaning, in_time)
        if in_time is filters or len(found.order):
            return found
        self.nothing_listed |= names_only_a_time(question)
        self.missing.setdefault("time", "no matching record from that time, so other times were searched too")
        return self._search_within(tx, question, meaning, filters)

    def _search_within(
        self, tx: Transaction, question: Question, meaning: QueryVector, filters: Mapping[str, Filter]
    ) -> RankedCandidates:
        paths = Paths(tx, question, meaning, self.settings)
        if not self.request.precise:
            return paths.search(filters, enough=self.request.limit)
        self.passed = PreciseSearch(tx, question, meaning, self.settings).matches(filters)
        return paths.only(self.passed, filters)

    def _ranked_records(self, tx: Transaction, found: RankedCandidates) -> list[RankedResult]:
        """The best candidates as records with their scores, best first."""
        first = max(MAX_COMPARED, 3 * self.request.limit)
        ranked = self._scored_rows(tx, found, found.order[:first])
        if any(_files(each.record) for each in ranked[:BOOST_LEADERS]):
            ranked += self._scored_rows(tx, found, found.order[first:MAX_BOOSTED_RANK])
        return sorted(lower_with_age(_without_members(ranked)), key=lambda result: -result.score)

    def _scored_rows(self, tx: Transaction, found: RankedCandidates, rows: NDArray[np.int64]) -> list[RankedResult]:
        relevance = normalised(found.fused.total[rows], best=found.fused.total[found.order].max(initial=0.0))
        numbers = found.candidates.number[rows].tolist()
        records = self._read(tx, {number: found.ids[number] for number in numbers})
        results = []
        for row, number, share in zip(rows.tolist(), numbers, relevance.tolist(), strict=True):
            if number in records and not _is_greeting_turn(records[number][1]):
                kind, record = records[number]
                scored = score_record(record, share, self.now, self.request.phase, self.settings)
                results.append(RankedResult(row, number, kind, record, share, scored.factors, scored.score, scored.age))
        return results

    def _read(self, tx: Transaction, named: Mapping[int, tuple[str, str]]) -> Mapping[int, tuple[str, StoredRecord]]:
        """Readable records by document number; the others are added to `unreadable`."""
        found: dict[int, tuple[str, StoredRecord]] = {}
        for kind, collection in COLLECTIONS.items():
            ids = {id: number for number, (of, id) in named.items() if of == kind}
            if not ids:
                continue
            readable = collection(tx).readable(list(ids))
            self.unreadable += readable.unreadable
            found |= {ids[match.value.id]: (kind, match.value) for match in readable}
        return found

    def _boost_neighbourhood(self, tx: Transaction, ranked: list[RankedResult]) -> list[RankedResult]:
        """Raise results about files that are coupled with the files of the best results."""
        about = [(each.record.id, each.score, _files(each.record)) for each in ranked]
        top = sorted({file for _, _, files in about[:BOOST_LEADERS] for file in files})
        if not top:
            return ranked
        boosts = neighbourhood_boost(about, coupled_files(tx, top))
        if not boosts:
            return ranked
        lifted = [_raised(each, boosts.get(each.record.id, 0.0)) for each in ranked]
        ordered = sorted(lifted, key=lambda result: -result.score)
        before, after = ([each.record.id for each in results] for results in (ranked, ordered))
        self.notes["neighbourhood"] = (
            "changed the first 8 results" if changed_top(before, after) else "did not change the first 8 results"
        )
        return ordered

    def _select(
        self, tx: Transaction, ranked: Sequence[RankedResult]
    ) -> tuple[list[RankedResult], list[tuple[RankedResult, str]]]:
        """The requested number of results without duplicates, and the next ones with the reason for omission."""
        with self.watch.stage("fold"):
            best = ranked[: 2 * self.request.limit]
            alone = {each.number: () for each in best}
            shown = alone if self.request.repeated else fold_duplicates(best, self.settings.search.alike)
        by_number = {each.number: each for each in ranked}
        results: list[RankedResult] = []
        left_out: list[tuple[RankedResult, str]] = []
        for number, twins in shown.items():
            also = tuple(by_number[twin].record.id for twin in twins)
            if len(results) < self.request.limit:
                results.append(replace(by_number[number], also=also))
                left_out += [(by_number[twin], f"duplicate of {by_number[number].record.id}") for twin in twins]
        last = results[-1].score if results else 0.0
        taken = {each.number for each in results} | {each.number for each, _ in left_out}
        left_out += [(each, _distance_to_last(each, last)) for each in ranked if each.number not in taken]
        return results, left_out


def search(
    scope: Scope, store: Store, now: datetime, request: SearchRequest, *, settings: Settings, models: Models
) -> Answer:
    """The best records of every kind that pass the filters.

    A model that does not respond only costs its part of the search; `missing` names it.
    """
    if not isinstance(request.query, str):
        raise InvalidInput(f"the query is of type {type(request.query).__name__}; pass a string")
    if type(request.limit) is not int or not 1 <= request.limit <= settings.search.limit_max:
        raise InvalidInput(f"limit is {request.limit}; pass 1 to {settings.search.limit_max}, or use export")
    if request.precise:
        request = replace(request, filters=valid_at(request.filters, now))
    if not request.filters:
        return Answer(request.query, (), confidence=Confidence.LOW, strength=0.0)
    if not request.query.strip():
        if request.precise:
            return Answer(request.query, ())
        with store.reading(scope, now) as tx:
            return _newest(tx, request)
    watch = Stopwatch()
    privacy = QueryPrivacy(request.query, True if request.private else None)
    run = _SearchRun(request, privacy, settings, models, now, watch)
    with store.reading(scope, now, for_search=True) as tx:
        tx.entities.expect_names(partial(query_name_keys, request.query), max_links=MAX_LINKS)
        with watch.stage("embed"):
            meaning = embed_query_within(tx, privacy, models, settings, embed_new=request.catch_up)
        if meaning is not None:
            return run.answer(tx, meaning)
    with watch.stage("embed"):
        meaning = embed_query(scope, store, now, privacy, models=models, settings=settings, embed_new=request.catch_up)
    with store.reading(scope, now, for_search=True) as tx:
        tx.entities.expect_names(partial(query_name_keys, request.query), max_links=MAX_LINKS)
        return run.answer(tx, meaning)


def _newest(tx: Transaction, request: SearchRequest) -> Answer:
    """The newest records that pass the filters."""
    asked = request.filters.items()
    found = [(kind, COLLECTIONS[kind](tx).newest(where, limit=request.limit)) for kind, where in asked]
    matches = [(kind, each) for kind, of in found for each in of]
    best = sorted(matches, key=lambda found: (-found[1].score, found[1].value.id))[: request.limit]
    newest = max((match.score for _, match in best), default=1.0)
    hits = [RankedResult(0, 0, kind, match.value, 0.0, {}, max(0.0, match.score)) for kind, match in best]
    unreadable = tuple(name for _, each in found for name in each.unreadable)
    return Answer(request.query, tuple(_hit(hit, newest or 1.0) for hit in hits), unreadable=unreadable)


def _hit(result: RankedResult, best: float) -> Hit:
    text, source = cite(result.record)
    if result.superseded_by:
        source += ", superseded"
    score = result.score / best
    return Hit(result.record.id, result.kind, text, score, source, result.record, result.also, result.superseded_by)


def _without_members(ranked: Sequence[RankedResult]) -> list[RankedResult]:
    """The results without episodes whose consolidated episode is also a result."""
    ids = {each.record.id for each in ranked}
    return [
        each
        for each in ranked
        if not isinstance(each.record, Episode) or each.record.lifecycle.consolidated_into not in ids
    ]


def _is_greeting_turn(record: StoredRecord) -> bool:
    return isinstance(record, Turn) and is_greeting(record.text, named=True)


def _files(record: StoredRecord) -> frozenset[str]:
    return frozenset(record.files) if isinstance(record, Knowledge) else frozenset()


def _raised(result: RankedResult, boost: float) -> RankedResult:
    if not boost:
        return result
    score = result.score + boost
    factors = {**result.factors, "neighbourhood": score / result.score} if result.score else result.factors
    return replace(result, score=score, factors=factors)


def _distance_to_last(result: RankedResult, last: float) -> str:
    return f"{last - result.score:.3f} behind the last result"
