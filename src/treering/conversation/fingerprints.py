"""Recognises messages that say the same, whatever their punctuation, order and forms of words."""

from zlib import crc32

from treering.core.language.terms import terms_of
from treering.core.messages import Message

_MIN_TERMS = 3
"""Content words below which two messages are alike by chance: "yes, do it"."""
_MAX_COMPARED = 2_000
"""Characters whose words are compared; of longer texts the whole has to be the same but for spaces and case."""


def fingerprint_of(message: Message) -> int | None:
    """The same for messages of one role that say the same; None where little is said, or something is called."""
    text = message.text
    if message.calls:
        return None
    if len(text) > _MAX_COMPARED:
        normalised = " ".join(text.casefold().split())
    else:
        terms = sorted(set(terms_of(text)))
        if len(terms) < _MIN_TERMS:
            return None
        normalised = " ".join(terms)
    return crc32(f"{message.role.value} {normalised}".encode("utf-8", "surrogatepass"))
