"""Finds episodes with the same or a similar error message, and how they recovered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from treering.core.citations import episode_source
from treering.core.episodes import Episode, OutcomeStatus
from treering.core.errors import BlobMissing, InvalidInput, Unreadable
from treering.core.failures import failure_messages, failure_signature, without_varying
from treering.core.language.terms import terms_of
from treering.core.queries import EpisodeFilter, TimeRange
from treering.episodes.answer import FailureAnswer, FailureHit
from treering.episodes.representatives import represented
from treering.episodes.search import MAX_CANDIDATES, by_words, episodes_of, overlap, words_of
from treering.ports.collections import RecordMatches

if TYPE_CHECKING:
    from treering.ports.store import Transaction

SIMILAR_ERROR = 0.5  # share of common words above which error messages are similar
SAME_TASK = 0.6  # share of common words above which requests are the same task, unless one names something else
RECOVERY_STEPS = 3  # steps shown after an error: what was tried next, and its result

_MAX_LINE = 300
_MAX_SOLVED_BY = 3
# The same task in the same words is among the first hits.
_MAX_COMPARED = 20
_ANY = EpisodeFilter()


@dataclass(frozen=True, slots=True)
class _FailureMatch:
    """An episode, its error message, and the similarity to the given one (1 if equal).

    `shown` is the episode that represents it.
    """

    episode: Episode
    shown: Episode
    error: str
    likeness: float
    same: bool


def similar_failures(tx: Transaction, error: str, limit: int, *, tainted: bool = True) -> FailureAnswer:
    """Equal failures first, by signature; then similar ones, by the words that do not vary."""
    where = _ANY if tainted else _ANY.replace(tainted=False)
    if not error.strip():
        raise InvalidInput("the error message is empty; give what the tool or the test printed")
    signatures = _signatures(error)
    same = (
        tx.episodes.newest(where.replace(failures=signatures), limit=3 * limit)
        if signatures
        else RecordMatches[Episode]()
    )
    matches = [_match(match.value, error, signatures) for match in same]
    lost = list(same.unreadable)
    if len(matches) < limit:
        known = {each.episode.id for each in matches}
        matches += [each for each in _similar(tx, error, where) if each.episode.id not in known]
    hits = list[FailureHit]()
    for each in sorted(_represent(tx, matches), key=_match_order)[:limit]:
        episode, unread = _whole(tx, each.episode)
        lost += unread
        hits.append(_hit(tx, each, episode))
    return FailureAnswer(error, tuple(sorted(hits, key=_order)), tuple(lost))


def _match_order(match: _FailureMatch) -> tuple[bool, bool, float, float]:
    return not match.same, not _recovered(match.episode), -match.likeness, -match.episode.at.timestamp()


def _order(hit: FailureHit) -> tuple[bool, bool, float, float]:
    """Equal failures first, then recovered ones, then by similarity, then latest first."""
    return not hit.same, not (hit.recovered or hit.solved_by), -hit.likeness, -hit.episode.at.timestamp()


def _recovered(episode: Episode) -> bool:
    return episode.outcome.status is not OutcomeStatus.FAILURE


def _signatures(message: str) -> tuple[str, ...]:
    """Signatures of the message and of its last line, which often has the actual error."""
    last = next((line for line in reversed(message.splitlines()) if line.strip()), "")
    return tuple(dict.fromkeys(filter(None, map(failure_signature, (message, last)))))


def _match(episode: Episode, error: str, signatures: Sequence[str]) -> _FailureMatch:
    for message in failure_messages(episode):
        if not set(signatures).isdisjoint(_signatures(message)):
            return _FailureMatch(episode, episode, message, 1.0, same=True)
    return _FailureMatch(episode, episode, error, 1.0, same=True)


def _similar(tx: Transaction, error: str, where: EpisodeFilter) -> Iterator[_FailureMatch]:
    """Similar failures among episodes that share words, and the newest, whose steps are not indexed."""
    wanted = words_of(without_varying(error))
    if not wanted:
        return
    ids = by_words(tx, " ".join(sorted(wanted)), where)
    newest = tx.episodes.newest(where, limit=MAX_CANDIDATES)
    found = {each.id: each for each in (*episodes_of(tx, ids), *(match.value for match in newest))}
    matches = []
    for episode in found.values():
        messages = [(overlap(wanted, _stable_words(message)), message) for message in failure_messages(episode)]
        if messages and max(messages)[0] >= SIMILAR_ERROR:
            likeness, message = max(messages)
            matches.append(_FailureMatch(episode, episode, message, likeness, same=False))
    yield from sorted(matches, key=lambda each: -each.likeness)


def _stable_words(message: str) -> frozenset[str]:
    return words_of(without_varying(message))


def _represent(tx: Transaction, matches: Sequence[_FailureMatch]) -> list[_FailureMatch]:
    """Replace episodes by their representatives, each with the match of its first member."""
    by_id = {each.episode.id: each for each in matches}
    found = []
    for each in represented(tx, (one.episode for one in matches), _ANY):
        first = next(by_id[id] for id in (each.episode.id, *each.stands_for) if id in by_id)
        found.append(replace(first, shown=each.episode))
    return found


def _whole(tx: Transaction, episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """The episode with the parts in the blob store, or without them if the blob is missing."""
    try:
        return tx.episodes.get_complete(episode.id) or episode, ()
    except (BlobMissing, Unreadable):
        return episode, (f"blob of episode {episode.id}",)


def _hit(tx: Transaction, match: _FailureMatch, episode: Episode) -> FailureHit:
    recovered = _recovered(episode)
    return FailureHit(
        id=match.shown.id,
        error=match.error,
        same=match.same,
        likeness=match.likeness,
        recovered=recovered,
        recovery=(
            *(_steps_after(episode, match.error, RECOVERY_STEPS) if recovered else ()),
            *_resolutions(match),
        ),
        insights=tuple(map(str, episode.reflection.insights)),
        solved_by=tuple(id for id in _solved_by(tx, episode) if id != match.shown.id),
        source=episode_source(match.shown),
        episode=match.shown if match.shown.id != episode.id else episode,
    )


def _steps_after(episode: Episode, error: str, limit: int) -> Iterator[str]:
    """The successful steps after the last occurrence of this error."""
    trace = episode.execution.trace
    signatures = set(_signatures(error))
    last = max(
        (
            index
            for index, entry in enumerate(trace)
            if entry.is_error and not signatures.isdisjoint(_signatures(entry.output or entry.action))
        ),
        default=None,
    )
    if last is None:
        return
    for entry in [each for each in trace[last + 1 :] if not each.is_error][:limit]:
        tool = f" ({entry.tool})" if entry.tool else ""
        output = f": {entry.output}" if entry.output else ""
        yield _line(f"{entry.action}{tool}{output}")


def _resolutions(match: _FailureMatch) -> Iterator[str]:
    """Resolutions recorded in the episode's reflection."""
    for failure in match.episode.reflection.failures:
        if failure.text == match.error and failure.resolution:
            yield _line(failure.resolution)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…"


