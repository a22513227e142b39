"""Differences between two versions of a pattern, as lines of text."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from treering.core.pattern_words import content_lines, requirement_lines
from treering.core.patterns import RESERVED_METADATA, Pattern
from treering.core.values import Value, thaw


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line that was added or removed."""

    added: bool
    line: str


def changes(before: Pattern, after: Pattern) -> list[ChangedLine]:
    """Added and removed lines."""
    return [change for name, words in _LINES.items() for change in _changed(name, words, before, after)]


def _changed(name: str, words: Callable[[Any], Iterable[str]], before: Pattern, after: Pattern) -> list[ChangedLine]:
    values = [_without_reserved(getattr(each, name)) for each in (before, after)]
    found = list(_between(*(list(words(value)) for value in values)))
    if found:
        return found
    # Different data may have the same words; show the data then.
    one, other = (f"{name}: {_json(value)}" for value in values)
    return list(_between([one], [other]))


def _between(before: Sequence[str], after: Sequence[str]) -> Iterator[ChangedLine]:
    for tag, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (ChangedLine(False, line) for line in before[start:end])
            yield from (ChangedLine(True, line) for line in after[new_start:new_end])


def _without_reserved(value: Any) -> Any:
    """Drop metadata written by mining, merge and import."""
    if isinstance(value, Mapping):
        return {name: each for name, each in value.items() if name not in RESERVED_METADATA}
    return value


def _json(value: Any) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, Value) else thaw(value)
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _line(name: str) -> Callable[[str], list[str]]:
    return lambda text: [f"{name}: {text}"] if text else []


def _each(value: Value) -> Iterator[str]:
    """Every non-empty field with its name; one line per list item."""
    for name, content in value:
        texts = content if isinstance(content, tuple) else (content,)
        yield from (f"{name.replace('_', ' ')}: {text}" for text in texts if text)


_LINES: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "name": _line("name"),
    "category": _line("category"),
    "visibility": _line("visibility"),
    "summary": _line("in short"),
    "applicability": requirement_lines,
    "content": content_lines,
    "description": _line("description"),
    "explanation": _line("why"),
    "guidance": _each,
    "links": _each,
    "metadata": lambda metadata: [f"metadata {name}: {_json(value)}" for name, value in metadata.items()],
}
