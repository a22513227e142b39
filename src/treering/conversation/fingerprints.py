"""Fingerprints of messages, independent of punctuation, word order and inflection."""

from zlib import crc32

from treering.core.language.terms import terms_of
from treering.core.messages import Message

_MIN_TERMS = 3
"""With fewer content words, messages are alike by chance ("yes, do it")."""
_MAX_COMPARED = 2_000
"""Characters up to which words are compared; longer texts must be equal except for whitespace and case."""


def fingerprint_of(message: Message) -> int | None:
    """Equal for messages of one role with the same content; None for short messages and tool calls."""
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
