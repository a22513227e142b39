"""Spelling variants of a name: split or joined words, inflections and typing errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import TYPE_CHECKING

from treering.core.statements import same_name

if TYPE_CHECKING:
    from treering.core.language.stems import Stem

_CASE_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")
_MIN_PART = 2
_MAX_SPLIT = 24
_MIN_STEM = 3
_ENDINGS = ("", "s", "es", "e", "ed", "ing", "n", "en")
_FIXED_LETTERS = 2


def spellings(name: str, stem: Stem) -> Iterator[str]:
    """`same_name` keys of the names that may be meant: `NextJs`, `next.js`, `next js`; `deploys`, `deploy`."""
    written = same_name(name)
    apart = same_name(_CASE_BOUNDARY.sub(" ", name)).replace(".", " ")
    yield from dict.fromkeys(
        key
        for way in dict.fromkeys((written, apart))
        if way
        for key in (way, *_joined_or_split(way), *_inflected(way, stem))
    )


def corrections(word: str) -> Iterator[str]:
    """Words that differ from `word` by one letter added, removed, replaced or swapped after the first two."""
    for place in range(_FIXED_LETTERS, len(word) + 1):
        before, after = word[:place], word[place:]
        yield from (before + letter + after for letter in ascii_lowercase)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in ascii_lowercase if letter != after[0])
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:]


def _joined_or_split(name: str) -> Iterator[str]:
    words = name.split()
    if len(words) > 1:
        yield "".join(words)
        yield ".".join(words)
    elif name.isalnum() and len(name) <= _MAX_SPLIT:
        for place in range(_MIN_PART, len(name) - _MIN_PART + 1):
            yield f"{name[:place]} {name[place:]}"
            yield f"{name[:place]}.{name[place:]}"


def _inflected(name: str, stem: Stem) -> Iterator[str]:
    """The name with inflections of its last word; wrong guesses do no harm because they match no entity."""
    *first, last = name.split()
    root = stem(last)
    if not last.isalpha() or len(root) < _MIN_STEM:
        return
    roots = (root, root + root[-1], root[:-1] + "y", root[:-1] + "ie")
    for form in dict.fromkeys(each + ending for each in roots for ending in _ENDINGS):
        if stem(form) == root and form != last:
            yield " ".join((*first, form))
