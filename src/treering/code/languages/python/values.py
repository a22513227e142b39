"""The possible values of an expression: those of the project's code, and a summary of external ones."""

from typing import TypeAlias

import msgspec


class _Value(msgspec.Struct, frozen=True, gc=False):
    """Compared by type and content."""


class ModuleValue(_Value, frozen=True):
    """A module; a namespace package has a directory but no file, a plain module has no directory."""

    path: str
    directory: str


class ClassValue(_Value, frozen=True):
    path: str
    qualname: str


class Instance(_Value, frozen=True):
    of: ClassValue
    arguments: tuple["Values", ...] = ()
    """For a generic class: its type arguments, if an annotation gives them."""


class FunctionValue(_Value, frozen=True):
    path: str
    qualname: str
    receiver: "Value | None" = None


class Super(_Value, frozen=True):
    """`super()` of a class, in a method called on `receiver`."""

    of: ClassValue
    receiver: "Value"


class LambdaValue(_Value, frozen=True):
    """A callable of which only the result is known."""

    results: "Values"


class TypeForm(_Value, frozen=True):
    """A type that is not a class, such as `Optional[X]` or `list[X]`; represented by its instances."""

    instances: "Values"


class Outside(_Value, frozen=True):
    """A library or builtin object, by dotted name."""

    name: str


class OutsideInstance(_Value, frozen=True):
    """An instance of an external class, with the values it contains or yields."""

    name: str
    holds: tuple["Values", ...] = ()


Value: TypeAlias = (
    ModuleValue | ClassValue | Instance | FunctionValue | Super | LambdaValue | TypeForm | Outside | OutsideInstance
)
Values: TypeAlias = tuple[Value, ...]

NOTHING: Values = ()
FOREIGN: Values = (OutsideInstance("?"),)
"""An unknown external object."""


def identity(path: str, qualname: str) -> str:
    """Return the id of a definition, or of a file's module-level code."""
    return f"{path}::{qualname}" if qualname else path


def merged(alternatives: "list[Values]") -> Values:
    """Return all alternatives once, in order."""
    if len(alternatives) == 1:
        return alternatives[0]
    return tuple(dict.fromkeys([value for values in alternatives for value in values]))
