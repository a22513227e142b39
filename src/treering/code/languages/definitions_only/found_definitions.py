"""Definitions as they are found in a text, and their nesting into qualified names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from treering.code.facts import Definition, DefinitionKind, Span
from treering.code.languages.line_index import LineIndex
from treering.code.languages.syntax_nodes import text_of

_MAX_NAME = 200
_NAME = "name"
_KINDS = {kind.value: kind for kind in DefinitionKind}
_HOLDERS = frozenset(
    (DefinitionKind.CLASS, DefinitionKind.INTERFACE, DefinitionKind.TRAIT, DefinitionKind.ENUM, DefinitionKind.TYPE)
)
"""Kinds whose functions are methods."""
_RUNNABLE = frozenset((DefinitionKind.FUNCTION, DefinitionKind.METHOD))
"""Kinds that a test can be."""
_UNNAMEABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_NAME_QUOTES = "\"'`"


class FoundDefinition(NamedTuple):
    """A definition before it is nested, with its place in bytes."""

    start: int
    end: int
    named_at: int
    """Where its name is: attributes and result types come before, and `line` is that of the name."""
    named_until: int
    kind: DefinitionKind
    name: str

    def placed(self, lines: LineIndex, *, is_test: bool) -> Definition:
        """Return the definition with its lines; in a file of tests, whatever runs is a test."""
        line, last = lines.of(self.named_at), lines.of(max(self.named_at, self.end - 1))
        return Definition(self.name, self.kind, line, last, test=is_test and self.kind in _RUNNABLE)


def definitions_in(captures: Mapping[str, Sequence[Node]]) -> Iterator[FoundDefinition]:
    """Yield the definitions of one match: a node captured as a kind, and its name."""
    names = captures.get(_NAME, ())
    name = _name_of(names)
    for label, nodes in captures.items():
        kind = _KINDS.get(label)
        if kind is not None and name:
            at, until = names[0].start_byte, names[-1].end_byte
            yield from (FoundDefinition(node.start_byte, _end_of(node), at, until, kind, name) for node in nodes)


def _end_of(node: Node) -> int:
    """Return the end of a definition; the grammar of Dart puts the body of a function beside its signature."""
    for part in (node, node.parent):
        body = part.next_named_sibling if part is not None else None
        if body is not None and body.type == "function_body":
            return body.end_byte
    return node.end_byte


def _name_of(nodes: Sequence[Node]) -> str:
    """Return a name that can be part of an id: one line, without the separator of ids."""
    written = ".".join(
        part for node in nodes if (part := _without_arguments(one_line(text_of(node))).strip(_NAME_QUOTES))
    )
    return written.replace("::", ".").strip(".:")[:_MAX_NAME]


def _without_arguments(name: str) -> str:
    """Return the name of a specialized template: `formatter<bool, Char>` is a `formatter`."""
    shorter = "" if name.startswith("operator") else _TYPE_ARGUMENTS.sub("", name)
    while shorter and shorter != name:
        name, shorter = shorter, _TYPE_ARGUMENTS.sub("", shorter)
    return name


def one_line(text: str) -> str:
    return _UNNAMEABLE.sub(" ", text).strip()


def outer_first(found: FoundDefinition) -> tuple[int, int, str, str]:
    return found.start, -found.end, found.name, found.kind


def nested(found: Iterable[FoundDefinition], kept: Sequence[Span]) -> Iterator[FoundDefinition]:
    """Yield definitions named in a kept part, with qualified names: those of the definitions around them come first."""
    around: list[FoundDefinition] = []
    for each in sorted(found, key=outer_first):
        while around and (around[-1].end <= each.start or around[-1][:2] == each[:2]):
            around.pop()
        named = each
        if around:
            holder = around[-1]
            is_member = each.kind is DefinitionKind.FUNCTION and holder.kind in _HOLDERS
            kind = DefinitionKind.METHOD if is_member else each.kind
            named = each._replace(name=f"{holder.name}.{each.name}"[-_MAX_NAME:], kind=kind)
        around.append(named)
        if any(start <= each.named_at < end for start, end in kept):
            yield named
