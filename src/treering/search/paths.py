"""The search paths (words, vector, graph) and the filters that apply to all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.queries import SEARCHED_TIME, Filter, SearchedKind, TimeRange
from treering.core.time_words import Anchor, TimeKind, TimeOrder, resolve_anchor
from treering.ports.index import DOCUMENT_KINDS, Candidates, IndexQuery
from treering.search.fusion import Fused, fuse
from treering.search.graph_path import GraphMatch, graph_matches
from treering.search.query import Question, interpret
from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.query_vector import QueryVector

MAX_VERIFIED = 150  # best candidates checked against the filters first; where too few pass, the filters run first
MIN_SCORE = 0.1  # below this score one candidate in eight hundred is relevant
# Candidates below `MIN_SCORE` stay if this similar: a question in another language shares no word with its answer.
MIN_SIMILARITY = 0.15

_MICROSECOND = 1_000_000
_SHORT_KINDS = (SearchedKind.KNOWLEDGE, SearchedKind.TURN)
_ALL_KNOWLEDGE_AND_TURNS: Mapping[str, Filter] = {"knowledge": ALL_KNOWLEDGE, "turn": ALL_TURNS}


@dataclass(frozen=True)
class RankedCandidates:
    """Candidates with their relevance so far, and the rows of those that pass the filters, best first."""

    candidates: Candidates
    fused: Fused
    order: NDArray[np.int64]
    ids: Mapping[int, tuple[str, str]]
    """Kind and id of those in `order`, by number."""
    wanted: IndexQuery
    refused: int
    """Number of the best candidates that did not pass the filters."""
    certain: bool = True
    """Whether the best candidate answers the query rather than being only the nearest one."""


def narrow_to_time(filters: Mapping[str, Filter], question: Question) -> Mapping[str, Filter]:
    """The filters, restricted to the time that the query names."""
    times = question.times
    if times is None or times.kind is not TimeKind.FILTER or not times.spans:
        return filters
    span = hull(times.spans)
    fields = {kind: SEARCHED_TIME[SearchedKind(kind)] for kind in filters}
    return {
        kind: where if getattr(where, fields[kind]) else where.replace(**{fields[kind]: span})
        for kind, where in filters.items()
    }


def hull(spans: Sequence[TimeRange]) -> TimeRange:
    """The span from the earliest start to the latest end."""
    starts, ends = [span.since for span in spans], [span.before for span in spans]
    return TimeRange(
        since=None if None in starts else min(filter(None, starts)),
        before=None if None in ends else max(filter(None, ends)),
    )


@dataclass(frozen=True)
class Paths:
    """All search paths for one question."""

    tx: Transaction
    question: Question
    meaning: QueryVector
    settings: Settings

    def search(self, filters: Mapping[str, Filter], *, enough: int) -> RankedCandidates:
        """Candidates of all paths. If too few pass the filters, the search is repeated among the passing documents."""
        kinds, most = tuple(filters), max(self.settings.search.candidates, 2 * enough)
        found = self._fused(self.meaning.candidates(self.tx, self._wanted, kinds, most=most), filters, enough)
        if len(found.order) >= enough or not found.refused:
            return found
        among = self.tx.index.matching_numbers(filters)
        narrow_to_time = self.meaning.candidates(self.tx, self._wanted, kinds, most=most, among=among)
        return self._fused(narrow_to_time, filters, enough, among)

    def only(self, passed: Mapping[int, GraphMatch], filters: Mapping[str, Filter]) -> RankedCandidates:
        """The given documents that pass the filters, weighted by their matches."""
        numbers = np.fromiter(sorted(passed), np.int64, len(passed))
        candidates = self.meaning.look_at(self.tx, self._wanted, numbers)
        fused = self._fuse(candidates, passed)
        return self._confirmed(candidates, filters, fused, np.isin(candidates.number, numbers))

    @cached_property
    def _wanted(self) -> IndexQuery:
        return self.meaning.wanted(self.question.codes, self.question.shares)

    @cached_property
    def _graph_matches(self) -> Mapping[int, GraphMatch]:
        """Matches of the graph path by document number."""
        found_matches = graph_matches(self.tx, self.question.text, self.question.files)
        found: dict[int, GraphMatch] = {}
        for kind in {match.kind for match in found_matches}:
            of_kind = {match.id: match for match in found_matches if match.kind == kind}
            found |= {number: of_kind[id] for id, number in self.tx.documents.numbers(kind, list(of_kind)).items()}
        return found

    def _fused(
        self,
        candidates: Candidates,
        filters: Mapping[str, Filter],
        enough: int,
        among: NDArray[np.int64] | None = None,
    ) -> RankedCandidates:
        """The best candidates that pass the filters; other candidates only contribute scores to their neighbours."""
        if matches := self._graph_matches:
            unseen = np.setdiff1d(np.fromiter(matches, np.int64, len(matches)), candidates.number)
            if len(unseen):
                candidates = self.meaning.look_at(self.tx, self._wanted, np.union1d(candidates.number, unseen))
        fused = self._fuse(candidates, self._graph_matches)
        asked = _of_kinds(candidates, filters)
        shown = asked if among is None else asked & np.isin(candidates.number, among)
        shown &= self._related(candidates, fused, shown, enough)
        return self._confirmed(candidates, filters, fused, shown, enough)

    def _fuse(self, candidates: Candidates, matches: Mapping[int, GraphMatch]) -> Fused:
        extra = {
            "graph": _graph_column(candidates, matches),
            "time": _time_column(candidates, self._spans),
            "order": _order_column(candidates, self.question),
        }
        return fuse(self.question, candidates, reliability=self.meaning.reliability, extra=extra)

    def _confirmed(
        self,
        candidates: Candidates,
        filters: Mapping[str, Filter],
        fused: Fused,
        shown: NDArray[np.bool_],
        enough: int | None = None,
    ) -> RankedCandidates:
        """The best of the rows in `shown` that pass the filters; all of them without `enough`."""
        best = np.flatnonzero(shown)
        most = None if enough is None else max(MAX_VERIFIED, 3 * enough)
        best = best[np.argsort(-fused.total[best], kind="stable")][:most]
        present = {DOCUMENT_KINDS[code] for code in set(candidates.kind[best].tolist())}
        narrow = {kind: where for kind, where in filters.items() if kind in present}
        ids = self.tx.index.matching_ids(narrow, np.sort(candidates.number[best]))
        passing = [number in ids for number in candidates.number[best].tolist()]
        order = best[np.array(passing, np.bool_)]
        certain = enough is None or fused.total[order].max(initial=0.0) >= self.settings.search.certain
        return RankedCandidates(
            candidates, fused, order, ids, self._wanted, refused=len(best) - len(order), certain=bool(certain)
        )

    def _related(
        self, candidates: Candidates, fused: Fused, shown: NDArray[np.bool_], enough: int
    ) -> NDArray[np.bool_]:
        """Which candidates are related to the query.

        If there are too few, one shared word is enough for knowledge and turns. It is not enough for episodes: long
        tasks share a word with every query.
        """
        related = (fused.total >= MIN_SCORE) | (np.nan_to_num(candidates.meaning) >= MIN_SIMILARITY)
        if int((related & shown).sum()) < enough:
            related |= (candidates.words > 0) & _of_kinds(candidates, _SHORT_KINDS)
        return np.asarray(related, np.bool_)

    @cached_property
    def _spans(self) -> Sequence[TimeRange]:
        """Times that the query names by date or by an event; the best matching document dates the event."""
        times = self.question.times
        if times is None:
            return ()
        return (*times.spans, *(span for anchor in times.anchors if (span := self._dated(anchor)) is not None))

    def _dated(self, anchor: Anchor) -> TimeRange | None:
        index, limit = self.tx.index, self.settings.search.candidates
        asked = interpret(anchor.phrase, self.tx.now, languages=index.languages())
        seen = index.candidates(IndexQuery(asked.codes), tuple(_ALL_KNOWLEDGE_AND_TURNS), limit=limit)
        matching = np.flatnonzero(seen.words > 0)
        passing = index.matching_ids(_ALL_KNOWLEDGE_AND_TURNS, np.sort(seen.number[matching]))
        known = [row for row in matching.tolist() if int(seen.number[row]) in passing]
        if not known:
            return None
        at = int(seen.at[max(known, key=lambda row: seen.words[row])])
        return resolve_anchor(anchor, datetime.fromtimestamp(at / _MICROSECOND, self.tx.now.tzinfo))


def _of_kinds(candidates: Candidates, kinds: Iterable[str]) -> NDArray[np.bool_]:
    """Which candidates are of these kinds; a table of few kinds is faster than `isin`."""
    is_wanted = np.zeros(len(DOCUMENT_KINDS), np.bool_)
    is_wanted[[DOCUMENT_KINDS.index(kind) for kind in kinds]] = True
    return np.asarray(is_wanted[candidates.kind], np.bool_)


def _graph_column(candidates: Candidates, matches: Mapping[int, GraphMatch]) -> NDArray[np.float64]:
    column = np.zeros(len(candidates))
    if matches:
        for row, number in enumerate(candidates.number.tolist()):
            if number in matches:
                column[row] = matches[number].weight
    return column


def _time_column(candidates: Candidates, spans: Sequence[TimeRange]) -> NDArray[np.float64]:
    """1 for documents within a time that the query names, else 0."""
    inside = np.zeros(len(candidates), np.bool_)
    for span in spans:
        since = -np.inf if span.since is None else span.since.timestamp() * _MICROSECOND
        before = np.inf if span.before is None else span.before.timestamp() * _MICROSECOND
        inside |= (candidates.at >= since) & (candidates.at < before)
    return inside.astype(np.float64)


def _order_column(candidates: Candidates, question: Question) -> NDArray[np.float64]:
    """From 0 to 1 in order of time if the query asks for the latest or the first, else 0."""
    order = question.times.order if question.times else None
    if order is None or len(candidates) < 2:
        return np.zeros(len(candidates))
    places = np.argsort(np.argsort(candidates.at, kind="stable"), kind="stable") / (len(candidates) - 1)
    return places if order is TimeOrder.NEWEST else 1 - places
