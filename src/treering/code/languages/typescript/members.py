"""Members of values: of classes and their bases, types, objects, modules and built-in types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treering.code.languages.typescript.terms import GETTER, INDEX, MAPPED, STATIC, TsTerm
from treering.code.languages.typescript.values import OUTSIDE, UNKNOWN, Env, TsValue, any_of, generic, known

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator

SEQUENCES = frozenset(("Array", "Tuple", "Set"))
CALLED_FUNCTION = frozenset(("bind", "call", "apply"))


def member(e: TsEvaluator, value: TsValue | None, name: str) -> TsValue | None:
    """Return the member of a value; None if it has none of that name, or if it is unknown."""
    if value is None or e.depth > 70:
        return None
    reader = MEMBERS.get(value.kind)
    if reader is None:
        return None
    e.depth += 1
    found = known(reader(e, value, name))
    e.depth -= 1
    return found


def _of_thing(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    term = value.term
    if term.op == "enum":
        return TsValue("literal", text="enum")
    if term.op in ("class", "interface"):
        return _of_declared(e, value, name, static=False)
    fields = fields_of(e, term)
    if name in fields:
        return _field(e, fields[name], value)
    for spread in fields.get("...", ()):
        found = member(e, e.value(spread.kids[0], value.path, value.env), name)
        if found is not None:
            return found
    if MAPPED in fields:
        return _mapped(e, fields[MAPPED][0], value, name)
    return _indexed(e, fields, value)


def _mapped(e: TsEvaluator, field: TsTerm, value: TsValue, name: str) -> TsValue | None:
    """Return a member of a mapped type: it corresponds to the same member of the source type."""
    kind, over = field.kids
    found = e.value(kind, value.path, {**value.env, field.text: TsValue("literal", text="string", path=name)})
    if over.op == "none":
        return found
    own = member(e, e.value(over, value.path, value.env), name)
    target = own.target if own is not None else None
    if found is None:
        return TsValue("opaque", target=target) if target is not None else None
    return found._replace(target=target)


def _indexed(e: TsEvaluator, fields: dict[str, list[TsTerm]], value: TsValue) -> TsValue | None:
    """Return the type that an index signature gives every name."""
    for name in (INDEX, MAPPED):
        if name in fields:
            return e.value(fields[name][0].kids[0], value.path, value.env)
    return None


def _of_declared(e: TsEvaluator, value: TsValue, name: str, *, static: bool) -> TsValue | None:
    """Return a member of a class or interface; own members take precedence over inherited ones."""
    fields = fields_of(e, value.term.kids[2])
    own = [field for field in fields.get(name, ()) if bool(field.n & STATIC) == static]
    if own:
        return _field(e, own, value)
    for base in value.term.kids[1].kids:
        found = member(e, base_of(e, base, value, static=static), name)
        if found is not None:
            return found
    return None if static else _indexed(e, fields, value)


def base_of(e: TsEvaluator, base: TsTerm, value: TsValue, *, static: bool = False) -> TsValue | None:
    """Return the base of a class or interface with its type arguments; on the static side, the class itself."""
    if static:
        return e.value(base.kids[0], value.path, value.env) if base.op == "extends" else None
    env = {key: bound for key, bound in value.env.items() if key != "this"}
    found = e.value(base, value.path, env)
    if found is not None and found.kind == "thing":
        this = value.env.get("this") or value
        return found._replace(env={**found.env, "this": this})
    return found


NAMELESS = {"spread": "...", "mapped": MAPPED}


def fields_of(e: TsEvaluator, holder: TsTerm) -> dict[str, list[TsTerm]]:
    """Return a term's members by name; spread objects are under `...`."""
    key = id(holder)
    if key not in e.fields:
        table: dict[str, list[TsTerm]] = {}
        for kid in holder.kids:
            table.setdefault(NAMELESS.get(kid.op) or kid.text, []).append(kid)
        e.fields[key] = table
        e.keep_alive(holder)
    return e.fields[key]


def _field(e: TsEvaluator, fields: list[TsTerm], value: TsValue) -> TsValue | None:
    """Return a member's value; several of one name are overloads."""
    this = value.env.get("this") or value
    env: Env = {**value.env, "this": this}
    field = fields[0]
    kind, member_term = field.kids
    if field.n & GETTER:
        return e.value(kind, value.path, env)
    if len(fields) > 1:
        functions = [part for one in fields for part in one.kids if part.op == "fn"]
        if functions:
            visible = functions[:-1] if len(functions) > 1 and value.term.op == "class" else functions
            target = f"{value.path}::{functions[0].text}" if functions[0].text else None
            parts = tuple([TsValue("signature", function, value.path, env) for function in visible])
            return TsValue("function", parts=parts, target=target)
    if member_term.op == "fn" and member_term.text and kind.op != "none":
        typed, function = e.value(kind, value.path, env), e.value(member_term, value.path, env)
        if function is not None and typed is not None:
            return function._replace(parts=e.signatures(typed) or function.parts)
        return function
    typed = e.value(kind, value.path, env) if kind.op != "none" else None
    return typed if typed is not None else e.value(member_term, value.path, env)


