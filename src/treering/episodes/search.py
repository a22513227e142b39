"""Episodes by what they are about: their meaning, their words, and the filters that hold for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from treering.core.embedded_text import EPISODE_PARTS, space_of
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.errors import InvalidInput
from treering.core.time_words import TimeKind
from treering.episodes.answer import EpisodeAnswer, EpisodeHit, plain_hit
from treering.episodes.relevance import relevance_parts
from treering.episodes.representatives import Standing, is_old, released, represented
from treering.ports.collections import Found
from treering.ports.index import Candidates, Wanted
from treering.search.citations import episode_source
from treering.search.paths import hull
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

KIND = "episode"
WHOLE = "whole"
Compared = Literal["whole", "task", "outcome"]
COMPARED: tuple[Compared, ...] = ("whole", "task", "outcome")
"""Vectors of an episode: of all of it, of what was asked, and of what came of it."""
_AT_HAND = (EpisodeStatus.ACTIVE, EpisodeStatus.MATURE, EpisodeStatus.AGED)


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """What to look for. `words` looks by words beside meaning; `domain` is what the work is about now.

    `compared` names the vectors that the query is compared with; the nearest of them counts.

    `cold` asks for aged and archived episodes too, however little they have to do with the query. Of what the words of
    the query weigh together, an episode holds at least the share `least`, or says nearly the same.
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
class _Likeness:
    """How alike an episode and a query are: by its words, or by the vector of which part."""

    value: float
    part: str = ""

    @property
    def by(self) -> str:
        return "cosine" if self.part else "words"


def search_episodes(
    scope: Scope, store: Store, now: datetime, wanted: EpisodeQuery, *, settings: Settings, models: Models
) -> EpisodeAnswer:
    """The most relevant episodes; without a query, the newest that the filter lets through."""
    check(wanted.query, wanted.limit, settings)
    if not wanted.query.strip():
        return list_episodes(scope, store, now, wanted.where, wanted.limit, settings=settings, cold=wanted.cold)
    parts = [part for part in EPISODE_PARTS if part in wanted.compared]
    asked = QueryPrivacy(wanted.query)
    meaning = embed_query(scope, store, now, asked, models=models, settings=settings, parts=parts)
    with store.reading(scope, now) as tx:
        # Vectors before words: an index that was asked for words alone does not look for new vectors any more.
        missing = meaning.missing(tx)
        question = interpret(wanted.query, now, languages=tx.index.languages(), settings=settings.recall)
        look = _Look(tx, wanted, question, meaning, settings, by_words=bool(missing))
        where = _timed(wanted.where, question)
        hits, unreadable = look.hits(where)
        if not hits and where is not wanted.where:
            missing["time"] = "nothing that fits happened then; other times are shown"
            hits, unreadable = look.hits(wanted.where)
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
    """The newest that the filter lets through; archived ones where it asks for them."""
    asked = cold or any((where.statuses, where.ids, where.sessions, where.happened, where.failures))
    with store.reading(scope, now) as tx:
        found = tx.episodes.newest(where, limit=limit) if asked else _at_hand(tx, where, limit, settings)
        standing = represented(tx, (match.value for match in found), where)
    return EpisodeAnswer("", tuple(plain_hit(each.episode, each.stands_for) for each in standing), {}, found.unreadable)


def _at_hand(tx: Transaction, where: EpisodeFilter, limit: int, settings: Settings) -> Found[Episode]:
    """The newest that are not archived, or were only because of one that stood for them and is deleted."""
    found = tx.episodes.newest(where.replace(statuses=_AT_HAND), limit=limit)
    if where.consolidated is False:
        return found
    more = released(tx, where, limit, settings.episodes)
    by_id = {match.value.id: match for match in (*found, *more)}
    newest = sorted(by_id.values(), key=lambda match: (match.value.at, match.value.id), reverse=True)
    return Found(tuple(newest[:limit]), (*found.unreadable, *more.unreadable))


def check(query: object, limit: object, settings: Settings) -> None:
    if not isinstance(query, str):
        raise InvalidInput(f"the query is a {type(query).__name__}; ask in words")
    if type(limit) is not int or not 1 <= limit <= settings.recall.limit_max:
        raise InvalidInput(f"limit is {limit}; ask for 1 to {settings.recall.limit_max}, or use export")


def by_words(tx: Transaction, text: str, where: EpisodeFilter, settings: Settings) -> Sequence[str]:
    """Ids of episodes that share words with a text, the best first."""
    question = interpret(text, tx.now, languages=tx.index.languages(), settings=settings.recall)
    wanted = Wanted(question.codes, shares=question.shares)
    seen = tx.index.candidates(wanted, (KIND,), most=settings.episodes.candidates)
    rows = np.flatnonzero(seen.words > 0)
    ids = tx.index.confirmed({KIND: where}, np.sort(seen.number[rows]))
    best = sorted(rows.tolist(), key=lambda row: -seen.words[row])
    return [ids[int(seen.number[row])][1] for row in best if int(seen.number[row]) in ids]


