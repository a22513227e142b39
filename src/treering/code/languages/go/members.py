"""Fields and methods of types, including promoted ones."""

from treering.code.languages.go.body import GoExpression, WrittenType
from treering.code.languages.go.project import FoundDeclaration
from treering.code.languages.go.standard_library import is_standard
from treering.code.languages.go.types import EXTERNAL, OPAQUE, GoTypes, Home, Known, dereferenced

_MAX_DEPTH = 8
"""Levels of embedding."""
_CHAIN = 12
"""Length of a chain of types declared as other types."""


class GoMembers:
    """Lookup of selectors by the type of their operand."""

    def __init__(self, types: GoTypes, bindings: tuple[GoExpression, ...], path: str, package: str) -> None:
        self._types = types
        self._path = path
        self._bindings = bindings
        self._package = package

    def member(self, of: Known, name: str) -> Known:
        """Return the shallowest field or method; external if an embedded external type may have it."""
        level, seen, outside = [dereferenced(of)], set[tuple[str, str]](), False
        for _ in range(_MAX_DEPTH):
            deeper: list[Known] = []
            for each in level:
                if each is None:
                    continue
                if each[0] == "named":
                    if each[1:3] in seen:
                        continue
                    seen.add(each[1:3])
                outside = outside or each[0] == "external" or (each[0] == "named" and is_standard(each[1]))
                found, embedded = self._own(each, name)
                if found is not None:
                    return found
                deeper += embedded
            level = deeper
            if not level:
                break
        return EXTERNAL if outside else None

    def ids_of(self, of: Known) -> tuple[str, ...]:
        """Return the ids of the named type behind pointers; empty if there is none in the project."""
        while of is not None and of[0] == "ptr":
            of = of[1]
        found = self._types.project.name(of[1], of[2]) if of is not None and of[0] == "named" else None
        return found.ids if found is not None else ()

    def _own(self, known: Known, name: str) -> tuple[Known, list[Known]]:
        """Return the type's own member of that name, or else its embedded types."""
        assert known is not None
        kind = known[0]
        if kind == "named":
            method = self._types.project.method(known[1], known[2], name)
            if method is not None:
                return self._method(method, known), []
            written, home, owner = self.shape(known)
            return self._literal(written, home, owner.method_ids(name) if owner is not None else (), name)
        if kind in ("struct", "interface"):
            return self._literal(known[1], known[2], (), name)
        if kind == "local":
            binding = self._bindings[known[1]]
            ids = (f"{self._path}::{binding.name}.{name}",) if binding.name else ()
            return self._literal(binding.type, (self._package, ()), ids, name)
        if kind == "param":
            constraint = known[2].parts[0] if known[2].parts else None
            return None, [self._types.known(constraint, known[3])]
        return None, []

    def shape(self, known: Known) -> tuple[WrittenType | None, Home, FoundDeclaration | None]:
        """Return the underlying type of a named type; an interface keeps its own name."""
        home: Home = (self._package, ())
        for _ in range(_CHAIN):
            if known is None or known[0] != "named":
                break
            found = self._types.underlying(known[1], known[2], known[3])
            if found is None:
                return None, home, None
            written, home, owner = found
            if written.op in ("struct", "interface"):
                return written, home, owner
            known = self._types.known(written, home)
            if known is None or known[0] != "named":
                return written, home, owner
        return None, home, None

    def _method(self, found: FoundDeclaration, known: Known) -> Known:
        assert known is not None
        given = zip((each.name for each in found.declared.params), known[3], strict=False)
        return ("func", found.declared.type, (known[1], tuple(given)), found.ids, ())

    def _literal(
        self, written: WrittenType | None, home: Home, ids: tuple[str, ...], name: str
    ) -> tuple[Known, list[Known]]:
        """Return the member that a struct or interface declares, or else its embedded types; `ids` are the method's."""
        if written is None:
            return None, []
        if written.op not in ("struct", "interface"):
            return self._declared_as(self._types.known(written, home), name)
        embedded: list[Known] = []
        for each in written.parts:
            if each.op == "method" and each.name == name:
                return ("func", each.parts[0], home, ids, ()), []
            if each.op == "embed" or each.name == name:
                known = self._types.known(each.parts[0], home)
                if each.name == name:
                    return known or OPAQUE, []
                embedded.append(dereferenced(known))
        return None, embedded

    def _declared_as(self, known: Known, name: str) -> tuple[Known, list[Known]]:
        """A type declared as another has its fields but not its methods, unless it is an interface."""
        if known is not None and known[0] == "named":
            written, home, owner = self.shape(known)
            if written is not None and written.op in ("struct", "interface"):
                return self._literal(written, home, owner.method_ids(name) if owner is not None else (), name)
        return None, [known] if known is not None and known[0] in ("external", "local") else []

    def underlying_type(self, known: Known) -> Known:
        """Return a type without its name, for range, index and call expressions."""
        for _ in range(_CHAIN):
            if known is None:
                return None
            if known[0] == "named":
                written, home, _ = self.shape(known)
                return self._types.known(written, home)
            if known[0] == "local":
                known = self._types.known(self._bindings[known[1]].type, (self._package, ()))
            elif known[0] == "param":
                constraint = known[2].parts[0] if known[2].parts else None
                known = self._types.known(constraint, known[3])
            else:
                return known
        return None
