"""Inference of type arguments: explicit ones, then from the arguments, then from the expected result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treering.code.languages.typescript.members import at, awaited, element, member
from treering.code.languages.typescript.signatures import CallSite, returned, signatures
from treering.code.languages.typescript.terms import TsTerm
from treering.code.languages.typescript.values import Env, TsValue

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator

MAX_DEPTH = 4
"""Maximum depth at which a type variable is searched in a parameter's type."""


def environment(site: CallSite, signature: TsValue, variables: tuple[TsTerm, ...]) -> Env:
    """Bind the type variables of a signature: explicitly, else from the arguments, else to their defaults."""
    env: Env = dict(signature.env)
    site.e.circular.append(env)
    for position, variable in enumerate(variables):
        if position < len(site.type_arguments):
            env[variable.text] = site.e.lazy(site.type_arguments[position], site.path, site.env)
        else:
            env[variable.text] = _inferred(site, signature, variable, env)
    return env


def _inferred(site: CallSite, signature: TsValue, variable: TsTerm, env: Env) -> Callable[[], TsValue | None]:
    def infer() -> TsValue | None:
        for position, one in enumerate(signature.term.kids[1].kids):
            if mentions(one.kids[0], variable.text):
                found = unified(site.e, one.kids[0], site.argument(position), variable.text)
                if found is not None:
                    return found
        if site.expected is not None and mentions(signature.term.kids[2], variable.text):
            expected_result = site.e.value(site.expected, site.path, site.env)
            found = unified(site.e, signature.term.kids[2], expected_result, variable.text)
            if found is not None:
                return found
        if len(variable.kids) > 1 and variable.kids[1].op != "none":
            return site.e.value(variable.kids[1], signature.path, env)
        return None

    return infer


def mentions(term: TsTerm, name: str, depth: int = 0) -> bool:
    if term.op == "variable":
        return term.text == name
    return depth <= MAX_DEPTH and any(mentions(kid, name, depth + 1) for kid in term.kids)


def unified(e: TsEvaluator, pattern: TsTerm, value: TsValue | None, name: str, depth: int = 0) -> TsValue | None:
    """Return the value of a type variable that makes `pattern` equal to `value`."""
    unify = UNIFIED.get(pattern.op)
    if value is None or unify is None or depth > MAX_DEPTH:
        return None
    return unify(e, pattern, value, name, depth + 1)


def _unified_variable(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    return value if pattern.text == name else None


def _unified_list(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    return unified(e, pattern.kids[0], element(e, value), name, depth)


def _unified_several(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    found = (unified(e, kid, value, name, depth) for kid in _callable_first(e, pattern, value))
    return next((one for one in found if one is not None), None)


def _unified_function(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    return unified(e, pattern.kids[2], returned(e, value), name, depth)


def _unified_shape(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    for field in pattern.kids:
        if field.op == "field" and mentions(field.kids[0], name):
            return unified(e, field.kids[0], member(e, value, field.text), name, depth)
    return None


def _callable_first(e: TsEvaluator, pattern: TsTerm, value: TsValue) -> tuple[TsTerm, ...]:
    if not signatures(e, value):
        return tuple(kid for kid in pattern.kids if kid.op != "fn")
    return tuple(sorted(pattern.kids, key=lambda kid: kid.op != "fn"))


def _unified_arguments(e: TsEvaluator, pattern: TsTerm, value: TsValue, name: str, depth: int) -> TsValue | None:
    for position, kid in enumerate(pattern.kids):
        if not mentions(kid, name):
            continue
        if value.kind == "generic":
            part = awaited(value) if pattern.text == "Promise" else at(e, value, position)
        elif value.kind == "thing" and value.term.op in ("class", "interface"):
            variables = value.term.kids[0].kids
            binding = value.env.get(variables[position].text) if position < len(variables) else None
            part = binding() if callable(binding) else binding
        else:
            part = value if pattern.text in ("Promise", "PromiseLike") else None
        found = unified(e, kid, part, name, depth)
        if found is not None:
            return found
    return None


UNIFIED: dict[str, Callable[[TsEvaluator, TsTerm, TsValue, str, int], TsValue | None]] = {
    "variable": _unified_variable,
    "list": _unified_list,
    "union": _unified_several,
    "both": _unified_several,
    "fn": _unified_function,
    "type": _unified_arguments,
    "shape": _unified_shape,
}
