"""Index terms of texts and search terms of queries."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from zlib import crc32

from treering.core.language.dates import spanning_words
from treering.core.language.memo import Memo
from treering.core.language.stems import Stem, language_of, stemmer, stop_words, supported_language
from treering.core.language.words import words_of

# Limits pasted queries; a Chinese sentence has two terms per character.
_MOST_TERMS, _QUERY_READ = 256, 8_192
_MOST_COUNTED = 255
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
_CHARS_READ = 300


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word and the forms under which a text with it may be indexed, the likeliest first."""

    word: str
    forms: tuple[str, ...]
    count: int = 1
    """How often the query contains it."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Index entry of a text: distinct codes in ascending order, and the count of each (at most 255)."""

    codes: "array[int]"
    counts: bytes
    length: int
    """Number of terms, repetitions included."""
    language: str
    """Empty if it is not recognised."""


def terms_of(text: str, language: str | None = None) -> list[str]:
    """Index terms with repetitions, in order, followed by dates and numbers that span several words.

    Stop words are left out unless there is nothing else.
    """
    lexicon = _lexicon(_effective_language(text, language_of(text) if language is None else language))
    terms = [*chain.from_iterable(map(lexicon.terms.__getitem__, text.split())), *spanning_words(text)]
    return terms or [lexicon.stem(word) for word in _words(text)]


def analyse(text: str, language: str | None = None) -> Analysis:
    """`terms_of`, counted."""
    language = language_of(text) if language is None else language
    lexicon = _lexicon(_effective_language(text, language))
    codes = list(chain.from_iterable(map(lexicon.codes.__getitem__, text.split())))
    codes += map(code_of, spanning_words(text))
    if not codes:
        codes = [code_of(lexicon.stem(word)) for word in _words(text)]
    counted = Counter(codes)
    ordered = sorted(counted)
    counts = [counted[code] for code in ordered]
    if len(codes) > _MOST_COUNTED:
        counts = [min(count, _MOST_COUNTED) for count in counts]
    return Analysis(array("I", ordered), bytes(counts), len(codes), language)


def codes_by_piece(language: str) -> Mapping[str, tuple[int, ...]]:
    """Codes of a piece of text without spaces, without stop words, for callers that split texts themselves."""
    return _lexicon(supported_language(language)).codes


def query_terms(query: str, languages: Sequence[str] = ()) -> tuple[QueryTerm, ...]:
    """Distinct terms in order, at most 256, with the forms that texts in `languages` may contain.

    Words with the same stem are one term. Stop words of the query's language are left out unless there is nothing else.
    """
    query = query[:_QUERY_READ]
    spoken = _effective_language(query, language_of(query, languages))
    stems = [stemmer(code) for code in dict.fromkeys((spoken, "en", *map(supported_language, languages)))]
    found: dict[str, list[str]] = {}
    for word in _query_words(query, _lexicon(spoken)):
        found.setdefault(stems[0](word), []).append(word)
        if len(found) > _MOST_TERMS:
            found.popitem()
            break
    return tuple(QueryTerm(words[0], _forms(words, stems), len(words)) for words in found.values())


def code_of(term: str) -> int:
    """Code of a term: 32 bits, equal on every machine and in every version."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def codes_of(terms: Iterable[str]) -> list[int]:
    return list(map(code_of, terms))


class _TermLexicon:
    """Terms and codes of a piece of text in one language, cached."""

    def __init__(self, language: str) -> None:
        self.stem = stemmer(language)
        self._stop_words = stop_words(language)
        self._stop_pairs = language in ("zh", "ja")
        self._word_codes = Memo(self._code_or_none)
        self.terms = Memo(self._terms_of)
        self.codes = Memo(self._codes_of)

    def drops(self, word: str) -> bool:
        """Whether a word is a stop word or, in zh and ja, consists of characters of stop words."""
        stops = self._stop_words
        return word in stops or (self._stop_pairs and len(word) == 2 and word[0] in stops and word[1] in stops)

    def _terms_of(self, piece: str) -> tuple[str, ...]:
        return tuple(self.stem(word) for word in words_of(piece) if not self.drops(word))

    def _code_or_none(self, word: str) -> int | None:
        return None if self.drops(word) else code_of(self.stem(word))

    def _codes_of(self, piece: str) -> tuple[int, ...]:
        return tuple(code for code in map(self._word_codes.__getitem__, words_of(piece)) if code is not None)


_lexicon = cache(_TermLexicon)


def forget_pieces() -> None:
    """Release the memory of the cached terms and codes, in a process that needs no more of them."""
    _lexicon.cache_clear()


def _effective_language(text: str, language: str) -> str:
    """The language whose rules apply: English if it is unknown and nearly all letters are ASCII."""
    if language:
        return supported_language(language)
    start = text[:_CHARS_READ]
    return "en" if start.isascii() or len(_FOREIGN.findall(start)) * 10 <= len(start) else ""


def _forms(words: Sequence[str], stems: Sequence[Stem]) -> tuple[str, ...]:
    stemmed = (stem(word) for word in dict.fromkeys(words) for stem in stems)
    return tuple(dict.fromkeys(chain(stemmed, words)))


def _words(text: str) -> Iterator[str]:
    return chain.from_iterable(map(words_of, text.split()))


def _query_words(query: str, lexicon: _TermLexicon) -> Iterator[str]:
    remaining = chain((word for word in _words(query) if not lexicon.drops(word)), spanning_words(query))
    first = next(remaining, None)
    return _words(query) if first is None else chain((first,), remaining)
