"""Names that a file uses, without the meaning of each use: they show where a definition may be used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from tree_sitter import Language, Node, Query, QueryCursor

from treering.code.facts import Definition, Facts, Key, SymbolLookup, Unresolved
from treering.code.languages.syntax_nodes import in_order, text_of

if TYPE_CHECKING:
    from treering.code.languages.line_index import LineIndex

UsedNames = tuple[tuple[str, tuple[int, ...]], ...]
"""Each name with the lines it is used in."""

_NAME_KINDS = frozenset(
    (
        *("identifier", "type_identifier", "field_identifier", "simple_identifier", "namespace_identifier"),
        *("package_identifier", "macro_identifier", "IDENTIFIER", "constant", "name", "word", "alias", "atom"),
        *("variable", "class_name", "id_name", "function_name", "command_name", "member_name", "simple_name"),
        *("value_name", "module_name", "constructor_name", "method_name", "field_name", "simple_symbol"),
        *("function", "method", "plain_value"),
    )
)
"""What the grammars call the leaves that are names."""
_NAME = "name"
_MARKS = ":@$"
"""Marks before a name: `:total` names the method `total` of Ruby."""
_MIN_LENGTH, _MAX_LENGTH = 2, 200
_MAX_NAMES = 20_000


def names_query(grammar: Language) -> Query | None:
    """Return a query for the names in a file, or None if the grammar has no leaves that are names."""
    named = filter(grammar.node_kind_is_named, range(grammar.node_kind_count))
    kinds = sorted(_NAME_KINDS & {grammar.node_kind_for_id(number) for number in named})
    return Query(grammar, f"[{' '.join(f'({kind})' for kind in kinds)}] @{_NAME}") if kinds else None


def used_names(
    query: Query | None, root: Node, lines: LineIndex, named_until: Collection[int], import_lines: Collection[int]
) -> UsedNames:
    """Return the names in a file, except the names of definitions, which end at `named_until`, and of imports."""
    if query is None:
        return ()
    found = defaultdict[str, dict[int, None]](dict)
    for node in in_order(QueryCursor(query).captures(root).get(_NAME, ())):
        if node.end_byte in named_until or node.named_child_count:
            continue
        name = text_of(node).lstrip(_MARKS)
        line = lines.of(node.start_byte)
        if line in import_lines or not _MIN_LENGTH <= len(name) <= _MAX_LENGTH or not name.isprintable():
            continue
        if len(found) < _MAX_NAMES:
            found[name][line] = None
    return tuple((name, tuple(sorted(at))) for name, at in sorted(found.items()))


def defined_names(facts: Facts, group: str) -> Iterator[Key]:
    """Yield the keys under which other files of the group find that a name is defined."""
    for each in facts.definitions:
        yield _key(group, each.qualname.rpartition(".")[2])


def possible_uses(facts: Facts, group: str, lookup: SymbolLookup) -> Iterator[Unresolved]:
    """Yield the uses of names that a file of the group defines: each may be of that definition, none is certain."""
    for name, lines in facts.body.used:
        if lookup(*_key(group, name)):
            for line in lines:
                yield Unresolved(_origin(facts, line), name, line, name)


def _key(group: str, name: str) -> Key:
    return ("defined", group, name)


def _origin(facts: Facts, line: int) -> str:
    """Return the id of the innermost definition around a line, or the path of the file."""
    around = [each for each in facts.definitions if each.line <= line <= each.end_line]
    return f"{facts.path}::{min(reversed(around), key=_height).qualname}" if around else facts.path


def _height(definition: Definition) -> int:
    return definition.end_line - definition.line
