"""What texts are indexed by, and what queries look for."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from zlib import crc32

from treering.core.language.dates import spanning
from treering.core.language.memo import Memo
from treering.core.language.stems import Stem, known, language_of, stemmer, stop_words
from treering.core.language.words import words_of

# A pasted log is a query too; the first words say enough. A Chinese sentence has two terms a character.
_MOST_TERMS, _QUERY_READ = 256, 8_192
_MOST_COUNTED = 255
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
_CHARS_READ = 300


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word, and each form a text may be indexed under that holds it: the likeliest first."""

    word: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text as the index keeps it: distinct codes in ascending order, and how often each comes (255 at most)."""

    codes: "array[int]"
    counts: bytes
    length: int
    """Terms with their repeats."""
    language: str
    """'' where it can't be told."""


def terms_of(text: str, language: str | None = None) -> list[str]:
    """Index terms with their repeats: in order, then the dates and numbers that stretch over several words.

    Stop words are left out unless there is nothing else.
    """
    lexicon = _lexicon(_spoken(text, language_of(text) if language is None else language))
    terms = [*chain.from_iterable(map(lexicon.terms.__getitem__, text.split())), *spanning(text)]
    return terms or [lexicon.stem(word) for word in _words(text)]


def analyse(text: str, language: str | None = None) -> Analysis:
    """`terms_of`, counted."""
    language = language_of(text) if language is None else language
    lexicon = _lexicon(_spoken(text, language))
    codes = list(chain.from_iterable(map(lexicon.codes.__getitem__, text.split())))
    codes += map(code_of, spanning(text))
    if not codes:
        codes = [code_of(lexicon.stem(word)) for word in _words(text)]
    counted = Counter(codes)
    ordered = sorted(counted)
    counts = [counted[code] for code in ordered]
    if len(codes) > _MOST_COUNTED:
        counts = [min(count, _MOST_COUNTED) for count in counts]
    return Analysis(array("I", ordered), bytes(counts), len(codes), language)


def codes_by_piece(language: str) -> Mapping[str, tuple[int, ...]]:
    """The codes of any piece of text without spaces, without stop words: for who cuts a text in another way."""
    return _lexicon(known(language)).codes


def query_terms(query: str, languages: Sequence[str] = ()) -> tuple[QueryTerm, ...]:
    """Distinct terms in order, at most 256, in each form that texts in `languages` may hold them.

    Words with the same stem are one term. Stop words of the query's language are left out unless there is nothing else.
    """
    query = query[:_QUERY_READ]
    spoken = _spoken(query, language_of(query, languages))
    stems = [stemmer(code) for code in dict.fromkeys((spoken, "en", *map(known, languages)))]
    found: dict[str, list[str]] = {}
    for word in _query_words(query, _lexicon(spoken)):
        found.setdefault(stems[0](word), []).append(word)
        if len(found) > _MOST_TERMS:
            found.popitem()
            break
    return tuple(QueryTerm(words[0], _forms(words, stems)) for words in found.values())


def code_of(term: str) -> int:
    """32 bits, the same on each machine and in each version."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def codes_of(terms: Iterable[str]) -> list[int]:
    return list(map(code_of, terms))


class _Lexicon:
    """What one language makes of a piece of text between two spaces, remembered."""

    def __init__(self, language: str) -> None:
        self.stem = stemmer(language)
        self._stop_words = stop_words(language)
        self._stop_pairs = language in ("zh", "ja")
        self._kept_codes = Memo(self._code_or_nothing)
        self.terms = Memo(self._terms_of)
        self.codes = Memo(self._codes_of)

    def drops(self, word: str) -> bool:
        """Whether it is a stop word, or (zh, ja) made of the characters of stop words only."""
        stops = self._stop_words
        return word in stops or (self._stop_pairs and len(word) == 2 and word[0] in stops and word[1] in stops)

    def _terms_of(self, piece: str) -> tuple[str, ...]:
        return tuple(self.stem(word) for word in words_of(piece) if not self.drops(word))

    def _code_or_nothing(self, word: str) -> int | None:
        return None if self.drops(word) else code_of(self.stem(word))

    def _codes_of(self, piece: str) -> tuple[int, ...]:
        return tuple(code for code in map(self._kept_codes.__getitem__, words_of(piece)) if code is not None)


_lexicon = cache(_Lexicon)


def _spoken(text: str, language: str) -> str:
    """The language whose rules apply: English where it is unknown and the letters are English."""
    if language:
        return known(language)
    start = text[:_CHARS_READ]
    return "en" if start.isascii() or len(_FOREIGN.findall(start)) * 10 <= len(start) else ""


def _forms(words: Sequence[str], stems: Sequence[Stem]) -> tuple[str, ...]:
    stemmed = (stem(word) for word in dict.fromkeys(words) for stem in stems)
    return tuple(dict.fromkeys(chain(stemmed, words)))


def _words(text: str) -> Iterator[str]:
    return chain.from_iterable(map(words_of, text.split()))


def _query_words(query: str, lexicon: _Lexicon) -> Iterator[str]:
    kept = chain((word for word in _words(query) if not lexicon.drops(word)), spanning(query))
    first = next(kept, None)
    return _words(query) if first is None else chain((first,), kept)
