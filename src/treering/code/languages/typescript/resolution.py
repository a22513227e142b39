"""The edges of a file: imports, calls, base types and exports."""

from treering.code.facts import Edge, Facts, Resolved, SymbolLookup, Unresolved
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet, add_constructors
from treering.code.languages.typescript.evaluator import TsEvaluator
from treering.code.languages.typescript.members import base_of, fields_of, member
from treering.code.languages.typescript.operations import declared
from treering.code.languages.typescript.reference_edges import add_created, add_uses, type_id
from treering.code.languages.typescript.terms import STATIC, TYPE, TsBody, TsTerm
from treering.code.languages.typescript.values import OUTSIDE, TsValue, alternatives
from treering.core.graph import EdgeKind

ONE_OF_FEW = 0.7
DIRECT = frozenset(("name", "constructor", "this", "super"))
MAX_TEXT = 120
_CONSTRUCTORS = frozenset({"constructor"})


def resolve(facts: Facts, lookup: SymbolLookup) -> Resolved:
    body: TsBody = facts.body
    if not body.scopes:
        return Resolved((), ())
    evaluator = TsEvaluator(facts.path, body, lookup)
    edges = _TsEdges(facts)
    _imports(evaluator, edges)
    _heritage(evaluator, edges)
    _calls(evaluator, edges)
    _exports(evaluator, edges)
    add_uses(evaluator, edges, body.owners)
    _passed_modules(evaluator, edges)
    add_created(edges, facts)
    add_constructors(edges, facts, _CONSTRUCTORS)
    evaluator.clear()
    return Resolved(edges.all(), tuple(edges.unresolved.values()))