def _solved_by(tx: Transaction, episode: Episode) -> tuple[str, ...]:
    """Ids of later episodes that did the same task with success."""
    about = episode.metadata
    where = EpisodeFilter(
        outcomes=(OutcomeStatus.SUCCESS,),
        happened=TimeRange(since=episode.at),
        task_types=tuple(filter(None, (about.task_type,))),
        domains=tuple(filter(None, (about.domain,))),
    )
    request, threshold = episode.task.input, SAME_TASK
    found = episodes_of(tx, by_words(tx, episode.task.input, where)[:_MAX_COMPARED])
    same = [each for each in found if each.id != episode.id and same_task(request, each.task.input, threshold)]
    shown = represented(tx, sorted(same, key=lambda each: each.at), _ANY)
    return tuple(each.episode.id for each in shown if each.episode.id != episode.id)[:_MAX_SOLVED_BY]


def same_task(one: str, other: str, min_overlap: float) -> bool:
    """Whether two requests share enough words, differ in no number, and one contains the words of the other.

    Requests for different tasks are often worded alike and differ only in a number, file or name.
    """
    first, second = frozenset(terms_of(one)), frozenset(terms_of(other))
    numbered = any(char.isdigit() for term in first ^ second for char in term)
    return overlap(first, second) >= min_overlap and not numbered and (first <= second or second <= first)
