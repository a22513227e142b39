"""The result of evaluating a term: values and types share one class, because calls are followed through both."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from treering.code.languages.typescript.terms import NOTHING, TsTerm


class TsValue(NamedTuple):
    """`kind` determines which fields are used.

    `thing`: has the members of `term` (class, interface, shape, obj, space). `class`: the class itself. `function`:
    `parts` are its signatures, each a function with one. `signature`: the term of one function. `module`: the exports
    of `path`. `generic`: a built-in type with its arguments in `parts`. `any of`: one of `parts`. `all of`: each of
    `parts`. `literal`: a string, number…; `outside`: not of this project. `opaque`: only its target.
    """

    kind: str
    term: TsTerm = NOTHING
    path: str = ""
    env: "Env" = {}  # noqa: RUF012 -- never changed through a value
    parts: tuple["TsValue", ...] = ()
    text: str = ""
    target: str | None = None


Env = dict[str, TsValue | Callable[[], TsValue | None] | None]
"""Bindings of type variables, some evaluated lazily; `this` is the receiver of a method."""

OUTSIDE = TsValue("outside")


def generic(text: str, *parts: TsValue | None) -> TsValue:
    return TsValue("generic", text=text, parts=tuple(part if part is not None else UNKNOWN for part in parts))


UNKNOWN = TsValue("unknown")
"""Placeholder for an unknown value in a tuple."""

MAX_ALTERNATIVES = 6


def known(value: TsValue | None) -> TsValue | None:
    return None if value is None or value.kind == "unknown" else value


def any_of(values: Iterable[TsValue | None]) -> TsValue | None:
    """Return a value with the first few alternatives; unknown and empty values are left out."""
    flat: list[TsValue] = []
    empty: TsValue | None = None
    for value in values:
        if value is None or value.kind == "unknown":
            continue
        if value.kind == "literal" and value.text in EMPTY:
            empty = empty or value
            continue
        for part in value.parts if value.kind == "any of" else (value,):
            for other in flat:
                if part is other or same(part, other):
                    break
            else:
                flat.append(part)
        if len(flat) >= MAX_ALTERNATIVES:
            return TsValue("any of", parts=tuple(flat[:MAX_ALTERNATIVES]))
    if not flat:
        return empty
    return flat[0] if len(flat) == 1 else TsValue("any of", parts=tuple(flat))


EMPTY = frozenset(("null", "undefined", "void", "never"))


def same(one: TsValue, other: TsValue) -> bool:
    """Whether two values have the same members and targets; type arguments are ignored."""
    if one.kind != other.kind or one.target != other.target or one.text != other.text:
        return False
    if one.kind == "generic":
        return one.parts == other.parts
    return one.term is other.term and one.path == other.path and one.parts == other.parts


def alternatives(value: TsValue | None) -> tuple[TsValue, ...]:
    if value is None or value.kind == "unknown":
        return ()
    return value.parts if value.kind == "any of" else (value,)
