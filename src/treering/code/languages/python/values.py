"""What an expression may be: values of the project's own code, and what little is known of those from outside."""

from typing import TypeAlias

import msgspec


class _Value(msgspec.Struct, frozen=True, gc=False):
    """Compared by type and content."""


class ModuleValue(_Value, frozen=True):
    """A module; a namespace package has a directory and no file, a plain module no directory."""

    path: str
    directory: str


class ClassValue(_Value, frozen=True):
    path: str
    qualname: str


class Instance(_Value, frozen=True):
    of: ClassValue
    arguments: tuple["Values", ...] = ()
    """Of a generic class: what its type parameters stand for, where an annotation says it."""


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
    """What stands for a type without being a class: `Optional[X]`, `list[X]`; known by its instances."""

    instances: "Values"


class Outside(_Value, frozen=True):
    """Something of a library or a builtin, by its dotted name."""

    name: str


class OutsideInstance(_Value, frozen=True):
    """An instance of a class from outside, with what it contains or gives."""

    name: str
    holds: tuple["Values", ...] = ()


Value: TypeAlias = (
    ModuleValue | ClassValue | Instance | FunctionValue | Super | LambdaValue | TypeForm | Outside | OutsideInstance
)
Values: TypeAlias = tuple[Value, ...]

NOTHING: Values = ()
FOREIGN: Values = (OutsideInstance("?"),)
"""Some object from outside."""


def identity(path: str, qualname: str) -> str:
    """The id of a definition, or of the code of a file outside all."""
    return f"{path}::{qualname}" if qualname else path


def merged(alternatives: "list[Values]") -> Values:
    """All alternatives once, in their order."""
    if len(alternatives) == 1:
        return alternatives[0]
    return tuple(dict.fromkeys([value for values in alternatives for value in values]))
