"""The edges of a Go file: imports, exports, calls, embedded and implemented types."""

from treering.code.facts import DefinitionKind, Edge, Facts, Resolved, SymbolLookup, Unresolved
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.code.languages.go.bases import BaseEdges
from treering.code.languages.go.body import GoBody, GoCall, GoExpression, WrittenType, directory_of, package_id
from treering.code.languages.go.error_sites import CAUGHT, RAISED
from treering.code.languages.go.errors import is_error
from treering.code.languages.go.expression_types import ExpressionTypes
from treering.code.languages.go.project import GoProject
from treering.code.languages.go.types import GoTypes, Known
from treering.code.languages.references import REFERENCE_KINDS, CodeReference, add_references
from treering.core.graph import EdgeKind

OTHER_BUILD = 0.5
"""A declaration of the same name under another build constraint."""

_USED_AS = {
    "var": EdgeKind.DEPENDS_LOGICALLY,
    "const": EdgeKind.DEPENDS_LOGICALLY,
    "func": EdgeKind.REFERENCES,
    "type": EdgeKind.ANNOTATES,
    "alias": EdgeKind.ANNOTATES,
}
"""Kind of edge for a name that is used without being called, by what it names."""
_ERROR_USES = {RAISED: EdgeKind.RAISES, CAUGHT: EdgeKind.CATCHES}


def edges_of_file(facts: Facts, lookup: SymbolLookup) -> Resolved:
    body: GoBody = facts.body
    if body.module is not None:
        return Resolved((), ())
    project = GoProject(facts.path, body.tags, lookup)
    types = GoTypes(project)
    package = package_id(directory_of(facts.path), body.package)
    unnamed_imports = tuple(WrittenType("import", each.path) for each in body.imports if not each.name)
    values = ExpressionTypes(types, body.bindings, facts.path, package, unnamed_imports)
    found = _GoFindings(facts)
    _imports(found, body, project)
    _exports(found)
    _calls(found, body, values)
    _uses(found, body, types, values, package)
    _members(found, body, values)
    BaseEdges(types, values.members, package, lookup).add(found.edges, facts.path, body.declared, facts.definitions)
    return Resolved(found.edges.all(), tuple(found.unresolved))


class _GoFindings:
    """Edges and unresolved uses found so far; definitions are referred to by index."""

    def __init__(self, facts: Facts) -> None:
        self.path = facts.path
        self.definitions = facts.definitions
        self.edges = EdgeSet(facts)
        self.unresolved: list[Unresolved] = []

    def is_variable(self, number: int) -> bool:
        return number >= 0 and self.definitions[number].kind is DefinitionKind.CONSTANT

    def id_of(self, number: int) -> str:
        return f"{self.path}::{self.definitions[number].qualname}" if number >= 0 else self.path


def _imports(found: _GoFindings, body: GoBody, project: GoProject) -> None:
    for each in body.imports:
        for path in project.files_of_import(each.path):
            if path != found.path:
                found.edges.add(Edge(found.path, path, EdgeKind.IMPORTS, SURE, each.line))


def _exports(found: _GoFindings) -> None:
    for number, each in enumerate(found.definitions):
        if each.exported and "." not in each.qualname:
            found.edges.add(Edge(found.path, found.id_of(number), EdgeKind.EXPORTS, SURE, each.line))


def _calls(found: _GoFindings, body: GoBody, values: ExpressionTypes) -> None:
    handed: dict[int, list[GoExpression]] = {}
    for each in body.handed:
        handed.setdefault(each.call, []).append(each.value)
    for number, call in enumerate(body.calls):
        values.bind_until(call.bound)
        known = values.resolve_call(call.function)
        targets = _targets(known)
        for value in handed.get(number, ()):
            _registrations(found, values, known, value, call.line)
        origin = found.id_of(call.caller)
        if targets is None:
            found.unresolved.append(Unresolved(origin, source_text(call.function), call.line))
        else:
            _edges_to(found, origin, targets, call)
    for route in body.routes:
        targets = _targets(values.resolve_handler(route.handler))
        for target in targets or ():
            if target.partition("::")[0] != found.path:
                found.edges.add(Edge(found.id_of(route.caller), target, EdgeKind.IS_ENTRYPOINT_FOR, SURE, route.line))


