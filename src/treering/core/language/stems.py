"""What languages add to words: their stop words, their stems, and which of them a text is written in."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from treering.core.language.folding import fold
from treering.core.language.memo import Memo
from treering.core.language.scripts import CYRILLIC, HAN, HANGUL, KANA, THAI

Stem = Callable[[str], str]

# Snowball's name, and how often it is applied: where endings carry accents that folding took, once leaves too much on
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

# Enough of a text to tell its language.
_WORDS_READ, _CHARS_READ = 60, 600
# A stop word of one language alone counts 4, one of several its share. English needs one; the others need more, for
# their short words are English words too (`die`, `pour`, `font`).
_WEIGHT, _ENOUGH, _ENOUGH_ENGLISH = 4, 6, 4
_CHAR_EVIDENCE = {
    "fr": "çèêàùœîôûëï", "de": "äöüß", "es": "ñ¿¡óáíú", "pt": "ãõçáêóâ", "it": "èàòìù", "sv": "åäö",
}  # fmt: skip
_SPACE_BETWEEN = re.compile(r"[^\W\d_]+")

_OTHER_SCRIPTS = KANA + HAN + HANGUL + THAI + CYRILLIC
_NOT_RUSSIAN = re.compile("[іїєґўјљњћђџѓќѕәғқңөұүһ]", re.IGNORECASE)
_LATIN = re.compile("[a-zA-Z]")


# Compiled when first needed: classes of so many characters take milliseconds, and most texts are in ASCII.
@cache
def _any_of(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]")


def known(language: str) -> str:
    """`en` for `en-US`; '' for a language nothing is known of."""
    code = language[:3].lower().rstrip("-_")
    return code if code in LANGUAGES else ""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded words that carry grammar, not meaning. For zh and ja also the characters such pairs are made of."""
    code = known(language)
    return frozenset((_STOP_WORDS / f"{code}.txt").read_text("utf-8").split()) if code else frozenset()


@cache
def stemmer(language: str) -> Stem:
    """Folded words to their stems; as they are where the language has none, or where they hold more than letters."""
    if language not in _STEMMERS:
        return str
    import Stemmer  # type: ignore[import-not-found, unused-ignore]

    name, times = _STEMMERS[language]
    once: Stem = Stemmer.Stemmer(name, 0).stemWord
    if times == 1:
        return lambda word: once(word) if word.isalpha() else word
    return lambda word: once(once(word)) if word.isalpha() else word


def language_of(text: str, likely: Sequence[str] = ()) -> str:
    """By script, or by stop words and accents among the first 60 words. '' where it can't tell.

    Of languages with equal evidence, one of the `likely` is taken.
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
    most = max(counted)
    best = [language for language, count in zip(_VOTERS, counted, strict=True) if count == most]
    if most < (_ENOUGH_ENGLISH if best == ["en"] else _ENOUGH):
        return ""
    best = best if len(best) == 1 else [language for language in best if language in likely]
    return best[0] if best else ""


def _language_of_script(start: str) -> str | None:
    """None where Latin letters prevail: one of the other scripts says about as much as two of them."""
    kana, han, hangul, thai = (len(script.findall(start)) for script in map(_any_of, (KANA, HAN, HANGUL, THAI)))
    cyrillic = len(_any_of(CYRILLIC).findall(start))
    counts = {"ja" if kana * 10 > han else "zh": kana + han, "ko": hangul, "th": thai, "ru": cyrillic}
    language = max(counts, key=counts.__getitem__)
    if counts[language] * 2 < len(_LATIN.findall(start)):
        return None
    return "" if language == "ru" and _NOT_RUSSIAN.search(start) else language


# One number holds all counts, 16 bits a language, so that a text's votes are one sum.
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
