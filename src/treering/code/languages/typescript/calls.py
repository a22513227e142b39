"""Results of calls, and the types they expect of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treering.code.languages.typescript.builtin_types import STATICS, method_callback, method_result
from treering.code.languages.typescript.inference import environment
from treering.code.languages.typescript.members import GENERICS
from treering.code.languages.typescript.signatures import (
    CallSite,
    choose,
    constructors,
    parameter,
    result,
    returned,
    signatures,
)
from treering.code.languages.typescript.terms import NOTHING, TsTerm
from treering.code.languages.typescript.values import OUTSIDE, Env, TsValue, alternatives, any_of, generic

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator


def _call(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    callee = term.kids[0]
    site = CallSite(e, term, path, env)
    if callee.op == "member" and callee.kids[0].op == "name":
        static = STATICS.get((callee.kids[0].text, callee.text))
        if static is not None:
            return static(e, site)
    if callee.op == "super":
        return None
    value = e.value(callee, path, env)
    if value is None:
        return None
    return any_of([_result_for(site, one) for one in alternatives(value)])


def _result_for(site: CallSite, value: TsValue) -> TsValue | None:
    if value.kind == "outside":
        return OUTSIDE
    if value.kind == "method":
        return method_result(site, value)
    if value.kind == "class":
        return site.e.instance(value)
    signature = choose(site, signatures(site.e, value))
    if signature is None:
        return OUTSIDE if value.kind in ("literal", "generic") else None
    return result(site.e, signature, environment(site, signature, signature.term.kids[0].kids))


def _new(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    callee = term.kids[0].kids[0]
    value = e.value(callee, path, env)
    site = CallSite(e, term, path, env)
    if value is None:
        return None
    if value.kind == "outside":
        if callee.op == "name" and callee.text in GENERICS:
            return GENERICS[callee.text](e, tuple([e.value(kid, path, env) for kid in site.type_arguments]))
        return OUTSIDE
    if value.kind == "class":
        among = constructors(e, value)
        signature = choose(site, among) or TsValue("signature", EMPTY_FUNCTION, value.path)
        variables = value.term.kids[0].kids
        made = environment(site, signature._replace(path=value.path), variables)
        return TsValue(
            "thing", value.term, value.path, {**value.env, **{one.text: made[one.text] for one in variables}}
        )
    return e.instance(value)


EMPTY_FUNCTION = TsTerm("fn", kids=(TsTerm("variables"), TsTerm("parameters"), NOTHING))


def _constructor(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return e.value(term.kids[0], path, env)


def _instance_of(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return e.instance(e.value(term.kids[0], path, env))


def _argument(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Return the type that a call expects at a position."""
    callee = term.kids[0]
    value = e.value(callee, path, env)
    site = CallSite(e, term, path, env)
    expected: list[TsValue | None] = []
    for one in alternatives(value):
        if one.kind == "outside":
            expected.append(OUTSIDE)
        elif one.kind == "method":
            expected.append(method_callback(site, one))
        else:
            listed = constructors(e, one) if callee.op in ("constructor", "super") else signatures(e, one)
            signature = choose(site, listed)
            if signature is not None:
                bound = environment(site, signature, signature.term.kids[0].kids)
                expected.append(parameter(e, signature, term.n, bound))
    return any_of(expected)


def _parameter_of(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Return the type that an expected function receives at a position."""
    found: list[TsValue | None] = []
    for one in alternatives(e.value(term.kids[0], path, env)):
        if one.kind == "outside":
            found.append(OUTSIDE)
        elif one.kind == "callback":
            found.append(one.parts[term.n] if term.n < len(one.parts) else None)
        else:
            found += [parameter(e, signature, term.n, signature.env) for signature in signatures(e, one)[:3]]
    return any_of(found)


def _rest_of(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return generic("Array", _parameter_of(e, term, path, env))


def _result_of(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return any_of([returned(e, one) for one in alternatives(e.value(term.kids[0], path, env))])


OPERATIONS: dict[str, Callable[[TsEvaluator, TsTerm, str, Env], TsValue | None]] = {
    "call": _call,
    "new": _new,
    "constructor": _constructor,
    "instance_of": _instance_of,
    "argument": _argument,
    "parameter_of": _parameter_of,
    "rest_of": _rest_of,
    "result_of": _result_of,
}
