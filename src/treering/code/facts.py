"""The facts extracted from one file in isolation, and the edges that resolution derives from them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntFlag, StrEnum
from typing import Any, NamedTuple, Protocol

import msgspec

from treering.core.graph import EdgeKind

Key = tuple[str, ...]
"""A lookup key: a kind and a name, such as `("py.module", "flask.app")`."""

LookupResult = tuple[tuple[str, Any], ...]
"""`(path, entry)` pairs, sorted by path."""

Span = tuple[int, int]
"""Start and end offset in bytes; the end is exclusive."""

MODULE = "<module>"
"""Qualified name of the code of a file outside any definition."""

_MAX_FAILURE_LENGTH = 300
_NAMES = re.compile(r"[\w$]+")


class DefinitionKind(StrEnum):
    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    TRAIT = "trait"
    ENUM = "enum"
    TYPE = "type"
    CONSTANT = "constant"
    MODULE = "module"


class EntryPoint(StrEnum):
    """How code is invoked from outside the project."""

    MAIN = "main"
    COMMAND = "command"
    ROUTE = "route"
    TASK = "task"


class CallFlow(IntFlag):
    """What a call moves (arguments into the callee, a result back to the caller), and whether its target is exact."""

    NOTHING = 0
    ARGUMENTS = 1
    RESULT = 2
    EXACT = 4
    """No override of the callee is possible: the object is constructed where it is used, or its class is named."""


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A named definition in a file; its id is `path::qualname`."""

    qualname: str
    kind: DefinitionKind
    line: int
    end_line: int
    exported: bool = True
    test: bool = False
    entry: EntryPoint | None = None
    entry_name: str | None = None
    """The external name: a route's path, a command's name."""


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`origin` uses `target`; an id is a path or `path::qualname`.

    The origin is in the file that owns the edge, except for `registers`: a function is registered where it is defined,
    and the registry that calls it later may be in another file.
    """

    origin: str
    target: str
    kind: EdgeKind
    confidence: float
    line: int
    flow: int = 0


class Unresolved(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A use whose target is unknown, as written in the source; the target is never guessed."""

    origin: str
    text: str
    line: int
    name: str = ""
    """The name that is used, if the text does not end with it."""

    @property
    def used_name(self) -> str:
        """The last name in the text: `filter` for `self.items.filter`."""
        return self.name or next(reversed(_NAMES.findall(self.text)), "")


class Resolved(NamedTuple):
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]


class SyntaxProblem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a file that could not be parsed."""

    line: int
    message: str


def format_failure(what: str, exc: Exception) -> str:
    """Format a failure of a language as storable text: invalid characters are replaced, the length is limited."""
    return f"{what}: {type(exc).__name__}: {exc}"[:_MAX_FAILURE_LENGTH].encode("utf-8", "replace").decode()


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """The facts of one file; only the resolver of its language understands `body`."""

    path: str
    definitions: tuple[Definition, ...]
    body: Any
    problems: tuple[SyntaxProblem, ...] = ()


class SymbolLookup(Protocol):
    """Lookup of symbols across the project; each key is recorded so that a changed answer triggers a new resolution."""

    def __call__(self, *key: str) -> LookupResult:
        """Return each `(path, entry)` that the project's files provide for this key, sorted by path; empty if none."""
        ...


class LanguageSupport(Protocol):
    """Extraction and resolution for one language. All methods are pure: no clock, no disk, no state between calls."""

    name: str
    suffixes: tuple[str, ...]
    manifests: tuple[str, ...]
    """Names of files that are not source but affect how names resolve: `go.mod`, `tsconfig.json`."""
    body: Any
    """The type of `Facts.body`: a msgspec Struct, so that facts can be stored."""
    surface_body: Any
    """The type to which a stored body is decoded for `surface`: `body`, or a Struct of its leading fields."""

    def extract(self, path: str, source: bytes) -> Facts:
        """Extract the facts of a file; a syntax error loses only the broken part."""
        ...

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        """Yield the parts of `spans` inside strings and comments; for a manifest, all of them."""
        ...

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        """Return everything about the file that the resolution of another file may depend on, by lookup key.

        Entries are compared with `==` to detect the effect of an edit, so they contain no line numbers or bodies.
        """
        ...

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        """Resolve the file's edges. It reads other files only through `lookup`, so incremental updates are exact."""
        ...
