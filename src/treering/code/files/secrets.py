"""Redaction of secrets in source code before extraction. Lines and columns do not change."""

import re
from collections.abc import Iterator

from treering.code.facts import Span, Unresolved
from treering.code.language_choice import load_language
from treering.core.secrets import may_hold_secret, redact, scan

# Keep string and comment delimiters and escape sequences: the result must remain valid code.
_PRESERVED = (
    rb"\\(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F_]{1,8}\}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|N\{[^}]{0,80}\}|[0-7]{1,3}|.|$)"
    rb"|\*/|[\r\n\"'`]"
)
_BYTE = re.compile(rb"(?P<kept>" + _PRESERVED + rb")|.", re.DOTALL)


def redact_secrets(path: str, language: str, source: bytes) -> bytes:
    """Replace the bytes of secrets in strings and comments by `x`; return the same object if there are none."""
    if not may_hold_secret(source):
        return source
    spans = list(_secrets(source))
    if not spans:
        return source
    blanked = bytearray(source)
    for start, end in load_language(language).text_spans(path, source, spans):
        blanked[start:end] = _BYTE.sub(lambda found: found["kept"] or b"x", source[start:end])
    return bytes(blanked)


def redact_use(use: Unresolved) -> Unresolved:
    """Redact an unresolved use for display: a name in code is stored unchanged, but may contain a secret."""
    found = redact(use.text)
    return Unresolved(use.origin, found.text, use.line) if found.findings else use


def _secrets(source: bytes) -> Iterator[Span]:
    """Yield the byte spans of secrets."""
    text = source.decode("utf-8", "surrogateescape")
    place = reached = 0
    for found in scan(text):
        place += len(text[reached : found.start].encode("utf-8", "surrogateescape"))
        size = len(text[found.start : found.end].encode("utf-8", "surrogateescape"))
        yield place, place + size
        place, reached = place + size, found.end
