"""Where a name occurs in the syntax: in an annotation, in a table, as an argument."""

from bisect import bisect_right
from collections.abc import Collection
from typing import NamedTuple

from tree_sitter import Node

from treering.code.languages.python.body import UseKind
from treering.code.languages.python.scopes import PythonScope
from treering.code.languages.syntax_nodes import text_of

_MAX_LEVELS = 10
_NO_USE = frozenset(
    {
        *("dotted_name", "aliased_import", "class_definition", "function_definition", "decorator", "parameters"),
        *("lambda_parameters", "global_statement", "nonlocal_statement", "delete_statement", "as_pattern_target"),
        *("pattern_list", "tuple_pattern", "list_pattern"),
    }
)
"""Directly around a name that is not used, or whose use is recorded elsewhere."""
_BINDING = frozenset({"assignment", "for_statement", "for_in_clause"})
"""A name on the left side of these is bound, not used."""
_ENDS = frozenset({"block", "module", "expression_statement", "return_statement", "lambda"})
_TABLES = frozenset({"dictionary", "list", "set", "tuple"})


class NameSite(NamedTuple):
    kind: UseKind
    registry: str = ""
    """The object of the module to which the name is passed, for code outside any definition."""


_READ = NameSite(UseKind.READ)
_ITEM = NameSite(UseKind.REGISTERED)
_DECIDED = {"type": NameSite(UseKind.ANNOTATION), "raise_statement": None, "except_clause": None}


def name_site(node: Node, objects: Collection[str]) -> NameSite | None:
    """Return how a name or attribute is used; None if it is not a use or is recorded elsewhere."""
    quoted, around = node.type in ("string_content", "string"), node.parent
    if (not quoted and node.type not in ("identifier", "attribute")) or around is None or around.type in _NO_USE:
        return None
    if node.type == "identifier" and around.type in _BINDING and around.child_by_field_name("left") == node:
        return None
    site = None if quoted else _READ
    for _ in range(_MAX_LEVELS):
        if around is None or around.type in _ENDS:
            break
        if around.type in _DECIDED:
            return _DECIDED[around.type]
        if around.type in _TABLES and site is _READ:
            site = _ITEM
        if around.type == "call":
            return site if quoted or not objects else _passed(around, site, objects)
        around = around.parent
    return site


def _passed(call: Node, site: NameSite | None, objects: Collection[str]) -> NameSite | None:
    """An argument of a method of a module's object is registered with it."""
    function = call.child_by_field_name("function")
    receiver = function.child_by_field_name("object") if function is not None else None
    name = text_of(receiver) if receiver is not None and receiver.type == "identifier" else ""
    return NameSite(UseKind.REGISTERED, name) if name in objects else site


class ConstantSites:
    """The constants of a module by the text of their values and annotations."""

    def __init__(self, module: PythonScope, constants: Collection[str]) -> None:
        spans = []
        for name in constants:
            for binding in module.names.get(name, ()):
                nodes = [node for node in (binding.node, binding.annotation) if node is not None]
                if nodes and binding.role != "definition":
                    start = min(node.start_byte for node in nodes)
                    spans.append((start, max(node.end_byte for node in nodes), name))
        self._spans = sorted(spans)
        self._starts = [start for start, _, _ in self._spans]

    def at(self, offset: int) -> str:
        """Return the constant whose value or annotation contains the offset; empty if there is none."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0 or offset >= self._spans[place][1]:
            return ""
        return self._spans[place][2]
