"""The edges of a Python file: imports, calls, base classes, overridden methods, exports."""

from typing import NamedTuple

from treering.code.facts import CallFlow, Edge, Facts, Resolved, SymbolLookup, Unresolved
from treering.code.languages.edges import EVIDENT, ONE_OF_FEW, SURE, EdgeSet, add_constructors
from treering.code.languages.python import surface
from treering.code.languages.python.body import Expression, ExpressionKind, PythonBody, PythonCall, PythonImport
from treering.code.languages.python.constants import Constants
from treering.code.languages.python.evaluator import PythonEvaluator
from treering.code.languages.python.fixtures import add_fixtures
from treering.code.languages.python.modules import is_package
from treering.code.languages.python.project import EvaluationContext
from treering.code.languages.python.registrations import registrations
from treering.code.languages.python.use_edges import add_uses
from treering.code.languages.python.values import (
    ClassValue,
    ExternalInstance,
    ExternalValue,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    Value,
    Values,
    identity,
)
from treering.code.languages.references import add_references
from treering.core.graph import EdgeKind

_RESULT, _EXACT = int(CallFlow.RESULT), int(CallFlow.EXACT)

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
_PLAIN = frozenset(
    {
        ExpressionKind.NAME,
        ExpressionKind.DEFINITION,
        ExpressionKind.MODULE,
        ExpressionKind.TOP_MODULE,
        ExpressionKind.FROM,
        ExpressionKind.SELF,
        ExpressionKind.CLS,
        ExpressionKind.SUPER,
    }
)


_DEFINED = (ClassValue, FunctionValue)
_CALLABLE = (ClassValue, FunctionValue, LambdaValue, ExternalInstance)
"""If one of these is an alternative, an instance with `__call__` is unlikely to be the callee."""


def resolve_source(facts: Facts, lookup: SymbolLookup) -> Resolved:
    body = facts.body
    assert isinstance(body, PythonBody)
    project = PythonEvaluator(facts.path, body.bindings, lookup)
    edges = EdgeSet(facts)
    lines = {definition.qualname: definition.line for definition in facts.definitions}
    for statement in body.imports:
        for target in imported_files(project, facts.path, statement):
            confidence = EVIDENT if statement.dynamic else SURE
            edges.add(Edge(facts.path, target, EdgeKind.IMPORTS, confidence, statement.line))
    unresolved = _add_calls(project, edges, facts.path, body.calls)
    _add_ancestors(project, edges, facts, lines)
    _add_protocols(project, edges, facts, lines)
    constants = Constants(project, facts)
    _add_exports(project, edges, facts, lines, constants)
    add_constructors(edges, facts, _CONSTRUCTORS)
    add_uses(project, edges, facts, constants)
    add_references(edges, registrations(project, facts, constants))
    add_fixtures(project, edges, facts)
    return Resolved(edges.all(), unresolved)


def imported_files(project: PythonEvaluator, path: str, statement: PythonImport) -> list[str]:
    """Return the files that an import statement reaches: the module, or the submodules imported by name."""
    found = project.modules.locate(path, statement.module)
    files = []
    whole = not statement.names
    for name in statement.names:
        inside = None
        if name != "*" and (found is None or is_package(found)):
            separator = "" if statement.module.endswith(".") else "."
            inside = project.modules.locate(path, f"{statement.module}{separator}{name}")
        if inside is None:
            whole = True
        else:
            files.append(inside)
    if whole and found is not None:
        files.append(found)
    return [file for file in files if file != path]


class _CallTargets(NamedTuple):
    """The targets of a call."""

    targets: list[str]
    getters: list[str]
    """The properties that run to find the callee."""
    understood: bool
    """Whether the target is known, possibly external."""
    exact: bool
    """Whether no override of the targets is possible."""


