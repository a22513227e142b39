"""Extractive summaries of removed messages: requests, names, failures and results."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from treering.conversation.cues.detection import MessageCues
from treering.conversation.transcript import TranscriptEntry
from treering.core.messages import Role

CountTokens = Callable[[str], int]

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_ERROR_LINE = re.compile(r"(?i)\b\w*(?:error|exception|panic|fail(?:ed|ure)?)\b")
_MAX_SENTENCE = 160
"""Characters of a quoted sentence."""
_MAX_QUOTES = 4
"""Sentences quoted in one line of a summary."""
_MAX_NAMES = 40
_MAX_CHARACTERS = 4_000
"""Characters read of one message."""


def summarise(entries: Sequence[TranscriptEntry], count: CountTokens, max_tokens: int) -> str:
    """A summary of at most `max_tokens`, most useful line first; empty if not even one line fits.

    Messages that are visible to their owner only are left out.
    """
    entries = [entry for entry in entries if entry.quotable]
    lines = list[str]()
    for title, items in (
        ("Asked", _asked(entries)),
        ("Names", _names(entries)),
        ("Failed", _failed(entries)),
        ("Done", _done(entries)),
    ):
        if line := _fitting(title, items, lambda text: count("\n".join((*lines, text))) <= max_tokens):
            lines.append(line)
    return "\n".join(lines)


def _fitting(title: str, items: Sequence[str], fits: Callable[[str], bool]) -> str:
    """A line with as many of the first items as fit."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(_line(title, items[:middle])) else (low, middle - 1)
    return _line(title, items[:low]) if low else ""


def _line(title: str, items: Sequence[str]) -> str:
    return f"{title}: {', '.join(items) if title == 'Names' else ' | '.join(items)}"


def _asked(entries: Sequence[TranscriptEntry]) -> list[str]:
    """Requests of the user: rules and corrections before ordinary requests."""
    said = [entry for entry in entries if entry.role is Role.USER and not entry.cues.casual]
    binding = [entry for entry in said if entry.cues.directive or entry.cues.correction]
    return _quoted(entry.gist for entry in (*binding, *said))


def _done(entries: Sequence[TranscriptEntry]) -> list[str]:
    ended = [entry for entry in entries if entry.cues.ends_task]
    return _quoted(entry.gist for entry in reversed(ended))


def _failed(entries: Sequence[TranscriptEntry]) -> list[str]:
    return _quoted(entry.gist for entry in reversed(entries) if entry.cues.error)


def _names(entries: Sequence[TranscriptEntry]) -> list[str]:
    """Files and identifiers, most frequent first."""
    counted = Counter(name for entry in entries for name in entry.names)
    return sorted(counted, key=lambda name: (-counted[name], name))[:_MAX_NAMES]


def _quoted(sentences: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, sentences)))[:_MAX_QUOTES]


def gist_of(text: str, cues: MessageCues) -> str:
    """The first sentence; for an error, the first line that reports it."""
    first = ""
    for sentence in _sentences(text):
        if not cues.error or _ERROR_LINE.search(sentence):
            return sentence
        first = first or sentence
    return first


def _sentences(text: str) -> Iterator[str]:
    start, head = 0, text[:_MAX_CHARACTERS]
    for end, after in ((found.start(), found.end()) for found in _SENTENCE.finditer(head)):
        yield from _plain(head[start:end])
        start = after
    yield from _plain(head[start:])


def _plain(sentence: str) -> Iterator[str]:
    """The sentence on one line, shortened; nothing if it is blank."""
    if plain := " ".join(sentence.split()):
        yield plain if len(plain) <= _MAX_SENTENCE else f"{plain[: _MAX_SENTENCE - 1]}…"
