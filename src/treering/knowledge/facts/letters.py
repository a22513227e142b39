"""Letters made alike, one for one, so that positions stay."""

import re

from treering.core.time_words.lexicon import fold as without_accents

# The Italian verb, which without its accent would be "and".
_IS = re.compile(r"(?<!\w)[èÈ](?!\w)")


def bare(text: str) -> str:
    """`text` without its accents, but for a word that is one accented letter."""
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
    """The same in lower case."""
    return bare(text).lower()
