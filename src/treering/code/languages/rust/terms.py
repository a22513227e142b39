"""Resolved types. References and smart pointers are dereferenced; an unknown type is `None`."""

from collections.abc import Mapping

import msgspec

from treering.code.languages.rust.body import Decl
from treering.code.languages.rust.modules import Module


class Ty(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A type. By kind:

    `adt` a struct, enum or trait of the project, with `path` and `decl` · `std` a family of the standard library ·
    `param` a type known only by the traits in `args` · `tuple` · `fn` its result, then its parameters · `ext` any other
    external type.
    """

    kind: str
    name: str = ""
    args: tuple["Ty | None", ...] = ()
    path: str = ""
    decl: Decl | None = None


EXT = Ty("ext")


class Context(msgspec.Struct, frozen=True, gc=False):
    """Where a type is written: its module, the values of its type parameters, and `Self`."""

    module: Module
    env: Mapping[str, Ty | None]
    me: Ty | None = None


class Member(msgspec.Struct, frozen=True, gc=False):
    """A function or associated type of a type, with its file and the context of its implementation."""

    path: str
    decl: Decl
    context: Context


def same_type(one: Ty | None, other: Ty) -> bool:
    """Whether two types have the same declaration, regardless of their arguments."""
    if one is None or one.kind != other.kind or one.name != other.name:
        return False
    if one.kind != "adt" or one.decl is None or other.decl is None:
        return True
    return one.path == other.path and one.decl.scope == other.decl.scope
