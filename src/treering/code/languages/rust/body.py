"""What a Rust file says, small enough to be stored: declarations with signatures, bodies as trees of expressions."""

import msgspec


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """A type, a pattern or an expression; only expressions that become edges have a line."""

    kind: str
    name: str = ""
    parts: tuple["Node", ...] = ()
    line: int = 0


class Decl(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """A named thing as others see it: no body, no line. `types` means, by kind:

    `fn` result, then parameters · `struct` fields · `enum` variants · `trait` supertraits · `impl` self type, then
    trait · `type`, `const` its type. `text` is the path of a `use`, the self type of an `impl` as its members' ids say
    it, the file of a `mod` with a `path` attribute. `scope` is the inline modules around it, `a/b`; a function's is
    `f()`.
    """

    kind: str
    name: str
    scope: str = ""
    public: bool = False
    flag: str = ""
    generics: tuple[Node, ...] = ()
    types: tuple[Node, ...] = ()
    text: str = ""
    header: "Decl | None" = None


class Item(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A declaration with what only its own file's resolution reads."""

    decl: Decl
    line: int
    params: tuple[Node, ...] = ()
    body: Node | None = None


class Dependency(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A crate a manifest names: as the code calls it, its package, its directory if it is given by path."""

    name: str
    package: str
    path: str = ""
    inherited: bool = False


class Manifest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A Cargo.toml: paths are relative to the project, `automatic` the target kinds found by their place."""

    package: str = ""
    library: str = ""
    library_path: str = ""
    roots: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    workspace: bool = False
    shared: tuple[Dependency, ...] = ()


class Body(msgspec.Struct, frozen=True, array_like=True, gc=False):
    items: tuple[Item, ...] = ()
    manifest: Manifest | None = None


HOLE = Node("hole")
"""Nothing said here: an inferred type, an absent part."""

FUNCTION_MARK = "()"

MACRO_USE = "+macros"
"""Ends the flag of a module whose macros are seen after it, and of a crate whose macros are seen in the whole crate."""


def qualname(decl: Decl) -> str:
    """The name in an id: inline modules and enclosing functions, the self type of a member, the name."""
    scope = decl.scope.replace("/", ".").replace(FUNCTION_MARK, "")
    owner = decl.header.text if decl.header else ""
    return ".".join(part for part in (scope, owner, decl.name) if part)


def inner_scope(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def outer_scope(scope: str) -> str:
    return scope.rpartition("/")[0]