def _registrations(found: _GoFindings, values: ExpressionTypes, called: Known, value: GoExpression, line: int) -> None:
    """Add a function that `init` passes to one that keeps it in a variable: the readers of the variable may call it."""
    handed = values.resolve_handler(value)
    if called is None or called[0] != "func" or not called[3] or handed is None or handed[0] != "func":
        return
    for variable in values.kept_by(called[2][0], called[3][0].partition("::")[2]):
        references = [CodeReference(variable, each, EdgeKind.REGISTERS, line, EVIDENT) for each in handed[3] or ()]
        add_references(found.edges, references)


def _uses(found: _GoFindings, body: GoBody, types: GoTypes, values: ExpressionTypes, package: str) -> None:
    """Add uses of package-level names; a variable outside functions registers the functions that it holds."""
    for use in body.uses:
        home = package if use.imports is None else types.imported(use.imports)
        meant = types.project.name(home, use.name) if home is not None else None
        kind = _USED_AS.get(meant.declared.kind) if meant is not None else None
        if home is None or meant is None or kind is None:
            continue
        if use.how and is_error(meant.declared, home, values):
            kind = _ERROR_USES[use.how]
        origin = found.id_of(use.caller)
        for place, target in enumerate(meant.ids):
            confidence = OTHER_BUILD if place else SURE
            if kind in REFERENCE_KINDS:
                registers = kind is EdgeKind.REFERENCES and found.is_variable(use.caller)
                reference = CodeReference(
                    origin, target, EdgeKind.REGISTERS if registers else kind, use.line, confidence
                )
                add_references(found.edges, (reference,))
            elif target != origin and (use.caller >= 0 or target.partition("::")[0] != found.path):
                found.edges.add(Edge(origin, target, kind, confidence, use.line))


def _members(found: _GoFindings, body: GoBody, values: ExpressionTypes) -> None:
    """Add methods that are used as values."""
    for use in body.members:
        values.bind_until(use.bound)
        known = values.resolve_handler(use.member)
        if use.caught:
            caught = CodeReference(found.id_of(use.caller), "", EdgeKind.CATCHES, use.line, EVIDENT)
            add_references(found.edges, [caught._replace(target=each) for each in values.members.ids_of(known)])
            continue
        if known is None or known[0] != "func":
            continue
        origin, kind = found.id_of(use.caller), EdgeKind.REFERENCES
        # The type of a field may be a function with a name of its own.
        named = [target for target in known[3] or () if target.endswith(f".{use.member.name}")]
        add_references(found.edges, [CodeReference(origin, target, kind, use.line, EVIDENT) for target in named])


def _edges_to(found: _GoFindings, origin: str, targets: tuple[str, ...], call: GoCall) -> None:
    for place, target in enumerate(targets):
        confidence = OTHER_BUILD if place else EVIDENT if call.function.op == "local" else SURE
        found.edges.add(Edge(origin, target, EdgeKind.CALLS, confidence, call.line, call.flow))


def _targets(known: Known) -> tuple[str, ...] | None:
    """Return the ids of the callee, linux/amd64 first; empty if it is external, None if unknown."""
    if known is None:
        return None
    if known[0] in ("func", "type"):
        ids: tuple[str, ...] | None = known[3] if known[0] == "func" else known[2] if len(known) > 2 else ()
        return ids
    return () if known[0] in ("external", "builtin") else None


_SOURCE_TEMPLATES = {"result": "{}()", "call": "{}()", "index": "{}[…]", "inst": "{}[…]", "deref": "*{}", "addr": "&{}"}


def source_text(expr: GoExpression) -> str:
    """Return the approximate source text: names and dots, without arguments."""
    if expr.op == "sel":
        return f"{source_text(expr.parts[0])}.{expr.name}"
    if expr.op == "result":
        return "…()"
    if expr.op in _SOURCE_TEMPLATES and expr.parts:
        return _SOURCE_TEMPLATES[expr.op].format(source_text(expr.parts[0]))
    return expr.name or "…"
