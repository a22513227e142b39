"""What a Go file says, as stored values: types and expressions as written, with local names already bound."""

import msgspec


class Type(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A type as written; `op` says which, and what `name` and `parts` mean.

    name (type arguments), qual (imports, type arguments), dotted (imports, type arguments), ptr, seq, map, chan,
    func (params, results), tuple, rest, struct (field | embed), interface (method | embed), param (constraint),
    bound (name: place and type of a receiver's parameter), tilde, union, local (name: number of the binding),
    imports (the paths that a qualifier may stand for).
    """

    op: str
    name: str = ""
    parts: tuple["Type", ...] = ()


class Expr(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An expression as far as its type matters.

    local (at: binding), name, import, sel, result (at: call; parts: arguments), call (function, arguments), typed,
    func, type, inst, index, deref, addr, recv, assert, pick (at: position), key, elem, unknown.
    """

    op: str
    name: str = ""
    at: int = -1
    parts: tuple["Expr", ...] = ()
    type: Type | None = None


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    caller: int
    """Index of the definition the call stands in, or -1 for the file itself."""
    function: Expr
    line: int
    flow: int
    bound: int
    """How many bindings precede it: those it may refer to."""


class Use(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An exported name that is read and not called: perhaps a constant or variable of a package."""

    caller: int
    name: str
    imports: Type | None
    """What stands before its dot; nothing for the own package."""
    line: int


class Route(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function handed to a router or to a command: something from outside calls it."""

    caller: int
    handler: Expr
    line: int
    bound: int


class Declared(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name of the package's scope, or a method, as other files may see it."""

    kind: str
    """func, method, var, const, type or alias."""
    name: str
    owner: str = ""
    """The receiver's type, for a method."""
    params: tuple[Type, ...] = ()
    """Type parameters; a method's are named by its receiver."""
    type: Type | None = None
    value: Expr | None = None
    tags: str = ""
    """The build constraint that keeps the file out of a build for linux/amd64, or nothing."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    name: str
    """As written before the path: an alias, `.`, `_`, or nothing."""
    path: str
    line: int


class Module(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `go.mod` or `go.work`: where import paths lead inside the project."""

    path: str
    """The module's path; empty for a `go.work`."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Module path → directory of the project."""
    used: tuple[str, ...] = ()
    """The directories of a `go.work`."""


class Body(msgspec.Struct, frozen=True, array_like=True):
    package: str = ""
    tags: str = ""
    imports: tuple[Import, ...] = ()
    declared: tuple[Declared, ...] = ()
    bindings: tuple[Expr, ...] = ()
    calls: tuple[Call, ...] = ()
    routes: tuple[Route, ...] = ()
    module: Module | None = None
    uses: tuple[Use, ...] = ()


UNKNOWN = Expr("unknown")


def directory_of(path: str) -> str:
    return path.rpartition("/")[0]


def package_id(directory: str, package: str) -> str:
    """Two packages may share a directory (`x` and `x_test`, a tool behind a build tag), so that both name it."""
    return f"{directory}:{package}"