class _TsEdges(EdgeSet):
    """Edges found so far; definitions are referred to by number."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.facts = facts
        self.lines = {definition.qualname: definition.line for definition in facts.definitions}
        self.unresolved: dict[tuple[str, str, int], Unresolved] = {}

    def origin(self, number: int) -> str:
        if number < 0:
            return self.facts.path
        return f"{self.facts.path}::{self.facts.body.owners[number]}"


def _imports(e: TsEvaluator, edges: _TsEdges) -> None:
    for specifier, line in e.body.imports:
        target = e.locator.find(e.path, specifier)
        if target is not None and target != e.path:
            edges.add(Edge(e.path, target, EdgeKind.IMPORTS, SURE, line))
        elif target is None and specifier.startswith("."):
            edges.unresolved[(e.path, specifier, line)] = Unresolved(e.path, specifier, line)


def _calls(e: TsEvaluator, edges: _TsEdges) -> None:
    for call in e.body.calls:
        callee = e.terms[call.term].kids[0]
        e.reset_steps()
        value = e.value(callee, e.path)
        if value is OUTSIDE:
            continue
        origin = edges.origin(call.origin)
        if value is None:
            if callee.op != "super":
                text = source_text(callee)
                edges.unresolved.setdefault((origin, text, call.line), Unresolved(origin, text, call.line))
            continue
        found = [value] if value.target is not None else [one for one in alternatives(value) if _is_callable(one)]
        targets = dict.fromkeys(target for one in found if (target := target_of(one)) is not None)
        base = SURE if callee.op in DIRECT else EVIDENT
        confidence = base if len(targets) < 2 else ONE_OF_FEW
        for target in targets:
            edges.add(Edge(origin, target, EdgeKind.CALLS, confidence, call.line, call.flow))
        if not targets and any(one.kind in ("function", "thing", "opaque") for one in found):
            text = source_text(callee)
            edges.unresolved.setdefault((origin, text, call.line), Unresolved(origin, text, call.line))


def target_of(value: TsValue) -> str | None:
    """Return the definition that calling a value runs."""
    if value.target is not None:
        return value.target
    if value.kind == "all of":
        return next((part.target for part in value.parts if part.target is not None), None)
    return None


def _is_callable(value: TsValue) -> bool:
    """Exclude results of operators and instances: they are never called, even if a variable may hold them."""
    if value.kind == "literal" or (value.kind == "thing" and value.term.op == "class"):
        return False
    return value.kind != "outside" or value.target is not None


def _heritage(e: TsEvaluator, edges: _TsEdges) -> None:
    for one in e.body.heritage:
        origin = edges.origin(one.definition)
        e.reset_steps()
        term = e.terms[one.base]
        meant = declared(e, term, e.path, {}) if term.op == "type" else e.value(term, e.path)
        for base in alternatives(meant):
            for part in base.parts if base.kind == "all of" else (base,):
                target = part.target if term.op == "member" else type_id(part)
                if target is not None and target != origin:
                    kind = EdgeKind.IMPLEMENTS if one.implements else EdgeKind.EXTENDS
                    edges.add(Edge(origin, target, kind, SURE, one.line))
    for number in e.body.classes[1:]:
        _overrides(e, e.terms[number], edges)


def _overrides(e: TsEvaluator, term: TsTerm, edges: _TsEdges) -> None:
    """Add an edge for each method of a class that overrides one of a base."""
    if term.op != "class" or not term.text or not term.kids[1].kids:
        return
    value = TsValue("thing", term, e.path)
    for base in term.kids[1].kids:
        above = base_of(e, base, value)
        for name, fields in fields_of(e, term.kids[2]).items():
            method = fields[0].kids[0] if fields[0].kids[0].op == "fn" else fields[0].kids[1]
            if name == "constructor" or fields[0].n & STATIC or method.op != "fn" or not method.text:
                continue
            e.reset_steps()
            overridden = member(e, above, name)
            target = overridden.target if overridden is not None and overridden.kind == "function" else None
            if target is not None and target != f"{e.path}::{method.text}":
                origin = f"{e.path}::{method.text}"
                edges.add(Edge(origin, target, EdgeKind.IMPLEMENTS, EVIDENT, edges.lines.get(method.text, 1)))


def _exports(e: TsEvaluator, edges: _TsEdges) -> None:
    names = dict.fromkeys(e.body.exports)
    for name in names:
        _export(e, edges, e.path, name)
    for specifier in e.body.stars:
        target = e.locator.find(e.path, specifier)
        if target is not None:
            for name in _all_exports(e, target):
                if name not in names and name.removeprefix(TYPE) != "default":
                    _export(e, edges, target, name)


def _passed_modules(e: TsEvaluator, edges: _TsEdges) -> None:
    """Add the exports of a module that is passed on as a whole: `import * as rules` and `run(rules)`."""
    selected = {term.kids[0] for term in e.terms if term.op == "member"}
    for use in e.body.uses:
        term = e.terms[use.term]
        if term.op != "name" or term in selected:
            continue
        e.reset_steps()
        module = e.value(term, e.path)
        if module is None or module.kind != "module":
            continue
        for name in _all_exports(e, module.path):
            e.reset_steps()
            exported = e.exported(module.path, name)
            if exported is not None and exported.target is not None:
                origin = edges.origin(use.origin)
                edges.add(Edge(origin, exported.target, EdgeKind.DEPENDS_LOGICALLY, ONE_OF_FEW, use.line))


def _all_exports(e: TsEvaluator, path: str) -> dict[str, None]:
    """Return the names that a file exports, including `export *`."""
    names: dict[str, None] = {}
    seen: set[str] = set()
    pending = [path]
    while pending:
        current = pending.pop(0)
        if current in seen or current == e.path:
            continue
        seen.add(current)
        for _, listed in e.lookup("ts.exports", current):
            names.update(dict.fromkeys(listed))
        for _, specifiers in e.lookup("ts.stars", current):
            found = (e.locator.find(current, specifier) for specifier in specifiers)
            pending += [target for target in found if target is not None]
    return names


def _export(e: TsEvaluator, edges: _TsEdges, path: str, name: str) -> None:
    e.reset_steps()
    value = e.exported(path, name)
    for one in alternatives(value):
        for part in one.parts if one.kind == "all of" else (one,):
            target = part.target or type_id(part)
            if target is not None:
                edges.add(Edge(e.path, target, EdgeKind.EXPORTS, SURE, 1))


def source_text(term: TsTerm) -> str:
    """Return the approximate source text of a callee."""
    parts: list[str] = []
    while True:
        if term.op == "member":
            parts.append("." + term.text)
            term = term.kids[0]
        elif term.op in ("call", "new"):
            parts.append("(…)")
            term = term.kids[0]
        elif term.op in WRAPPERS and term.kids:
            parts.append({"element": "[…]", "at": "[…]"}.get(term.op, ""))
            term = term.kids[0]
        else:
            parts.append({"name": term.text, "this": "this", "static": "this"}.get(term.op, "…"))
            return "".join(reversed(parts))[-MAX_TEXT:]


WRAPPERS = frozenset(("element", "at", "await", "constructor", "cast"))
