"""Check that a statement written by a model is supported by the turns that the model was shown."""

import re

from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold
from treering.core.language.stems import language_of, stop_words
from treering.core.statements import PROJECT, SPEAKER, Statement

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SEPARATOR = re.compile(r"(?<=\d)[.,'’ ](?=\d{3}(?!\d))")
_ISO_DATE = re.compile(r"\d{4}-\d\d?(?:-\d\d?)?")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
_STEM = 4
"""Leading letters that two forms of a word share: "hiking", "hikes"."""
# Words that a statement may add: the parties, and weekdays for relative dates.
_PARTIES = frozenset({SPEAKER, PROJECT, "speaker", "assistant", "team", "utc"})
_WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_NUMBERS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten",
        "ein zwei drei vier funf sechs sieben acht neun zehn",
        "un deux trois quatre cinq six sept huit neuf dix",
        "uno due tre quattro cinque sei sette otto nove dieci",
        "uno dos tres cuatro cinco seis siete ocho nueve diez",
    )
    for number, word in enumerate(words.split(), 1)
}


def is_supported(statement: Statement, turn: str, page: str) -> bool:
    """Whether the turn contains the value, and the page the subject and every name and number of the text."""
    if _SPACELESS.search(statement.text + turn):
        return True
    in_turn, on_page = _words(turn), _words(f"{page} {statement.speaker or ''}")
    value = [word for word in _tokens(statement.value) if word not in stop_words("en")]
    stated = [word for word in value if _is_in(word, in_turn)]
    if (value and not stated) or not all(_is_in(word, in_turn) for word in _names_and_numbers(statement.value)):
        return False
    about = _tokens(statement.subject)
    return all(_is_in(word, on_page) for word in about) and all(
        _is_in(word, on_page) for word in _names_and_numbers(statement.text)
    )


def _names_and_numbers(text: str) -> list[str]:
    """Names and numbers in a text; in German, where every noun is capitalised, only numbers."""
    german = language_of(text) == "de"
    plain = _ISO_DATE.sub(" ", _SEPARATOR.sub("", text))
    found = [word for word in _WORD.findall(plain) if word.isdigit() or (word[0].isupper() and not german)]
    ignored = stop_words("en") | stop_words("fr") | stop_words("it") | stop_words("es") | _WEEKDAYS | MONTHS.keys()
    return [word for word in map(_normal, found) if word not in ignored]


def _tokens(text: str) -> list[str]:
    return [_normal(word) for word in _WORD.findall(_ISO_DATE.sub(" ", _SEPARATOR.sub("", text))) if len(word) > 1]


def _words(text: str) -> frozenset[str]:
    words = [_normal(word) for word in _WORD.findall(_SEPARATOR.sub("", text))]
    return frozenset((*words, *(_NUMBERS[word] for word in words if word in _NUMBERS)))


def _normal(word: str) -> str:
    return (word.lstrip("0") or "0") if word.isdecimal() else fold(word)


def _is_in(word: str, words: frozenset[str]) -> bool:
    if word in words or word in _PARTIES or word in stop_words("en") or _NUMBERS.get(word) in words:
        return True
    is_long = len(word) > _STEM and not word.isdigit()
    return is_long and any(each[:_STEM] == word[:_STEM] and abs(len(each) - len(word)) <= _STEM for each in words)