def _of_class(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    if name == "prototype":
        return e.instance(value)
    return _of_declared(e, value, name, static=True)


def _of_module(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    return e.exported(value.path, name)


def _of_any(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    return any_of([member(e, part, name) for part in value.parts])


def _of_all(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    elsewhere: TsValue | None = None
    for part in value.parts:
        found = member(e, part, name)
        if found is not None and found.kind not in ("outside", "method"):
            return found
        if found is not None and (elsewhere is None or elsewhere.kind == "outside"):
            elsewhere = found
    return elsewhere


def _of_function(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    return TsValue("method", text=name, parts=(value,)) if name in CALLED_FUNCTION else OUTSIDE


def _of_generic(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    if value.text == "Record":
        return value.parts[1] if len(value.parts) > 1 else None
    if value.text in FAMILIES:
        return TsValue("method", text=name, parts=(value,))
    return OUTSIDE


def _outside(e: TsEvaluator, value: TsValue, name: str) -> TsValue | None:
    return OUTSIDE


MEMBERS: dict[str, Callable[[TsEvaluator, TsValue, str], TsValue | None]] = {
    "thing": _of_thing,
    "class": _of_class,
    "module": _of_module,
    "any of": _of_any,
    "all of": _of_all,
    "function": _of_function,
    "generic": _of_generic,
    "literal": _outside,
    "outside": _outside,
}


def element(e: TsEvaluator, value: TsValue | None) -> TsValue | None:
    """Return the result of iterating over a value, or of indexing it with an unknown key."""
    if value is None:
        return None
    if value.kind == "any of":
        return any_of([element(e, part) for part in value.parts])
    if value.kind == "thing":
        return _indexed(e, fields_of(e, _holder(value.term)), value)
    if value.kind == "generic":
        return _generic_element(value)
    return OUTSIDE if value.kind in ("outside", "literal") else None


def _generic_element(value: TsValue) -> TsValue | None:
    if value.text in SEQUENCES:
        return any_of(list(value.parts))
    if value.text == "Map":
        return generic("Tuple", *value.parts)
    if value.text == "Record":
        return value.parts[1] if len(value.parts) > 1 else None
    return OUTSIDE


def _holder(term: TsTerm) -> TsTerm:
    return term.kids[2] if term.op in ("class", "interface") else term


def at(e: TsEvaluator, value: TsValue | None, position: int) -> TsValue | None:
    """Return the element at a position."""
    if value is not None and value.kind == "generic" and value.text == "Tuple" and position < len(value.parts):
        return value.parts[position]
    if value is not None and value.kind == "any of":
        return any_of([at(e, part, position) for part in value.parts])
    return element(e, value)


def awaited(value: TsValue | None) -> TsValue | None:
    if value is None:
        return None
    if value.kind == "generic" and value.text == "Promise":
        return awaited(value.parts[0]) if value.parts and value.parts[0].kind != "unknown" else None
    if value.kind == "any of":
        return any_of([awaited(part) for part in value.parts])
    return value


def _member(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return member(e, e.value(term.kids[0], path, env), term.text)


def _at(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return at(e, e.value(term.kids[0], path, env), term.n)


def _element(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return element(e, e.value(term.kids[0], path, env))


def _await(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    return awaited(e.value(term.kids[0], path, env))


def _lookup(e: TsEvaluator, term: TsTerm, path: str, env: Env) -> TsValue | None:
    """`Type['name']`, `Type[number]`."""
    of, by = e.value(term.kids[0], path, env), term.kids[1]
    if by.op == "literal" and by.kids:
        return _without_target(member(e, of, by.kids[0].text))
    if by.op == "variable":
        key = e.value(by, path, env)
        if key is not None and key.kind == "literal" and key.path:
            return _without_target(member(e, of, key.path))
    return element(e, of) if by.op == "literal" and by.text == "number" else None


def _without_target(value: TsValue | None) -> TsValue | None:
    return value._replace(target=None) if value is not None else None


OPERATIONS: dict[str, Callable[[TsEvaluator, TsTerm, str, Env], TsValue | None]] = {
    "member": _member,
    "at": _at,
    "element": _element,
    "await": _await,
    "lookup": _lookup,
}

FAMILIES = frozenset(("Array", "Tuple", "Set", "Map", "Promise"))

Arguments = tuple[TsValue | None, ...]


def _wrapping(text: str) -> Callable[[TsEvaluator, Arguments], TsValue | None]:
    return lambda e, arguments: generic(text, *(arguments or (UNKNOWN,)))


def _first(e: TsEvaluator, arguments: Arguments) -> TsValue | None:
    return arguments[0] if arguments else None


def _awaited(e: TsEvaluator, arguments: Arguments) -> TsValue | None:
    return awaited(arguments[0]) if arguments else None


def _instance(e: TsEvaluator, arguments: Arguments) -> TsValue | None:
    return e.instance(arguments[0]) if arguments else None


def _returned(e: TsEvaluator, arguments: Arguments) -> TsValue | None:
    return e.returned(arguments[0]) if arguments else None


GENERICS: dict[str, Callable[[TsEvaluator, Arguments], TsValue | None]] = {
    **{name: _wrapping("Array") for name in ("Array", "ReadonlyArray", "Iterable", "AsyncIterable", "Iterator")},
    **{name: _wrapping("Array") for name in ("Generator", "AsyncGenerator", "IterableIterator", "AsyncIterator")},
    **{name: _wrapping("Promise") for name in ("Promise", "PromiseLike")},
    **{name: _wrapping("Map") for name in ("Map", "ReadonlyMap", "WeakMap")},
    **{name: _wrapping("Set") for name in ("Set", "ReadonlySet", "WeakSet")},
    **dict.fromkeys(("Partial", "Required", "Readonly", "NonNullable", "Pick", "Omit", "Exclude"), _first),
    **dict.fromkeys(("Extract", "NoInfer", "ThisType", "WeakRef"), _first),
    "Record": _wrapping("Record"),
    "Awaited": _awaited,
    "InstanceType": _instance,
    "ReturnType": _returned,
}
"""Built-in generic types, unless the project declares one of the same name."""
