"""From an error message to the episodes that met it, and how they got out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.episodes import Episode, OutcomeStatus
from treering.core.errors import BlobMissing, InvalidInput, Unreadable
from treering.core.failures import failure_messages, failure_signature, without_varying
from treering.core.language.terms import terms_of
from treering.core.queries import EpisodeFilter, TimeRange
from treering.episodes.answer import FailureAnswer, FailureHit
from treering.episodes.representatives import represented
from treering.episodes.search import by_words, episodes_of, overlap, words_of
from treering.ports.collections import Found
from treering.search.citations import episode_source

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.ports.store import Transaction

# One line that tells what a step did.
_STEP = 300
_SOLVED = 3
# The same task in the same words stands among the first.
_LOOKED_AT = 20
_ANY = EpisodeFilter()


@dataclass(frozen=True, slots=True)
class _Met:
    """An episode, the message it met, and how alike that is to the one that was asked about (1: the same).

    `shown` is the episode that stands for it.
    """

    episode: Episode
    shown: Episode
    error: str
    likeness: float
    same: bool


def similar_failures(
    tx: Transaction, error: str, limit: int, settings: Settings, *, tainted: bool = True
) -> FailureAnswer:
    """The same failure first, by its signature; then alike ones, by the words that do not vary."""
    where = _ANY if tainted else _ANY.replace(tainted=False)
    if not error.strip():
        raise InvalidInput("there is no error message to look for; give what the tool or the test printed")
    signatures = _signatures(error)
    same = tx.episodes.newest(where.replace(failures=signatures), limit=3 * limit) if signatures else Found[Episode]()
    met = [_met(match.value, error, signatures) for match in same]
    lost = list(same.unreadable)
    if len(met) < limit:
        known = {each.episode.id for each in met}
        met += [each for each in _alike(tx, error, where, settings) if each.episode.id not in known]
    hits = list[FailureHit]()
    for each in sorted(_once(tx, met), key=_promising)[:limit]:
        episode, unread = _whole(tx, each.episode)
        lost += unread
        hits.append(_hit(tx, each, episode, settings))
    return FailureAnswer(error, tuple(sorted(hits, key=_order)), tuple(lost))


def _promising(met: _Met) -> tuple[bool, bool, float, float]:
    return not met.same, not _recovered(met.episode), -met.likeness, -met.episode.at.timestamp()


def _order(hit: FailureHit) -> tuple[bool, bool, float, float]:
    """The same, then those that got out, then the most alike, then the latest."""
    return not hit.same, not (hit.recovered or hit.solved_by), -hit.likeness, -hit.episode.at.timestamp()


def _recovered(episode: Episode) -> bool:
    return episode.outcome.status is not OutcomeStatus.FAILURE


def _signatures(message: str) -> tuple[str, ...]:
    """Of the whole message, and of its last line, where tools say what it was."""
    last = next((line for line in reversed(message.splitlines()) if line.strip()), "")
    return tuple(dict.fromkeys(filter(None, map(failure_signature, (message, last)))))


def _met(episode: Episode, error: str, signatures: Sequence[str]) -> _Met:
    for message in failure_messages(episode):
        if not set(signatures).isdisjoint(_signatures(message)):
            return _Met(episode, episode, message, 1.0, same=True)
    return _Met(episode, episode, error, 1.0, same=True)


def _alike(tx: Transaction, error: str, where: EpisodeFilter, settings: Settings) -> Iterator[_Met]:
    """Among episodes that share its words, and the newest, whose steps no index holds."""
    wanted = words_of(without_varying(error))
    if not wanted:
        return
    ids = by_words(tx, " ".join(sorted(wanted)), where, settings)
    newest = tx.episodes.newest(where, limit=settings.episodes.candidates)
    found = {each.id: each for each in (*episodes_of(tx, ids), *(match.value for match in newest))}
    met = []
    for episode in found.values():
        messages = [(overlap(wanted, _steady(message)), message) for message in failure_messages(episode)]
        if messages and max(messages)[0] >= settings.episodes.failure_likeness:
            likeness, message = max(messages)
            met.append(_Met(episode, episode, message, likeness, same=False))
    yield from sorted(met, key=lambda each: -each.likeness)


def _steady(message: str) -> frozenset[str]:
    return words_of(without_varying(message))


def _once(tx: Transaction, met: Sequence[_Met]) -> list[_Met]:
    """Episodes that were made into one are told as that one, with what the first of them met."""
    by_id = {each.episode.id: each for each in met}
    found = []
    for each in represented(tx, (one.episode for one in met), _ANY):
        told = next(by_id[id] for id in (each.episode.id, *each.stands_for) if id in by_id)
        found.append(replace(told, shown=each.episode))
    return found


def _whole(tx: Transaction, episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """With the steps that lie in the blob store; without them where that has them no more."""
    try:
        return tx.episodes.whole(episode.id) or episode, ()
    except (BlobMissing, Unreadable):
        return episode, (f"blob of episode {episode.id}",)


def _hit(tx: Transaction, met: _Met, episode: Episode, settings: Settings) -> FailureHit:
    recovered = _recovered(episode)
    return FailureHit(
        id=met.shown.id,
        error=met.error,
        same=met.same,
        likeness=met.likeness,
        recovered=recovered,
        recovery=(*(_followed(episode, met.error, settings.episodes.recovery_steps) if recovered else ()), *_told(met)),
        insights=tuple(map(str, episode.reflection.insights)),
        solved_by=tuple(id for id in _solved_by(tx, episode, settings) if id != met.shown.id),
        source=episode_source(met.shown),
        episode=met.shown if met.shown.id != episode.id else episode,
    )


def _followed(episode: Episode, error: str, most: int) -> Iterator[str]:
    """The steps after the last time it met this error."""
    trace = episode.execution.trace
    signatures = set(_signatures(error))
    last = max(
        (
            place
            for place, entry in enumerate(trace)
            if entry.is_error and not signatures.isdisjoint(_signatures(entry.output or entry.action))
        ),
        default=None,
    )
    if last is None:
        return
    for entry in [each for each in trace[last + 1 :] if not each.is_error][:most]:
        tool = f" ({entry.tool})" if entry.tool else ""
        said = f": {entry.output}" if entry.output else ""
        yield _line(f"{entry.action}{tool}{said}")


def _told(met: _Met) -> Iterator[str]:
    """What the episode itself says resolved it."""
    for failure in met.episode.reflection.failures:
        if failure.text == met.error and failure.resolution:
            yield _line(failure.resolution)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _STEP else f"{line[: _STEP - 1]}…"


def _solved_by(tx: Transaction, episode: Episode, settings: Settings) -> tuple[str, ...]:
    """Later episodes that did the same task with success."""
    about = episode.metadata
    where = EpisodeFilter(
        outcomes=(OutcomeStatus.SUCCESS,),
        happened=TimeRange(since=episode.at),
        task_types=tuple(filter(None, (about.task_type,))),
        domains=tuple(filter(None, (about.domain,))),
    )
    asked, least = episode.task.input, settings.episodes.same_task
    found = episodes_of(tx, by_words(tx, episode.task.input, where, settings)[:_LOOKED_AT])
    same = [each for each in found if each.id != episode.id and same_task(asked, each.task.input, least)]
    standing = represented(tx, sorted(same, key=lambda each: each.at), _ANY)
    return tuple(each.episode.id for each in standing if each.episode.id != episode.id)[:_SOLVED]


def same_task(one: str, other: str, least: float) -> bool:
    """Whether two requests share this much of their words and neither names something else than the other.

    Requests for two things are often worded alike: one number, file or name in the place of another is another task.
    """
    first, second = frozenset(terms_of(one)), frozenset(terms_of(other))
    numbered = any(char.isdigit() for term in first ^ second for char in term)
    return overlap(first, second) >= least and not numbered and (first <= second or second <= first)
