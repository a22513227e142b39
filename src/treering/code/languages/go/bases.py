"""Embedded types, and the interfaces that types satisfy implicitly."""

from collections.abc import Sequence

from treering.code.facts import Definition, Edge, SymbolLookup
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.code.languages.go.body import GoDeclaration, WrittenType
from treering.code.languages.go.members import GoMembers
from treering.code.languages.go.standard_library import is_called_from_outside
from treering.code.languages.go.surface import INTERFACES
from treering.code.languages.go.types import GoTypes, Known, dereferenced
from treering.core.graph import EdgeKind

_MAX_DEPTH = 6


class BaseEdges:
    """Edges of the types and methods that one file declares."""

    def __init__(self, types: GoTypes, members: GoMembers, package: str, lookup: SymbolLookup) -> None:
        self._types = types
        self._members = members
        self._package = package
        self._lookup = lookup
        self._satisfied: dict[str, list[Known]] = {}
        self._wanted: dict[tuple[str, str], list[tuple[str, Known]]] = {}
        self._own: dict[tuple[str, str], Known] = {}
        self._stood_in: dict[tuple[Known, str], Known] = {}
        self._sides: dict[Known, tuple[tuple[Known, ...], tuple[Known, ...]]] = {}

    def add(
        self, edges: EdgeSet, path: str, declared: Sequence[GoDeclaration], definitions: Sequence[Definition]
    ) -> None:
        lines = {each.qualname: each.line for each in definitions}
        for each in declared:
            if each.kind == "type" and each.type is not None:
                origin, line = f"{path}::{each.name}", lines.get(each.name, 1)
                for target in self._ids(self._embedded(each.type)):
                    edges.add(Edge(origin, target, EdgeKind.EXTENDS, SURE, line))
                if each.type.op != "interface":
                    for target in self._ids(self._interfaces(each.name)):
                        edges.add(Edge(origin, target, EdgeKind.IMPLEMENTS, EVIDENT, line))
            elif each.kind == "method":
                name = f"{each.owner}.{each.name}"
                for target in self._overridden(each):
                    edges.add(Edge(f"{path}::{name}", target, EdgeKind.IMPLEMENTS, EVIDENT, lines.get(name, 1)))
                owner = self._types.project.name(self._package, each.owner)
                if owner is not None and is_called_from_outside(each):
                    ends = owner.ids[0], f"{path}::{name}"
                    edges.add(Edge(*ends, EdgeKind.REGISTERS, EVIDENT, lines.get(name, 1)))

    def _ids(self, named: Sequence[Known]) -> list[str]:
        found = (self._types.project.name(each[1], each[2]) for each in named if each is not None)
        return [each.ids[0] for each in found if each is not None]

    def _embedded(self, written: WrittenType) -> list[Known]:
        """Return the project's types that a struct or an interface embeds."""
        parts = written.parts if written.op in ("struct", "interface") else ()
        known = (
            dereferenced(self._types.known(each.parts[0], (self._package, ()))) for each in parts if each.op == "embed"
        )
        return [each for each in known if each is not None and each[0] == "named"]

    def _overridden(self, method: GoDeclaration) -> list[str]:
        """Return the interface methods that a method implements."""
        known = (self._interface_member(each, method.name) for each in self._interfaces(method.owner))
        return [each[3][0] for each in known if each is not None and each[0] == "func" and each[3]]

    def _interface_member(self, interface: Known, name: str) -> Known:
        key = (interface, name)
        if key not in self._stood_in:
            self._stood_in[key] = self._members.member(interface, name)
        return self._stood_in[key]

    def _interfaces(self, owner: str) -> list[Known]:
        """Return the project's interfaces whose methods the type all has, with the same signatures.

        An interface of another package counts only if it is exported.
        """
        if owner not in self._satisfied:
            self._satisfied[owner] = [
                ("named", package, name, ())
                for package, name in self._candidates(owner)
                if (package == self._package or name[:1].isupper()) and self._satisfies(owner, package, name)
            ]
        return self._satisfied[owner]

    def _candidates(self, owner: str) -> list[tuple[str, str]]:
        """Return interfaces that declare a method of the type; only its own methods, if nothing is promoted into it."""
        methods = self._types.project.method_names(self._package, owner)
        own = None if self._embeds(owner) else frozenset(methods)
        found: set[tuple[str, str]] = set()
        for method in methods:
            for _, interfaces in self._lookup(INTERFACES, method):
                found.update(
                    [(home, name) for home, name, wanted in interfaces if own is None or own.issuperset(wanted)]
                )
        return sorted(found)

    def _embeds(self, owner: str) -> bool:
        """Whether a type may have promoted methods."""
        written, *_ = self._members.shape(("named", self._package, owner, ()))
        return written is None or any(each.op == "embed" for each in written.parts)

    def _satisfies(self, owner: str, package: str, name: str) -> bool:
        wanted = self._wanted.get((package, name))
        if wanted is None:
            wanted = self._wanted[package, name] = self._methods(("named", package, name, ()), 0)
        return bool(wanted) and all(self._matches(self._member(owner, each), known) for each, known in wanted)

    def _member(self, owner: str, name: str) -> Known:
        key = (owner, name)
        if key not in self._own:
            self._own[key] = self._members.member(("named", self._package, owner, ()), name)
        return self._own[key]

    def _methods(self, interface: Known, depth: int) -> list[tuple[str, Known]]:
        """Return all methods of an interface, as far as the project declares them."""
        written, home, _ = self._members.shape(interface)
        if written is None or written.op != "interface" or depth > _MAX_DEPTH:
            return []
        found: list[tuple[str, Known]] = []
        for each in written.parts:
            if each.op == "method":
                found.append((each.name, ("func", each.parts[0], home, None, ())))
            else:
                found += self._methods(dereferenced(self._types.known(each.parts[0], home)), depth + 1)
        return found

    def _matches(self, one: Known, other: Known, depth: int = 0) -> bool:
        """Whether the types are equal, or not known to differ because of type parameters; a method must exist."""
        if depth > _MAX_DEPTH:
            return True
        if one is None or other is None:
            return depth > 0
        if "param" in (one[0], other[0]):
            return True
        if one[0] != other[0]:
            return False
        if one[0] != "func":
            return one == other or (one[0] == "named" and one[:3] == other[:3])
        return all(
            len(mine) == len(theirs) and all(self._matches(a, b, depth + 1) for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip(self._signature(one), self._signature(other), strict=True)
        )

    def _signature(self, function: Known) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
        """Return the parameter and result types of a function."""
        if function not in self._sides:
            self._sides[function] = (self._types.parameters(function), self._types.results(function))
        return self._sides[function]