@dataclass(frozen=True)
class _Look:
    """One search on its way."""

    tx: Transaction
    wanted: EpisodeQuery
    question: Question
    meaning: QueryVector
    settings: Settings
    by_words: bool
    """Whether some can be found by their words only."""

    def hits(self, where: EpisodeFilter) -> tuple[tuple[EpisodeHit, ...], tuple[str, ...]]:
        near = self._near(where)
        found = self.tx.episodes.readable(near)
        shown = represented(self.tx, (match.value for match in found), where)
        scored = [self._hit(each, near) for each in shown if self._may_come(each, near, where)]
        best = sorted(scored, key=lambda hit: (-hit.score, hit.id))
        return tuple(best[: self.wanted.limit]), found.unreadable

    def _near(self, where: EpisodeFilter) -> Mapping[str, _Likeness]:
        """How alike those are that have to do with the query. Where too few pass the filter, it is applied first."""
        index, filters = self.tx.index, {KIND: where}
        most = max(self.settings.episodes.candidates, 2 * self.wanted.limit)
        seen = self._candidates(most)
        ids = index.confirmed(filters, _numbers(seen))
        if len(ids) < min(len(_numbers(seen)), self.wanted.limit):
            seen = self._candidates(most, index.passing(filters))
            ids = index.confirmed(filters, _numbers(seen))
        numbers = np.array(sorted(ids), np.int64)
        beside = {} if self.meaning.local is None else self._cosines(self.meaning.local, numbers)
        cosines = {**beside, **self._cosines(self.meaning, numbers)}
        alike = _likenesses(seen, cosines, self.wanted.least, self.settings)
        return {ids[number][1]: each for number, each in alike.items() if number in ids}

    def _candidates(self, most: int, among: NDArray[np.int64] | None = None) -> list[Candidates]:
        """By words and the first of the compared vectors, then by each other vector."""
        words = self.question.codes if self.wanted.words or self.by_words else ()
        first, *others = (_part(compared) for compared in self.wanted.compared)
        asked = [self.meaning.wanted(words, self.question.shares if words else (), part=first)]
        if self.meaning.vector is not None:
            asked += [self.meaning.wanted((), part=part) for part in others]
        return [self.meaning.candidates(self.tx, each, (KIND,), most=most, among=among) for each in asked]

    def _cosines(self, meaning: QueryVector, numbers: NDArray[np.int64]) -> Mapping[int, _Likeness]:
        """The nearest vector of each. The index compares them without what all texts have in common, this does not."""
        if meaning.vector is None or not len(numbers):
            return {}
        asked, nearest = meaning.vector[0].astype(np.float64), dict[int, _Likeness]()
        for compared in self.wanted.compared:
            found = self.tx.index.vectors(space_of(meaning.model, _part(compared)), numbers)
            for number, vector in found.items():
                if not vector.any():
                    continue
                likeness = _Likeness(_cosine(asked, vector.astype(np.float64)), compared)
                nearest[number] = max(nearest.get(number, likeness), likeness, key=lambda each: each.value)
        return nearest

    def _may_come(self, each: Standing, near: Mapping[str, _Likeness], where: EpisodeFilter) -> bool:
        """What is old comes unasked only where it says most of what was asked."""
        if self.wanted.cold or where.statuses or where.ids:
            return True
        if not is_old(self.tx, each.episode, self.settings.episodes):
            return True
        return _best(each, near).value >= self.settings.episodes.highly_relevant_at

    def _hit(self, each: Standing, near: Mapping[str, _Likeness]) -> EpisodeHit:
        episode, likeness = each.episode, _best(each, near)
        domains = (*self.wanted.where.domains, *filter(None, (self.wanted.domain,)))
        parts = relevance_parts(episode, likeness.value, self.tx.now, domains, self.settings.episodes, by=likeness.by)
        score = sum(part.added for part in parts)
        text, source = episode.task.input, episode_source(episode)
        return EpisodeHit(episode.id, text, score, source, episode, parts, each.stands_for, likeness.part)


def _part(compared: Compared) -> str:
    return "" if compared == WHOLE else compared


def _numbers(seen: Sequence[Candidates]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([each.number for each in seen]))


def _likenesses(
    seen: Sequence[Candidates], cosines: Mapping[int, _Likeness], least: float, settings: Settings
) -> Mapping[int, _Likeness]:
    """Of those that have to do with the query: by vectors where there are some, else by the share of its words."""
    weight, likely_at = seen[0].words_weight or 1.0, settings.recall.least_likeness
    words = dict(zip(seen[0].number.tolist(), seen[0].words.tolist(), strict=True))
    meanings = dict[int, float]()
    for number, meaning in (pair for each in seen for pair in zip(each.number.tolist(), each.meaning, strict=True)):
        meanings[number] = float(np.fmax(meanings.get(number, np.nan), meaning))
    found = {}
    for number, meaning in meanings.items():
        cosine, share = cosines.get(number), words.get(number, 0.0) / weight
        likely = cosine is not None and (meaning >= likely_at or cosine.value >= settings.episodes.highly_relevant_at)
        enough = share >= least or meaning >= settings.precise.likeness
        if enough and (share > 0 or likely):
            found[number] = cosine or _Likeness(min(share, 1.0))
    return found


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def _best(each: Standing, near: Mapping[str, _Likeness]) -> _Likeness:
    """Whoever stands for several is as near as the nearest of them."""
    return max((near[id] for id in (each.episode.id, *each.stands_for) if id in near), key=lambda found: found.value)


def _timed(where: EpisodeFilter, question: Question) -> EpisodeFilter:
    """The filter, with what the query itself says about time."""
    times = question.times
    if where.happened is not None or times is None or times.kind is not TimeKind.FILTER or not times.spans:
        return where
    return where.replace(happened=hull(times.spans))


def words_of(text: str) -> frozenset[str]:
    return frozenset(word for word in "".join(c if c.isalnum() else " " for c in text.casefold()).split())


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """How much of their words two texts share, from 0 to 1."""
    return len(first & second) / len(first | second) if first or second else 0.0


def episodes_of(tx: Transaction, ids: Sequence[str]) -> list[Episode]:
    """In the order of their ids; those that cannot be read are left out."""
    found = {match.value.id: match.value for match in tx.episodes.readable(ids)}
    return [found[id] for id in ids if id in found]
