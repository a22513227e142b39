"""Reference edges of a file: types, values, tables of functions, errors that are thrown and caught."""

from collections.abc import Iterator, Mapping, Sequence

from treering.code.facts import Definition, DefinitionKind, Facts
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.code.languages.references import CodeReference, add_references
from treering.code.languages.typescript.evaluator import TsEvaluator
from treering.code.languages.typescript.members import base_of, fields_of
from treering.code.languages.typescript.operations import declared
from treering.code.languages.typescript.terms import CAUGHT, GETTER, LISTED, NAMED_TYPE, THROWN, VALUE, TsTerm
from treering.code.languages.typescript.values import TsValue, alternatives
from treering.core.graph import EdgeKind

_KINDS = {
    VALUE: EdgeKind.REFERENCES,
    NAMED_TYPE: EdgeKind.ANNOTATES,
    THROWN: EdgeKind.RAISES,
    CAUGHT: EdgeKind.CATCHES,
    LISTED: EdgeKind.REGISTERS,
}
_MAX_BASES = 20
_FUNCTIONS = frozenset((DefinitionKind.FUNCTION, DefinitionKind.METHOD))
_NAMED_VALUES = frozenset(("enum", "space"))


def add_uses(e: TsEvaluator, edges: EdgeSet, owners: tuple[str, ...]) -> None:
    for use in e.body.uses:
        e.reset_steps()
        term = e.terms[use.term]
        origin = e.path if use.origin < 0 else f"{e.path}::{owners[use.origin]}"
        confidence = SURE if term.op != "member" else EVIDENT
        targets = dict.fromkeys(_types(e, term) if use.how == NAMED_TYPE else _values(e, term))
        add_references(edges, [CodeReference(origin, each, _KINDS[use.how], use.line, confidence) for each in targets])


def _types(e: TsEvaluator, term: TsTerm) -> Iterator[str]:
    for value in _parts(declared(e, term, e.path, {})):
        target = value.target or type_id(value)
        if target is not None:
            yield target


def _values(e: TsEvaluator, term: TsTerm) -> Iterator[str]:
    """The definition that a name or member refers to; never that of the type of a variable."""
    if term.op == "member":
        yield from _getters(e, e.value(term.kids[0], e.path), term.text)
    for value in _parts(e.value(term, e.path)):
        target = value.target
        if target is None and value.kind == "thing" and value.term.op in _NAMED_VALUES:
            target = type_id(value)
        # A field that holds a function of another name is a use of the field.
        if target is not None and (term.op != "member" or target.endswith((f".{term.text}", f"::{term.text}"))):
            yield target


def _getters(e: TsEvaluator, receiver: TsValue | None, name: str, depth: int = 0) -> Iterator[str]:
    """The accessors that reading a member runs: of the class of the receiver, or else of its bases."""
    for value in (part for one in alternatives(receiver) for part in (one.parts if one.kind == "all of" else (one,))):
        if value.kind != "thing" or value.term.op != "class" or depth > _MAX_BASES:
            continue
        fields = fields_of(e, value.term.kids[2]).get(name)
        if fields is None:
            for base in value.term.kids[1].kids:
                yield from _getters(e, base_of(e, base, value), name, depth + 1)
        elif fields[0].n & GETTER and value.term.text:
            yield f"{value.path}::{value.term.text}.{name}"


def _parts(value: TsValue | None) -> Iterator[TsValue]:
    """A value with a definition of its own, else its alternatives."""
    if value is not None and value.target is not None:
        yield value
        return
    for one in alternatives(value):
        yield from one.parts if one.kind == "all of" and one.target is None else (one,)


def type_id(value: TsValue) -> str | None:
    """The id of a class, interface, alias or enum."""
    if value.kind in ("thing", "class", "alias") and value.term.text and value.term.op != "space":
        return f"{value.path}::{value.term.text}"
    return None


def add_created(edges: EdgeSet, facts: Facts) -> None:
    """Add an edge to each function that an expression creates, an object's method or a nested function: the definition
    around it (the variable that holds the object, else the file) hands it to code that may call it."""
    by_name = {each.qualname: each for each in facts.definitions}
    holders = _holders(facts.definitions)
    for made in facts.definitions:
        around = by_name.get(made.qualname.rpartition(".")[0])
        if around is None and made.kind is DefinitionKind.METHOD:
            around = holders.get(made)
        elif around is None or around.kind not in _FUNCTIONS or made.kind not in _FUNCTIONS:
            continue
        origin = facts.path if around is None else f"{facts.path}::{around.qualname}"
        target = f"{facts.path}::{made.qualname}"
        kind = EdgeKind.REGISTERS if made.kind is DefinitionKind.METHOD else EdgeKind.REFERENCES
        add_references(edges, [CodeReference(origin, target, kind, made.line, EVIDENT)])


def _holders(definitions: Sequence[Definition]) -> Mapping[Definition, Definition]:
    """The innermost variable around the lines of each other definition; the first of those with the same lines."""
    found: dict[Definition, Definition] = {}
    around: list[Definition] = []
    for each in sorted(definitions, key=_outer_first):
        while around and around[-1].end_line < each.line:
            around.pop()
        if each.kind is not DefinitionKind.CONSTANT:
            holder = next((one for one in reversed(around) if each.end_line <= one.end_line), None)
            if holder is not None:
                found[each] = holder
        elif not around or (around[-1].line, around[-1].end_line) != (each.line, each.end_line):
            around.append(each)
    return found


def _outer_first(definition: Definition) -> tuple[int, int, bool]:
    return definition.line, -definition.end_line, definition.kind is not DefinitionKind.CONSTANT
