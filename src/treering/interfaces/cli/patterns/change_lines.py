"""What a change did to a pattern, in lines of words."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from treering.core.pattern_words import content_lines, requirement_lines
from treering.core.patterns import Pattern
from treering.core.values import Value, thaw
from treering.patterns.storage import RESERVED


@dataclass(frozen=True, slots=True)
class Change:
    """A line that was taken away or came in."""

    added: bool
    line: str


def changes(before: Pattern, after: Pattern) -> list[Change]:
    """What is told of a pattern otherwise than before; lines that stayed are left out."""
    return [change for name, words in _TOLD.items() for change in _changed(name, words, before, after)]


def _changed(name: str, words: Callable[[Any], Iterable[str]], before: Pattern, after: Pattern) -> list[Change]:
    values = [_counted(getattr(each, name)) for each in (before, after)]
    found = list(_between(*(list(words(value)) for value in values)))
    if found:
        return found
    # Words that are the same may stand for different data: then the data says it.
    one, other = (f"{name}: {_json(value)}" for value in values)
    return list(_between([one], [other]))


def _between(before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    for tag, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (Change(False, line) for line in before[start:end])
            yield from (Change(True, line) for line in after[new_start:new_end])


def _counted(value: Any) -> Any:
    """Without what mining, a merge or an import writes into metadata: nobody told it."""
    if isinstance(value, Mapping):
        return {name: each for name, each in value.items() if name not in RESERVED}
    return value


def _json(value: Any) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, Value) else thaw(value)
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _line(name: str) -> Callable[[str], list[str]]:
    return lambda text: [f"{name}: {text}"] if text else []


def _each(value: Value) -> Iterator[str]:
    """Every field that says something, under its name; a line for each member of a list."""
    for name, told in value:
        texts = told if isinstance(told, tuple) else (told,)
        yield from (f"{name.replace('_', ' ')}: {text}" for text in texts if text)


_TOLD: Mapping[str, Callable[[Any], Iterable[str]]] = {
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
    "metadata": lambda told: [f"metadata {name}: {_json(value)}" for name, value in told.items()],
}
