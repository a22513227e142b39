"""The small language of terms that a file is read into: values and types by how they were written, still unevaluated.

A file's terms stand in one table (`Body.cells`), each once, their parts before them; names say in which scope they
stand. What other files may see of them is cut out of that table as trees that hold no scope and no line.
"""

from collections.abc import Sequence

import msgspec

Cell = tuple[str, str, int, tuple[int, ...]]
"""Operation, text, number, and the table's indices of its parts: see `Term`."""

NONE = 0
"""The index of the cell that says nothing."""

ASYNC, GENERATOR, CONSTRUCTS = 1, 2, 4
"""Flags of a function: what its call gives is wrapped; it is called with `new`."""

OPTIONAL, REST, PROPERTY = 1, 2, 4
"""Flags of a parameter; `PROPERTY`: the constructor stores it under the same name."""

STATIC, GETTER = 1, 2
"""Flags of a member."""

NAMED, NAMESPACE, COMMONJS = 0, 1, 2
"""What an import gives: one export, all of them, or what the module's `module.exports` is."""

CALL, NEW, INDEX, MAPPED = "()", "new()", "[]", "[in]"
"""The names of members that have none: call signatures, construct signatures, index signatures, mapped types."""

TYPE = "%"
"""Before a name that is bound as a type: types and values are different worlds with the same names."""


class Term(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One operation and its parts.

    Values: `name` (n: scope), `member`, `at` (n: position), `call` and `new` (callee, type arguments, arguments…),
    `fn` (type parameters, parameters, result; text: qualified name), `obj` (members), `array`, `await`, `either`,
    `literal`, `import` (text: specifier, n: what; part: exported name), `this`, `super` (n: class), `element`,
    `var` (type, value, assigned values…; text: qualified name), `class` (type parameters, bases, members), `enum`,
    `space` (members), `merge` (declarations of one name), `argument` (n: position; the type expected there),
    `parameter_of` (n: position; of an expected function), `result_of`, `instance_of`, `outside`.
    Types: `type` (text: dotted name, n: scope; arguments), `declared` (a type's name as such), `variable`
    (constraint), `list`, `tuple`, `union`, `both`, `literal`, `shape` (members), `fn`, `typeof`, `lookup`,
    `interface`, `alias` (type parameters, type), `this`, `mapped` (type of a member, whose keys; text: the key's name).
    """

    op: str
    text: str = ""
    n: int = 0
    kids: tuple["Term", ...] = ()


NOTHING = Term("none")


class Scope(msgspec.Struct, frozen=True, array_like=True):
    parent: int
    names: dict[str, int]


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call somewhere: which term, in which definition (-1: in none), on which line."""

    term: int
    origin: int
    line: int
    flow: int


class Heritage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class or interface, and one it extends or implements as written."""

    definition: int
    base: int
    implements: bool
    line: int


class Package(msgspec.Struct, frozen=True, array_like=True):
    """What of a package.json decides where imports lead; `exports` and `imports` as (pattern, targets in order)."""

    name: str = ""
    entries: tuple[str, ...] = ()
    exports: tuple[tuple[str, tuple[str, ...]], ...] = ()
    imports: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Config(msgspec.Struct, frozen=True, array_like=True):
    """What of a tsconfig.json decides where imports lead."""

    extends: tuple[str, ...] = ()
    base_url: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    references: tuple[str, ...] = ()


class Body(msgspec.Struct, frozen=True, array_like=True):
    """Everything that resolving a file needs of it."""

    cells: tuple[Cell, ...] = ()
    scopes: tuple[Scope, ...] = ()
    calls: tuple[Call, ...] = ()
    imports: tuple[tuple[str, int], ...] = ()
    """Specifiers that an import, re-export or literal `require` names, with the line."""
    exports: dict[str, int] = {}
    stars: tuple[str, ...] = ()
    heritage: tuple[Heritage, ...] = ()
    owners: tuple[str, ...] = ()
    """The qualified names that calls and heritage give by number."""
    classes: tuple[int, ...] = ()
    """What `this` of number n is; 0 is none."""
    ambient: dict[str, int] = {}
    """What the file gives to every other: `declare global`, or all of a script's own names."""
    package: Package | None = None
    config: Config | None = None


def unfold(cells: Sequence[Cell]) -> list[Term]:
    """The table's terms, sharing their parts."""
    terms: list[Term] = []
    for op, text, n, kids in cells:
        terms.append(Term(op, text, n, tuple([terms[kid] for kid in kids])) if kids else Term(op, text, n))
    return terms
