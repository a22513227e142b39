"""Splitting of texts into folded words, equal for both engines; queries have no syntax."""

import re
from collections.abc import Iterator
from functools import cache

from treering.core.language.compounds import read_compound, read_url
from treering.core.language.folding import bare
from treering.core.language.scripts import HAN, SPACELESS, WORD

# Longer words are data and cut off.
_MAX_CHARACTERS = 60

_PLAIN = re.compile(r"""["'(\[*]*+([A-Z]?[a-z]++|[A-Z]++)[.,!?;:"')\]*…]*+""")
_COMPOUND = re.compile(
    rf"\d++(?:,\d++)++(?:\.\d++)?"
    rf"|[-./~`]{{0,3}}[{WORD}]++(?:(?:::|->|[.'/\\@:-])[{WORD}]++)*+(?:(?:\+\+|\#)(?!\w))?"
)


# Compiled on first use: large character classes take milliseconds, and most texts need none.
@cache
def _run() -> re.Pattern[str]:
    return re.compile(f"([{SPACELESS}]++)|[^{SPACELESS}]++")


@cache
def _ideograph() -> re.Pattern[str]:
    return re.compile(f"[{HAN}]")


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")


@cache
def _url() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![A-Za-z0-9])((?:[A-Za-z][A-Za-z0-9+]{{1,15}}://|www\.)[^\s<>\"'`\])}}|,;\ud800-\udfff{SPACELESS}]+)"
    )


def words_of(piece: str) -> tuple[str, ...]:
    """Folded words of a piece of text without spaces, at most 60 characters each, in linear time.

    Names, paths and addresses give the whole and its parts. Scripts without spaces give each pair of adjacent
    characters, because word boundaries are unknown; Chinese characters also single ones.
    """
    if plain := _PLAIN.fullmatch(piece):
        return (plain[1].lower()[:_MAX_CHARACTERS],)
    return tuple(word[:_MAX_CHARACTERS] for word in _words(bare(piece)) if word)


def _words(text: str) -> Iterator[str]:
    if "://" not in text and "www." not in text:
        yield from _runs(text)
        return
    for place, part in enumerate(_url().split(text)):
        yield from read_url(part) if place % 2 else _runs(part)


def _runs(text: str) -> Iterator[str]:
    if text.isascii() or not _spaceless().search(text):
        yield from _compounds(text)
        return
    for run in _run().finditer(text):
        yield from _pairs(run[0]) if run[1] else _compounds(run[0])


def _compounds(text: str) -> Iterator[str]:
    for found in _COMPOUND.finditer(text):
        yield from read_compound(found[0])


def _pairs(run: str) -> list[str]:
    """Each pair of adjacent characters, and each single Chinese character, which has a meaning of its own."""
    if len(run) == 1:
        return [run]
    return [*(run[start : start + 2] for start in range(len(run) - 1)), *_ideograph().findall(run)]
