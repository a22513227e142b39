"""Dependencies of a file by reading: constants, properties, context managers."""

from typing import NamedTuple

from treering.code.facts import Edge, Facts
from treering.code.languages.edges import EVIDENT, ONE_OF_FEW, SURE, EdgeSet
from treering.code.languages.python import surface
from treering.code.languages.python.body import Expression, ExpressionKind, Trait
from treering.code.languages.python.constants import Constants
from treering.code.languages.python.evaluator import PythonEvaluator
from treering.code.languages.python.project import EvaluationContext
from treering.code.languages.python.values import (
    ClassValue,
    FunctionValue,
    Instance,
    ModuleValue,
    Super,
    Value,
    identity,
)
from treering.core.graph import EdgeKind

_NAMED = frozenset({ExpressionKind.NAME, ExpressionKind.FROM})
_CHAIN = frozenset({ExpressionKind.ATTRIBUTE, ExpressionKind.CALL, ExpressionKind.SUBSCRIPT, ExpressionKind.AWAIT})
_FOLLOWED = _NAMED | _CHAIN
_MODULES = frozenset({ExpressionKind.NAME, ExpressionKind.FROM, ExpressionKind.MODULE, ExpressionKind.TOP_MODULE})
_ENTERED = {
    ExpressionKind.ENTERED: ("__enter__", "__exit__"),
    ExpressionKind.ENTERED_ASYNC: ("__aenter__", "__aexit__"),
}


def add_uses(project: PythonEvaluator, edges: EdgeSet, facts: Facts, constants: Constants) -> None:
    reads = _UseTargets(project, facts.path, constants)
    body = facts.body
    used = [(one.origin, *read) for one in body.uses for read in zip(one.expressions, one.lines, strict=True)]
    for call in body.calls:
        if call.callee.kind is ExpressionKind.ATTRIBUTE and call.callee.parts[0].kind in _FOLLOWED:
            used.append((call.origin, call.callee.parts[0], call.line))
    inside = facts.path + "::"
    for where, what, line in used:
        origin = identity(facts.path, where)
        for target, confidence in reads.of(what):
            if target != origin and (where or not target.startswith(inside)):
                edges.add(Edge(origin, target, EdgeKind.DEPENDS_LOGICALLY, confidence, line))


class _UseTarget(NamedTuple):
    id: str
    confidence: float


class _UseTargets:
    """The dependencies of expressions that are read; each expression is evaluated once."""

    def __init__(self, project: PythonEvaluator, path: str, constants: Constants) -> None:
        self._project, self._where, self._constants = project, EvaluationContext(path), constants
        self._known: dict[Expression, list[_UseTarget]] = {}

    def of(self, read: Expression) -> list[_UseTarget]:
        """Return the targets of the expression and of its receivers."""
        known = self._known.get(read)
        if known is None:
            self._known[read] = known = []
            if read.kind in _ENTERED:
                known += self._methods(read.parts[0], _ENTERED[read.kind])
            elif read.kind in _NAMED:
                constant = self._constants.of(read)
                known += [_UseTarget(constant, SURE)] if constant is not None else []
            elif read.kind in _CHAIN and read.parts:
                known += self._attribute(read) if read.kind is ExpressionKind.ATTRIBUTE else ()
                known += self.of(read.parts[0])
        return known

    def _attribute(self, read: Expression) -> list[_UseTarget]:
        if _is_module_path(read.parts[0]):
            for value in self._project.evaluate(read.parts[0], self._where):
                if isinstance(value, ModuleValue) and value.path:
                    constant = self._constants.in_module(value.path, read.name)
                    return [] if constant is None else [_UseTarget(constant, SURE)]
        return self._methods(read.parts[0], (read.name,)) if self._project.lookup(surface.PROPERTY, read.name) else []

    def _methods(self, receiver: Expression, names: tuple[str, ...]) -> list[_UseTarget]:
        receivers = self._project.evaluate(receiver, self._where)
        found = [[one for each in receivers for one in self._run(each, name)] for name in names]
        return [
            _UseTarget(target, EVIDENT if len(targets) == 1 else ONE_OF_FEW)
            for targets in map(dict.fromkeys, found)
            for target in targets
        ]

    def _run(self, receiver: Value, name: str) -> list[str]:
        """Return the methods of this name that run implicitly: properties and special methods."""
        classes: tuple[ClassValue, ...] = ()
        if isinstance(receiver, Instance):
            classes = self._project.mro(receiver.of)
        elif isinstance(receiver, Super):
            classes = self._project.mro(receiver.of)[1:]
        member = self._project.member_among(classes, name)
        if member is None:
            return []
        values = self._project.evaluate_all(member.values, EvaluationContext(member.owner.path))
        return [
            identity(value.path, value.qualname)
            for value in values
            if isinstance(value, FunctionValue) and (name.startswith("__") or self._is_property(value))
        ]

    def _is_property(self, value: FunctionValue) -> bool:
        made = self._project.function(value.path, value.qualname)
        return made is not None and bool(made.owner) and bool(made.traits & Trait.PROPERTY)


def _is_module_path(receiver: Expression) -> bool:
    """Whether it is written like a module: a name followed by dotted names."""
    while receiver.kind is ExpressionKind.ATTRIBUTE:
        receiver = receiver.parts[0]
    return receiver.kind in _MODULES
