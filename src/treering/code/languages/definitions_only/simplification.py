"""Texts of a file without what its grammar does not know and its definitions do not need."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treering.code.facts import Span
from treering.code.languages.definitions_only.preprocessor import ConditionBranch, branches_of

_PREPROCESSED = frozenset(("c", "cpp", "csharp", "objc", "swift"))
_ATTRIBUTE = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]*\b(?:\((?:[^()\n]|\([^()\n]*\))*\))?"
_MACROS = (
    # An attribute of a class: `class API_EXPORT Name {`.
    re.compile(rb"\b(?:class|struct|union|enum|namespace)[ \t]+(" + _ATTRIBUTE + rb")(?=[ \t]+[A-Za-z_][\w:<]*)"),
    # An attribute behind a signature: `int f() const REQUIRES_LOCK(mutex_) {`.
    re.compile(rb"(?:\)|\b(?:const|noexcept|override|final))\s+(" + _ATTRIBUTE + rb")(?=\s*[{;])"),
    # A line of its own: `BEGIN_NAMESPACE`, `DISABLE_WARNING(4251)`; not the head of a block.
    re.compile(rb"(?m)^[ \t]*(" + _ATTRIBUTE + rb")[ \t]*$(?!\s*[{:(=;,)\]])"),
    # An attribute before the type of a function: `API_EXPORT int f(`.
    re.compile(
        rb"(?m)(?:^|[;{}>]|\b(?:static|inline|extern|constexpr|virtual|friend|explicit))[ \t]*(" + _ATTRIBUTE + rb")"
        rb"(?=[ \t\r\n]+(?:[\w:]+(?:<[^<>;{}()]*>)?[\s*&]+){1,4}[\w:~]+\s*\()"
    ),
)
_TYPE_PARAMETERS = rb"<(?:[^<>{}()]|\([^<>{}()]*\)|<(?:[^<>{}]|<[^<>{}]*>)*>)*>"
_ZIG_TYPE = rb"(?:\s*:[^,=;\n]{1,200})?"
_HARD_SYNTAX = {
    **dict.fromkeys(("c", "cpp", "objc"), _MACROS),
    "dart": (re.compile(rb"\b(base|interface|mixin|sealed)(?=(?:\s+(?:base|interface|mixin|sealed)){0,2}\s+class\b)"),),
    "kotlin": (re.compile(rb"\b(actual|expect)\s"), re.compile(rb"(,)(?=\s*[;)}])")),
    "swift": (
        re.compile(
            rb"\b(?:class|struct|enum|protocol|extension|actor|typealias|func)\s+[\w.]+\s*(" + _TYPE_PARAMETERS + rb")"
        ),
        re.compile(rb"(@unchecked|nonisolated\(unsafe\))\s"),
        re.compile(rb"[\s(:<\[,](any)\s+[A-Z]"),
    ),
    "zig": (
        re.compile(
            rb"\b(?:const|var)\s+\w+"
            + _ZIG_TYPE
            + rb"((?:,\s*(?:(?:const|var)\s+)?\w+"
            + _ZIG_TYPE
            + rb"){1,20})(?=\s*=)"
        ),
        re.compile(rb"(\b\w+:)\s*switch\b"),
    ),
}
"""By language, what is left out of a text: the first group of each pattern."""


class Variant(NamedTuple):
    """A text of the same length, so that everything in it is at its place."""

    text: bytes
    kept: tuple[Span, ...]
    """Parts that no earlier variant has: only definitions in them are new."""


def variants_of(language: str, source: bytes) -> Iterator[Variant]:
    """Yield simpler texts of a file with a syntax error; none if nothing is known that could be left out."""
    if language not in _PREPROCESSED and language not in _HARD_SYNTAX:
        return
    whole = ConditionBranch((), ((0, len(source)),))
    for removed, kept in branches_of(source) if language in _PREPROCESSED else (whole,):
        text = bytearray(source)
        for span in _outermost(removed):
            _blank(text, span)
        for pattern in _HARD_SYNTAX.get(language, ()):
            for found in pattern.finditer(bytes(text)):
                _blank(text, found.span(1))
        yield Variant(bytes(text), kept)


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of a text that any of the spans covers, each once."""
    covered = 0
    for start, end in sorted(spans):
        if end > covered:
            yield max(start, covered), end
            covered = end


def _blank(text: bytearray, span: Span) -> None:
    start, end = span
    text[start:end] = re.sub(rb"[^\n]", b" ", bytes(text[start:end]))
