"""From a query to ranked, explained results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.language.greetings import is_greeting
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.search.answer import Answer, Confidence, Hit, StoredRecord
from treering.search.asked_types import asked_type, names_only_a_time, names_only_type_and_time, narrowed_to_type
from treering.search.citations import cite
from treering.search.duplicates import fold_duplicates
from treering.search.expansion import expanded, is_thin
from treering.search.explanation import explain
from treering.search.fusion import normalised
from treering.search.graph_path import Tie, changed_top, coupled_files, files_in, neighbourhood_boost
from treering.search.paths import Found, Paths, narrowed
from treering.search.precise_search import Precise
from treering.search.private_words import QueryPrivacy
from treering.search.query import Question, understand
from treering.search.query_vector import Meaning, meaning_of
from treering.search.ranked_result import Ranked
from treering.search.relevance_feedback import with_feedback
from treering.search.request import SearchRequest, valid_at
from treering.search.reranking import reranked
from treering.search.scoring import beside_stated, scored
from treering.search.states import COMPARED, asked_state, in_order_of_state
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


@dataclass
class _Search:
    """One recall on its way; what it lacks is noted as it goes."""

    wanted: SearchRequest
    asked: QueryPrivacy
    settings: Settings
    models: Models
    now: datetime
    watch: Stopwatch
    missing: dict[str, str]
    unreadable: list[str] = field(default_factory=list)
    noted: dict[str, str] = field(default_factory=dict)
    passed: Mapping[int, Tie] = field(default_factory=dict)
    listed_nothing: bool = False

    def answer(self, tx: Transaction, meaning: Meaning) -> Answer:
        """The whole way from candidates to hits."""
        with self.watch.stage("understand"):
            files = (*self.wanted.files, *files_in(self.wanted.query))
            question = understand(
                self.wanted.query,
                self.now,
                languages=tx.index.languages(),
                speakers=tx.index.speakers(),
                files=files,
                settings=self.settings.recall,
            )
        if listed := self._listed(tx, question):
            return listed
        found, meaning = self._found(tx, question, meaning)
        with self.watch.stage("score"):
            ranked = self._boosted(tx, self._ranked(tx, found))
        with self.watch.stage("rerank"):
            read = reranked(tx, self.asked, ranked, self.models, self.settings.reranker)
            if read.why_not:
                self.missing["reranker"] = read.why_not
        with self.watch.stage("state"):
            ordered = self._in_order_of_state(tx, question, found, meaning, read.results)
        results, lost = self._chosen(tx, ordered)
        told = None
        if self.wanted.explain:
            with self.watch.stage("explain"):
                told = explain(
                    question,
                    meaning,
                    found,
                    results=results,
                    lost=lost[: self.settings.recall.reasons],
                    noted=self.noted,
                    passed=self.passed,
                )
        best = max((result.score for result in results), default=1.0) or 1.0
        signs = float(found.fused.total[found.order].max(initial=0.0))
        return Answer(
            query=self.wanted.query,
            hits=tuple(_hit(result, best) for result in results),
            missing=self.missing,
            unreadable=tuple(self.unreadable),
            milliseconds=self.watch.milliseconds(),
            embedder=meaning.model,
            explanation=told,
            confidence=Confidence.HIGH if results and self._is_answered(found) else Confidence.LOW,
            strength=signs * best,
        )

    def _in_order_of_state(
        self, tx: Transaction, question: Question, found: Found, meaning: Meaning, ranked: Sequence[Ranked]
    ) -> Sequence[Ranked]:
        """What is only the nearest there is keeps its order, unless learning saw that it was superseded."""
        asked = asked_state(tx, question, as_of=self.wanted.as_of)
        if asked is None:
            return ranked
        if found.certain or not asked.is_present:
            ranked = in_order_of_state(tx, question, ranked, asked, model=meaning.model)
        if asked.is_present and not self.wanted.as_of:
            ranked = with_successor(tx, ranked, self.wanted.filters, partial(self._read, tx))
        return ranked

    def _is_answered(self, found: Found) -> bool:
        """Whether the results have to do with the query. A greeting asks for nothing."""
        return found.certain and not self.listed_nothing and not is_greeting(self.wanted.query)

    def _listed(self, tx: Transaction, question: Question) -> Answer | None:
        """The records of the type and the time that the query asks for, if it names no subject; None without any."""
        type = asked_type(question)
        if type is None or self.wanted.precise or not names_only_type_and_time(question, type):
            return None
        filters = narrowed_to_type(self.wanted.filters, question, type)
        listed = _newest(tx, replace(self.wanted, filters=filters)) if filters else None
        if listed is not None and not listed.hits:
            self.listed_nothing = True
            self.missing["time"] = f"no {type.replace('_', ' ')} was stored then; that time is only preferred"
        return listed or None

    def _found(self, tx: Transaction, question: Question, meaning: Meaning) -> tuple[Found, Meaning]:
        with self.watch.stage("search"):
            found = self._searched(tx, question, meaning)
        if self.wanted.thorough and not self.wanted.precise and is_thin(found, self.settings):
            with self.watch.stage("expand"):
                wider = expanded(tx, self.asked, meaning, self.models, self.settings)
                if wider.why_not:
                    self.missing["hypothetical answer"] = wider.why_not
                else:
                    meaning = wider.meaning
                    found = self._searched(tx, question, meaning)
        with self.watch.stage("feedback"):
            return with_feedback(tx, found, self.settings), meaning

    def _searched(self, tx: Transaction, question: Question, meaning: Meaning) -> Found:
        """Within the time that the query names; where nothing was said then, that time is only preferred."""
        asked = self.wanted.filters
        then = narrowed(asked, question)
        found = self._within(tx, question, meaning, then)
        if then is asked or len(found.order):
            return found
        self.listed_nothing |= names_only_a_time(question)
        self.missing.setdefault("time", "nothing that fits was said or learned then; that time is only preferred")
        return self._within(tx, question, meaning, asked)

    def _within(self, tx: Transaction, question: Question, meaning: Meaning, filters: Mapping[str, Filter]) -> Found:
        paths = Paths(tx, question, meaning, self.settings)
        if not self.wanted.precise:
            return paths.search(filters, enough=self.wanted.limit)
        self.passed = Precise(tx, question, meaning, self.settings).passed(filters)
        return paths.only(self.passed, filters)

    def _ranked(self, tx: Transaction, found: Found) -> list[Ranked]:
        """The best candidates as records with their scores, best first."""
        first = max(COMPARED, 3 * self.wanted.limit)
        ranked = self._judged(tx, found, found.order[:first])
        if any(_files(each.record) for each in ranked[: self.settings.graph.boost_leaders]):
            ranked += self._judged(tx, found, found.order[first : self.settings.graph.boost_last])
        return sorted(beside_stated(_without_members(ranked)), key=lambda result: -result.score)

    def _judged(self, tx: Transaction, found: Found, rows: NDArray[np.int64]) -> list[Ranked]:
        relevance = normalised(found.fused.total[rows], best=found.fused.total[found.order].max(initial=0.0))
        numbers = found.candidates.number[rows].tolist()
        records = self._read(tx, {number: found.ids[number] for number in numbers})
        results = []
        for row, number, share in zip(rows.tolist(), numbers, relevance.tolist(), strict=True):
            if number in records and not _only_greets(records[number][1]):
                kind, record = records[number]
                judged = scored(record, share, self.now, self.wanted.phase, self.settings)
                results.append(Ranked(row, number, kind, record, share, judged.factors, judged.score, judged.age))
        return results

    def _read(self, tx: Transaction, named: Mapping[int, tuple[str, str]]) -> Mapping[int, tuple[str, StoredRecord]]:
        """Records by the number of their document; one that cannot be read does not keep others from being found."""
        found: dict[int, tuple[str, StoredRecord]] = {}
        for kind, collection in _searched(tx).items():
            ids = {id: number for number, (of, id) in named.items() if of == kind}
            if not ids:
                continue
            readable = collection.readable(list(ids))
            self.unreadable += readable.unreadable
            found |= {ids[match.value.id]: (kind, match.value) for match in readable}
        return found

    def _boosted(self, tx: Transaction, ranked: list[Ranked]) -> list[Ranked]:
        """Lift what touches the neighbourhood of the best; results about no file have none."""
        about = [(each.record.id, each.score, _files(each.record)) for each in ranked]
        top = sorted({file for _, _, files in about[: self.settings.graph.boost_leaders] for file in files})
        if not top:
            return ranked
        graph = self.settings.graph
        boosts = neighbourhood_boost(about, coupled_files(tx, top, graph), graph)
        if not boosts:
            return ranked
        lifted = [_lifted(each, boosts.get(each.record.id, 0.0)) for each in ranked]
        ordered = sorted(lifted, key=lambda result: -result.score)
        before, after = ([each.record.id for each in results] for results in (ranked, ordered))
        self.noted["neighbourhood"] = "changed the first 8" if changed_top(before, after) else "changed nothing above 8"
        return ordered

    def _chosen(self, tx: Transaction, ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[tuple[Ranked, str]]]:
        """As many as were asked for, each saying something else; and what came next, with the reason."""
        with self.watch.stage("fold"):
            best = ranked[: 2 * self.wanted.limit]
            alone = {each.number: () for each in best}
            shown = alone if self.wanted.repeated else fold_duplicates(best, self.settings.recall.alike)
        by_number = {each.number: each for each in ranked}
        results: list[Ranked] = []
        lost: list[tuple[Ranked, str]] = []
        for number, twins in shown.items():
            also = tuple(by_number[twin].record.id for twin in twins)
            if len(results) < self.wanted.limit:
                results.append(replace(by_number[number], also=also))
                lost += [(by_number[twin], f"says the same as {by_number[number].record.id}") for twin in twins]
        last = results[-1].score if results else 0.0
        taken = {each.number for each in results} | {each.number for each, _ in lost}
        lost += [(each, _behind(each, last)) for each in ranked if each.number not in taken]
        return results, lost


def search(
    scope: Scope, store: Store, now: datetime, wanted: SearchRequest, *, settings: Settings, models: Models
) -> Answer:
    """The best records of every kind for the query, within the filters.

    A model that does not answer costs its part of the answer, never the answer; `missing` says which.
    """
    if not isinstance(wanted.query, str):
        raise InvalidInput(f"the query is a {type(wanted.query).__name__}; ask in words")
    if type(wanted.limit) is not int or not 1 <= wanted.limit <= settings.recall.limit_max:
        raise InvalidInput(f"limit is {wanted.limit}; ask for 1 to {settings.recall.limit_max}, or use export")
    if wanted.precise:
        wanted = replace(wanted, filters=valid_at(wanted.filters, now))
    if not wanted.filters:
        return Answer(wanted.query, (), confidence=Confidence.LOW, strength=0.0)
    if not wanted.query.strip():
        if wanted.precise:
            return Answer(wanted.query, ())
        with store.reading(scope, now) as tx:
            return _newest(tx, wanted)
    watch = Stopwatch()
    with watch.stage("embed"):
        asked = QueryPrivacy(wanted.query, True if wanted.private else None)
        meaning = meaning_of(scope, store, now, asked, models=models, settings=settings)
    with store.reading(scope, now) as tx:
        return _Search(wanted, asked, settings, models, now, watch, meaning.missing(tx)).answer(tx, meaning)


def _newest(tx: Transaction, wanted: SearchRequest) -> Answer:
    """The latest of what the filters let through."""
    collections = _searched(tx)
    found = [(kind, collections[kind].newest(where, limit=wanted.limit)) for kind, where in wanted.filters.items()]
    matches = [(kind, each) for kind, of in found for each in of]
    best = sorted(matches, key=lambda found: (-found[1].score, found[1].value.id))[: wanted.limit]
    newest = max((match.score for _, match in best), default=1.0)
    hits = [Ranked(0, 0, kind, match.value, 0.0, {}, max(0.0, match.score)) for kind, match in best]
    unreadable = tuple(name for _, each in found for name in each.unreadable)
    return Answer(wanted.query, tuple(_hit(hit, newest or 1.0) for hit in hits), unreadable=unreadable)


def _searched(tx: Transaction) -> Mapping[str, Any]:
    """The collections that are searched, by the kind of their records."""
    return {"knowledge": tx.knowledge, "turn": tx.turns, "episode": tx.episodes, "pattern": tx.patterns}


def _hit(result: Ranked, best: float) -> Hit:
    text, source = cite(result.record)
    if result.superseded_by:
        source += ", superseded"
    score = result.score / best
    return Hit(result.record.id, result.kind, text, score, source, result.record, result.also, result.superseded_by)


def _without_members(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Leave out episodes that a consolidated one among the results stands for."""
    ids = {each.record.id for each in ranked}
    return [
        each
        for each in ranked
        if not isinstance(each.record, Episode) or each.record.lifecycle.consolidated_into not in ids
    ]


def _only_greets(record: StoredRecord) -> bool:
    return isinstance(record, Turn) and is_greeting(record.text, named=True)


def _files(record: StoredRecord) -> frozenset[str]:
    return frozenset(record.files) if isinstance(record, Knowledge) else frozenset()


def _lifted(result: Ranked, boost: float) -> Ranked:
    if not boost:
        return result
    score = result.score + boost
    factors = {**result.factors, "neighbourhood": score / result.score} if result.score else result.factors
    return replace(result, score=score, factors=factors)


def _behind(result: Ranked, last: float) -> str:
    return f"{last - result.score:.3f} behind the last result"
