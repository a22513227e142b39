"""The possible values of an expression: those of the project's code, and a summary of external ones."""

from typing import TypeAlias

import msgspec


class _PythonValue(msgspec.Struct, frozen=True, gc=False):
    """Compared by type and content."""


class ModuleValue(_PythonValue, frozen=True):
    """A module; a namespace package has a directory but no file, a plain module has no directory."""

    path: str
    directory: str


class ClassValue(_PythonValue, frozen=True):
    path: str
    qualname: str


class Instance(_PythonValue, frozen=True):
    of: ClassValue
    arguments: tuple["Values", ...] = ()
    """For a generic class: its type arguments, if an annotation gives them."""


class FunctionValue(_PythonValue, frozen=True):
    path: str
    qualname: str
    receiver: "Value | None" = None


class Super(_PythonValue, frozen=True):
    """`super()` of a class, in a method called on `receiver`."""

    of: ClassValue
    receiver: "Value"


class LambdaValue(_PythonValue, frozen=True):
    """A callable of which only the result is known."""

    results: "Values"


class TypeForm(_PythonValue, frozen=True):
    """A type that is not a class, such as `Optional[X]` or `list[X]`; represented by its instances."""

    instances: "Values"


class ExternalValue(_PythonValue, frozen=True):
    """A library or builtin object, by dotted name."""

    name: str


class ExternalInstance(_PythonValue, frozen=True):
    """An instance of an external class, with the values it contains or yields."""

    name: str
    contents: tuple["Values", ...] = ()


Value: TypeAlias = (
    ModuleValue
    | ClassValue
    | Instance
    | FunctionValue
    | Super
    | LambdaValue
    | TypeForm
    | ExternalValue
    | ExternalInstance
)
Values: TypeAlias = tuple[Value, ...]

NOTHING: Values = ()
EXTERNAL: Values = (ExternalInstance("?"),)
"""An unknown external object."""


def identity(path: str, qualname: str) -> str:
    """Return the id of a definition, or of a file's module-level code."""
    return f"{path}::{qualname}" if qualname else path


def merged(alternatives: "list[Values]") -> Values:
    """Return all alternatives once, in order."""
    if len(alternatives) == 1:
        return alternatives[0]
    return tuple(dict.fromkeys([value for values in alternatives for value in values]))
