"""What a Python file says, as its resolver needs it: small expression trees, scopes as tables, calls, imports."""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What an expression is; the one-letter values keep stored facts small."""

    NAME = "n"
    """A name looked up in the module, its star imports and the builtins."""
    LOCAL = "v"
    """A name of a scope inside the file: the bindings of `refs` reach it."""
    DEFINITION = "d"
    """A function or class of the same file, by its qualified name."""
    ATTRIBUTE = "a"
    CALL = "c"
    AWAIT = "w"
    SUBSCRIPT = "i"
    ELEMENT = "e"
    """What iterating over the part gives."""
    ENTERED = "x"
    """What `with part as …` binds."""
    ENTERED_ASYNC = "X"
    EITHER = "u"
    FIRST_KNOWN = "o"
    """The first part about which something is known: a value narrower than its declaration."""
    EXCLUDED = "N"
    """The first part without instances of the classes in the second."""
    UNPACKED = "q"
    """Item number `name` of the part."""
    TUPLE = "t"
    LIST = "l"
    DICT = "m"
    CONSTANT = "k"
    """A literal, by the name of its builtin type."""
    TYPED = "y"
    """An instance of what the part, an annotation, says."""
    SELF = "s"
    """The receiver of a method of class `name`."""
    CLS = "S"
    SUPER = "p"
    """`super()` in a method of class `name`; the part is the class after which to look, where it is written."""
    FIXTURE = "f"
    """A parameter that pytest fills: the fixture `name`, as seen from the function named by the part."""
    INHERITED_PARAMETER = "P"
    """An unannotated parameter `name` of a method (the part): annotated perhaps where the method is first defined."""
    LAMBDA = "z"
    MODULE = "M"
    """The module of an `import a.b as c`, with leading dots where relative."""
    TOP_MODULE = "T"
    """What `import a.b` binds: the package `a` from which `a.b` is found."""
    FROM = "F"
    """Attribute or submodule `name` of the module in the part."""
    UNKNOWN = "?"


class Expression(msgspec.Struct, frozen=True, array_like=True, gc=False):
    kind: Kind
    name: str = ""
    parts: tuple["Expression", ...] = ()
    refs: tuple[int, ...] = ()


UNKNOWN = Expression(Kind.UNKNOWN)


class Trait:
    """Bits that say how a function is used; plain numbers, because an `IntFlag` takes ten times as long to test."""

    ASYNC = 1
    GENERATOR = 2
    PROPERTY = 4
    STATIC = 8
    CLASS_METHOD = 16
    CONTEXT_MANAGER = 32
    FIXTURE = 64
    OVERLOAD = 128


class Function(msgspec.Struct, frozen=True, array_like=True, gc=False):
    qualname: str
    owner: str
    """The class it is a method of; empty for a function."""
    traits: int
    returns: tuple[Expression, ...]
    """Return annotations: several where overloaded."""
    results: tuple[Expression, ...]
    """Returned expressions (yielded ones of a generator) of a function without annotation."""
    parameters: tuple[tuple[str, Expression], ...]
    """Annotated parameters."""
    fixture: str = ""
    """The name under which pytest knows it."""


class Class(msgspec.Struct, frozen=True, array_like=True, gc=False):
    qualname: str
    bases: tuple[Expression, ...]
    methods: tuple[str, ...]
    fields: tuple[str, ...] = ()
    """Names annotated in its body, in their order: the items of a `NamedTuple`."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One module that an import statement names; `names` are what is taken from it, `*` for everything."""

    module: str
    names: tuple[str, ...]
    line: int
    dynamic: bool = False


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    origin: str
    """The qualified name of the innermost definition around it; empty for code of the module."""
    callee: Expression
    text: str
    line: int
    flow: int


class Uses(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a definition reads without calling it: names that may be constants, attributes that may be properties."""

    origin: str
    """As in a call."""
    what: tuple[Expression, ...]
    lines: tuple[int, ...]


class Requests(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fixtures that pytest makes for a test or for another fixture, and those it makes without being asked."""

    of: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Functions with the names of the fixtures they ask for."""
    by_all: tuple[str, ...] = ()
    """The names that all tests of the file ask for."""
    unasked: tuple[str, ...] = ()
    """Fixtures of the file that run for every test within reach."""


class Table(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names of a module (`scope` is empty) or of a class, each with everything that is bound to it."""

    scope: str
    names: tuple[tuple[str, tuple[Expression, ...]], ...]


class Body(msgspec.Struct, frozen=True, array_like=True, gc=False):
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    tables: tuple[Table, ...] = ()
    bindings: tuple[Expression, ...] = ()
    """What `LOCAL` expressions refer to, by position."""
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    exports: tuple[str, ...] | None = None
    """The names of a literal `__all__`."""
    scripts: tuple[tuple[str, str, int], ...] = ()
    """Console scripts of a `pyproject.toml`: name, `module:function`, line."""
    uses: tuple[Uses, ...] = ()
    requests: Requests = Requests()
