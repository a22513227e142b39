"""Failures recognised again although paths, numbers, addresses and names of temporary things differ."""

import re
from collections.abc import Iterator
from hashlib import blake2b

from treering.core.episodes import Episode, OutcomeStatus

# In this order: what a later rule would take apart is replaced first.
_VARYING = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"\x1b\[[0-9;]*[A-Za-z]", ""),
        (r"(?i)\b[a-z][a-z0-9+.-]*://\S+", "<url>"),
        (r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<id>"),
        (r"(?i)\b0x[0-9a-f]+\b", "<address>"),
        (r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?", "<time>"),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "<time>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<host>"),
        (r"(?i)\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d+\b", "<host>"),
        (r"[\w.+-]+@[\w-]+\.[\w.]+", "<mail>"),
        (r"(?:[A-Za-z]:)?(?:[\\/][^\s\\/:\"'`,;()\[\]]+){2,}[\\/]?|(?:[\w.-]+[\\/])+[\w.-]+", "<path>"),
        (r"(?i)\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b", "<id>"),
        (r"\b[\w-]*\d[\w-]*\d[\w-]*\b|\b\d+\b", "<number>"),
        (r"\d+", "<number>"),
    )
)
_SPACE = re.compile(r"\s+")
_MOST = 2_000


def normalised_failure(message: str) -> str:
    """What stays the same of an error message when it comes again elsewhere; empty where nothing does."""
    text = message[:_MOST]
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return _SPACE.sub(" ", text).strip().casefold()


def failure_signature(message: str) -> str:
    """The same for the same failure; empty for a message that says nothing."""
    normal = normalised_failure(message)
    return blake2b(normal.encode("utf-8", "replace"), digest_size=12).hexdigest() if normal else ""


def failure_messages(episode: Episode) -> Iterator[str]:
    """What went wrong in it: errors on the way, failures it reflected on, and its end where that was one."""
    for entry in episode.execution.trace:
        if entry.is_error:
            yield entry.output or entry.action
    yield from episode.reflection.failures
    if episode.outcome.status is OutcomeStatus.FAILURE:
        yield episode.outcome.output


def failure_signatures(episode: Episode) -> tuple[str, ...]:
    """By which it is found again. A message of several lines is also known by its last, where tools say what it was."""
    messages = (form for message in failure_messages(episode) for form in (message, _last_line(message)))
    return tuple(dict.fromkeys(filter(None, map(failure_signature, messages))))


def _last_line(message: str) -> str:
    return next((line for line in reversed(message.strip().splitlines()) if line.strip()), "")
