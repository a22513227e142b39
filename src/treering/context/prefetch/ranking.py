"""Rank the files that a session will touch, from its first prompt and earlier sessions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import exp
from typing import TYPE_CHECKING

from treering.context.prefetch.history import SessionHistory
from treering.context.prefetch.reasons import Explained, reason_for
from treering.context.prefetch.signals import MAX_SEEDS, Request, signals_of, summed
from treering.context.prefetch.weights import SHARE_OFFSET, SHARE_SLOPE, WEIGHTS
from treering.context.prefetch.words import is_inside, read_prompt

if TYPE_CHECKING:
    from treering.core.past_sessions import PastSession

Links = Mapping[str, Mapping[str, float]]
"""From a file to its companions, with weights up to 1."""

DEFAULT_LIMIT = 12
MAX_GIVEN = 50  # files at hand that are considered
MAX_KNOWN = 20_000  # files of the project, beside those of sessions, that are compared with the prompt


@dataclass(frozen=True, slots=True)
class PrefetchedFile:
    """A file that the session will probably touch; `share` is the estimated chance, `reason` says why in words.

    If contents were requested, `content` is the file's text with `tokens` tokens, or None with the reason in `omitted`.
    The text of a `truncated` file ends with a line that says so.
    """

    path: str
    share: float
    reason: str
    content: str | None = None
    tokens: int = 0
    truncated: bool = False
    omitted: str = ""


def rank_files(
    prompt: str,
    files: Sequence[str],
    past: Sequence[PastSession],
    *,
    limit: int = DEFAULT_LIMIT,
    co_access: Links | None = None,
    co_change: Links | None = None,
    code: Links | None = None,
    records: Mapping[str, float] | None = None,
    known_files: Iterable[str] = (),
) -> tuple[PrefetchedFile, ...]:
    """The likeliest files first. `past` is in order of time, the newest last; `files` are those already at hand.

    Files come from earlier sessions, from companions of the files at hand, from `records` (files of matching records,
    with their relevance), and from those of `known_files` that the prompt names. Files at hand and paths outside the
    root are left out.
    """
    reading = read_prompt(prompt)
    given = tuple(dict.fromkeys(path for path in islice(files, MAX_GIVEN) if is_inside(path)))
    links = {"co_access": co_access or {}, "co_change": co_change or {}, "code": code or {}}
    more = [*given, *(near for each in links.values() for path in given for near in each.get(path, {}))]
    named = (path for path in islice(known_files, MAX_KNOWN) if path.rpartition("/")[2] in reading.bases)
    history = SessionHistory.of(past, [*more, *(records or {}), *named])
    if not history.paths or limit <= 0:
        return ()
    request = Request(reading, given, **links, records=records or {})
    votes = history.votes(reading)
    found = signals_of(history, request, votes)
    scores = summed({file: WEIGHTS[name] * value for file, value in values.items()} for name, values in found.items())
    at_hand = {history.numbers[path] for path in given}
    lately = found["lately"]
    order = nsmallest(
        max(limit + len(at_hand), MAX_SEEDS),
        range(len(history.paths)),
        key=lambda file: (-round(scores.get(file, 0.0), 9), -lately.get(file, 0.0)),
    )
    best = [file for file in order if file not in at_hand][:limit]
    seeds = order[:MAX_SEEDS]
    explained = Explained(history, request, found, seeds, votes)
    return tuple(
        PrefetchedFile(history.paths[file], share_of(scores.get(file, 0.0)), reason_for(file, explained, WEIGHTS))
        for file in best
    )


def share_of(score: float) -> float:
    """Estimated chance that the session touches a file with this score."""
    return round(1 / (1 + exp(-SHARE_SLOPE * score - SHARE_OFFSET)), 3)
