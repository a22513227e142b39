"""Stop words and stemmers by language, and language detection."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from treering.core.language.folding import fold
from treering.core.language.memo import Memo
from treering.core.language.scripts import CYRILLIC, HAN, HANGUL, KANA, THAI

Stem = Callable[[str], str]

# Name of the Snowball stemmer, and how often it is applied: once is not enough where folding removed accents of endings
# (`arrivee` is `arrive` is `arriv`).
_STEMMERS = {
    "en": ("english", 1),
    "fr": ("french", 2),
    "it": ("italian", 1),
    "de": ("german", 1),
    "es": ("spanish", 1),
    "pt": ("portuguese", 2),
    "nl": ("dutch", 1),
    "sv": ("swedish", 1),
    "ru": ("russian", 2),
}
LANGUAGES = (*_STEMMERS, "zh", "ja")
_STOP_WORDS = Path(__file__).parent / "stop_words"

# Number of words that suffice for detection.
_WORDS_READ, _CHARS_READ = 60, 600
# A stop word of a single language counts 4, one of several languages its share. English needs one, other languages
# need more because their short words are English words too (`die`, `pour`, `font`).
_WEIGHT, _ENOUGH, _ENOUGH_ENGLISH = 4, 6, 4
_CHAR_EVIDENCE = {
    "fr": "çèêàùœîôûëï", "de": "äöüß", "es": "ñ¿¡óáíú", "pt": "ãõçáêóâ", "it": "èàòìù", "sv": "åäö",
}  # fmt: skip
_SPACE_BETWEEN = re.compile(r"[^\W\d_]+")

_OTHER_SCRIPTS = KANA + HAN + HANGUL + THAI + CYRILLIC
_NOT_RUSSIAN = re.compile("[іїєґўјљњћђџѓќѕәғқңөұүһ]", re.IGNORECASE)
_LATIN = re.compile("[a-zA-Z]")


# Compiled on first use: large character classes take milliseconds, and most texts are ASCII.
@cache
def _any_of(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]")


def supported_language(language: str) -> str:
    """`en` for `en-US`; empty for an unsupported language."""
    code = language[:3].lower().rstrip("-_")
    return code if code in LANGUAGES else ""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded stop words. For zh and ja, also the characters of stop words of two characters."""
    code = supported_language(language)
    return frozenset((_STOP_WORDS / f"{code}.txt").read_text("utf-8").split()) if code else frozenset()


@cache
def stemmer(language: str) -> Stem:
    """Function from folded words to stems; the identity for unsupported languages and words with other signs."""
    if language not in _STEMMERS:
        return str
    import Stemmer  # type: ignore[import-not-found, unused-ignore]

    name, times = _STEMMERS[language]
    once: Stem = Stemmer.Stemmer(name, 0).stemWord
    if times == 1:
        return lambda word: once(word) if word.isalpha() else word
    return lambda word: once(once(word)) if word.isalpha() else word


def language_of(text: str, likely: Sequence[str] = ()) -> str:
    """Language by script, or by stop words and accents among the first 60 words; empty if undecided.

    Of languages with equal evidence, one of the `likely` is returned.
    """
    start = text[:_CHARS_READ]
    if (
        not text.isascii()
        and _any_of(_OTHER_SCRIPTS).search(start)
        and (script := _language_of_script(start)) is not None
    ):
        return script
    votes = sum(map(_VOTES.__getitem__, start.split()[:_WORDS_READ]))
    if not votes:
        return ""
    counted = memoryview(votes.to_bytes(2 * len(_VOTERS), "little")).cast("H").tolist()
    highest = max(counted)
    best = [language for language, count in zip(_VOTERS, counted, strict=True) if count == highest]
    if highest < (_ENOUGH_ENGLISH if best == ["en"] else _ENOUGH):
        return ""
    best = best if len(best) == 1 else [language for language in best if language in likely]
    return best[0] if best else ""


def _language_of_script(start: str) -> str | None:
    """Language of a non-Latin script; None if Latin letters prevail, of which two weigh as much as one other."""
    kana, han, hangul, thai = (len(script.findall(start)) for script in map(_any_of, (KANA, HAN, HANGUL, THAI)))
    cyrillic = len(_any_of(CYRILLIC).findall(start))
    counts = {"ja" if kana * 10 > han else "zh": kana + han, "ko": hangul, "th": thai, "ru": cyrillic}
    language = max(counts, key=counts.__getitem__)
    if counts[language] * 2 < len(_LATIN.findall(start)):
        return None
    return "" if language == "ru" and _NOT_RUSSIAN.search(start) else language


# One integer holds all counts, 16 bits per language, so that the votes of a text are one sum.
_VOTERS = ("en", "fr", "it", "de", "es", "pt", "nl", "sv")


@cache
def _vote_tables() -> tuple[dict[str, int], dict[str, int]]:
    words = {language: [word for word in stop_words(language) if len(word) > 1] for language in _VOTERS}
    chars = {language: list(chars) for language, chars in _CHAR_EVIDENCE.items()}
    return _shared(words), _shared(chars)


def _shared(evidence: dict[str, list[str]]) -> dict[str, int]:
    holders: dict[str, list[str]] = {}
    for language, marks in evidence.items():
        for mark in marks:
            holders.setdefault(mark, []).append(language)
    return {
        mark: sum((_WEIGHT // len(languages)) << 16 * _VOTERS.index(language) for language in languages)
        for mark, languages in holders.items()
    }


def _votes_of(piece: str) -> int:
    words, chars = _vote_tables()
    piece = piece[:_CHARS_READ]
    votes = sum(words.get(word, 0) for word in _SPACE_BETWEEN.findall(fold(piece)))
    return votes if piece.isascii() else votes + sum(chars.get(char, 0) for char in piece.lower())


_VOTES = Memo(_votes_of)
