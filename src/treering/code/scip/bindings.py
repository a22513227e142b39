"""SCIP symbols bound to our definitions, matched by line and name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treering.code.facts import Definition, DefinitionKind
from treering.code.scip.aliases import Renaming, names_after, renaming_at
from treering.code.scip.calls import declared_at
from treering.code.scip.occurrences import Laid
from treering.code.scip.symbols import is_module

CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})
_INSIDE = frozenset(DefinitionKind) - {DefinitionKind.CONSTANT, DefinitionKind.TYPE, DefinitionKind.MODULE}
"""Kinds of definition that contain code."""


class Bound(NamedTuple):
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
        self._bound: defaultdict[str, dict[str, Bound]] = defaultdict(dict)
        self._modules: defaultdict[str, set[str]] = defaultdict(set)
        self._renamed: defaultdict[str, set[Renaming]] = defaultdict(set)
        self._by_id: dict[str, Bound] = {}
        self._symbols: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, document: Laid, definitions: Sequence[Definition]) -> None:
        """Bind the definitions of a document, and record the aliases it introduces."""
        standing = {(each.line, last_name(each).lstrip("#")): each for each in reversed(definitions)}
        self._by_id |= {(bound := Bound(document.path, each)).id: bound for each in definitions}
        for mention in document.mentions:
            key = document.key(mention.symbol)
            if (renaming := renaming_at(mention.text, mention.place, document.source)) is not None:
                self._renamed[key].add(renaming)
            if not mention.defines:
                continue
            if is_module(key) and mention.place.line == 0:
                self._modules[key].add(document.path)
            elif found := standing.get((mention.place.line + 1, mention.text.lstrip("#"))):
                bound = Bound(document.path, found)
                self._bound[key][bound.id] = bound
                self._symbols[bound.id].add(key)

    def bound(self, key: str) -> Sequence[Bound]:
        """Return our definitions of a symbol: usually one."""
        return tuple(self._bound[key].values()) if key in self._bound else ()

    def modules(self, key: str) -> frozenset[str]:
        return frozenset(self._modules.get(key, ()))

    def called(self, bound: Bound, text: str) -> Bound | None:
        """Return the target of a call written as `text`; a constructor called by its class's name gives the class."""
        owner = bound.definition.qualname.rpartition(".")[0]
        if bound.name in CONSTRUCTORS and text != bound.name and owner:
            return self._by_id.get(f"{bound.path}::{owner}")
        return bound

    def names(self, bound: Bound) -> frozenset[str]:
        """Return every name of the definition, aliases included."""
        renamings = {each for key in self._symbols[bound.id] for each in self._renamed.get(key, ())}
        return names_after(bound.name.lstrip("#"), renamings)


class _Held(NamedTuple):
    """The lines of a definition, 1-based."""

    line: int
    end_line: int
    qualname: str


class Inside:
    """The definitions of one file by line.

    A name may be defined more than once, such as the setter of a property or the implementation after overloads: the
    code of each belongs to the one definition in our graph.
    """

    def __init__(self, document: Laid, definitions: Sequence[Definition]) -> None:
        self._path = document.path
        first = [_Held(each.line, each.end_line, each.qualname) for each in definitions if each.kind in _INSIDE]
        self._innermost_first = sorted(first, key=_innermost_first)
        if again := set(self._defined_again(document, {each.qualname for each in first})):
            self._innermost_first = sorted([*first, *again], key=_innermost_first)

    def id_at(self, line: int) -> str:
        """Return the id of the innermost definition that contains a line, else of the file."""
        qualname = self._qualname_at(line)
        return f"{self._path}::{qualname}" if qualname else self._path

    def _qualname_at(self, line: int) -> str:
        return next((each.qualname for each in self._innermost_first if each.line <= line <= each.end_line), "")

    def _defined_again(self, document: Laid, known: set[str]) -> Iterator[_Held]:
        names = {qualname.rsplit(".", 1)[-1] for qualname in known}
        source = document.source
        for mention in document.mentions:
            place = mention.place
            if mention.text not in names or not declared_at(source.before(place), source.after(place), document.suffix):
                continue
            outer = self._qualname_at(place.line + 1)
            qualname = f"{outer}.{mention.text}" if outer else mention.text
            if qualname in known:
                yield _Held(place.line + 1, source.block_end(place.line) + 1, qualname)


def _innermost_first(held: _Held) -> tuple[int, int]:
    return -held.line, held.end_line
