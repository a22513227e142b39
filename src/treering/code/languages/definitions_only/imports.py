"""Imports resolved to files by their paths. A path that several files end with is not guessed."""

from collections.abc import Iterator
from posixpath import dirname, normpath

from treering.code.facts import Edge, Facts, Key, Resolved, SymbolLookup, Unresolved
from treering.code.language_table import ImportRule
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.core.graph import EdgeKind

_PATH, _ENDING = "path", "path.ending"
_MAX_PARTS = 12
"""Trailing parts of a path that an import can name; longer ones are found relative to the importing file only."""


def path_endings(path: str) -> Iterator[Key]:
    """Yield the keys that a file is found by: its path, and each ending of it."""
    yield (_PATH, path)
    parts = path.split("/")
    for start in range(max(0, len(parts) - _MAX_PARTS), len(parts)):
        yield (_ENDING, "/".join(parts[start:]))


def resolve_imports(facts: Facts, rule: ImportRule | None, lookup: SymbolLookup) -> Resolved:
    """Return an edge for each import that leads to a file of the project; others are outside it, or not known."""
    edges, unresolved = EdgeSet(), list[Unresolved]()
    for written, line in facts.body.imports if rule is not None else ():
        targets = _targets(facts.path, written, rule, lookup) if rule is not None else None
        if targets is None:
            continue
        path, confidence = targets
        if not path:
            unresolved.append(Unresolved(facts.path, written, line))
        elif path != facts.path:
            edges.add(Edge(facts.path, path, EdgeKind.IMPORTS, confidence, line))
    return Resolved(edges.all(), tuple(unresolved))


def _targets(path: str, written: str, rule: ImportRule, lookup: SymbolLookup) -> tuple[str, float] | None:
    """Return the file and its confidence; an empty path if several are equally possible, None if there is none."""
    for candidate in _candidates(written, rule):
        if rule.beside:
            beside = normpath(f"{dirname(path)}/{candidate}").lstrip("/")
            if lookup(_PATH, beside):
                return beside, SURE
        if rule.anywhere and (found := _ending_with(normpath(candidate), path, lookup)) is not None:
            return found, EVIDENT
    return None


def _candidates(written: str, rule: ImportRule) -> Iterator[str]:
    """Yield the paths that the text may mean, the most specific first."""
    parts = [part for part in written.removeprefix(rule.prefix).split(rule.separator) if part]
    heads = range(min(rule.extra_head, len(parts) - 1) + 1)
    tails = range(min(rule.extra_tail, len(parts) - 1) + 1)
    for head in heads:
        for tail in tails:
            kept = parts[head : len(parts) - tail]
            for ending in rule.endings if kept else ():
                yield "/".join(kept) + ending


def _ending_with(candidate: str, path: str, lookup: SymbolLookup) -> str | None:
    """Return the only file with this ending, or the one with the most folders in common; empty if several have."""
    found = [other for other, _ in lookup(_ENDING, candidate.removeprefix("../"))]
    if len(found) <= 1:
        return found[0] if found else None
    near = sorted(((_common(path, other), other) for other in found), reverse=True)
    return near[0][1] if near[0][0] > near[1][0] else ""


def _common(one: str, other: str) -> int:
    """Return how many folders two paths have in common from the root."""
    count = 0
    for mine, theirs in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count