class _Callees:
    """The targets of callees; each expression is evaluated once."""

    def __init__(self, project: PythonEvaluator, path: str) -> None:
        self._project = project
        self._where = EvaluationContext(path)
        self._known: dict[Expression, _CallTargets] = {}

    def of(self, callee: Expression) -> _CallTargets:
        known = self._known.get(callee)
        if known is None:
            values = self._project.evaluate(callee, self._where)
            plain = any(isinstance(value, _CALLABLE) for value in values)
            targets = dict.fromkeys(
                target
                for value in values
                if not (plain and isinstance(value, Instance))
                for target in self._targets(value)
            )
            understood = bool(values) and not any(isinstance(value, (ModuleValue, Instance)) for value in values)
            exact = callee.kind is ExpressionKind.ATTRIBUTE and self._is_exact(callee.parts[0])
            known = _CallTargets(list(targets), self._getters(callee), bool(targets) or understood, exact)
            self._known[callee] = known
        return known

    def _getters(self, callee: Expression) -> list[str]:
        getters = self._project.getters(callee.name) if callee.kind is ExpressionKind.ATTRIBUTE else {}
        receivers = self._project.evaluate(callee.parts[0], self._where) if getters else ()
        found = [getters[receiver] for receiver in receivers if receiver in getters]
        return [identity(getter.path, getter.qualname) for getter in found]

    def _is_exact(self, receiver: Expression) -> bool:
        """Whether the receiver was created here, or is a class named directly."""
        return self._project.is_constructed_here(receiver, self._where) or self._is_class_reference(receiver)

    def _is_class_reference(self, written: Expression) -> bool:
        name = written.name.rpartition(".")[2]
        values = self._project.evaluate(written, self._where) if _is_plain(written) else ()
        named = (isinstance(value, ClassValue) and value.qualname.rpartition(".")[2] == name for value in values)
        return bool(values) and written.kind is not ExpressionKind.CLS and all(named)

    def _targets(self, value: Value) -> list[str]:
        if isinstance(value, (FunctionValue, ClassValue)):
            return [identity(value.path, value.qualname)]
        if isinstance(value, Instance) and self._project.member(value.of, "__call__") is not None:
            called = self._project.attribute(value, "__call__")
            return [identity(one.path, one.qualname) for one in called if isinstance(one, FunctionValue)]
        return []


def _add_calls(
    project: PythonEvaluator, edges: EdgeSet, path: str, calls: tuple[PythonCall, ...]
) -> tuple[Unresolved, ...]:
    callees = _Callees(project, path)
    unresolved = []
    for call in calls:
        origin = identity(path, call.origin)
        reached = callees.of(call.callee)
        if not reached.understood:
            named = call.callee.kind is not ExpressionKind.ATTRIBUTE or call.text.endswith(call.callee.name)
            unresolved.append(Unresolved(origin, call.text, call.line, "" if named else call.callee.name))
        single_confidence = SURE if _is_plain(call.callee) else EVIDENT
        confidence = ONE_OF_FEW if len(reached.targets) > 1 else single_confidence
        exact = _EXACT if reached.exact else 0
        for target in reached.targets:
            edges.add(Edge(origin, target, EdgeKind.CALLS, confidence, call.line, call.flow | exact))
        for target in reached.getters:
            edges.add(Edge(origin, target, EdgeKind.CALLS, single_confidence, call.line, _RESULT | exact))
    return tuple(unresolved)


def _is_plain(callee: Expression) -> bool:
    """Whether the rules of the language alone determine the callee, without types."""
    inside = 0
    while callee.kind is ExpressionKind.ATTRIBUTE:
        callee = callee.parts[0]
        inside += 1
    return callee.kind in _PLAIN and (
        inside <= 1 or callee.kind not in (ExpressionKind.SELF, ExpressionKind.CLS, ExpressionKind.SUPER)
    )


