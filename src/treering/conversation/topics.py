"""Detects topic shifts by words alone: deterministic, without a model.

The thresholds were chosen on public coding sessions joined in pairs; `bench/cues.py` measures them on other sessions.
They prefer missing a shift to a false one, because messages of an old topic are removed earlier.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from types import MappingProxyType

from treering.conversation.cues.phrases import reply_words
from treering.conversation.cues.texts import INSERTED
from treering.core.language.folding import fold
from treering.core.language.terms import code_of, terms_of

# The beginning of a message shows its subject; the rest is often pasted.
_MAX_CHARACTERS = 2_000
# Weight of earlier terms after each message: a term counts half after about a dozen.
_DECAY = 0.94
# Fewer terms are a follow-up ("try it again with the other file") or too little evidence: with 12, a third of the
# detected shifts were false, with 20 a fifth.
_MIN_TERMS = 20
# Below this share of known terms a message has another topic; at 0.3 false shifts double.
_MAX_SHIFT_LIKENESS = 0.25
# If users seldom repeat words, as in casual chats, words are not evidence, and no shift is detected.
_MIN_USUAL = 0.3
_USUAL_RATE = 0.2
_MIN_USUAL_TERMS = 5
# A segment with fewer terms has no topic yet.
_MIN_KNOWN = 100
# Terms of a segment after trimming, and the number that triggers trimming of the weakest.
# A long answer has about 150; with 300 terms, half of the detected shifts were false.
_TERMS_AFTER_TRIM, _MAX_TERMS = 1_000, 1_400
# The unit of weights grows instead of all weights shrinking; beyond this value it is normalised.
_LARGEST_UNIT = 1e9
_FIRST_WORD = re.compile(r"\w+")
_SHORTEST_TERM = 3


@dataclass(frozen=True, slots=True)
class MessageSubject:
    """The content terms of a message as codes; `replies` if it begins like an answer."""

    terms: frozenset[int]
    replies: bool = False


def subject_of(text: str) -> MessageSubject:
    """Stems, names and paths in the beginning of a text, without stop words, numbers and short words."""
    start = _own_words(text[: 4 * _MAX_CHARACTERS])[:_MAX_CHARACTERS]
    terms = {term for term in terms_of(start) if len(term) >= _SHORTEST_TERM and not term.isdecimal()}
    first = _FIRST_WORD.search(fold(start))
    return MessageSubject(frozenset(map(code_of, terms)), first is not None and first[0] in reply_words())


def _own_words(text: str) -> str:
    """The text without blocks that a program inserted between tags such as <system-reminder>."""
    pieces, place = [], 0
    while tag := INSERTED.search(text, place):
        closed = text.find(f"</{tag[1]}>", tag.end())
        if closed < 0:
            break
        pieces.append(text[place : tag.start()])
        place = closed + len(tag[1]) + len("</>")
    return " ".join([*pieces, text[place:]]) if pieces else text


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of a segment: at most 1,400 terms with weights that decay."""

    terms: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    unit: float = 1.0
    """Weight of one mention in the next message."""
    usual: float | None = None
    """Usual likeness of the user's messages to the topic; None before the second message."""

    def likeness(self, subject: MessageSubject) -> float:
        """The share of the subject's terms that are in the topic, weighted, at most 1."""
        if not subject.terms:
            return 0.0
        known, unit = self.terms, self.unit
        return sum([min(known[term], unit) for term in subject.terms if term in known]) / unit / len(subject.terms)

    def shifts(self, subject: MessageSubject) -> bool:
        """Whether a user's message with this subject begins a new topic. Short messages and replies never do."""
        if subject.replies or len(subject.terms) < _MIN_TERMS or len(self.terms) < _MIN_KNOWN:
            return False
        return self.usual is not None and self.usual >= _MIN_USUAL and self.likeness(subject) < _MAX_SHIFT_LIKENESS

    def followed_by(self, subject: MessageSubject, *, by_user: bool) -> "Topic":
        """The topic after one more message."""
        usual = self._usual_after(subject) if by_user else self.usual
        if not subject.terms:
            return Topic(self.terms, self.unit, usual)
        unit, terms = self.unit / _DECAY, dict(self.terms)
        for term in subject.terms:
            terms[term] = terms.get(term, 0.0) + unit
        if len(terms) > _MAX_TERMS:
            terms = dict(nlargest(_TERMS_AFTER_TRIM, terms.items(), key=lambda item: (item[1], item[0])))
        if unit > _LARGEST_UNIT:
            unit, terms = 1.0, {term: weight / unit for term, weight in terms.items()}
        return Topic(MappingProxyType(terms), unit, usual)

    def turned_to(self, subject: MessageSubject) -> "Topic":
        """The topic of a new segment that begins with this subject."""
        return Topic(usual=self.usual).followed_by(subject, by_user=False)

    def _usual_after(self, subject: MessageSubject) -> float | None:
        if len(subject.terms) < _MIN_USUAL_TERMS or not self.terms:
            return self.usual
        likeness = self.likeness(subject)
        return likeness if self.usual is None else self.usual + (likeness - self.usual) * _USUAL_RATE
