"""The stored body of a Python file: expression trees, scopes as tables, calls and imports."""

from enum import StrEnum

import msgspec


class ExpressionKind(StrEnum):
    """Kind of an expression; the one-letter values keep stored facts small."""

    NAME = "n"
    """A name looked up in the module, its star imports and the builtins."""
    LOCAL = "v"
    """A name of a scope inside the file; `refs` are the bindings that reach it."""
    DEFINITION = "d"
    """A function or class of the same file, by qualified name."""
    ATTRIBUTE = "a"
    CALL = "c"
    """The called part and its first positional arguments. `name` has `?` for each further one, `*` for unpacked
    ones, and the keywords."""
    AWAIT = "w"
    SUBSCRIPT = "i"
    ELEMENT = "e"
    """The element type of the part."""
    ENTERED = "x"
    """The value that `with part as …` binds."""
    ENTERED_ASYNC = "X"
    EITHER = "u"
    FIRST_KNOWN = "o"
    """The first part whose value is known: a value is narrower than its declaration."""
    EXCLUDED = "N"
    """The first part, except instances of the classes in the second."""
    UNPACKED = "q"
    """Item number `name` of the part."""
    TUPLE = "t"
    LIST = "l"
    DICT = "m"
    CONSTANT = "k"
    """A literal, by its builtin type."""
    TYPED = "y"
    """An instance of the annotation in the part."""
    SELF = "s"
    """The receiver of a method of class `name`."""
    CLS = "S"
    SUPER = "p"
    """`super()` in a method of class `name`; the part is the explicit first argument, if present."""
    FIXTURE = "f"
    """A parameter that pytest fills: the fixture `name`, as seen from the function in the part."""
    INHERITED_PARAMETER = "P"
    """An unannotated parameter `name` of a method (the part); an overridden method may annotate it."""
    LAMBDA = "z"
    MODULE = "M"
    """The module of an `import a.b as c`, with leading dots if relative."""
    TOP_MODULE = "T"
    """The name bound by `import a.b`: the package `a`."""
    FROM = "F"
    """Attribute or submodule `name` of the module in the part."""
    UNKNOWN = "?"


class Expression(msgspec.Struct, frozen=True, array_like=True, gc=False):
    kind: ExpressionKind
    name: str = ""
    parts: tuple["Expression", ...] = ()
    refs: tuple[int, ...] = ()


UNKNOWN = Expression(ExpressionKind.UNKNOWN)


class Trait:
    """Flags of a function; plain integers, because testing an `IntFlag` is ten times slower."""

    ASYNC = 1
    GENERATOR = 2
    PROPERTY = 4
    STATIC = 8
    CLASS_METHOD = 16
    CONTEXT_MANAGER = 32
    FIXTURE = 64
    OVERLOAD = 128


class ParameterNames(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The parameters of a function that its callers fill, without the receiver of a method."""

    positional: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    many: bool = False
    """Whether it accepts any number of positional arguments."""
    keywords: bool = False
    """Whether it accepts any keyword."""


class PythonOverload(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A signature of an overloaded function."""

    parameters: tuple[tuple[str, Expression], ...]
    returns: tuple[Expression, ...]
    names: ParameterNames


class PythonFunction(msgspec.Struct, frozen=True, array_like=True, gc=False):
    qualname: str
    owner: str
    """The class of a method; empty for a function."""
    traits: int
    returns: tuple[Expression, ...]
    """Return annotations; several if overloaded."""
    results: tuple[Expression, ...]
    """Returned expressions (yielded ones of a generator) of a function without annotation."""
    parameters: tuple[tuple[str, Expression], ...]
    """Annotated parameters."""
    fixture: str = ""
    """Its name as a pytest fixture."""
    overloads: tuple[PythonOverload, ...] = ()


class PythonClass(msgspec.Struct, frozen=True, array_like=True, gc=False):
    qualname: str
    bases: tuple[Expression, ...]
    methods: tuple[str, ...]
    fields: tuple[str, ...] = ()
    """Names annotated in its body, in order: the items of a `NamedTuple`."""
    dynamic: bool = False
    """Whether a method looks up attributes of the receiver by computed names: `getattr(self, name)`."""


class PythonImport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A module named by an import statement; `names` are the imported names, `*` for all."""

    module: str
    names: tuple[str, ...]
    line: int
    dynamic: bool = False


class PythonCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    origin: str
    """Qualified name of the innermost enclosing definition; empty at module level."""
    callee: Expression
    text: str
    line: int
    flow: int


class UseKind(StrEnum):
    """How a name is used without being called; the one-letter values keep stored facts small."""

    READ = "v"
    ANNOTATION = "a"
    RAISED = "r"
    CAUGHT = "c"
    REGISTERED = "g"
    """An item of a module's or class's table, or an argument of a module's object: `app.add_route(path, handler)`."""
    DECORATOR = "d"
    """The decorator of the origin, without its arguments."""


class PythonUses(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Names and attributes that a definition uses without calling them."""

    origin: str
    """As in a call, or the constant whose value holds the name."""
    expressions: tuple[Expression, ...]
    lines: tuple[int, ...]
    kinds: tuple[UseKind, ...]


class FixtureRequests(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fixtures that the tests and fixtures of a file request, and its autouse fixtures."""

    of: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Functions with the names of the fixtures they request."""
    file_wide: tuple[str, ...] = ()
    """Names that all tests of the file request."""
    autouse: tuple[str, ...] = ()
    """Autouse fixtures of the file."""


class NameTable(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names of a module (empty `scope`) or of a class, each with everything bound to it."""

    scope: str
    names: tuple[tuple[str, tuple[Expression, ...]], ...]


class PythonSurfaceBody(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The leading fields of a stored body: those that the surface of a file is made from."""

    functions: tuple[PythonFunction, ...] = ()
    classes: tuple[PythonClass, ...] = ()
    tables: tuple[NameTable, ...] = ()
    imports: tuple[PythonImport, ...] = ()
    exports: tuple[str, ...] | None = None
    """The names of a literal `__all__`."""
    requests: FixtureRequests = FixtureRequests()


class PythonBody(PythonSurfaceBody, frozen=True, array_like=True, gc=False):
    bindings: tuple[Expression, ...] = ()
    """The values that `LOCAL` expressions refer to, by index."""
    calls: tuple[PythonCall, ...] = ()
    scripts: tuple[tuple[str, str, int], ...] = ()
    """Console scripts of a `pyproject.toml`: name, `module:function`, line."""
    uses: tuple[PythonUses, ...] = ()
