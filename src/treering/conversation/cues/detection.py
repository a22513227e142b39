"""Detection of cues in a message, with the words that matched."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from treering.conversation.cues.notation import Phrase
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
from treering.core.language.folding import fold
from treering.core.messages import Message, Part, Role, TextPart

# Characters read at the beginning and end of a message; its middle is mostly quotes, lists and output.
READ = {Role.USER: (2_000, 1_000), Role.ASSISTANT: (2_000, 1_000), Role.TOOL: (4_000, 2_000)}
MAX_REFERENCES = 5
# Longer messages have content.
_SMALL_TALK_WORDS, _SMALL_TALK_CHARS = 12, 120
# Characters of a sentence examined on each side of a phrase.
_AROUND = 300
_WHY_CHARS = 60
# Occurrences of one phrase that are examined in one text.
_MAX_MATCHES = 64

_WORD = re.compile(r"\w+")
# For `str.translate`, which splits ASCII text into words three times as fast as the expression.
_SPACED = {code: " " for code in range(128) if not _WORD.match(chr(code))}
_BREAK = re.compile(r"[.!?…]++(?=[\s\"')*_]|\Z)|[;:](?=\s|\Z)|\n|¿|$")
_FENCE = "```"
# Opening tag of a block that a program inserted into a message.
INSERTED = re.compile(r"<([a-z]++(?:[-_][a-z]++)++)>")
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
        shown += _shown(_FoldedText(text), phrase_index(role))
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
    words = _WORD.findall(fold(text))
    if not words:
        return _EMOJI.search(text) is not None
    return len(words) <= _SMALL_TALK_WORDS and small_talk().covers(words)


def _shown(text: "_FoldedText", known: PhraseIndex) -> Iterator[tuple[str, str]]:
    """Each cue once, but every reference."""
    seen: set[Cue] = set()
    references: list[tuple[int, int]] = []
    for rule, span in _matches(text, known, seen):
        if rule.cue is Cue.REFERENCES:
            references.append(span)
        else:
            seen.add(rule.cue)
            yield str(rule.cue), _shortened(text.folded[slice(*span)])
    for start, end in _apart(references)[:MAX_REFERENCES]:
        yield str(Cue.REFERENCES), _shortened(text.folded[start:end])


def _matches(text: "_FoldedText", known: PhraseIndex, seen: set[Cue]) -> Iterator[tuple[CueRule, tuple[int, int]]]:
    """Matching phrases, except those of a cue in `seen`."""
    for rule, phrase in _likely(text, known):
        if rule.cue in seen:
            continue
        for found in islice(compiled(phrase.expression).finditer(text.folded), _MAX_MATCHES):
            if text.holds(phrase, found.start()) and text.counts(found.span(), rule):
                yield rule, found.span()
                if rule.cue is not Cue.REFERENCES:
                    break


def _likely(text: "_FoldedText", known: PhraseIndex) -> list[tuple[CueRule, Phrase]]:
    """Phrases whose words all occur in the text, in any order."""
    words = text.words
    absent = words.isdisjoint
    return [
        (rule, phrase)
        for word in sorted(known.by_word.keys() & words)
        for other, rule, phrase in known.by_word[word]
        if not (other and absent(other)) and not any(map(absent, phrase.others))
    ] + [(rule, phrase) for rule, phrase in known.by_part if phrase.inside in text.folded]


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


class _FoldedText:
    """A folded text; sentences and inserted blocks are computed on first use."""

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        plain = self.folded.isascii()
        self.words = set(self.folded.translate(_SPACED).split() if plain else _WORD.findall(self.folded))

    def holds(self, phrase: Phrase, place: int) -> bool:
        """Whether a match at `place` respects word boundaries and, if required, begins its sentence."""
        before = self.folded[max(place - 1, 0) : place]
        if phrase.whole == (before.isalnum() or before == "_"):
            return False
        return not phrase.first or self._begins(place)

    def _begins(self, place: int) -> bool:
        start, _ = self._sentence(place)
        return place - start <= _AROUND and lead_words().issuperset(_WORD.findall(self.folded[start:place]))

    def counts(self, span: tuple[int, int], rule: CueRule) -> bool:
        """Whether a match of `rule` counts: not pasted, not a question, not excepted."""
        if rule.cue is not Cue.ERROR and self._is_pasted(span[0]):
            return False
        start, end = self._sentence(span[0])
        if not rule.questions and "?" in self.folded[end - 3 : end]:
            return False
        services = self.folded[max(start, span[0] - _AROUND) : min(end, span[1] + _AROUND)]
        if rule.spared and compiled(rule.spared).search(services):
            return False
        return not rule.unless_next or compiled(rule.unless_next).search(self._next_sentence(end)) is None

    def _is_pasted(self, place: int) -> bool:
        """Whether it is in a code block, or in a block that a program inserted between tags."""
        return self.folded.count(_FENCE, 0, place) % 2 == 1 or any(
            start <= place < end for start, end in self._inserted
        )

    def _next_sentence(self, end: int) -> str:
        start, after = self._sentence(end)
        while start < after < len(self.folded) and not self.folded[start:after].strip():
            start, after = self._sentence(after)
        return self.folded[start : min(after, start + _AROUND)]

    @cached_property
    def _inserted(self) -> list[tuple[int, int]]:
        spans, place = [], 0
        while tag := INSERTED.search(self.folded, place):
            closed = self.folded.find(f"</{tag[1]}>", tag.end())
            place = tag.end() if closed < 0 else closed
            spans.append((tag.start(), place))
        return spans

    def _sentence(self, place: int) -> tuple[int, int]:
        after = bisect_right(self._ends, place)
        end = self._ends[min(after, len(self._ends) - 1)]
        return (self._ends[after - 1] if after else 0), end

    @cached_property
    def _ends(self) -> list[int]:
        return [found.end() for found in _BREAK.finditer(self.folded)]
