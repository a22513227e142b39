"""Types of expressions, and the targets of calls."""

from collections.abc import Callable, Iterator

from treering.code.languages.go.body import GoExpression, WrittenType
from treering.code.languages.go.generics import TypeArgumentInference
from treering.code.languages.go.members import GoMembers
from treering.code.languages.go.predeclared import BUILTINS
from treering.code.languages.go.standard_library import is_standard
from treering.code.languages.go.types import (
    EXTERNAL,
    OPAQUE,
    GoTypes,
    Home,
    Known,
    dereferenced,
    universe_type,
    with_arguments,
)

_INT: Known = ("basic", "int")
_PREDECLARED = {"true": "bool", "false": "bool", "iota": "int"}
_MAX_DEPTH = 60


class ExpressionTypes:
    """Expression types of one file; bindings and calls must be processed in source order."""

    def __init__(
        self,
        types: GoTypes,
        bindings: tuple[GoExpression, ...],
        path: str,
        package: str,
        unnamed_imports: tuple[WrittenType, ...],
    ) -> None:
        self._types = types
        self._unnamed_imports = unnamed_imports
        self._written = bindings
        self._bound: list[Known] = []
        self._functions: list[Known] = []
        self._variables: dict[tuple[str, str], Known] = {}
        self.members = GoMembers(types, bindings, path, package)
        self._inference = TypeArgumentInference(types, self.members)
        self._home: Home = (package, ())

    def bind_until(self, count: int) -> None:
        for number in range(len(self._bound), min(count, len(self._written))):
            self._bound.append(self._binding(number, self._written[number]))

    def _binding(self, number: int, written: GoExpression) -> Known:
        if written.op == "type":
            return ("type", ("local", number, ()))
        return self.of(written, self._home)

    def resolve_call(self, function: GoExpression) -> Known:
        """Return the callee of the next call and record it, so that later expressions can use its result."""
        known = self.of(function, self._home)
        self._functions.append(known)
        return known

    def resolve_handler(self, handler: GoExpression) -> Known:
        return self.of(handler, self._home)

    def kept_by(self, package: str, name: str) -> Iterator[str]:
        """Yield the ids of the variables in which a function of a package keeps values."""
        declared = self._types.project.name(package, name)
        for variable in declared.declared.keeps if declared is not None else ():
            meant = self._types.project.name(package, variable)
            if meant is not None and meant.declared.kind == "var":
                yield from meant.ids

    def of(self, expr: GoExpression, home: Home, depth: int = 0) -> Known:
        if depth > _MAX_DEPTH:
            return None
        read = _OPERATIONS.get(expr.op)
        return read(self, expr, home, depth + 1) if read else None

    def _local(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._bound[expr.at] if expr.at < len(self._bound) else None

    def _param(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return ("type", self._types.known(expr.type, home))

    def _name(self, expr: GoExpression, home: Home, depth: int) -> Known:
        name = expr.name
        found = self._of_package(home[0], name, depth)
        if found is not None:
            return found
        if expr.type is not None:
            for package in self._types.dotted(expr.type):
                if (found := self._of_package(package, name, depth)) is not None:
                    return found
        outside = expr.type is not None and len(self._types.dotted(expr.type)) < len(expr.type.parts)
        return _universe(name) or (EXTERNAL if outside else None)

    def _of_package(self, package: str, name: str, depth: int) -> Known:
        found = self._types.project.name(package, name)
        if found is None:
            return EXTERNAL if is_standard(package) else None
        declared = found.declared
        home: Home = (package, ())
        if declared.kind == "func":
            return ("func", declared.type, home, found.ids, declared.params)
        if declared.kind == "type":
            return ("type", ("named", package, name, ()), found.ids)
        if declared.kind == "alias":
            return ("type", self._types.known(declared.type, home), found.ids)
        if declared.type is not None:
            return self._types.known(declared.type, home) or OPAQUE
        key = (package, name)
        if key not in self._variables:
            self._variables[key] = OPAQUE
            known = self.of(declared.value, home, depth) if declared.value is not None else None
            self._variables[key] = known or OPAQUE
        return self._variables[key]

    def _import(self, expr: GoExpression, home: Home, depth: int) -> Known:
        package = self._types.imported(expr.type) if expr.type is not None else None
        return ("package", package) if package is not None else EXTERNAL

    def _selected(self, expr: GoExpression, home: Home, depth: int) -> Known:
        operand = expr.parts[0]
        base = self.of(operand, home, depth)
        if (
            (base is None or base[0] == "builtin")
            and operand.op == "name"
            and self._unnamed_imports
            and home is self._home
        ):
            package = self._types.imported(WrittenType("imports", operand.name, self._unnamed_imports))
            base = ("package", package) if package is not None else base
        if base is None:
            return None
        if base[0] == "package":
            return self._of_package(base[1], expr.name, depth)
        if base[0] == "external":
            return EXTERNAL
        return self.members.member(base[1] if base[0] == "type" else base, expr.name)

    def _result(self, expr: GoExpression, home: Home, depth: int) -> Known:
        function = self._functions[expr.at] if 0 <= expr.at < len(self._functions) else None
        return self._applied(function, expr.parts, home, depth)

    def _call(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._applied(self.of(expr.parts[0], home, depth), expr.parts[1:], home, depth)

    def _applied(self, function: Known, arguments: tuple[GoExpression, ...], home: Home, depth: int) -> Known:
        if function is None or function[0] == "external":
            return function
        if function[0] == "type":
            converted: Known = function[1]
            return converted
        if function[0] == "builtin":
            return self._builtin(function[1], arguments, home, depth)
        if function[0] != "func":
            function = self.members.underlying_type(function)
            if function is None or function[0] != "func":
                return None
        if function[4]:
            known = tuple(self.of(each, home, depth) for each in arguments)
            function = with_arguments(function, self._inference.infer(function, known))
        results = self._types.results(function)
        return results[0] if len(results) == 1 else ("tuple", results)

    def _builtin(self, name: str, arguments: tuple[GoExpression, ...], home: Home, depth: int) -> Known:
        if name not in ("new", "make", "append", "min", "max") or not arguments:
            return _INT
        first = self.of(arguments[0], home, depth)
        if name == "new" and first is not None:
            return ("ptr", first[1] if first[0] == "type" else first)
        return first[1] if first is not None and first[0] == "type" else first

    def _typed(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._types.known(expr.type, home)

    def _literal(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return ("func", expr.type, home, (), ())

    def _instantiated(self, expr: GoExpression, home: Home, depth: int) -> Known:
        base = self.of(expr.parts[0], home, depth)
        arguments = expr.type.parts if expr.type is not None else ()
        return self._with_types(base, tuple(self._types.known(each, home) for each in arguments))

    def _indexed(self, expr: GoExpression, home: Home, depth: int) -> Known:
        base = self.of(expr.parts[0], home, depth)
        if base is not None and (base[0] == "type" or (base[0] == "func" and base[4])):
            argument = self.of(expr.parts[1], home, depth)
            return self._with_types(base, (argument[1],) if argument is not None and argument[0] == "type" else ())
        return self._element(base)

    def _with_types(self, base: Known, arguments: tuple[Known, ...]) -> Known:
        if base is None:
            return None
        if base[0] == "func":
            names = (each.name for each in base[4])
            return with_arguments(base, dict(zip(names, arguments, strict=False)))
        if base[0] == "type":
            inner = base[1]
            return ("type", (*inner[:3], arguments), *base[2:]) if inner is not None and inner[0] == "named" else base
        return self._element(base)

    def _element(self, of: Known) -> Known:
        made = self.members.underlying_type(dereferenced(of))
        if made is None or made[0] == "external":
            return made
        return made[-1] if made[0] in ("seq", "map", "chan") else ("basic", "byte")

    def _ranged_element(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._ranged(expr, home, depth, 1)

    def _ranged_key(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._ranged(expr, home, depth, 0)

    def _ranged(self, expr: GoExpression, home: Home, depth: int, place: int) -> Known:
        """Element type of a range: of a function, what it yields; of a channel, its element; else key and element."""
        over = self.of(expr.parts[0], home, depth)
        made = self.members.underlying_type(dereferenced(over))
        if made is None or made[0] == "external":
            return made
        if made[0] == "func":
            yielding = self._types.parameters(made)
            yielded = self._types.parameters(self.members.underlying_type(yielding[0])) if yielding else ()
            return yielded[place] if place < len(yielded) else None
        if place == 1 or made[0] == "chan":
            return self._element(made)
        return made[1] if made[0] == "map" else _INT

    def _dereferenced(self, expr: GoExpression, home: Home, depth: int) -> Known:
        base = self.of(expr.parts[0], home, depth)
        if base is not None and base[0] == "type":
            return ("type", ("ptr", base[1]))
        return dereferenced(base)

    def _address(self, expr: GoExpression, home: Home, depth: int) -> Known:
        base = self.of(expr.parts[0], home, depth)
        return ("ptr", base) if base is not None else None

    def _received(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return self._element(self.of(expr.parts[0], home, depth))

    def _picked(self, expr: GoExpression, home: Home, depth: int) -> Known:
        """One of several results; the second of `v, ok :=` is a bool."""
        base = self.of(expr.parts[0], home, depth)
        if base is None or base[0] == "external":
            return base
        if base[0] == "tuple":
            results: tuple[Known, ...] = base[1]
            return results[expr.at] if expr.at < len(results) else None
        return base if expr.at == 0 else ("basic", "bool")

    def _basic(self, expr: GoExpression, home: Home, depth: int) -> Known:
        return ("basic", expr.name)


def _universe(name: str) -> Known:
    if name in BUILTINS:
        return ("builtin", name)
    if name in _PREDECLARED:
        return ("basic", _PREDECLARED[name])
    known = universe_type(name)
    return ("type", known) if known is not None else None


_OPERATIONS: dict[str, Callable[[ExpressionTypes, GoExpression, Home, int], Known]] = {
    "local": ExpressionTypes._local,
    "param": ExpressionTypes._param,
    "type": ExpressionTypes._param,
    "name": ExpressionTypes._name,
    "import": ExpressionTypes._import,
    "sel": ExpressionTypes._selected,
    "result": ExpressionTypes._result,
    "call": ExpressionTypes._call,
    "typed": ExpressionTypes._typed,
    "func": ExpressionTypes._literal,
    "inst": ExpressionTypes._instantiated,
    "index": ExpressionTypes._indexed,
    "deref": ExpressionTypes._dereferenced,
    "addr": ExpressionTypes._address,
    "recv": ExpressionTypes._received,
    "pick": ExpressionTypes._picked,
    "key": ExpressionTypes._ranged_key,
    "elem": ExpressionTypes._ranged_element,
    "basic": ExpressionTypes._basic,
}
