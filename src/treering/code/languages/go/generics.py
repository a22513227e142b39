"""Inference of type arguments of generic functions."""

from treering.code.languages.go.body import WrittenType
from treering.code.languages.go.members import GoMembers
from treering.code.languages.go.types import GoTypes, Known, dereferenced

_MAX_DEPTH = 8


class TypeArgumentInference:
    """Matches the parameter types of a function with the types of its arguments."""

    def __init__(self, types: GoTypes, members: GoMembers) -> None:
        self._types = types
        self._members = members

    def infer(self, function: Known, arguments: tuple[Known, ...]) -> dict[str, Known]:
        """Return the type of each type parameter, as far as arguments and constraints determine it."""
        assert function is not None
        _, written, home, _, params = function
        found = dict(home[1])
        open_names = {each.name for each in params if each.name not in found}
        expected = written.parts[0].parts if written.parts else ()
        for place, argument in enumerate(arguments):
            if not expected:
                break
            parameter = expected[min(place, len(expected) - 1)]
            self._match(parameter.parts[0] if parameter.op == "rest" else parameter, argument, open_names, found, 0)
        for each in params:
            if each.name in found and each.parts:
                self._match(each.parts[0], found[each.name], open_names, found, 0)
        return {name: found[name] for name in open_names if name in found}

    def _match(self, written: WrittenType, given: Known, names: set[str], found: dict[str, Known], depth: int) -> None:
        if given is None or depth > _MAX_DEPTH:
            return
        op, parts = written.op, written.parts
        if op == "param":
            if written.name in names:
                found.setdefault(written.name, given)
        elif op == "tilde" and parts:
            self._match(parts[0], given, names, found, depth + 1)
        elif op in ("name", "qual") and given[0] in ("named", "ptr"):
            arguments = parts if op == "name" else parts[1:]
            named = dereferenced(given)
            if named is not None and named[0] == "named":
                for each, known in zip(arguments, named[3], strict=False):
                    self._match(each, known, names, found, depth + 1)
        elif op in ("ptr", "seq", "chan", "map", "func"):
            self._match_parts(written, self._members.underlying_type(given), names, found, depth + 1)

    def _match_parts(
        self, written: WrittenType, given: Known, names: set[str], found: dict[str, Known], depth: int
    ) -> None:
        if given is None or given[0] != written.op:
            return
        if written.op != "func":
            for each, known in zip(written.parts, given[1:], strict=False):
                self._match(each, known, names, found, depth)
            return
        for place, known in enumerate((self._types.parameters(given), self._types.results(given))):
            for each, one in zip(written.parts[place].parts, known, strict=False):
                self._match(each, one, names, found, depth)
