"""Stance of a text: whether it states, asks or supposes, announces a change or an end, or is about other people."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold
from treering.core.language.stems import stop_words
from treering.core.language.values import values_in

LANGUAGES = ("en", "fr", "it", "de", "es")
_ELIDING = frozenset({"fr", "it"})
"""Languages in which a word may begin after an apostrophe: `j'habitais`, `l'amico`; in others it ends there."""
_WORDINGS = Path(__file__).parent / "stance"
_ABBREVIATIONS = "dr mr mrs ms prof sr sra st nr no"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_AFTER_ABBREVIATION = "|".join(rf"(?<=\b{each})" for each in _ABBREVIATIONS.split())
_SENTENCE = re.compile(rf"(?:[^.!?…\n]++|\.(?=\w| (?:{_MONTH})\b)|(?:{_AFTER_ABBREVIATION})\.)++[.!?…]*")
_MAX_CHARACTERS = 2_000
_QUERY_GROUPS = ("supposing", "past", "former", "first", "history", "then")
_WORD = re.compile(r"[^\W_]+")
_DAYS = frozenset((Path(__file__).parent / "time_words.txt").read_text("utf-8").split())
_HAS_TWO_WORDS = re.compile(r"\w\W+\w")


@dataclass(frozen=True)
class Stance:
    """Combined stance of the sentences of a text.

    A text `states` something if one sentence neither asks nor supposes (plans, conditions, hearsay). The other fields
    describe these statements only: `changes` and `ends` say whether they announce a change or the end of something,
    `others` holds the words for other people, `values` the times, dates and amounts.
    """

    states: bool
    asks: bool
    supposes: bool
    others: frozenset[str]
    values: Mapping[str, frozenset[str]]
    statements: str
    language: str

    @cached_property
    def ends(self) -> bool:
        return _wording(self.language)["end"].search(self.statements) is not None

    @cached_property
    def changes(self) -> bool:
        return self.ends or _wording(self.language)["change"].search(self.statements) is not None

    @cached_property
    def content_words(self) -> frozenset[str]:
        """Words of the statements that are neither stop words nor values nor change wording."""
        return _content_words(_wording(self.language)["change"].sub(" ", self.statements), self.language)


def stance_of(text: str, language: str) -> Stance:
    """Stance of `text`; languages without a wording file are read as English."""
    wording = _wording(language)
    asks = supposes = False
    stated: list[str] = []
    for sentence in _sentences(text[:_MAX_CHARACTERS]):
        if sentence.endswith("?") or wording["asking"].search(sentence):
            asks = True
        elif wording["supposing"].search(sentence):
            supposes = True
        elif _HAS_TWO_WORDS.search(sentence) or values_in(sentence):
            stated.append(sentence)
    statements = ". ".join(stated)
    return Stance(
        states=bool(stated),
        asks=asks,
        supposes=supposes,
        others=frozenset(wording["others"].findall(statements)),
        values=values_in(statements),
        statements=statements,
        language=language,
    )


def _content_words(statements: str, language: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(statements) if len(word) > 1 and not word.isdigit())
    return frozenset(words) - stop_words(language) - stop_words("en") - MONTHS.keys() - _DAYS


def query_wording(query: str, language: str) -> frozenset[str]:
    """Names of the wording groups that match a query: `supposing`, `past`, `former`, `first`, `history`, `then`."""
    folded, wording = fold(query), _wording(language)
    return frozenset(name for name in _QUERY_GROUPS if wording[name].search(folded))


@cache
def _wording(language: str) -> Mapping[str, re.Pattern[str]]:
    """Regular expressions of a language by group; English if it has no wording file."""
    code = language if language in LANGUAGES else "en"
    phrases = tomllib.loads((_WORDINGS / f"{code}.toml").read_text("utf-8"))
    alternatives = {name: "|".join(expressions.split()).replace("_", " ") for name, expressions in phrases.items()}
    start = r"(?<!\w)" if code in _ELIDING else r"(?<![\w'])"
    return {name: re.compile(rf"{start}(?:{expressions})(?!\w)") for name, expressions in alternatives.items()}


def _sentences(text: str) -> Iterator[str]:
    return (found for each in _SENTENCE.findall(fold(text)) if (found := each.strip()))
