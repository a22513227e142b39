"""Evaluation of each operation of a term."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treering.code.languages.typescript import calls, members
from treering.code.languages.typescript.signatures import signatures
from treering.code.languages.typescript.terms import COMMONJS, NAMED, TYPE, TsTerm
from treering.code.languages.typescript.values import OUTSIDE, UNKNOWN, Env, TsValue, any_of, generic

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator

LazyValue = Callable[[], TsValue | None]
"""A value that is evaluated when it is needed."""


def _name(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    if term.n:
        bound, found = e.local(term, term.text)
        if found and bound is not None:
            return e.value(bound, path, env)
    return e.top(path, term.text)


def declared(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Return the target of a type's name, before arguments are applied and aliases followed."""
    head, _, rest = term.text.partition(".")
    bound, local = e.local(term, (head if rest else TYPE + head)) if term.n else (None, False)
    if local and bound is not None:
        found = e.value(bound, path, env)
    else:
        found = e.top(path, head if rest else TYPE + head)
        if found is not None and found.kind == "outside" and not rest:
            found = e.top(path, head)
    for part in rest.split(".") if rest else ():
        found = members.member(e, found, TYPE + part) or members.member(e, found, part)
    return found


def _type(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Return a named type with its arguments applied."""
    arguments = tuple([e.lazy(kid, path, env) for kid in term.kids]) if term.kids else ()
    found = declared(e, term, path, env)
    if found is not None and found.kind == "outside":
        builtin = members.GENERICS.get(term.text)
        if builtin is not None:
            return builtin(e, tuple([argument() for argument in arguments]))
        return generic(term.text, *[UNKNOWN for _ in arguments])
    return applied(e, found, arguments)


def applied(e: TsEvaluator, value: TsValue | None, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    """Apply type arguments: an alias is followed, a class becomes its instance type."""
    if value is None:
        return None
    apply = APPLIED.get(value.kind)
    return apply(e, value, arguments) if apply is not None else value


def _applied_to_any(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    return any_of([applied(e, part, arguments) for part in value.parts])


def _applied_to_all(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    return value._replace(parts=tuple(applied(e, part, arguments) or part for part in value.parts))


def _applied_to_class(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    return TsValue("thing", value.term, value.path, {**value.env, **type_environment(e, value, arguments)})


def _applied_to_thing(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    if value.term.op not in ("interface", "class") or not arguments:
        return value
    return value._replace(env={**value.env, **type_environment(e, value, arguments)})


def _applied_to_alias(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> TsValue | None:
    if not value.term.kids[0].kids:
        return e.value(value.term.kids[1], value.path, value.env)
    key = id(value.term)
    if e.following.count(key) >= MAX_ALIAS_RECURSION or len(e.following) > MAX_ALIAS_DEPTH:
        return None
    e.following.append(key)
    env = {**value.env, **type_environment(e, value, arguments)}
    found = e.value(value.term.kids[1], value.path, env or ALIAS_ENV)
    e.following.pop()
    return found


APPLIED: dict[str, Callable[[TsEvaluator, TsValue, tuple[LazyValue, ...]], TsValue | None]] = {
    "any of": _applied_to_any,
    "all of": _applied_to_all,
    "class": _applied_to_class,
    "thing": _applied_to_thing,
    "alias": _applied_to_alias,
}

MAX_ALIAS_RECURSION = 2
"""Maximum recursion of an alias."""

MAX_ALIAS_DEPTH = 10
"""Maximum nesting of aliases."""

ALIAS_ENV: Env = {"": None}
"""Not empty, so that the value of an alias is not cached across different arguments."""


def type_environment(e: TsEvaluator, value: TsValue, arguments: tuple[LazyValue, ...]) -> Env:
    """Bind the type variables of a class, interface or alias: to its arguments, else to their defaults."""
    env: Env = {}
    for position, variable in enumerate(value.term.kids[0].kids if value.term.kids else ()):
        if position < len(arguments):
            env[variable.text] = arguments[position]
        elif len(variable.kids) > 1 and variable.kids[1].op != "none":
            env[variable.text] = e.lazy(variable.kids[1], value.path, env)
            e.circular.append(env)
    return env


def _applied(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    arguments = tuple([e.lazy(kid, path, env) for kid in term.kids[1:]])
    return applied(e, e.value(term.kids[0], path, env), arguments)


def _variable(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """A type variable: its binding, else its constraint."""
    if term.text in env:
        bound = env[term.text]
        if callable(bound):
            env[term.text] = None
            bound = bound()
            env[term.text] = bound
        if bound is not None:
            return bound
    return e.value(term.kids[0], path, env) if term.kids else None


def _import(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    target = e.locator.find(path, term.text)
    if target is None:
        return None if term.text.startswith((".", "#")) else OUTSIDE
    if term.n == NAMED:
        return e.exported(target, term.kids[0].text)
    if term.n == COMMONJS:
        whole = e.exported(target, "=")
        if whole is not None and whole.kind != "unknown":
            more = e.exports_more(target)
            return (
                TsValue("all of", parts=(whole, TsValue("module", path=target)), target=whole.target) if more else whole
            )
    return TsValue("module", path=target)


def _var(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """A variable: its type, with the function it holds as the call target."""
    kind, bound = term.kids[0], term.kids[1]
    typed = e.value(kind, path, env) if kind.op != "none" else None
    if bound.op == "fn" and bound.text:
        function = e.value(bound, path, env)
        if typed is None or function is None:
            return function
        return function._replace(parts=signatures(e, typed) or function.parts)
    if typed is None:
        values = [e.value(kid, path, env) for kid in term.kids[1:]]
        typed = any_of(values)
    if term.text:
        target = f"{path}::{term.text}"
        return typed._replace(target=target) if typed is not None else TsValue("opaque", target=target)
    return typed


def _function(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    signature = TsValue("signature", term, path, env)
    target = f"{path}::{term.text}" if term.text else None
    return TsValue("function", parts=(signature,), target=target)


def _class(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return TsValue("class", term, path, env, target=f"{path}::{term.text}" if term.text else None)


def _thing(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return TsValue("thing", term, path, env)


def _alias(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return TsValue("alias", term, path, env)


def _merge(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Declarations of one name: overloads become one function, everything else is merged."""
    values = [e.value(kid, path, env) for kid in _declarations(term)]
    found = [value for value in values if value is not None]
    functions = [value for value in found if value.kind == "function"]
    if functions:
        parts = tuple(signature for value in functions for signature in value.parts)
        function = functions[0]._replace(parts=_without_implementation(parts))
        others = [value for value in found if value.kind != "function"]
        return function if not others else TsValue("all of", parts=(function, *others), target=function.target)
    if len(found) < 2:
        return found[0] if found else None
    flat = [part for value in found for part in (value.parts if value.kind == "all of" else (value,))]
    return TsValue("all of", parts=tuple(flat), target=found[0].target or flat[0].target)


def _declarations(term: TsTerm) -> list[TsTerm]:
    """Return the declarations in source order: each one was joined to all before."""
    declarations: list[TsTerm] = []
    while term.op == "merge":
        declarations.append(term.kids[1])
        term = term.kids[0]
    return [term, *reversed(declarations)]


def _without_implementation(parts: tuple[TsValue, ...]) -> tuple[TsValue, ...]:
    """Return the overloads that callers see: without the last one, which has the body."""
    return parts[:-1] if len(parts) > 1 else parts


def _this(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    bound = env.get("this")
    if bound is not None and not callable(bound):
        return bound
    if term.n:
        own = e.value(e.terms[e.body.classes[term.n]], path)
        return e.instance(own) if own is not None and own.kind == "class" else own
    return None


def _static(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    bound = env.get("this")
    if isinstance(bound, TsValue) and bound.kind == "class":
        return bound
    return e.value(e.terms[e.body.classes[term.n]], path) if term.n else None


def _super(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    if not term.n:
        return None
    own = e.terms[e.body.classes[term.n]]
    for base in own.kids[1].kids:
        if base.op == "extends":
            return e.value(base, path)
    return OUTSIDE


def _extends(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """Return the instance type of what an `extends` names."""
    arguments = tuple([e.lazy(kid, path, env) for kid in term.kids[1:]])
    value = e.value(term.kids[0], path, env)
    if value is not None and value.kind == "class":
        return applied(e, value, arguments)
    builtin = members.GENERICS.get(term.kids[0].text) if value is OUTSIDE else None
    if builtin is not None:
        return builtin(e, tuple([argument() for argument in arguments]))
    return e.instance(value)


def _either(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return any_of(e.value(kid, path, env) for kid in term.kids)


def _both(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    found = [value for value in (e.value(kid, path, env) for kid in term.kids) if value is not None]
    return found[0] if len(found) == 1 else TsValue("all of", parts=tuple(found)) if found else None


def _literal(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    if term.text in ("any", "unknown"):
        return None
    word = term.kids[0].text if term.kids else ""
    return TsValue("literal", text=term.text, path=word)


def _array(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    parts = tuple([e.value(kid, path, env) or UNKNOWN for kid in term.kids])
    return TsValue("generic", text="Tuple", parts=parts)


def _list(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return generic("Array", e.value(term.kids[0], path, env))


def _promise(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return generic("Promise", e.value(term.kids[0], path, env))


def _cast(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return e.value(term.kids[0], path, env) or e.value(term.kids[1], path, env)


def _typeof(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    found = e.value(term.kids[0], path, env)
    return found._replace(target=None) if found is not None and found.kind != "class" else found


def _own(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    whole = e.export_term(path, "=")
    return e.value(whole, path) if whole is not None and whole.op != "own" else TsValue("module", path=path)


def _outside(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return OUTSIDE


OPERATIONS: dict[str, Callable[[TsEvaluator, TsTerm, str, Env], TsValue | None]] = {
    "name": _name,
    "type": _type,
    "declared": declared,
    "applied": _applied,
    "variable": _variable,
    "import": _import,
    "var": _var,
    "fn": _function,
    "class": _class,
    "interface": _thing,
    "shape": _thing,
    "obj": _thing,
    "space": _thing,
    "enum": _thing,
    "alias": _alias,
    "merge": _merge,
    "this": _this,
    "static": _static,
    "super": _super,
    "extends": _extends,
    "either": _either,
    "union": _either,
    "both": _both,
    "literal": _literal,
    "array": _array,
    "tuple": _array,
    "list": _list,
    "promise": _promise,
    "cast": _cast,
    "typeof": _typeof,
    "own": _own,
    "outside": _outside,
    **members.OPERATIONS,
    **calls.OPERATIONS,
}
