"""Detection of cues in a message, with the words that matched."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from treering.conversation.cues.phrases import (
    APPLIES,
    Cue,
    CueRule,
    PhraseIndex,
    compiled,
    lead_words,
    phrase_index,
    small_talk,
)
from treering.conversation.cues.texts import MAX_MATCHES, WORD, FoldedText, likely_phrases
from treering.core.language.folding import fold
from treering.core.messages import Message, Part, Role, TextPart

# Characters read at the beginning and end of a message; its middle is mostly quotes, lists and output.
READ = {Role.USER: (2_000, 1_000), Role.ASSISTANT: (2_000, 1_000), Role.TOOL: (4_000, 2_000)}
MAX_REFERENCES = 5
# Longer messages have content.
_SMALL_TALK_WORDS, _SMALL_TALK_CHARS = 12, 120
_WHY_CHARS = 60
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]")


@dataclass(frozen=True, slots=True)
class MessageCues:
    """The cues of one message."""

    directive: bool = False
    """The user gives a lasting instruction or constraint."""
    correction: bool = False
    """The user says that something was wrong or meant differently."""
    error: bool = False
    """The message reports a failure."""
    casual: bool = False
    """Only courtesy or a short confirmation."""
    opens_task: bool = False
    ends_task: bool = False
    references: int = 0
    """Number of back-references, at most 5."""
    why: tuple[tuple[str, str], ...] = ()
    """Each cue with the folded words that matched."""


_NOTHING = MessageCues()
_MARKED = ("error", "the tool reported an error")


def cues_of(message: Message) -> MessageCues:
    """The cues of a message, in bounded time. A system message has none."""
    if message.role is Role.SYSTEM:
        return _NOTHING
    shown = [_MARKED] if message.is_error else []
    for role, text in _voices(message):
        shown += _shown(FoldedText(text, lead_words()), phrase_index(role))
    if not shown and _is_small_talk(message):
        return MessageCues(
            casual=True, why=((str(Cue.CASUAL), _shortened(fold(_text_of(message.parts, message.role)))),)
        )
    return _cues(tuple(shown)) if shown else _NOTHING


def _cues(why: tuple[tuple[str, str], ...]) -> MessageCues:
    seen = [cue for cue, _ in why]
    flags = {str(cue): cue in seen for cue in Cue if cue not in (Cue.REFERENCES, Cue.CASUAL)}
    return MessageCues(**flags, references=min(seen.count(Cue.REFERENCES), MAX_REFERENCES), why=why)


def _voices(message: Message) -> Iterator[tuple[Role, str]]:
    """Texts by role: tool results have the role TOOL, whatever the role of the message."""
    if text := _text_of(message.parts, message.role):
        yield message.role, text
    for result in message.results:
        if printed := _text_of(result.parts, Role.TOOL):
            yield Role.TOOL, printed


def _text_of(parts: tuple[Part, ...], role: Role) -> str:
    """The text of `parts` without calls; of a long text, its beginning and end."""
    text = "\n".join(part.text for part in parts if isinstance(part, TextPart) and part.text)
    head, tail = READ[role]
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def _is_small_talk(message: Message) -> bool:
    if message.role not in APPLIES[Cue.CASUAL] or not all(isinstance(part, TextPart) for part in message.parts):
        return False
    text = _text_of(message.parts, message.role)
    if len(text) > _SMALL_TALK_CHARS or "?" in text:
        return False
    words = WORD.findall(fold(text))
    if not words:
        return _EMOJI.search(text) is not None
    return len(words) <= _SMALL_TALK_WORDS and small_talk().covers(words)


def _shown(text: FoldedText, known: PhraseIndex) -> Iterator[tuple[str, str]]:
    """Each cue once, but every reference."""
    seen: set[str] = set()
    references: list[tuple[int, int]] = []
    for rule, span in _matches(text, known, seen):
        if rule.cue == Cue.REFERENCES:
            references.append(span)
        else:
            seen.add(rule.cue)
            yield str(rule.cue), _shortened(text.folded[slice(*span)])
    for start, end in _apart(references)[:MAX_REFERENCES]:
        yield str(Cue.REFERENCES), _shortened(text.folded[start:end])


def _matches(text: FoldedText, known: PhraseIndex, seen: set[str]) -> Iterator[tuple[CueRule, tuple[int, int]]]:
    """Matching phrases, except those of a cue in `seen`."""
    for rule, phrase in likely_phrases(text, known):
        if rule.cue in seen:
            continue
        for found in islice(compiled(phrase.expression).finditer(text.folded), MAX_MATCHES):
            if not text.holds(phrase, found.start()) or not text.counts(found.span(), rule):
                continue
            if rule.cue == Cue.ERROR or not text.is_pasted(found.start()):
                yield rule, found.span()
                if rule.cue != Cue.REFERENCES:
                    break


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """`spans` in order, with adjacent ones merged."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _shortened(words: str) -> str:
    return " ".join(words.split())[:_WHY_CHARS]
