"""References of Python code against basedpyright: names that are used without being called.

Every name and attribute that is read, except in imports, is put to the language server as a "go to definition". A
reference is found if the graph has an edge, of any kind, from the definition around it to the function or class that it
names. An edge of the graph is right if the server sees that use, called or not. Edges that no name in the text shows
(special methods, methods that a framework may call, registries of decorated functions) are not judged.
"""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.codegraph_packages import pyright
from bench.codegraph_python import LanguageServer, Named, definitions, sources
from bench.codegraph_scoring import Pair
from bench.results import table, write_section
from treering.code.languages.python import LANGUAGE
from treering.code.languages.references import REFERENCE_KINDS
from treering.core.graph import EdgeKind

HEADERS = ("code", "references", "found", "recall", "edges judged", "right", "precision")


class NameUse(NamedTuple):
    origin: str
    line: int
    column: int
    called: bool


def uses(path: str, tree: ast.Module) -> Iterator[NameUse]:
    """Every name and attribute that is read; a head belongs to its definition."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    decorators = {id(each) for node in ast.walk(tree) if isinstance(node, Named) for each in node.decorator_list}
    while waiting:
        node, around = waiting.pop()
        origin = f"{path}::{around}" if around else path
        is_called = id(node) in called or id(node) in decorators
        match node:
            case ast.Name(ctx=ast.Load(), lineno=line, col_offset=column):
                yield NameUse(origin, line, column, is_called)
            case ast.Attribute(ctx=ast.Load(), attr=name, end_lineno=int(line), end_col_offset=int(end)):
                yield NameUse(origin, line, end - len(name.encode()), is_called)
        if isinstance(node, Named):
            around = f"{around}.{node.name}" if around else node.name
        waiting += [(child, around) for child in ast.iter_child_nodes(node)]


class ServerAnswer(NamedTuple):
    references: set[Pair]
    every: set[Pair]
    """With calls."""
    kinds: dict[str, str]


def asked(root: Path, programs: Path) -> ServerAnswer:
    trees = sources(root)
    defined = [(path, *each) for path, tree in trees.items() for each in definitions(path, tree)]
    at = {((root / path).as_uri(), line): id for path, id, _, line in defined}
    references: set[Pair] = set()
    every: set[Pair] = set()
    with LanguageServer(programs, root) as server:
        for path, tree in trees.items():
            named = list(uses(path, tree))
            answers = server.defined(root / path, [(use.line, use.column) for use in named])
            for use, places in zip(named, answers, strict=True):
                pairs = {(use.origin, at[place]) for place in places if place in at}
                pairs = {(origin, target) for origin, target in pairs if not f"{origin}.".startswith(f"{target}.")}
                every |= pairs
                references |= set() if use.called else pairs
    return ServerAnswer(references, every, {id: kind for _, id, kind, _ in defined})


class GraphAnswer(NamedTuple):
    edges: set[Pair]
    judged: set[Pair]
    """References that a name in the text shows."""


def built(root: Path) -> GraphAnswer:
    from tests.resolver_projects import facts_of, resolve_all

    facts = facts_of({path: (root / path).read_bytes() for path in sources(root)}, LANGUAGE)
    constants = {
        f"{path}::{one.qualname}"
        for path, each in facts.items()
        for one in each.definitions
        if one.kind in ("constant", "type")
    }
    edges: set[Pair] = set()
    judged: set[Pair] = set()
    for path, found in resolve_all(facts, LANGUAGE).items():
        for edge in found.edges:
            if edge.kind in (EdgeKind.IMPORTS, EdgeKind.EXPORTS) or edge.target in constants:
                continue
            pair = (path if edge.origin in constants else edge.origin, edge.target)
            edges.add(pair)
            written = edge.kind is not EdgeKind.REGISTERS or edge.origin in constants
            if edge.kind in REFERENCE_KINDS and written:
                judged.add(pair)
    return GraphAnswer(edges, judged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders that contain packages")
    parser.add_argument("--cache", type=Path, required=True, help="folder for basedpyright")
    parser.add_argument("--show", type=int, default=0, help="print this many missing and false edges of each folder")
    parser.add_argument("--write", action="store_true", help="write the table to the results page")
    given = parser.parse_args()
    rows = []
    for folder in given.folders:
        truth, graph = asked(folder.resolve(), pyright(given.cache)), built(folder.resolve())
        found, right = truth.references & graph.edges, graph.judged & truth.every
        rows.append(
            (
                folder.name,
                f"{len(truth.references):,}",
                f"{len(found):,}",
                f"{len(found) / len(truth.references):.3f}",
                f"{len(graph.judged):,}",
                f"{len(right):,}",
                f"{len(right) / len(graph.judged):.3f}",
            )
        )
        show("missing", truth.references - graph.edges, given.show)
        show("false", graph.judged - truth.every, given.show)
    body = table(HEADERS, rows)
    if given.write:
        write_section("references", "References of Python against basedpyright", body)
    else:
        print(body)


def show(what: str, pairs: set[Pair], limit: int) -> None:
    """Print some pairs, spread evenly over all."""
    ordered = sorted(pairs)
    for origin, target in ordered[:: max(1, len(ordered) // limit)][:limit] if limit else ():
        print(f"{what}: {origin} -> {target}")


if __name__ == "__main__":
    main()
