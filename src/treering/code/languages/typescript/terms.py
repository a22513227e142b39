"""The term language that a file is converted to: unevaluated values and types as written.

The terms of a file are rows of one table (`TsBody.cells`), each once and after its parts; names refer to their scope.
What other files see is extracted from that table as trees without scopes and lines.
"""

from collections.abc import Sequence

import msgspec

Cell = tuple[str, str, int, tuple[int, ...]]
"""Operation, text, number, and the table indices of its parts: see `TsTerm`."""

NONE = 0
"""The index of the empty cell."""

ASYNC, GENERATOR, CONSTRUCTS = 1, 2, 4
"""Flags of a function: its result is wrapped, or it is called with `new`."""

OPTIONAL, REST, PROPERTY = 1, 2, 4
"""Flags of a parameter; `PROPERTY`: the constructor stores it under the same name."""

STATIC, GETTER = 1, 2
"""Flags of a member."""

NAMED, NAMESPACE, COMMONJS = 0, 1, 2
"""The target of an import: one export, all of them, or the module's `module.exports`."""

CALL, NEW, INDEX, MAPPED = "()", "new()", "[]", "[in]"
"""Names of unnamed members: call signatures, construct signatures, index signatures, mapped types."""

TYPE = "%"
"""Prefix of a name that is bound as a type: types and values have separate namespaces."""


class TsTerm(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One operation and its parts.

    Values: `name` (n: scope), `member`, `at` (n: position), `call` and `new` (callee, type arguments, arguments…),
    `fn` (type parameters, parameters, result; text: qualified name), `obj` (members), `array`, `await`, `either`,
    `literal`, `import` (text: specifier, n: target; part: exported name), `this`, `super` (n: class), `element`,
    `var` (type, value, assigned values…; text: qualified name), `class` (type parameters, bases, members), `enum`,
    `space` (members), `merge` (declarations of one name), `argument` (n: position; the type expected there),
    `parameter_of` (n: position; of an expected function), `result_of`, `instance_of`, `outside`.
    Types: `type` (text: dotted name, n: scope; arguments), `declared` (the name of a type itself), `variable`
    (constraint), `list`, `tuple`, `union`, `both`, `literal`, `shape` (members), `fn`, `typeof`, `lookup`,
    `interface`, `alias` (type parameters, type), `this`, `mapped` (type of a member, source of keys; text: key's name).
    """

    op: str
    text: str = ""
    n: int = 0
    kids: tuple["TsTerm", ...] = ()


NOTHING = TsTerm("none")


class TsScope(msgspec.Struct, frozen=True, array_like=True):
    parent: int
    names: dict[str, int]


class TsCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call: its term, enclosing definition (-1 if none) and line."""

    term: int
    origin: int
    line: int
    flow: int


VALUE, NAMED_TYPE, THROWN, CAUGHT, LISTED = 0, 1, 2, 3, 4
"""How a definition is used without being called: as a value, as a type, with `throw`, in a `catch`, in a table."""


class TsUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A use other than a call: its term, enclosing definition (-1 if none), line, and `VALUE` or another of these."""

    term: int
    origin: int
    line: int
    how: int


class Heritage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class or interface, and a base that it extends or implements, as written; or a function of an object literal,
    and the member of the expected type that it implements."""

    definition: int
    base: int
    implements: bool
    line: int


class Package(msgspec.Struct, frozen=True, array_like=True):
    """The parts of a package.json that affect import resolution; `exports` and `imports` as (pattern, targets)."""

    name: str = ""
    entries: tuple[str, ...] = ()
    exports: tuple[tuple[str, tuple[str, ...]], ...] = ()
    imports: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Config(msgspec.Struct, frozen=True, array_like=True):
    """The parts of a tsconfig.json that affect import resolution."""

    extends: tuple[str, ...] = ()
    base_url: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    references: tuple[str, ...] = ()


class TsBody(msgspec.Struct, frozen=True, array_like=True):
    """Everything that the resolution of a file needs from it."""

    cells: tuple[Cell, ...] = ()
    scopes: tuple[TsScope, ...] = ()
    calls: tuple[TsCall, ...] = ()
    uses: tuple[TsUse, ...] = ()
    imports: tuple[tuple[str, int], ...] = ()
    """Specifiers of imports, re-exports and literal `require` calls, with the line."""
    exports: dict[str, int] = {}
    stars: tuple[str, ...] = ()
    heritage: tuple[Heritage, ...] = ()
    owners: tuple[str, ...] = ()
    """Qualified names of the definitions that calls and heritage refer to by number."""
    classes: tuple[int, ...] = ()
    """The `this` of number n; 0 is none."""
    ambient: dict[str, int] = {}
    """Names that the file declares for all others: `declare global`, or all names of a script."""
    package: Package | None = None
    config: Config | None = None


def unfold(cells: Sequence[Cell]) -> list[TsTerm]:
    """Return the table's terms as trees that share their parts."""
    terms: list[TsTerm] = []
    for op, text, n, kids in cells:
        terms.append(TsTerm(op, text, n, tuple([terms[kid] for kid in kids])) if kids else TsTerm(op, text, n))
    return terms
