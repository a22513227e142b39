"""Removal of accents and case that preserves character positions."""

import re

from treering.core.time_words.lexicon import fold as without_accents

# The Italian verb "è", which without its accent would be "and".
_IS = re.compile(r"(?<!\w)[èÈ](?!\w)")


def bare(text: str) -> str:
    """`text` without accents, except for the word "è"."""
    if text.isascii():
        return text
    folded = without_accents(text)
    if "è" not in text and "È" not in text:
        return folded
    places = [found.start() for found in _IS.finditer(text)]
    letters = list(folded)
    for place in places:
        letters[place] = "è"
    return "".join(letters)


def lowered(text: str) -> str:
    """`text` without accents, in lower case."""
    return bare(text).lower()
