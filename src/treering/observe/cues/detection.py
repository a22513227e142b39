"""Detection of cues in a text, with the sentence and the words that matched."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise

from treering.conversation.cues.notation import Phrase
from treering.conversation.cues.phrases import PhraseIndex, compiled
from treering.conversation.cues.texts import FoldedText, likely_phrases
from treering.core.language.folding import fold
from treering.observe.cues.kinds import CueKind
from treering.observe.cues.own_words import code_spans, own_words, quotations
from treering.observe.cues.phrases import lead_words, phrase_index

# Sentences reported for each kind in one text; a text with more repeats itself.
MAX_SENTENCES = 4
MAX_SENTENCE_CHARS = 400
_MAX_PHRASE_CHARS = 100
# Occurrences of one phrase that are examined in one text.
_MAX_MATCHES = 16
# A reported sentence includes what follows a colon, unlike the clause in which a phrase must lie.
_END = re.compile(r"[.!?…\n](?:(?<=\n)|[.!?…]*+(?=[\s\"')*_]|\Z))")
_MARKUP = " \t*_#>-"
# Parts of an expression that match a line break: before and after a mark.
_ACROSS_LINES = (r"\s?", r"\W{")


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A cue in one sentence of a text."""

    kind: CueKind
    sentence: str
    """The sentence as written, at most 400 characters of it."""
    phrase: str
    """The folded words that matched."""


def cues_in(text: str, *, by_user: bool) -> tuple[CueMatch, ...]:
    """The cues of a prompt or of an agent's text, in the order of the text, in bounded time.

    Code blocks, quotations, questions and blocks inserted by a program show no cue. Of a long text, only the
    beginning and end are read.
    """
    spoken = _SpokenText(own_words(text, by_user=by_user))
    known = phrase_index(by_user=by_user)
    found: dict[tuple[CueKind, int], tuple[int, int]] = {}
    for kind, span in _matches(spoken, known):
        place = (kind, spoken.sentence_number(span[0]))
        found[place] = min(span, found.get(place, span))
    return tuple(_reported(spoken, found)) if found else ()


def _matches(text: "_SpokenText", known: PhraseIndex) -> Iterator[tuple[CueKind, tuple[int, int]]]:
    for rule, phrase in likely_phrases(text, known):
        for found in islice(text.occurrences(phrase), _MAX_MATCHES):
            span = found.span()
            if text.holds(phrase, span[0]) and text.counts(span, rule) and text.is_spoken(span):
                yield CueKind(rule.cue), span


def _reported(text: "_SpokenText", found: dict[tuple[CueKind, int], tuple[int, int]]) -> Iterator[CueMatch]:
    counts: Counter[CueKind] = Counter()
    for (kind, number), span in sorted(found.items(), key=lambda item: item[1]):
        counts[kind] += 1
        if counts[kind] <= MAX_SENTENCES:
            words = " ".join(text.folded[slice(*span)].split())[:_MAX_PHRASE_CHARS]
            yield CueMatch(kind, text.sentence_around(number, span[0]), words)


class _SpokenText(FoldedText):
    """A folded text that knows its quotations and its sentences as they were written."""

    def __init__(self, text: str) -> None:
        super().__init__(text, lead_words())
        self._text = text

    def occurrences(self, phrase: Phrase) -> Iterator[re.Match[str]]:
        """Where the phrase occurs, in order. Only lines with one of its keys are searched, if it fits in a line."""
        expression = compiled(phrase.expression)
        if not phrase.keys or any(part in phrase.expression for part in _ACROSS_LINES):
            return expression.finditer(self.folded)
        lines = sorted({line for key in phrase.keys & self.words for line in self._lines_with(key)})
        return chain.from_iterable(expression.finditer(self.folded, *line) for line in lines)

    def _lines_with(self, key: str) -> Iterator[tuple[int, int]]:
        place = self.folded.find(key)
        while place >= 0:
            end = self.folded.find("\n", place)
            end = end if end >= 0 else len(self.folded)
            yield self.folded.rfind("\n", 0, place) + 1, end
            place = self.folded.find(key, end)

    def is_spoken(self, span: tuple[int, int]) -> bool:
        """Whether the words are the speaker's own: not in a block, a quotation or inline code."""
        start, end = span
        return not (
            self.is_pasted(start)
            or any(begin <= start < close for begin, close in self._quotations)
            or any(begin <= start and end <= close for begin, close in self._code_spans)
        )

    def sentence_number(self, place: int) -> int:
        """The number of the written sentence that contains `place` of the folded text."""
        return min(bisect_right(self._folded_ends, place), len(self._folded_ends) - 1)

    def sentence_around(self, number: int, place: int) -> str:
        """A written sentence; of a long one, the part around `place` of the folded text."""
        start = self._written_ends[number - 1] if number else 0
        sentence = self._text[start : self._written_ends[number]]
        if len(sentence) > MAX_SENTENCE_CHARS:
            before = place - (self._folded_ends[number - 1] if number else 0)
            cut = max(0, min(before - MAX_SENTENCE_CHARS // 2, len(sentence) - MAX_SENTENCE_CHARS))
            sentence = sentence[cut : cut + MAX_SENTENCE_CHARS]
        return sentence.strip().lstrip(_MARKUP)

    @cached_property
    def _quotations(self) -> tuple[tuple[int, int], ...]:
        return tuple(quotations(self.folded))

    @cached_property
    def _code_spans(self) -> tuple[tuple[int, int], ...]:
        return tuple(code_spans(self.folded))

    @cached_property
    def _written_ends(self) -> list[int]:
        return [*(found.end() for found in _END.finditer(self._text)), len(self._text)]

    @cached_property
    def _folded_ends(self) -> list[int]:
        """The ends of the written sentences as places in the folded text, which may be longer or shorter."""
        if len(self.folded) == len(self._text):
            return self._written_ends
        return list(accumulate(len(fold(self._text[start:end])) for start, end in pairwise((0, *self._written_ends))))
