"""Edges derived from occurrences, each verified against the source text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from treering.code.facts import Definition, DefinitionKind, Edge
from treering.code.scip.bindings import Bindings, Bound, Inside
from treering.code.scip.calls import call_at
from treering.code.scip.occurrences import Laid, Mention
from treering.code.scip.symbols import is_module, module_name
from treering.core.graph import EdgeKind

_SURE = 1.0
_WORD = re.compile(r"\w+")
_IMPORTING = re.compile(r"\s*(?:from|import|export|use|pub|mod)\b")
_QUOTES = ("'", '"', "`")
_BASES_IN_HEADER = (".py", ".pyi", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
"""Languages that name base classes in the header of a class."""
_PROMISES = frozenset({DefinitionKind.INTERFACE, DefinitionKind.TRAIT, DefinitionKind.TYPE})
_CLASSES = frozenset({DefinitionKind.CLASS, DefinitionKind.ENUM, *_PROMISES})
_CALLABLE = frozenset(DefinitionKind) - {DefinitionKind.MODULE, DefinitionKind.TYPE, DefinitionKind.TRAIT}
_ONLY_EXTENDS = (".py", ".pyi")


class Refused(StrEnum):
    """Why a statement of the index was rejected."""

    OTHER_NAME = "the name written there is another one"
    AMBIGUOUS = "the symbol stands for several definitions"
    OTHER_FILE = "the file is not the one that was indexed"
    NOT_HERE = "the file is not in the project"
    OUTSIDE = "the path leads out of the project"
    TOO_LARGE = "the document is larger than allowed"


def edges_of(
    document: Laid, definitions: Sequence[Definition], bindings: Bindings, refused: Counter[Refused]
) -> Iterator[Edge]:
    """Yield the edges of a file that its text confirms."""
    inside = Inside(document, definitions)
    for mention in document.mentions:
        if mention.defines:
            continue
        if is_module(mention.symbol):
            yield from _imported(document, mention, bindings)
        else:
            yield from _called(document, mention, inside, bindings, refused)
    for symbol, other in document.relations:
        yield from _related(document, bindings.bound(document.key(symbol)), other, bindings, refused)


def _imported(document: Laid, mention: Mention, bindings: Bindings) -> Iterator[Edge]:
    files = bindings.modules(mention.symbol)
    written = mention.text.startswith(_QUOTES) or (
        _IMPORTING.match(document.source.lines[mention.place.line]) is not None
        and mention.text.rsplit(".", 1)[-1] == module_name(mention.symbol)
    )
    if written and len(files) == 1 and document.path not in files:
        yield Edge(document.path, min(files), EdgeKind.IMPORTS, _SURE, mention.place.line + 1)


def _called(
    document: Laid, mention: Mention, inside: Inside, bindings: Bindings, refused: Counter[Refused]
) -> Iterator[Edge]:
    found = bindings.bound(document.key(mention.symbol))
    if not found or not mention.text:
        return
    source, place = document.source, mention.place
    flow = call_at(source.before(place), source.after(place), document.suffix)
    if flow is None:
        return
    here = [each for each in found if each.path == document.path] or found
    if len(here) > 1:
        refused[Refused.AMBIGUOUS] += 1
        return
    target = bindings.called(here[0], mention.text)
    if target is None or target.definition.kind not in _CALLABLE:
        return
    if mention.text.lstrip("#") not in bindings.names(target):
        refused[Refused.OTHER_NAME] += 1
        return
    line = place.line + 1
    yield Edge(inside.id_at(line), target.id, EdgeKind.CALLS, _SURE, line, int(flow))


def _related(
    document: Laid, origins: Sequence[Bound], other: str, bindings: Bindings, refused: Counter[Refused]
) -> Iterator[Edge]:
    targets = bindings.bound(other)
    for origin in origins:
        if origin.path != document.path or not targets:
            continue
        if len(targets) > 1:
            refused[Refused.AMBIGUOUS] += 1
            continue
        kind = _kind_of_tie(origin.definition, targets[0].definition, document.suffix)
        if kind is None:
            continue
        if not _is_written(document, origin, targets[0], bindings):
            refused[Refused.OTHER_NAME] += 1
            continue
        yield Edge(origin.id, targets[0].id, kind, _SURE, origin.definition.line)


def _kind_of_tie(origin: Definition, target: Definition, suffix: str) -> EdgeKind | None:
    if origin.kind is DefinitionKind.METHOD and target.kind is DefinitionKind.METHOD:
        return EdgeKind.IMPLEMENTS
    if origin.kind not in _CLASSES or target.kind not in _CLASSES:
        return None
    promised = target.kind in _PROMISES and origin.kind not in _PROMISES and suffix not in _ONLY_EXTENDS
    return EdgeKind.IMPLEMENTS if promised else EdgeKind.EXTENDS


def _is_written(document: Laid, origin: Bound, target: Bound, bindings: Bindings) -> bool:
    """Whether the text confirms the relation: methods share a name, base classes are named in the class header."""
    if origin.definition.kind is DefinitionKind.METHOD:
        return origin.name == target.name
    if document.suffix not in _BASES_IN_HEADER:
        return True
    return not bindings.names(target).isdisjoint(_header_words(document, origin.definition))


def _header_words(document: Laid, definition: Definition) -> set[str]:
    """Return the words between a class's name and the start of its body."""
    words = set[str]()
    for line in document.source.lines[definition.line - 1 : definition.end_line]:
        words.update(_WORD.findall(line))
        if line.rstrip().endswith((":", "{", ": ...", "}")):
            break
    return words
