"""The ways to a record: its words, its vector, its ties; and the filters that hold for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.queries import SEARCHED_TIME, Filter, KnowledgeFilter, SearchedKind, TimeRange, TurnFilter
from treering.core.time_words import Anchor, TimeKind, TimeOrder, resolve_anchor
from treering.ports.index import DOCUMENT_KINDS, Candidates, IndexQuery
from treering.search.fusion import Fused, fuse
from treering.search.graph_path import Tie, ties
from treering.search.query import Question, understand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.query_vector import Meaning

MAX_VERIFIED = 150  # best candidates checked against the filters first; where too few pass, the filters run first
MIN_SCORE = 0.1  # below this score one candidate in eight hundred is relevant
# Candidates below `MIN_SCORE` stay if this similar: a question in another language shares no word with its answer.
MIN_SIMILARITY = 0.15

_MICROSECOND = 1_000_000
_SHORT = [DOCUMENT_KINDS.index(kind) for kind in (SearchedKind.KNOWLEDGE, SearchedKind.TURN)]
_ANYTHING: Mapping[str, Filter] = {"knowledge": KnowledgeFilter(), "turn": TurnFilter()}


@dataclass(frozen=True)
class Found:
    """Candidates with their relevance so far, and those of them that the filters let through, best first."""

    candidates: Candidates
    fused: Fused
    order: NDArray[np.int64]
    ids: Mapping[int, tuple[str, str]]
    """Kind and id of those in `order`, by number."""
    wanted: IndexQuery
    refused: int
    """How many of the best the filters kept out."""
    certain: bool = True
    """Whether the best of them is an answer, and not only the nearest that there is."""


def narrowed(filters: Mapping[str, Filter], question: Question) -> Mapping[str, Filter]:
    """The filters, with what the query itself says about time."""
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
    """The span from the first beginning to the last end."""
    starts, ends = [span.since for span in spans], [span.before for span in spans]
    return TimeRange(
        since=None if None in starts else min(filter(None, starts)),
        before=None if None in ends else max(filter(None, ends)),
    )


@dataclass(frozen=True)
class Paths:
    """All ways to what one question asks for."""

    tx: Transaction
    question: Question
    meaning: Meaning
    settings: Settings

    def search(self, filters: Mapping[str, Filter], *, enough: int) -> Found:
        """Candidates of all paths. Filters that leave too few of them are applied before the search, not after."""
        kinds, most = tuple(filters), max(self.settings.search.candidates, 2 * enough)
        found = self._fused(self.meaning.candidates(self.tx, self._wanted, kinds, most=most), filters, enough)
        if len(found.order) >= enough or not found.refused:
            return found
        among = self.tx.index.matching_numbers(filters)
        narrowed = self.meaning.candidates(self.tx, self._wanted, kinds, most=most, among=among)
        return self._fused(narrowed, filters, enough, among)

    def only(self, passed: Mapping[int, Tie], filters: Mapping[str, Filter]) -> Found:
        """These documents, each with what ties it to the question, as far as the filters let them through."""
        numbers = np.fromiter(sorted(passed), np.int64, len(passed))
        candidates = self.meaning.columns_of(self.tx, self._wanted, numbers)
        fused = self._weighed(candidates, passed)
        return self._confirmed(candidates, filters, fused, np.isin(candidates.number, numbers))

    @cached_property
    def _wanted(self) -> IndexQuery:
        return self.meaning.wanted(self.question.codes, self.question.shares)

    @cached_property
    def _tied(self) -> Mapping[int, Tie]:
        """What the graph reaches, by the number of its document."""
        reached = ties(self.tx, self.question.text, self.question.files)
        found: dict[int, Tie] = {}
        for kind in {tie.kind for tie in reached}:
            of_kind = {tie.id: tie for tie in reached if tie.kind == kind}
            found |= {number: of_kind[id] for id, number in self.tx.documents.numbers(kind, list(of_kind)).items()}
        return found

    def _fused(
        self,
        candidates: Candidates,
        filters: Mapping[str, Filter],
        enough: int,
        among: NDArray[np.int64] | None = None,
    ) -> Found:
        """The best of the candidates that may be shown; neighbours that may not only lend their scores."""
        unseen = np.setdiff1d(np.fromiter(self._tied, np.int64, len(self._tied)), candidates.number)
        if len(unseen):
            candidates = self.meaning.columns_of(self.tx, self._wanted, np.union1d(candidates.number, unseen))
        fused = self._weighed(candidates, self._tied)
        asked = np.isin(candidates.kind, [DOCUMENT_KINDS.index(kind) for kind in filters])
        shown = asked if among is None else asked & np.isin(candidates.number, among)
        shown &= self._related(candidates, fused, shown, enough)
        return self._confirmed(candidates, filters, fused, shown, enough)

    def _weighed(self, candidates: Candidates, tied: Mapping[int, Tie]) -> Fused:
        extra = {
            "graph": _graph_column(candidates, tied),
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
    ) -> Found:
        """The best of those shown that pass; without `enough` all of them."""
        best = np.flatnonzero(shown)
        most = None if enough is None else max(MAX_VERIFIED, 3 * enough)
        best = best[np.argsort(-fused.total[best], kind="stable")][:most]
        present = {DOCUMENT_KINDS[code] for code in set(candidates.kind[best].tolist())}
        narrow = {kind: where for kind, where in filters.items() if kind in present}
        ids = self.tx.index.matching_ids(narrow, np.sort(candidates.number[best]))
        order = np.array([row for row in best.tolist() if int(candidates.number[row]) in ids], np.int64)
        certain = enough is None or fused.total[order].max(initial=0.0) >= self.settings.search.certain
        return Found(candidates, fused, order, ids, self._wanted, refused=len(best) - len(order), certain=bool(certain))

    def _related(
        self, candidates: Candidates, fused: Fused, shown: NDArray[np.bool_], enough: int
    ) -> NDArray[np.bool_]:
        """Which candidates have to do with the query.

        Where there is little else, one shared word is enough for what is known or was said; long tasks share some word
        with every query.
        """
        related = (fused.total >= MIN_SCORE) | (np.nan_to_num(candidates.meaning) >= MIN_SIMILARITY)
        if int((related & shown).sum()) < enough:
            related |= (candidates.words > 0) & np.isin(candidates.kind, _SHORT)
        return np.asarray(related, np.bool_)

    @cached_property
    def _spans(self) -> Sequence[TimeRange]:
        """The times that the query names, by date or by an event, which the document that tells most of it dates."""
        times = self.question.times
        if times is None:
            return ()
        return (*times.spans, *(span for anchor in times.anchors if (span := self._dated(anchor)) is not None))

    def _dated(self, anchor: Anchor) -> TimeRange | None:
        index = self.tx.index
        asked = understand(anchor.phrase, self.tx.now, languages=index.languages())
        limit = self.settings.search.candidates
        seen = index.candidates(IndexQuery(asked.codes), tuple(_ANYTHING), limit=limit)
        telling = np.flatnonzero(seen.words > 0)
        there = index.matching_ids(_ANYTHING, np.sort(seen.number[telling]))
        known = [row for row in telling.tolist() if int(seen.number[row]) in there]
        if not known:
            return None
        at = int(seen.at[max(known, key=lambda row: seen.words[row])])
        return resolve_anchor(anchor, datetime.fromtimestamp(at / _MICROSECOND, self.tx.now.tzinfo))


def _graph_column(candidates: Candidates, tied: Mapping[int, Tie]) -> NDArray[np.float64]:
    column = np.zeros(len(candidates))
    if tied:
        for row, number in enumerate(candidates.number.tolist()):
            if number in tied:
                column[row] = tied[number].weight
    return column


def _time_column(candidates: Candidates, spans: Sequence[TimeRange]) -> NDArray[np.float64]:
    """1 where the query's own words name the time of a document."""
    inside = np.zeros(len(candidates), np.bool_)
    for span in spans:
        since = -np.inf if span.since is None else span.since.timestamp() * _MICROSECOND
        before = np.inf if span.before is None else span.before.timestamp() * _MICROSECOND
        inside |= (candidates.at >= since) & (candidates.at < before)
    return inside.astype(np.float64)


def _order_column(candidates: Candidates, question: Question) -> NDArray[np.float64]:
    """From 0 to 1 in the order of time, where the query asks for the latest or the first."""
    order = question.times.order if question.times else None
    if order is None or len(candidates) < 2:
        return np.zeros(len(candidates))
    places = np.argsort(np.argsort(candidates.at, kind="stable"), kind="stable") / (len(candidates) - 1)
    return places if order is TimeOrder.NEWEST else 1 - places
