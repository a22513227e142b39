"""Takes secrets out of source code before anything is made of it. Every line and column stays where it is."""

import re
from collections.abc import Iterator

from treering.code.facts import Span, Unresolved
from treering.code.language_choice import load_language
from treering.core.secrets import may_hold_secret, redact, scan

# What ends a string or a comment stays, and so does what a backslash says: code must remain code.
_KEPT = (
    rb"\\(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F_]{1,8}\}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|N\{[^}]{0,80}\}|[0-7]{1,3}|.|$)"
    rb"|\*/|[\r\n\"'`]"
)
_BYTE = re.compile(rb"(?P<kept>" + _KEPT + rb")|.", re.DOTALL)


def without_secrets(path: str, language: str, source: bytes) -> bytes:
    """As many bytes, those of secrets in strings and comments `x`; the same object where there is none."""
    if not may_hold_secret(source):
        return source
    spans = list(_secrets(source))
    if not spans:
        return source
    blanked = bytearray(source)
    for start, end in load_language(language).texts(path, source, spans):
        blanked[start:end] = _BYTE.sub(lambda found: found["kept"] or b"x", source[start:end])
    return bytes(blanked)


def without_secret(use: Unresolved) -> Unresolved:
    """As it may be shown: a name of code is stored as it is, and may look like a secret, too."""
    found = redact(use.text)
    return Unresolved(use.origin, found.text, use.line) if found.findings else use


def _secrets(source: bytes) -> Iterator[Span]:
    """Where they stand, in bytes."""
    text = source.decode("utf-8", "surrogateescape")
    place = reached = 0
    for found in scan(text):
        place += len(text[reached : found.start].encode("utf-8", "surrogateescape"))
        size = len(text[found.start : found.end].encode("utf-8", "surrogateescape"))
        yield place, place + size
        place, reached = place + size, found.end
