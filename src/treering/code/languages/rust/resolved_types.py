"""Resolved types. References and smart pointers are dereferenced; an unknown type is `None`."""

from collections.abc import Mapping

import msgspec

from treering.code.languages.rust.body import Declaration
from treering.code.languages.rust.modules import RustModule


class ResolvedType(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A type. By kind:

    `adt` a struct, enum or trait of the project, with `path` and `decl` · `std` a family of the standard library ·
    `param` a type known only by the traits in `args` · `tuple` · `fn` its result, then its parameters · `ext` any other
    external type.
    """

    kind: str
    name: str = ""
    args: tuple["ResolvedType | None", ...] = ()
    path: str = ""
    decl: Declaration | None = None


EXT = ResolvedType("ext")


class TypeContext(msgspec.Struct, frozen=True, gc=False):
    """Where a type is written: its module, the values of its type parameters, and `Self`."""

    module: RustModule
    env: Mapping[str, ResolvedType | None]
    self_type: ResolvedType | None = None


class RustMember(msgspec.Struct, frozen=True, gc=False):
    """A function or associated type of a type, with its file and the context of its implementation."""

    path: str
    decl: Declaration
    context: TypeContext


def same_type(one: ResolvedType | None, other: ResolvedType) -> bool:
    """Whether two types have the same declaration, regardless of their arguments."""
    if one is None or one.kind != other.kind or one.name != other.name:
        return False
    if one.kind != "adt" or one.decl is None or other.decl is None:
        return True
    return one.path == other.path and one.decl.scope == other.decl.scope
