"""The words of a query, so that no query is ever syntax."""

import re
import unicodedata

_WORD = re.compile(r"\w+")
# A pasted log is a query too; the first words say enough.
_MOST = 64


def words(query: str) -> tuple[str, ...]:
    """Distinct words in their order, as the full-text indexes of both engines split them."""
    folded = unicodedata.normalize("NFC", query).casefold().replace("_", " ").replace("\x00", " ")
    found = (word for word in _WORD.findall(folded) if word.isprintable())
    return tuple(dict.fromkeys(found))[:_MOST]
