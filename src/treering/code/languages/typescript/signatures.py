"""Signatures of values: overload selection, parameters and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.code.languages.typescript.members import at, awaited, fields_of, member
from treering.code.languages.typescript.terms import (
    ASYNC,
    CALL,
    GENERATOR,
    NEW,
    NOTHING,
    OPTIONAL,
    REST,
    TYPE,
    TsTerm,
)
from treering.code.languages.typescript.values import MAX_ALTERNATIVES, OUTSIDE, Env, TsValue, alternatives, generic

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator

SIMPLE = frozenset(("literal",))
CALLBACKS = frozenset(("callback", "fn"))


def signatures(e: TsEvaluator, value: TsValue | None) -> tuple[TsValue, ...]:
    """Return the call signatures of a value."""
    if value is None:
        return ()
    if value.kind in ("any of", "all of"):
        return tuple(signature for part in value.parts for signature in signatures(e, part))
    called: TsValue | None = value
    if value.kind == "thing" and value.term.op in ("interface", "shape"):
        called = member(e, value, CALL)
    return called.parts if called is not None and called.kind == "function" else ()


def constructors(e: TsEvaluator, value: TsValue | None) -> tuple[TsValue, ...]:
    """Return the construct signatures of a value."""
    if value is None:
        return ()
    if value.kind in ("any of", "all of"):
        return tuple(signature for part in value.parts for signature in constructors(e, part))
    if value.kind == "class":
        return _class_constructors(e, value)
    called = member(e, value, NEW) if value.kind == "thing" else value
    return called.parts if called is not None and called.kind == "function" else ()


def _class_constructors(e: TsEvaluator, value: TsValue) -> tuple[TsValue, ...]:
    """Return a class's own constructor, or that of the nearest base that has one."""
    fields = fields_of(e, value.term.kids[2]).get("constructor", [])
    if fields:
        made = [e.value(field.kids[0], value.path, value.env) for field in fields]
        parts = [part for one in made if one is not None for part in one.parts]
        return tuple(parts[:-1] if len(parts) > 1 else parts)
    base = next((base for base in value.term.kids[1].kids if base.op == "extends"), None)
    return constructors(e, e.value(base.kids[0], value.path, value.env)) if base is not None else ()


def constructed(e: TsEvaluator, value: TsValue) -> TsValue | None:
    """Return what `new` creates from a construct signature or from a function with a prototype."""
    found = member(e, value, NEW) if value.kind == "thing" else None
    if found is not None and found.kind == "function":
        signature = found.parts[0]
        return e.value(signature.term.kids[2], signature.path, signature.env)
    return None


class CallSite:
    """A call as written: its arguments and its file."""

    __slots__ = ("arguments", "e", "env", "expected", "path", "type_arguments")

    def __init__(self, e: TsEvaluator, term: TsTerm, path: str, env: Env) -> None:
        self.e = e
        arguments_term = term.kids[1]
        self.type_arguments = arguments_term.kids if not arguments_term.text else ()
        self.expected = arguments_term.kids[0] if arguments_term.text else None
        self.arguments = term.kids[2:]
        self.path = path
        self.env = env

    def argument(self, position: int) -> TsValue | None:
        if position >= len(self.arguments):
            return None
        return self.e.value(self.arguments[position], self.path, self.env)


def choose(site: CallSite, among: tuple[TsValue, ...]) -> TsValue | None:
    """Return the first signature that accepts the arguments, judged by their number and basic kinds."""
    if len(among) < 2:
        return among[0] if among else None
    count = len(site.arguments)
    taking = [signature for signature in among if _takes(signature.term, count)]
    for signature in taking:
        if all(_fits(site, signature, position) for position in range(count)):
            return signature
    return taking[0] if taking else among[0]


