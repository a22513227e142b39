"""The edges of a folder of code: those that Treering stores when it indexes it, and those of a naive matcher."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Language, Node, Parser

import treering
from bench.codegraph_scoring import Pair, file_of
from treering.code.encoding import edges_in, unpack_definitions, unpack_edges
from treering.code.facts import MODULE, Definition, DefinitionKind, Edge
from treering.code.language_choice import language_named
from treering.core.graph import EdgeKind

CALLED = {
    "call": "function",
    "call_expression": "function",
    "new_expression": "constructor",
}
"""Where a call says what it calls, in every grammar."""
LAST_PART = {
    "attribute": "attribute",
    "member_expression": "property",
    "selector_expression": "field",
    "field_expression": "field",
    "scoped_identifier": "name",
    "generic_function": "function",
}
CALLABLE = (DefinitionKind.FUNCTION, DefinitionKind.METHOD, DefinitionKind.CLASS)


@dataclass(frozen=True, slots=True)
class Found:
    definitions: Mapping[str, tuple[Definition, ...]]
    """By file."""
    edges: tuple[Edge, ...]

    @property
    def imports(self) -> set[Pair]:
        return {(file_of(edge.origin), file_of(edge.target)) for edge in self.edges if edge.kind is EdgeKind.IMPORTS}

    @property
    def calls(self) -> set[Pair]:
        calls = (edge for edge in self.edges if edge.kind is EdgeKind.CALLS)
        return {(_with_module(edge.origin), _with_module(edge.target)) for edge in calls}


def indexed(root: Path) -> Found:
    """What the store holds after the folder was indexed, as anybody would index it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        treering.open(Path(folder) / "memory.db", project="bench", background=False) as memory,
    ):
        memory.code.index(root, history=False)
        with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
            files = list(tx.code.contents())
            return Found(
                {file.path: tuple(unpack_definitions(file.definitions)) for file in files},
                tuple(edge for file in files for edge in edges_in(unpack_edges(file.edges))),
            )


def naive_calls(root: Path, definitions: Mapping[str, tuple[Definition, ...]]) -> set[Pair]:
    """Calls matched by name alone: what the file itself defines, else what only one file defines."""
    own: defaultdict[Pair, list[str]] = defaultdict(list)
    everywhere: defaultdict[str, list[str]] = defaultdict(list)
    for path, defined in definitions.items():
        for each in defined:
            if each.kind in CALLABLE:
                name = each.qualname.rpartition(".")[2]
                own[path, name].append(f"{path}::{each.qualname}")
                everywhere[name].append(f"{path}::{each.qualname}")
    matched: set[Pair] = set()
    for path, defined in definitions.items():
        for name, line in _calls_in(path, (root / path).read_bytes()):
            targets = own.get((path, name)) or everywhere.get(name, [])
            if len(targets) == 1 or (path, name) in own:
                matched.add((f"{path}::{_around(defined, line)}", targets[0]))
    return matched


def _calls_in(path: str, source: bytes) -> Iterator[tuple[str, int]]:
    """The last name of everything that is called, and its line."""
    grammar = _grammar(path)
    if grammar is None:
        return
    waiting = [Parser(grammar).parse(source).root_node]
    while waiting:
        node = waiting.pop()
        if node.type in CALLED:
            name = _name(node.child_by_field_name(CALLED[node.type]))
            if name is not None:
                yield name, node.start_point[0] + 1
        waiting.extend(node.named_children)


def _name(node: Node | None) -> str | None:
    while node is not None and node.type in LAST_PART:
        node = node.child_by_field_name(LAST_PART[node.type])
    if node is None or "identifier" not in node.type or node.text is None:
        return None
    return node.text.decode(errors="replace")


def _grammar(path: str) -> Language | None:
    name = path.rpartition("/")[2]
    match language_named(name):
        case "python" if name.endswith((".py", ".pyi")):
            import tree_sitter_python

            return Language(tree_sitter_python.language())
        case "go" if name.endswith(".go"):
            import tree_sitter_go

            return Language(tree_sitter_go.language())
        case "rust" if name.endswith(".rs"):
            import tree_sitter_rust

            return Language(tree_sitter_rust.language())
        case "typescript" if not name.endswith(".json"):
            import tree_sitter_typescript as grammars

            plain = name.endswith(("ts", ".js", ".mjs", ".cjs"))
            return Language(grammars.language_typescript() if plain else grammars.language_tsx())
    return None


def _around(defined: tuple[Definition, ...], line: int) -> str:
    """The innermost definition around a line."""
    holding = [each for each in defined if each.line <= line <= each.end_line and each.kind in CALLABLE]
    return min(holding, key=lambda each: each.end_line - each.line).qualname if holding else MODULE


def _with_module(id: str) -> str:
    return id if "::" in id else f"{id}::{MODULE}"