def _add_ancestors(project: PythonEvaluator, edges: EdgeSet, facts: Facts, lines: dict[str, int]) -> None:
    for made in facts.body.classes:
        own = ClassValue(facts.path, made.qualname)
        origin, line = identity(facts.path, made.qualname), lines.get(made.qualname, 1)
        for values in project.bases(own):
            for value in values:
                if isinstance(value, ClassValue) and value != own:
                    kind = EdgeKind.IMPLEMENTS if _is_protocol(project, value) else EdgeKind.EXTENDS
                    edges.add(Edge(origin, identity(value.path, value.qualname), kind, SURE, line))
        ancestors = project.mro(own)[1:]
        for method in made.methods if ancestors else ():
            overridden = None if method in _CONSTRUCTORS else project.member_among(ancestors, method)
            if overridden is None:
                continue
            name = f"{made.qualname}.{method}"
            for value in project.evaluate_all(overridden.values, EvaluationContext(overridden.owner.path)):
                if isinstance(value, FunctionValue):
                    target = identity(value.path, value.qualname)
                    at = lines.get(name, line)
                    edges.add(Edge(f"{facts.path}::{name}", target, EdgeKind.IMPLEMENTS, EVIDENT, at))


def _add_protocols(project: PythonEvaluator, edges: EdgeSet, facts: Facts, lines: dict[str, int]) -> None:
    """Add an edge from each method of a class to that of a protocol which the class implements without naming it."""
    for made in facts.body.classes:
        own = ClassValue(facts.path, made.qualname)
        if not made.methods or surface.protocol_methods(made):
            continue
        for first in _all_methods(project, own):
            for path, names in project.lookup(surface.PROTOCOL, first):
                for protocol in [ClassValue(path, name) for name in names]:
                    wanted = _methods_of(project, protocol)
                    if protocol in project.mro(own) or any(project.member(own, name) is None for name in wanted):
                        continue
                    for name in sorted(wanted.intersection(made.methods)):
                        ends = (f"{facts.path}::{made.qualname}.{name}", f"{path}::{protocol.qualname}.{name}")
                        line = lines.get(f"{made.qualname}.{name}", 1)
                        edges.add(Edge(*ends, EdgeKind.IMPLEMENTS, ONE_OF_FEW, line))


def _all_methods(project: PythonEvaluator, value: ClassValue) -> set[str]:
    """Return the methods of a class, inherited ones included."""
    classes = [project.class_of(one) for one in project.mro(value)]
    return {name for made in classes if made is not None for name in made.methods}


def _methods_of(project: PythonEvaluator, protocol: ClassValue) -> frozenset[str]:
    made = project.class_of(protocol)
    return frozenset() if made is None else surface.protocol_methods(made)


def _is_protocol(project: PythonEvaluator, value: ClassValue) -> bool:
    return any(
        isinstance(one, ExternalValue) and one.name.rpartition(".")[2] == "Protocol"
        for values in project.bases(value)
        for one in values
    )


def _add_exports(
    project: PythonEvaluator, edges: EdgeSet, facts: Facts, lines: dict[str, int], constants: Constants
) -> None:
    """Add the exports of the module: its `__all__`, else its public definitions and a package's imports."""
    body = facts.body
    package = is_package(facts.path)
    table = dict(next((table.names for table in body.tables if not table.scope), ()))
    names = body.exports if body.exports is not None else [name for name in table if not name.startswith("_")]
    for name in names:
        imported = any(value.kind is ExpressionKind.FROM for value in table.get(name, ()))
        if body.exports is None and imported and not package:
            continue
        values: Values = project.own_name(facts.path, name) or ()
        targets = [identity(value.path, value.qualname) for value in values if isinstance(value, _DEFINED)]
        if not targets and name in lines:
            targets = [identity(facts.path, name)]
        constant = constants.of(Expression(ExpressionKind.NAME, name)) if not targets and imported else None
        if constant is not None:
            targets = [constant]
        for target in targets:
            edges.add(Edge(facts.path, target, EdgeKind.EXPORTS, SURE, lines.get(name, 1)))
