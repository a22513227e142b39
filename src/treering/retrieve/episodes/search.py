"""Episodes by what they are about: their meaning, their words, and the filters that hold for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from treering.core.episodes import Episode, EpisodeStatus
from treering.core.errors import InvalidInput
from treering.core.time_words import TimeKind
from treering.ports.collections import Found
from treering.ports.index import Candidates, Wanted
from treering.retrieve.citing import source_of
from treering.retrieve.episodes.answer import EpisodeAnswer, EpisodeHit, plain_hit
from treering.retrieve.episodes.relevance import relevance_parts
from treering.retrieve.episodes.standing import Standing, is_old, released, represented
from treering.retrieve.meaning import Meaning, meaning_of
from treering.retrieve.paths import hull
from treering.retrieve.private_words import QueryPrivacy
from treering.retrieve.question import Question, understand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.queries import EpisodeFilter
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

KIND = "episode"
_AT_HAND = (EpisodeStatus.ACTIVE, EpisodeStatus.MATURE, EpisodeStatus.AGED)


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """What to look for. `words` looks by words beside meaning; `domain` is what the work is about now.

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


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How alike an episode and a query are; `by` says whether vectors or words were compared."""

    value: float
    by: str


def search_episodes(
    scope: Scope, store: Store, now: datetime, wanted: EpisodeQuery, *, settings: Settings, models: Models
) -> EpisodeAnswer:
    """The most relevant episodes; without a query, the newest that the filter lets through."""
    check(wanted.query, wanted.limit, settings)
    if not wanted.query.strip():
        return list_episodes(scope, store, now, wanted.where, wanted.limit, settings=settings, cold=wanted.cold)
    meaning = meaning_of(scope, store, now, QueryPrivacy(wanted.query), models=models, settings=settings)
    with store.reading(scope, now) as tx:
        # Vectors before words: an index that was asked for words alone does not look for new vectors any more.
        missing = meaning.missing(tx)
        question = understand(wanted.query, now, languages=tx.index.languages(), settings=settings.recall)
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
    question = understand(text, tx.now, languages=tx.index.languages(), settings=settings.recall)
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
    meaning: Meaning
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
        words = self.question.codes if self.wanted.words or self.by_words else ()
        wanted = self.meaning.wanted(words, self.question.shares if words else ())
        most = max(self.settings.episodes.candidates, 2 * self.wanted.limit)
        seen = self.meaning.candidates(self.tx, wanted, (KIND,), most=most)
        ids = index.confirmed(filters, np.sort(seen.number))
        if len(ids) < min(len(seen), self.wanted.limit):
            seen = self.meaning.candidates(self.tx, wanted, (KIND,), most=most, among=index.passing(filters))
            ids = index.confirmed(filters, np.sort(seen.number))
        numbers = np.array(sorted(ids), np.int64)
        beside = {} if self.meaning.beside is None else self._cosines(self.meaning.beside, numbers)
        cosines = {**beside, **self._cosines(self.meaning, numbers)}
        alike = _likenesses(seen, cosines, self.wanted.least, self.settings)
        return {ids[number][1]: each for number, each in alike.items() if number in ids}

    def _cosines(self, meaning: Meaning, numbers: NDArray[np.int64]) -> Mapping[int, float]:
        """Of the vectors themselves: the index compares them without what all texts have in common."""
        if meaning.vector is None or not len(numbers):
            return {}
        asked = meaning.vector[0].astype(np.float64)
        found = self.tx.index.vectors(meaning.model, numbers)
        return {number: _cosine(asked, vector.astype(np.float64)) for number, vector in found.items() if vector.any()}

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
        return EpisodeHit(episode.id, episode.task.input, score, source_of(episode), episode, parts, each.stands_for)


def _likenesses(
    seen: Candidates, cosines: Mapping[int, float], least: float, settings: Settings
) -> Mapping[int, _Likeness]:
    """Of those that have to do with the query: by vectors where there are some, else by the share of its words."""
    weight, likely_at = seen.words_weight or 1.0, settings.recall.least_likeness
    found = {}
    for number, meaning, words in zip(seen.number.tolist(), seen.meaning.tolist(), seen.words.tolist(), strict=True):
        cosine = cosines.get(number)
        likely = cosine is not None and (meaning >= likely_at or cosine >= settings.episodes.highly_relevant_at)
        enough = words / weight >= least or meaning >= settings.precise.likeness
        if enough and (words > 0 or likely):
            found[number] = (
                _Likeness(min(words / weight, 1.0), "words") if cosine is None else _Likeness(cosine, "cosine")
            )
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