def _takes(function: TsTerm, count: int) -> bool:
    minimum = maximum = 0
    for parameter in function.kids[1].kids:
        if parameter.n & REST:
            kind = parameter.kids[0]
            if kind.op == "tuple" and not any(kid.op == "rest" for kid in kind.kids):
                minimum, maximum = minimum + len(kind.kids), maximum + len(kind.kids)
            else:
                maximum = 1000
        else:
            minimum, maximum = minimum + (not parameter.n & OPTIONAL), maximum + 1
    return minimum <= count <= maximum


def _fits(site: CallSite, signature: TsValue, position: int) -> bool:
    passed = site.arguments[position]
    if passed.op not in SIMPLE and passed.op not in CALLBACKS:
        return True
    if passed.op in CALLBACKS and _is_function(site.e, _written_parameter(signature.term, position), signature.path):
        return True
    parameter_type = parameter(site.e, signature, position, signature.env or {"": None})
    if parameter_type is None or (parameter_type.kind in ("outside", "generic", "unknown") and passed.op in CALLBACKS):
        return True
    if passed.op in CALLBACKS:
        return any(
            one.kind in ("function", "outside") or signatures(site.e, one) for one in alternatives(parameter_type)
        )
    return any(_literal_fits(passed, one) for one in alternatives(parameter_type))


def _written_parameter(function: TsTerm, position: int) -> TsTerm:
    """Return the type of a parameter as written; for a rest parameter, its element type."""
    for number, one in enumerate(function.kids[1].kids):
        kind = one.kids[0]
        if number == position and not one.n & REST:
            return kind
        if one.n & REST and kind.op == "tuple" and number <= position < number + len(kind.kids):
            return kind.kids[position - number]
        if one.n & REST and kind.op == "list":
            return kind.kids[0]
    return NOTHING


def _is_function(e: TsEvaluator, kind: TsTerm, path: str) -> bool:
    """Whether a type is written as a function type, regardless of type variables."""
    if kind.op == "fn":
        return True
    if kind.op not in FOLLOWED or kind.n:
        return False
    known = e.functions.get(id(kind))
    if known is None:
        e.keep_alive(kind)
        e.functions[id(kind)] = False
        if kind.op == "type":
            meant = e.top(path, TYPE + kind.text) if "." not in kind.text else None
            known = meant is not None and meant.kind == "alias" and _is_function(e, meant.term.kids[1], meant.path)
        else:
            known = any(_is_function(e, kid, path) for kid in kind.kids[:MAX_ALTERNATIVES])
        e.functions[id(kind)] = known
    return known


FOLLOWED = frozenset(("type", "union"))


def _literal_fits(passed: TsTerm, parameter_type: TsValue) -> bool:
    if parameter_type.kind != "literal":
        return parameter_type.kind == "outside"
    return passed.text in (parameter_type.text, "value") and (
        not parameter_type.path or not passed.kids or parameter_type.path == passed.kids[0].text
    )


def parameter(e: TsEvaluator, signature: TsValue, position: int, env: Env) -> TsValue | None:
    """Return the type of a signature's parameter; positions past the last belong to the rest parameter."""
    listed = signature.term.kids[1].kids
    for number, one in enumerate(listed):
        if one.n & REST:
            if position >= number:
                return at(e, e.value(one.kids[0], signature.path, env), position - number)
        elif number == position:
            return e.value(one.kids[0], signature.path, env)
    return None


def returned(e: TsEvaluator, value: TsValue | None) -> TsValue | None:
    """Return the result of calling a value, regardless of arguments."""
    type_arguments = signatures(e, value)
    if not type_arguments:
        return OUTSIDE if value is not None and value.kind == "outside" else None
    return result(e, type_arguments[-1], type_arguments[-1].env)


def result(e: TsEvaluator, signature: TsValue, env: Env) -> TsValue | None:
    found = e.value(signature.term.kids[2], signature.path, env)
    if signature.term.n & GENERATOR:
        return generic("Array", found)
    if signature.term.n & ASYNC:
        return generic("Promise", awaited(found))
    return found
