"""Aliases introduced by imports and exports."""

import re
from collections.abc import Iterable

from treering.code.scip.source_text import SourceText, TextRange

_AS = re.compile(r"\s+as\s+(\w+)")
_WHOLE = re.compile(r"(\w+)\s+as\s+(\w+)")
_LISTED = re.compile(r"(?:[{,(:]|^|\b(?:import|export|type|use))\s*$")
_DEFAULT = re.compile(r"\bimport\s+(?:type\s+)?$")
_FROM = re.compile(r"\s*,\s*\{|\s+from\b")

Alias = tuple[str, str]


def alias_at(text: str, place: TextRange, source: SourceText) -> Alias | None:
    """Return the alias introduced at this position: `Hono as HonoBase`, `import Base from`."""
    if whole := _WHOLE.fullmatch(text):
        return whole[1], whole[2]
    before, after = source.before(place), source.after(place)
    if (named := _AS.match(after)) and _LISTED.search(before):
        return text, named[1]
    if _DEFAULT.search(before) and _FROM.match(after):
        return "", text
    return None


def all_names(name: str, aliases: Iterable[Alias]) -> frozenset[str]:
    """Return the name and all its aliases, transitively."""
    pairs, known = set(aliases), {name, ""}
    while more := {new for old, new in pairs if old in known} - known:
        known |= more
    return frozenset(known - {""})
