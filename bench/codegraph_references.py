"""References of Python code against basedpyright: names that are used without being called.

Every name and attribute that is read, except in imports, is put to the language server as a "go to definition". A
reference is found if the graph has an edge, of any kind, from the definition around it to the function or class that it
names. An edge of the graph is right if the server sees that use, called or not. Edges that no name in the text shows
(special methods, methods that a framework may call, registries of decorated functions) are not judged.
"""

import argparse
import ast
from collections import defaultdict
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

HEADERS = ("code", "kind", "references", "found", "recall", "edges judged", "right", "precision")


class NameUse(NamedTuple):
    origin: str
    line: int
    column: int
    kind: EdgeKind | None
    """The kind of reference; None for a call or a decorator."""


def uses(path: str, source: bytes) -> Iterator[NameUse]:
    """Every name and attribute that is read, also in annotations that are strings; a head belongs to its definition."""
    tree = ast.parse(source)
    kinds = {id(node): kind for node, kind in _marked(tree)}
    waiting: list[tuple[ast.AST, str, EdgeKind | None]] = [(tree, "", EdgeKind.REFERENCES)]
    while waiting:
        node, around, inherited = waiting.pop()
        origin = f"{path}::{around}" if around else path
        kind = kinds.get(id(node), inherited)
        match node:
            case ast.Name(ctx=ast.Load(), lineno=line, col_offset=column):
                yield NameUse(origin, line, column, kind)
            case ast.Attribute(ctx=ast.Load(), attr=name, end_lineno=int(line), end_col_offset=int(end)):
                yield NameUse(origin, line, end - len(name.encode()), kind)
                kind = EdgeKind.REFERENCES if kind is not EdgeKind.ANNOTATES else kind
            case ast.Constant(value=str(text), lineno=line, col_offset=column) if kind is EdgeKind.ANNOTATES:
                for offset in _quoted_names(text):
                    yield NameUse(origin, line, column + 1 + offset, kind)
        if isinstance(node, Named):
            around = f"{around}.{node.name}" if around else node.name
        passed_on = kind if kind in (EdgeKind.ANNOTATES, EdgeKind.CATCHES) else EdgeKind.REFERENCES
        waiting += [(child, around, passed_on) for child in ast.iter_child_nodes(node)]


def _marked(tree: ast.Module) -> Iterator[tuple[ast.AST, EdgeKind | None]]:
    """The expressions whose position decides what kind of use they are."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func):
                yield func, None
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation, EdgeKind.ANNOTATES
            case ast.ExceptHandler(type=ast.expr() as caught):
                yield caught, EdgeKind.CATCHES
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns, EdgeKind.ANNOTATES
        if isinstance(node, Named):
            yield from ((each, None) for each in node.decorator_list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield node.exc.func if isinstance(node.exc, ast.Call) else node.exc, EdgeKind.RAISES


def _quoted_names(text: str) -> Iterator[int]:
    """The offsets of the names of an annotation in a string of one line."""
    try:
        inside = ast.parse(text, mode="eval") if "\n" not in text and text.isascii() else None
    except SyntaxError:
        return
    for node in ast.walk(inside) if inside is not None else ():
        if isinstance(node, ast.Name):
            yield node.col_offset
        elif isinstance(node, ast.Attribute) and node.end_col_offset is not None:
            yield node.end_col_offset - len(node.attr)


class ServerAnswer(NamedTuple):
    references: dict[EdgeKind, set[Pair]]
    every: set[Pair]
    """With calls."""


def asked(root: Path, programs: Path) -> ServerAnswer:
    trees = sources(root)
    defined = [(path, *each) for path, tree in trees.items() for each in definitions(path, tree)]
    at = {((root / path).as_uri(), line): id for path, id, _, line in defined}
    references: defaultdict[EdgeKind, set[Pair]] = defaultdict(set)
    every: set[Pair] = set()
    with LanguageServer(programs, root) as server:
        for path in trees:
            named = list(uses(path, (root / path).read_bytes()))
            answers = server.defined(root / path, [(use.line, use.column) for use in named])
            for use, places in zip(named, answers, strict=True):
                pairs = {(use.origin, at[place].removesuffix(".__init__")) for place in places if place in at}
                pairs = {(origin, target) for origin, target in pairs if not f"{origin}.".startswith(f"{target}.")}
                every |= pairs
                if use.kind is not None:
                    references[use.kind] |= pairs
    return ServerAnswer(references, every)


class GraphAnswer(NamedTuple):
    edges: set[Pair]
    judged: dict[EdgeKind, set[Pair]]
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
    judged: defaultdict[EdgeKind, set[Pair]] = defaultdict(set)
    for path, found in resolve_all(facts, LANGUAGE).items():
        for edge in found.edges:
            if edge.kind in (EdgeKind.IMPORTS, EdgeKind.EXPORTS) or edge.target in constants:
                continue
            pair = (path if edge.origin in constants else edge.origin, edge.target)
            edges.add(pair)
            written = edge.kind is not EdgeKind.REGISTERS or edge.origin in constants
            if edge.kind in REFERENCE_KINDS and written:
                judged[edge.kind].add(pair)
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
        wanted, judged = (set().union(*each.values()) for each in (truth.references, graph.judged))
        rows.append((folder.name, "all", *shares(wanted, graph.edges), *shares(judged, truth.every)))
        for kind in sorted(REFERENCE_KINDS):
            recall = shares(truth.references.get(kind, set()), graph.edges)
            rows.append((folder.name, kind.value, *recall, *shares(graph.judged.get(kind, set()), truth.every)))
        show("missing", wanted - graph.edges, given.show)
        show("false", judged - truth.every, given.show)
    body = table(HEADERS, rows)
    if given.write:
        write_section("references", "References of Python against basedpyright", body)
    else:
        print(body)


def shares(pairs: set[Pair], found: set[Pair]) -> tuple[str, str, str]:
    """Number of pairs, of those found, and their share."""
    met = len(pairs & found)
    return f"{len(pairs):,}", f"{met:,}", f"{met / len(pairs):.3f}" if pairs else "–"


def show(what: str, pairs: set[Pair], limit: int) -> None:
    """Print some pairs, spread evenly over all."""
    ordered = sorted(pairs)
    for origin, target in ordered[:: max(1, len(ordered) // limit)][:limit] if limit else ():
        print(f"{what}: {origin} -> {target}")


if __name__ == "__main__":
    main()
