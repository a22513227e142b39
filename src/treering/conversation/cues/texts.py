"""A folded text in which phrases are looked up, with its words, sentences and inserted blocks."""

import re
from bisect import bisect_right
from functools import cached_property

from treering.conversation.cues.notation import Phrase
from treering.conversation.cues.phrases import CueRule, PhraseIndex, compiled
from treering.core.language.folding import fold

# Occurrences of one phrase that are examined in one text.
MAX_MATCHES = 64
# Characters of a sentence examined on each side of a phrase.
_AROUND = 300

WORD = re.compile(r"\w+")
# For `bytes.translate`, which splits text into words many times as fast as the expression.
_SPACED = bytes(code if code >= 128 or WORD.match(chr(code)) else ord(" ") for code in range(256))
# Begins with a set of characters, for which `re` searches fast.
_BREAK = re.compile(
    r"[.!?…;:\n¿](?:(?<=[\n¿])|(?<=[;:])(?=\s|\Z)|(?<=[.!?…])[.!?…]*+(?=[\s\"')*_]|\Z))",
)
_FENCE = "```"
# Opening tag of a block that a program inserted into a message.
INSERTED = re.compile(r"<([a-z]++(?:[-_][a-z]++)++)>")


class FoldedText:
    """A folded text; sentences and inserted blocks are computed on first use."""

    def __init__(self, text: str, leads: frozenset[str]) -> None:
        """`leads` are the words that may precede the first word of a sentence."""
        self.folded = fold(text)
        self._leads = leads
        self.words = words_of(self.folded)

    def holds(self, phrase: Phrase, place: int) -> bool:
        """Whether a match at `place` respects word boundaries and, if required, begins its sentence."""
        before = self.folded[max(place - 1, 0) : place]
        if phrase.whole == (before.isalnum() or before == "_"):
            return False
        return not phrase.first or self._begins(place)

    def _begins(self, place: int) -> bool:
        start, _ = self._sentence(place)
        return place - start <= _AROUND and self._leads.issuperset(WORD.findall(self.folded[start:place]))

    def counts(self, span: tuple[int, int], rule: CueRule) -> bool:
        """Whether a match of `rule` counts: not a question, not excepted."""
        start, end = self._sentence(span[0])
        if not rule.questions and "?" in self.folded[end - 3 : end]:
            return False
        around = self.folded[max(start, span[0] - _AROUND) : min(end, span[1] + _AROUND)]
        if rule.spared and compiled(rule.spared).search(around):
            return False
        return not rule.unless_next or compiled(rule.unless_next).search(self._next_sentence(end)) is None

    def is_pasted(self, place: int) -> bool:
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
        return [*(found.end() for found in _BREAK.finditer(self.folded)), len(self.folded)]


def words_of(text: str) -> set[str]:
    """The words of a text, as `WORD` finds them."""
    pieces = set(text.encode("utf-8", "surrogatepass").translate(_SPACED).decode("utf-8", "surrogatepass").split())
    if not text.isascii():
        mixed = [piece for piece in pieces if not piece.isascii()]
        pieces.difference_update(mixed)
        pieces.update(word for piece in mixed for word in WORD.findall(piece))
    return pieces


def likely_phrases(text: FoldedText, known: PhraseIndex) -> list[tuple[CueRule, Phrase]]:
    """Phrases whose words all occur in the text, in any order."""
    words = text.words
    absent = words.isdisjoint
    return [
        (rule, phrase)
        for word in sorted(known.keys & words)
        for other, rule, phrase in known.by_word[word]
        if not (other and absent(other)) and not any(map(absent, phrase.others))
    ] + [(rule, phrase) for rule, phrase in known.by_part if phrase.inside in text.folded]
