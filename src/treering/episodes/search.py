"""Search for episodes by meaning, words and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from treering.core.citations import episode_source
from treering.core.embedded_text import EPISODE_PARTS, space_of
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.errors import InvalidInput
from treering.core.time_words import TimeKind
from treering.episodes.answer import EpisodeAnswer, EpisodeHit, plain_hit
from treering.episodes.relevance import relevance_parts
from treering.episodes.representatives import ShownEpisode, is_old, released, represented
from treering.ports.collections import RecordMatches
from treering.ports.index import Candidates, IndexQuery
from treering.search.paths import MIN_SIMILARITY, hull
from treering.search.private_words import QueryPrivacy
from treering.search.query import Question, interpret
from treering.search.query_vector import QueryVector, embed_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.queries import EpisodeFilter
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

MAX_CANDIDATES = 200  # episodes that are scored for a search
HIGHLY_RELEVANT = 0.5  # old episodes are returned unasked from this similarity on: most of the text is the same

KIND = "episode"
WHOLE = "whole"
Compared = Literal["whole", "task", "outcome"]
COMPARED: tuple[Compared, ...] = ("whole", "task", "outcome")
"""Vectors of an episode: of the whole, of the task, and of the outcome."""
_NOT_ARCHIVED = (EpisodeStatus.ACTIVE, EpisodeStatus.MATURE, EpisodeStatus.AGED)


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """A search for episodes. `words` also searches by words; `domain` is that of the current work.

    `compared` names the vectors that the query is compared with; the nearest counts. `cold` includes aged and archived
    episodes, however relevant. An episode must have at least the share `least` of the query's words, by weight, or be
    nearly equal in meaning.
    """

    query: str
    where: EpisodeFilter
    limit: int
    domain: str | None = None
    words: bool = True
    cold: bool = False
    least: float = 0.0
    compared: tuple[Compared, ...] = COMPARED


@dataclass(frozen=True, slots=True)
class _QueryLikeness:
    """Similarity of an episode to the query: by the vector of `part`, or by words if empty."""

    value: float
    part: str = ""

    @property
    def by(self) -> str:
        return "cosine" if self.part else "words"


def search_episodes(
    scope: Scope, store: Store, now: datetime, wanted: EpisodeQuery, *, settings: Settings, models: Models
) -> EpisodeAnswer:
    """The most relevant episodes; without a query, the newest that pass the filter."""
    check(wanted.query, wanted.limit, settings)
    if not wanted.query.strip():
        return list_episodes(scope, store, now, wanted.where, wanted.limit, settings=settings, cold=wanted.cold)
    parts = [part for part in EPISODE_PARTS if part in wanted.compared]
    private_query = QueryPrivacy(wanted.query)
    meaning = embed_query(scope, store, now, private_query, models=models, settings=settings, parts=parts)
    with store.reading(scope, now) as tx:
        # Vectors before words: after a search by words alone the index does not load new vectors.
        missing = meaning.missing(tx)
        question = interpret(wanted.query, now, languages=tx.index.languages())
        search = _EpisodeSearch(tx, wanted, question, meaning, settings, by_words=bool(missing))
        where = _with_time(wanted.where, question)
        hits, unreadable = search.hits(where)
        if not hits and where is not wanted.where:
            missing["time"] = "no match in that time; results from other times are shown"
            hits, unreadable = search.hits(wanted.where)
    return EpisodeAnswer(wanted.query, hits, missing, unreadable, meaning.model)


def list_episodes(
    scope: Scope,
    store: Store,
    now: datetime,
    where: EpisodeFilter,
    limit: int,
    *,
    settings: Settings,
    cold: bool = False,
) -> EpisodeAnswer:
    """The newest that pass the filter; archived ones only if the filter or `cold` selects them."""
    explicit = cold or any((where.statuses, where.ids, where.sessions, where.happened, where.failures))
    with store.reading(scope, now) as tx:
        found = tx.episodes.newest(where, limit=limit) if explicit else _newest_not_archived(tx, where, limit, settings)
        shown = represented(tx, (match.value for match in found), where)
    return EpisodeAnswer("", tuple(plain_hit(each.episode, each.stands_for) for each in shown), {}, found.unreadable)


def _newest_not_archived(
    tx: Transaction, where: EpisodeFilter, limit: int, settings: Settings
) -> RecordMatches[Episode]:
    """The newest that are not archived, or were archived only for a representative that is deleted."""
    found = tx.episodes.newest(where.replace(statuses=_NOT_ARCHIVED), limit=limit)
    if where.consolidated is False:
        return found
    more = released(tx, where, limit, settings.episodes)
    by_id = {match.value.id: match for match in (*found, *more)}
    newest = sorted(by_id.values(), key=lambda match: (match.value.at, match.value.id), reverse=True)
    return RecordMatches(tuple(newest[:limit]), (*found.unreadable, *more.unreadable))


def check(query: object, limit: object, settings: Settings) -> None:
    if not isinstance(query, str):
        raise InvalidInput(f"the query is a {type(query).__name__}; give a string")
    if type(limit) is not int or not 1 <= limit <= settings.search.limit_max:
        raise InvalidInput(f"limit is {limit}; ask for 1 to {settings.search.limit_max}, or use export")


def by_words(tx: Transaction, text: str, where: EpisodeFilter) -> Sequence[str]:
    """Ids of episodes that share words with a text, best first."""
    question = interpret(text, tx.now, languages=tx.index.languages())
    wanted = IndexQuery(question.codes, shares=question.shares)
    seen = tx.index.candidates(wanted, (KIND,), limit=MAX_CANDIDATES)
    rows = np.flatnonzero(seen.words > 0)
    ids = tx.index.matching_ids({KIND: where}, np.sort(seen.number[rows]))
    best = sorted(rows.tolist(), key=lambda row: -seen.words[row])
    return [ids[int(seen.number[row])][1] for row in best if int(seen.number[row]) in ids]


@dataclass(frozen=True)
class _EpisodeSearch:
    """State of one search."""

    tx: Transaction
    wanted: EpisodeQuery
    question: Question
    meaning: QueryVector
    settings: Settings
    by_words: bool
    """Whether some episodes have no vector and are found by words only."""

    def hits(self, where: EpisodeFilter) -> tuple[tuple[EpisodeHit, ...], tuple[str, ...]]:
        near = self._near(where)
        found = self.tx.episodes.readable(near)
        shown = represented(self.tx, (match.value for match in found), where)
        scored = [self._hit(each, near) for each in shown if self._is_shown(each, near, where)]
        best = sorted(scored, key=lambda hit: (-hit.score, hit.id))
        return tuple(best[: self.wanted.limit]), found.unreadable

    def _near(self, where: EpisodeFilter) -> Mapping[str, _QueryLikeness]:
        """Similarity of the relevant episodes. If too few pass the filter, it is applied before the search."""
        index, filters = self.tx.index, {KIND: where}
        limit = max(MAX_CANDIDATES, 2 * self.wanted.limit)
        seen = self._candidates(limit)
        ids = index.matching_ids(filters, _numbers(seen))
        if len(ids) < min(len(_numbers(seen)), self.wanted.limit):
            seen = self._candidates(limit, index.matching_numbers(filters))
            ids = index.matching_ids(filters, _numbers(seen))
        numbers = np.array(sorted(ids), np.int64)
        beside = {} if self.meaning.local is None else self._cosines(self.meaning.local, numbers)
        cosines = {**beside, **self._cosines(self.meaning, numbers)}
        similar = _likenesses(seen, cosines, self.wanted.least, self.settings)
        return {ids[number][1]: each for number, each in similar.items() if number in ids}

    def _candidates(self, limit: int, among: NDArray[np.int64] | None = None) -> list[Candidates]:
        """Candidates by words and the first compared vector, then by each other vector."""
        words = self.question.codes if self.wanted.words or self.by_words else ()
        first, *others = (_part(compared) for compared in self.wanted.compared)
        requests = [self.meaning.wanted(words, self.question.shares if words else (), part=first)]
        if self.meaning.vector is not None:
            requests += [self.meaning.wanted((), part=part) for part in others]
        return [self.meaning.candidates(self.tx, each, (KIND,), most=limit, among=among) for each in requests]

    def _cosines(self, meaning: QueryVector, numbers: NDArray[np.int64]) -> Mapping[int, _QueryLikeness]:
        """Cosine of the nearest vector of each. Unlike in the index, the common component is not removed."""
        if meaning.vector is None or not len(numbers):
            return {}
        query_vector, nearest = meaning.vector[0].astype(np.float64), dict[int, _QueryLikeness]()
        for compared in self.wanted.compared:
            found = self.tx.index.vectors(space_of(meaning.model, _part(compared)), numbers)
            for number, vector in found.items():
                if not vector.any():
                    continue
                likeness = _QueryLikeness(_cosine(query_vector, vector.astype(np.float64)), compared)
                nearest[number] = max(nearest.get(number, likeness), likeness, key=lambda each: each.value)
        return nearest

    def _is_shown(self, each: ShownEpisode, near: Mapping[str, _QueryLikeness], where: EpisodeFilter) -> bool:
        """Whether an episode is shown; old ones only if selected explicitly or highly relevant."""
        if self.wanted.cold or where.statuses or where.ids:
            return True
        if not is_old(self.tx, each.episode, self.settings.episodes):
            return True
        return _best(each, near).value >= HIGHLY_RELEVANT

    def _hit(self, each: ShownEpisode, near: Mapping[str, _QueryLikeness]) -> EpisodeHit:
        episode, likeness = each.episode, _best(each, near)
        domains = (*self.wanted.where.domains, *filter(None, (self.wanted.domain,)))
        parts = relevance_parts(episode, likeness.value, self.tx.now, domains, by=likeness.by)
        score = sum(part.added for part in parts)
        text, source = episode.task.input, episode_source(episode)
        return EpisodeHit(episode.id, text, score, source, episode, parts, each.stands_for, likeness.part)


def _part(compared: Compared) -> str:
    return "" if compared == WHOLE else compared


def _numbers(seen: Sequence[Candidates]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([each.number for each in seen]))


def _likenesses(
    seen: Sequence[Candidates], cosines: Mapping[int, _QueryLikeness], least: float, settings: Settings
) -> Mapping[int, _QueryLikeness]:
    """Similarity of the relevant ones: by vectors if present, else by the share of the query's words."""
    weight, likely_at = seen[0].words_weight or 1.0, MIN_SIMILARITY
    words = dict(zip(seen[0].number.tolist(), seen[0].words.tolist(), strict=True))
    meanings = dict[int, float]()
    for number, meaning in (pair for each in seen for pair in zip(each.number.tolist(), each.meaning, strict=True)):
        meanings[number] = float(np.fmax(meanings.get(number, np.nan), meaning))
    found = {}
    for number, meaning in meanings.items():
        cosine, share = cosines.get(number), words.get(number, 0.0) / weight
        likely = cosine is not None and (meaning >= likely_at or cosine.value >= HIGHLY_RELEVANT)
        enough = share >= least or meaning >= settings.precise.likeness
        if enough and (share > 0 or likely):
            found[number] = cosine or _QueryLikeness(min(share, 1.0))
    return found


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def _best(each: ShownEpisode, near: Mapping[str, _QueryLikeness]) -> _QueryLikeness:
    """The similarity of the nearest among the episode and those it represents."""
    return max((near[id] for id in (each.episode.id, *each.stands_for) if id in near), key=lambda found: found.value)


def _with_time(where: EpisodeFilter, question: Question) -> EpisodeFilter:
    """The filter, narrowed to the time that the query names."""
    times = question.times
    if where.happened is not None or times is None or times.kind is not TimeKind.FILTER or not times.spans:
        return where
    return where.replace(happened=hull(times.spans))


def words_of(text: str) -> frozenset[str]:
    return frozenset(word for word in "".join(c if c.isalnum() else " " for c in text.casefold()).split())


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Jaccard index of two sets of words; 0 if both are empty."""
    return len(first & second) / len(first | second) if first or second else 0.0


def episodes_of(tx: Transaction, ids: Sequence[str]) -> list[Episode]:
    """The episodes in the order of `ids`, without unreadable ones."""
    found = {match.value.id: match.value for match in tx.episodes.readable(ids)}
    return [found[id] for id in ids if id in found]
