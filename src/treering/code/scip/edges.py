"""Edges derived from occurrences, each verified against the source text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from treering.code.facts import Definition, DefinitionKind, Edge
from treering.code.scip.bindings import Bindings, BoundDefinition, EnclosingDefinitions
from treering.code.scip.calls import call_at
from treering.code.scip.occurrences import AlignedDocument, SymbolOccurrence
from treering.code.scip.symbols import is_module, module_name
from treering.core.graph import EdgeKind

_FULL_CONFIDENCE = 1.0
_WORD = re.compile(r"\w+")
_IMPORTING = re.compile(r"\s*(?:from|import|export|use|pub|mod)\b")
_QUOTES = ("'", '"', "`")
_BASES_IN_HEADER = (".py", ".pyi", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
"""Languages that name base classes in the header of a class."""
_PROMISES = frozenset({DefinitionKind.INTERFACE, DefinitionKind.TRAIT, DefinitionKind.TYPE})
_CLASSES = frozenset({DefinitionKind.CLASS, DefinitionKind.ENUM, *_PROMISES})
_CALLABLE = frozenset(DefinitionKind) - {DefinitionKind.MODULE, DefinitionKind.TYPE, DefinitionKind.TRAIT}
_ONLY_EXTENDS = (".py", ".pyi")


class ScipRejection(StrEnum):
    """Why a statement of the index was rejected."""

    OTHER_NAME = "the name in the file differs"
    AMBIGUOUS = "the symbol is ambiguous"
    OTHER_FILE = "the file changed since it was indexed"
    NOT_HERE = "the file is not in the project"
    OUTSIDE = "the path is outside the project"
    TOO_LARGE = "the document is too large"


def edges_of(
    document: AlignedDocument, definitions: Sequence[Definition], bindings: Bindings, rejected: Counter[ScipRejection]
) -> Iterator[Edge]:
    """Yield the edges of a file that its text confirms."""
    inside = EnclosingDefinitions(document, definitions)
    for occurrence in document.occurrences:
        if occurrence.defines:
            continue
        if is_module(occurrence.symbol):
            yield from _imported(document, occurrence, bindings)
        else:
            yield from _called(document, occurrence, inside, bindings, rejected)
    for symbol, other in document.relations:
        yield from _related(document, bindings.bound(document.key(symbol)), other, bindings, rejected)


def _imported(document: AlignedDocument, occurrence: SymbolOccurrence, bindings: Bindings) -> Iterator[Edge]:
    files = bindings.modules(occurrence.symbol)
    written = occurrence.text.startswith(_QUOTES) or (
        _IMPORTING.match(document.source.lines[occurrence.place.line]) is not None
        and occurrence.text.rsplit(".", 1)[-1] == module_name(occurrence.symbol)
    )
    if written and len(files) == 1 and document.path not in files:
        yield Edge(document.path, min(files), EdgeKind.IMPORTS, _FULL_CONFIDENCE, occurrence.place.line + 1)


def _called(
    document: AlignedDocument,
    occurrence: SymbolOccurrence,
    inside: EnclosingDefinitions,
    bindings: Bindings,
    rejected: Counter[ScipRejection],
) -> Iterator[Edge]:
    found = bindings.bound(document.key(occurrence.symbol))
    if not found or not occurrence.text:
        return
    source, place = document.source, occurrence.place
    flow = call_at(source.before(place), source.after(place), document.suffix)
    if flow is None:
        return
    here = [each for each in found if each.path == document.path] or found
    if len(here) > 1:
        rejected[ScipRejection.AMBIGUOUS] += 1
        return
    target = bindings.call_target(here[0], occurrence.text)
    if target is None or target.definition.kind not in _CALLABLE:
        return
    if occurrence.text.lstrip("#") not in bindings.names(target):
        rejected[ScipRejection.OTHER_NAME] += 1
        return
    line = place.line + 1
    yield Edge(inside.id_at(line), target.id, EdgeKind.CALLS, _FULL_CONFIDENCE, line, int(flow))


def _related(
    document: AlignedDocument,
    origins: Sequence[BoundDefinition],
    other: str,
    bindings: Bindings,
    rejected: Counter[ScipRejection],
) -> Iterator[Edge]:
    targets = bindings.bound(other)
    for origin in origins:
        if origin.path != document.path or not targets:
            continue
        if len(targets) > 1:
            rejected[ScipRejection.AMBIGUOUS] += 1
            continue
        kind = _kind_of_tie(origin.definition, targets[0].definition, document.suffix)
        if kind is None:
            continue
        if not _is_written(document, origin, targets[0], bindings):
            rejected[ScipRejection.OTHER_NAME] += 1
            continue
        yield Edge(origin.id, targets[0].id, kind, _FULL_CONFIDENCE, origin.definition.line)


def _kind_of_tie(origin: Definition, target: Definition, suffix: str) -> EdgeKind | None:
    if origin.kind is DefinitionKind.METHOD and target.kind is DefinitionKind.METHOD:
        return EdgeKind.IMPLEMENTS
    if origin.kind not in _CLASSES or target.kind not in _CLASSES:
        return None
    promised = target.kind in _PROMISES and origin.kind not in _PROMISES and suffix not in _ONLY_EXTENDS
    return EdgeKind.IMPLEMENTS if promised else EdgeKind.EXTENDS


def _is_written(
    document: AlignedDocument, origin: BoundDefinition, target: BoundDefinition, bindings: Bindings
) -> bool:
    """Whether the text confirms the relation: methods share a name, base classes are named in the class header."""
    if origin.definition.kind is DefinitionKind.METHOD:
        return origin.name == target.name
    if document.suffix not in _BASES_IN_HEADER:
        return True
    return not bindings.names(target).isdisjoint(_header_words(document, origin.definition))


def _header_words(document: AlignedDocument, definition: Definition) -> set[str]:
    """Return the words between a class's name and the start of its body."""
    words = set[str]()
    for line in document.source.lines[definition.line - 1 : definition.end_line]:
        words.update(_WORD.findall(line))
        if line.rstrip().endswith((":", "{", ": ...", "}")):
            break
    return words
