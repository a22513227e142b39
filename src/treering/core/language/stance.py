"""How a text stands to what it says: whether it states it, asks, supposes, announces a change, or speaks of others."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold
from treering.core.language.stems import stop_words
from treering.core.language.values import values_in

LANGUAGES = ("en", "fr", "it", "de", "es")
_WORDINGS = Path(__file__).parent / "stance"
_ABBREVIATED = "dr|mr|mrs|ms|prof|sr|sra|st|nr|no"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_SENTENCE = re.compile(rf"(?:\b(?:{_ABBREVIATED})\.|[^.!?…\n]|\.(?=\w| (?:{_MONTH})\b))+[.!?…]*")
_CHARACTERS_READ = 2_000
_OF_QUERIES = ("supposing", "past", "former", "first", "history", "then")
_WORD = re.compile(r"[^\W_]+")
_DAYS = frozenset((Path(__file__).parent / "time_words.txt").read_text("utf-8").split())
_TWO_WORDS = re.compile(r"\w\W+\w")


@dataclass(frozen=True, slots=True)
class Stance:
    """What the sentences of a text do, taken together.

    It `states` something where one sentence neither asks nor supposes (plans, conditions, hearsay). `changes`, `ends`,
    `others` and `values` are those of its statements: whether they announce a change, or that something is no more,
    which other people they speak of, and the times, dates and amounts in them.
    """

    states: bool
    asks: bool
    supposes: bool
    changes: bool
    ends: bool
    others: frozenset[str]
    values: Mapping[str, frozenset[str]]
    things: frozenset[str]
    """The words of its statements that are neither grammar nor values, and announce no change."""


def stance_of(text: str, language: str) -> Stance:
    """The stance of `text`; languages without a wording file are read as English."""
    wording = _wording(language)
    asks = supposes = False
    stated: list[str] = []
    for sentence in _sentences(text[:_CHARACTERS_READ]):
        if sentence.endswith("?") or wording["asking"].search(sentence):
            asks = True
        elif wording["supposing"].search(sentence):
            supposes = True
        elif _TWO_WORDS.search(sentence) or values_in(sentence):
            stated.append(sentence)
    said = ". ".join(stated)
    ends = wording["end"].search(said) is not None
    return Stance(
        states=bool(stated),
        asks=asks,
        supposes=supposes,
        changes=ends or wording["change"].search(said) is not None,
        ends=ends,
        others=frozenset(wording["others"].findall(said)),
        values=values_in(said),
        things=_things(wording["change"].sub(" ", said), language),
    )


def _things(said: str, language: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(said) if len(word) > 1 and not word.isdigit())
    return frozenset(words) - stop_words(language) - stop_words("en") - MONTHS.keys() - _DAYS


def query_wording(query: str, language: str) -> frozenset[str]:
    """How a query speaks of time: some of `past`, `former`, `first`, `history` and `then`, as the wording files say."""
    folded, wording = fold(query), _wording(language)
    return frozenset(name for name in _OF_QUERIES if wording[name].search(folded))


@cache
def _wording(language: str) -> Mapping[str, re.Pattern[str]]:
    """The expressions of a language; English where it has none."""
    code = language if language in LANGUAGES else "en"
    phrases = tomllib.loads((_WORDINGS / f"{code}.toml").read_text("utf-8"))
    one_of = {name: "|".join(given.split()).replace("_", " ") for name, given in phrases.items()}
    return {name: re.compile(rf"(?<![\w'])(?:{given})(?!\w)") for name, given in one_of.items()}


def _sentences(text: str) -> Iterator[str]:
    return (found for each in _SENTENCE.findall(fold(text)) if (found := each.strip()))
