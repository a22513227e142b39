"""The stored body of a Rust file: declarations with signatures, function bodies as expression trees."""

import msgspec


class RustNode(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """A type, a pattern or an expression; only expressions that become edges have a line."""

    kind: str
    name: str = ""
    parts: tuple["RustNode", ...] = ()
    line: int = 0


class Declaration(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """A declaration as other files see it: without body and line.

    `types` holds, by kind: `fn` result, then parameters · `struct` fields · `enum` variants · `trait` supertraits ·
    `impl` self type, then trait · `type`, `const` its type. `text` is the path of a `use`, the self type of an `impl`
    in the ids of its members, the file of a `mod` with a `path` attribute, or the function that a `derive` runs.
    `scope` is the path of enclosing inline modules, `a/b`; a function's is `f()`.
    """

    kind: str
    name: str
    scope: str = ""
    public: bool = False
    flag: str = ""
    generics: tuple[RustNode, ...] = ()
    types: tuple[RustNode, ...] = ()
    text: str = ""
    header: "Declaration | None" = None


class RustItem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A declaration with the parts that only the resolution of its own file reads."""

    decl: Declaration
    line: int
    params: tuple[RustNode, ...] = ()
    body: RustNode | None = None


class Dependency(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A dependency in a manifest: its name in code, its package, and its directory if given by path."""

    name: str
    package: str
    path: str = ""
    inherited: bool = False


class Manifest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A Cargo.toml: paths are relative to the project; `automatic` are the target kinds discovered by location."""

    package: str = ""
    library: str = ""
    library_path: str = ""
    roots: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    workspace: bool = False
    shared: tuple[Dependency, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()
    """Names and root files of the binaries that it declares."""


class RustBody(msgspec.Struct, frozen=True, array_like=True, gc=False):
    items: tuple[RustItem, ...] = ()
    manifest: Manifest | None = None


HOLE = RustNode("hole")
"""An inferred type or an absent part."""

FUNCTION_MARK = "()"

MACRO_USE = "+macros"
"""Flag suffix of a module whose macros are visible after it, or of a crate whose macros are visible throughout."""


def qualname(decl: Declaration) -> str:
    """Return the name used in an id: inline modules and enclosing functions, the self type of a member, the name."""
    scope = decl.scope.replace("/", ".").replace(FUNCTION_MARK, "")
    owner = decl.header.text if decl.header else ""
    return ".".join(part for part in (scope, owner, decl.name) if part)


def inner_scope(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def outer_scope(scope: str) -> str:
    return scope.rpartition("/")[0]
