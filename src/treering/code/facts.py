"""What one file says by itself, before anything else is looked at: the values between extraction and resolution."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntFlag, StrEnum
from typing import Any, NamedTuple, Protocol

import msgspec

from treering.core.graph import EdgeKind

Key = tuple[str, ...]
"""What a resolver may ask the project for: a kind and a name, such as `("py.module", "flask.app")`."""

Span = tuple[int, int]
"""The first byte of something, and the one behind its last."""

MODULE = "<module>"
"""The qualified name of the code of a file that stands in no definition."""

_LONGEST_FAILURE = 300


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
    """How something outside the code comes in."""

    MAIN = "main"
    COMMAND = "command"
    ROUTE = "route"
    TASK = "task"


class Flow(IntFlag):
    """What a call moves: arguments into the callee, its result back into the caller; and whether it is exact."""

    NOTHING = 0
    ARGUMENTS = 1
    RESULT = 2
    EXACT = 4
    """No override of the callee can be meant: the object was made where it is used, or its class is named."""


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something with a name in a file; its id is `path::qualname`."""

    qualname: str
    kind: DefinitionKind
    line: int
    end_line: int
    exported: bool = True
    test: bool = False
    entry: EntryPoint | None = None
    entry_name: str | None = None
    """What the outside calls it: a route's path, a command's name."""


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`origin` (an id of the owning file) uses `target`: ids are paths, or `path::qualname`."""

    origin: str
    target: str
    kind: EdgeKind
    confidence: float
    line: int
    flow: int = 0


class Unresolved(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A use whose target is not known: kept as it was written, never guessed."""

    origin: str
    text: str
    line: int


class Resolved(NamedTuple):
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]


class Problem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What of a file could not be read, and where."""

    line: int
    what: str


def failure(what: str, exc: Exception) -> str:
    """What a file did to its language, as every store takes it: a name in a file may be anything."""
    return f"{what}: {type(exc).__name__}: {exc}"[:_LONGEST_FAILURE].encode("utf-8", "replace").decode()


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """One file read; `body` is a value of its language, that only its resolver understands."""

    path: str
    definitions: tuple[Definition, ...]
    body: Any
    problems: tuple[Problem, ...] = ()


class Ask(Protocol):
    """The project's answers to a resolver; what was asked is remembered, so that a change of the answer asks again."""

    def __call__(self, *key: str) -> tuple[tuple[str, Any], ...]:
        """Every `(path, entry)` that the project's files give under this key, by path; empty where there is none."""
        ...


class Language(Protocol):
    """How one language is read and resolved. Both are pure: no clock, no disk, nothing remembered between calls."""

    name: str
    suffixes: tuple[str, ...]
    manifests: tuple[str, ...]
    """Names of files that are no source but decide how names resolve: `go.mod`, `tsconfig.json`."""
    body: Any
    """The type of `Facts.body`: a msgspec Struct, so that facts can be stored."""

    def extract(self, path: str, source: bytes) -> Facts:
        """What the file says; a syntax error costs the broken part only."""
        ...

    def texts(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        """The parts of `spans` that are text and no code: in strings and comments; in a manifest, all."""
        ...

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        """Everything about the file that the resolution of another file may depend on, by the key it is asked for.

        Entries are compared with `==` to see what an edit changed, so that line numbers and bodies are not in them.
        """
        ...

    def resolve(self, facts: Facts, ask: Ask) -> Resolved:
        """The file's edges. Whatever it takes from elsewhere, it takes through `ask`: that makes updates exact."""
        ...
