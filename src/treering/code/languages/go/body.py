"""The stored body of a Go file: types and expressions as written, with local names already bound."""

import msgspec


class WrittenType(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A type as written; `op` determines the meaning of `name` and `parts`.

    name (type arguments), qual (imports, type arguments), dotted (imports, type arguments), ptr, seq, map, chan,
    func (params, results), tuple, rest, struct (field | embed), interface (method | embed), param (constraint),
    bound (name: index and type of a receiver's type parameter), tilde, union, local (name: number of the binding),
    imports (the paths that a qualifier may refer to).
    """

    op: str
    name: str = ""
    parts: tuple["WrittenType", ...] = ()


class GoExpression(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An expression, as far as its type matters.

    local (at: binding), name, import, sel, result (at: call; parts: arguments), call (function, arguments), typed,
    func, type, inst, index, deref, addr, recv, assert, pick (at: position), key, elem, unknown.
    """

    op: str
    name: str = ""
    at: int = -1
    parts: tuple["GoExpression", ...] = ()
    type: WrittenType | None = None


class GoCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    caller: int
    """Index of the enclosing definition, or -1 for the file itself."""
    function: GoExpression
    line: int
    flow: int
    bound: int
    """Number of bindings before the call; it may refer to those only."""


class GoUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name that is used but not called: possibly a constant, variable, function or type of a package."""

    caller: int
    name: str
    imports: WrittenType | None
    """The qualifier; None for the file's own package."""
    line: int
    how: str = ""
    """How it is used if it is an error: `raised` or `caught`."""


class GoMemberUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A member that is used as a value: possibly a method, `http.HandleFunc("/", server.index)`."""

    caller: int
    member: GoExpression
    line: int
    bound: int
    """Number of bindings before the use."""
    caught: bool = False
    """A variable given to `errors.As`, so that errors of its type are caught."""


class GoRoute(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A function passed to a router or a command, so that it is called from outside."""

    caller: int
    handler: GoExpression
    line: int
    bound: int


class GoHandover(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A value that `init` passes to a function, which may keep it: `RegisterDirective("log", parseLog)`."""

    call: int
    """Number of the call."""
    value: GoExpression


class GoDeclaration(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A package-level name or a method, as other files see it."""

    kind: str
    """func, method, var, const, type or alias."""
    name: str
    owner: str = ""
    """The receiver's type, for a method."""
    params: tuple[WrittenType, ...] = ()
    """Type parameters; those of a method are named by its receiver."""
    type: WrittenType | None = None
    value: GoExpression | None = None
    tags: str = ""
    """The build constraint that excludes the file from a linux/amd64 build, or empty."""
    keeps: tuple[str, ...] = ()
    """Variables of the package in which a function keeps values of its own: it may be called to register them."""


class GoImport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    name: str
    """The name written before the path: an alias, `.`, `_`, or empty."""
    path: str
    line: int


class GoModule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A `go.mod` or `go.work`: the directories of import paths inside the project."""

    path: str
    """The module's path; empty for a `go.work`."""
    replaced: tuple[tuple[str, str], ...] = ()
    """Module path → directory of the project."""
    used: tuple[str, ...] = ()
    """The directories of a `go.work`."""


class GoBody(msgspec.Struct, frozen=True, array_like=True):
    package: str = ""
    tags: str = ""
    imports: tuple[GoImport, ...] = ()
    declared: tuple[GoDeclaration, ...] = ()
    bindings: tuple[GoExpression, ...] = ()
    calls: tuple[GoCall, ...] = ()
    routes: tuple[GoRoute, ...] = ()
    module: GoModule | None = None
    uses: tuple[GoUse, ...] = ()
    members: tuple[GoMemberUse, ...] = ()
    handed: tuple[GoHandover, ...] = ()


UNKNOWN = GoExpression("unknown")


def directory_of(path: str) -> str:
    return path.rpartition("/")[0]


def package_id(directory: str, package: str) -> str:
    """The directory and the package name: two packages may share a directory (`x` and `x_test`, or by build tag)."""
    return f"{directory}:{package}"
