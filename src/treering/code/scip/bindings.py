"""SCIP symbols bound to our definitions, matched by line and name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treering.code.facts import Definition, DefinitionKind
from treering.code.scip.aliases import Alias, alias_at, all_names
from treering.code.scip.calls import declared_at
from treering.code.scip.occurrences import AlignedDocument
from treering.code.scip.symbols import is_module

CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})
_INSIDE = frozenset(DefinitionKind) - {DefinitionKind.CONSTANT, DefinitionKind.TYPE, DefinitionKind.MODULE}
"""Kinds of definition that contain code."""


class BoundDefinition(NamedTuple):
    """A definition with the path of its file."""

    path: str
    definition: Definition

    @property
    def id(self) -> str:
        return f"{self.path}::{self.definition.qualname}"

    @property
    def name(self) -> str:
        return last_name(self.definition)


def last_name(definition: Definition) -> str:
    return definition.qualname.rsplit(".", 1)[-1]


class Bindings:
    """The symbol table of an index after a first pass over all documents."""

    def __init__(self) -> None:
        self._bound: defaultdict[str, dict[str, BoundDefinition]] = defaultdict(dict)
        self._modules: defaultdict[str, set[str]] = defaultdict(set)
        self._aliases: defaultdict[str, set[Alias]] = defaultdict(set)
        self._by_id: dict[str, BoundDefinition] = {}
        self._symbols: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, document: AlignedDocument, definitions: Sequence[Definition]) -> None:
        """Bind the definitions of a document, and record the aliases it introduces."""
        by_position = {(each.line, last_name(each).lstrip("#")): each for each in reversed(definitions)}
        self._by_id |= {(bound := BoundDefinition(document.path, each)).id: bound for each in definitions}
        for occurrence in document.occurrences:
            key = document.key(occurrence.symbol)
            if (alias := alias_at(occurrence.text, occurrence.place, document.source)) is not None:
                self._aliases[key].add(alias)
            if not occurrence.defines:
                continue
            if is_module(key) and occurrence.place.line == 0:
                self._modules[key].add(document.path)
            elif found := by_position.get((occurrence.place.line + 1, occurrence.text.lstrip("#"))):
                bound = BoundDefinition(document.path, found)
                self._bound[key][bound.id] = bound
                self._symbols[bound.id].add(key)

    def bound(self, key: str) -> Sequence[BoundDefinition]:
        """Return our definitions of a symbol: usually one."""
        return tuple(self._bound[key].values()) if key in self._bound else ()

    def modules(self, key: str) -> frozenset[str]:
        return frozenset(self._modules.get(key, ()))

    def call_target(self, bound: BoundDefinition, text: str) -> BoundDefinition | None:
        """Return the target of a call written as `text`; a constructor called by its class's name gives the class."""
        owner = bound.definition.qualname.rpartition(".")[0]
        if bound.name in CONSTRUCTORS and text != bound.name and owner:
            return self._by_id.get(f"{bound.path}::{owner}")
        return bound

    def names(self, bound: BoundDefinition) -> frozenset[str]:
        """Return every name of the definition, aliases included."""
        aliases = {each for key in self._symbols[bound.id] for each in self._aliases.get(key, ())}
        return all_names(bound.name.lstrip("#"), aliases)


class _DefinitionLines(NamedTuple):
    """The lines of a definition, 1-based."""

    line: int
    end_line: int
    qualname: str


class EnclosingDefinitions:
    """The definitions of one file by line.

    A name may be defined more than once, such as the setter of a property or the implementation after overloads: the
    code of each belongs to the one definition in our graph.
    """

    def __init__(self, document: AlignedDocument, definitions: Sequence[Definition]) -> None:
        self._path = document.path
        own = [
            _DefinitionLines(each.line, each.end_line, each.qualname) for each in definitions if each.kind in _INSIDE
        ]
        self._innermost_first = sorted(own, key=_innermost_first)
        if redefined := set(self._redefinitions(document, {each.qualname for each in own})):
            self._innermost_first = sorted([*own, *redefined], key=_innermost_first)

    def id_at(self, line: int) -> str:
        """Return the id of the innermost definition that contains a line, else of the file."""
        qualname = self._qualname_at(line)
        return f"{self._path}::{qualname}" if qualname else self._path

    def _qualname_at(self, line: int) -> str:
        return next((each.qualname for each in self._innermost_first if each.line <= line <= each.end_line), "")

    def _redefinitions(self, document: AlignedDocument, known: set[str]) -> Iterator[_DefinitionLines]:
        names = {qualname.rsplit(".", 1)[-1] for qualname in known}
        source = document.source
        for occurrence in document.occurrences:
            place = occurrence.place
            if occurrence.text not in names or not declared_at(
                source.before(place), source.after(place), document.suffix
            ):
                continue
            outer = self._qualname_at(place.line + 1)
            qualname = f"{outer}.{occurrence.text}" if outer else occurrence.text
            if qualname in known:
                yield _DefinitionLines(place.line + 1, source.block_end(place.line) + 1, qualname)


def _innermost_first(lines: _DefinitionLines) -> tuple[int, int]:
    return -lines.line, lines.end_line
