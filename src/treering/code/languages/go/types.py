"""Resolved types: plain tuples, compared by `==`; large ones are resolved lazily.

named (package, name, arguments) · local (binding, arguments) · basic (name) · external (name)
ptr, seq, chan (element) · map (key, element) · tuple (types) · param (name, type as written, home)
struct, interface (type as written, home) · func (type as written, home, target, type parameters)
type (type, ids) · package (id) · builtin (name) · opaque
A home is the context for the names of a written type: (package, types of type parameters).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from treering.code.languages.go.body import WrittenType
from treering.code.languages.go.predeclared import BASIC
from treering.code.languages.go.project import FoundDeclaration, GoProject
from treering.code.languages.go.standard_library import is_standard

Known = tuple[Any, ...] | None
"""A type, or None if unknown."""
Home = tuple[str, tuple[tuple[str, Known], ...]]

EXTERNAL: Final[Known] = ("external", "")
OPAQUE: Final[Known] = ("opaque",)
"""The type of something that exists but whose type is unknown."""
_MAX_DEPTH = 60


class GoTypes:
    """Resolves written types in their homes."""

    def __init__(self, project: GoProject) -> None:
        self.project = project
        self._aliases: dict[tuple[str, str, tuple[Known, ...]], Known] = {}

    def known(self, written: WrittenType | None, home: Home, depth: int = 0) -> Known:
        if written is None or depth > _MAX_DEPTH:
            return None
        read = _READERS.get(written.op)
        return read(self, written, home, depth + 1) if read else None

    def _plain(self, written: WrittenType, home: Home, depth: int) -> Known:
        return self._named(home[0], written.name, written.parts, home, depth)

    def _around(self, written: WrittenType, home: Home, depth: int) -> Known:
        return (written.op, *(self.known(each, home, depth) for each in written.parts))

    def _as_written(self, written: WrittenType, home: Home, depth: int) -> Known:
        return (written.op, written, home)

    def _function(self, written: WrittenType, home: Home, depth: int) -> Known:
        return ("func", written, home, None, ())

    def _param(self, written: WrittenType, home: Home, depth: int) -> Known:
        return dict(home[1]).get(written.name, ("param", written.name, written, home))

    def _bound(self, written: WrittenType, home: Home, depth: int) -> Known:
        """Return the constraint of a receiver's type parameter, from the declaration of its type."""
        place, _, owner = written.name.partition(" ")
        found = self.project.name(home[0], owner)
        params = found.declared.params if found is not None else ()
        bounds = params[int(place)].parts if int(place) < len(params) else ()
        return self.known(bounds[0], (home[0], ()), depth) if bounds else None

    def _local(self, written: WrittenType, home: Home, depth: int) -> Known:
        return ("local", int(written.name), tuple(self.known(each, home, depth) for each in written.parts))

    def _rest(self, written: WrittenType, home: Home, depth: int) -> Known:
        return ("seq", self.known(written.parts[0], home, depth))

    def _tilde(self, written: WrittenType, home: Home, depth: int) -> Known:
        return self.known(written.parts[0], home, depth)

    def _named(self, package: str, name: str, arguments: tuple[WrittenType, ...], home: Home, depth: int) -> Known:
        found = self.project.name(package, name)
        if found is None:
            return ("external", f"{package}.{name}") if is_standard(package) else universe_type(name)
        declared = found.declared
        given = tuple(self.known(each, home, depth + 1) for each in arguments)
        if declared.kind == "alias":
            key = (package, name, given)
            if key not in self._aliases:
                self._aliases[key] = None
                inner = (package, tuple(zip((each.name for each in declared.params), given, strict=False)))
                self._aliases[key] = self.known(declared.type, inner, depth + 1)
            return self._aliases[key]
        return ("named", package, name, given) if declared.kind == "type" else None

    def _qualified(self, written: WrittenType, home: Home, depth: int) -> Known:
        imports, *arguments = written.parts
        package = self.imported(imports)
        if package is None:
            return ("external", f"{imports.parts[0].name if imports.parts else ''}.{written.name}")
        return self._named(package, written.name, tuple(arguments), home, depth)

    def _dotted(self, written: WrittenType, home: Home, depth: int) -> Known:
        imports, *arguments = written.parts
        for package in (home[0], *self.dotted(imports)):
            if self.project.name(package, written.name) is not None:
                return self._named(package, written.name, tuple(arguments), home, depth)
        return universe_type(written.name) or EXTERNAL

    def imported(self, imports: WrittenType) -> str | None:
        """Return the project package of a qualifier; a package imported without an alias must have that name."""
        for each in imports.parts:
            package = self.project.package_of_import(each.name)
            if package is not None and (not imports.name or package.endswith(f":{imports.name}")):
                return package
        return None

    def dotted(self, imports: WrittenType) -> list[str]:
        packages = (self.project.package_of_import(each.name) for each in imports.parts)
        return [package for package in packages if package is not None]

    def underlying(
        self, package: str, name: str, arguments: tuple[Known, ...]
    ) -> tuple[WrittenType, Home, FoundDeclaration] | None:
        """Return the declaration of a named type as written, with its home."""
        found = self.project.name(package, name)
        if found is None or found.declared.kind != "type" or found.declared.type is None:
            return None
        given = tuple(zip((each.name for each in found.declared.params), arguments, strict=False))
        return found.declared.type, (package, given), found

    def parameters(self, function: Known) -> tuple[Known, ...]:
        return self._members(function, 0)

    def results(self, function: Known) -> tuple[Known, ...]:
        return self._members(function, 1)

    def _members(self, function: Known, place: int) -> tuple[Known, ...]:
        if function is None or function[0] != "func" or len(function[1].parts) < 2:
            return ()
        return tuple(self.known(each, function[2]) for each in function[1].parts[place].parts)


_READERS: dict[str, Callable[[GoTypes, WrittenType, Home, int], Known]] = {
    "name": GoTypes._plain,
    "qual": GoTypes._qualified,
    "dotted": GoTypes._dotted,
    "ptr": GoTypes._around,
    "seq": GoTypes._around,
    "chan": GoTypes._around,
    "map": GoTypes._around,
    "func": GoTypes._function,
    "struct": GoTypes._as_written,
    "interface": GoTypes._as_written,
    "param": GoTypes._param,
    "bound": GoTypes._bound,
    "local": GoTypes._local,
    "rest": GoTypes._rest,
    "tilde": GoTypes._tilde,
}


def universe_type(name: str) -> Known:
    if name in BASIC:
        return ("basic", name)
    return ("external", "error") if name == "error" else None


def dereferenced(known: Known) -> Known:
    """Return the pointer's target: selectors dereference one pointer."""
    return known[1] if known is not None and known[0] == "ptr" else known


def with_arguments(function: Known, given: Mapping[str, Known]) -> Known:
    """Return a generic function with known type arguments."""
    if function is None or function[0] != "func":
        return function
    _, written, (package, before), target, params = function
    return ("func", written, (package, (*before, *given.items())), target, params)
