"""Dependencies of a file other than calls: constants, properties, context managers, and references to definitions."""

from collections.abc import Sequence
from typing import NamedTuple

from treering.code.facts import Edge, Facts
from treering.code.languages.edges import EVIDENT, ONE_OF_FEW, SURE, EdgeSet
from treering.code.languages.python import surface
from treering.code.languages.python.body import Expression, ExpressionKind, Trait, UseKind
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
from treering.code.languages.references import CodeReference, add_references
from treering.core.graph import EdgeKind

_NAMED = frozenset({ExpressionKind.NAME, ExpressionKind.FROM, ExpressionKind.DEFINITION})
_CHAIN = frozenset({ExpressionKind.ATTRIBUTE, ExpressionKind.CALL, ExpressionKind.SUBSCRIPT, ExpressionKind.AWAIT})
_FOLLOWED = _NAMED | _CHAIN
_MODULES = frozenset({ExpressionKind.NAME, ExpressionKind.FROM, ExpressionKind.MODULE, ExpressionKind.TOP_MODULE})
_ENTERED = {
    ExpressionKind.ENTERED: ("__enter__", "__exit__"),
    ExpressionKind.ENTERED_ASYNC: ("__aenter__", "__aexit__"),
}


_EDGES = {
    UseKind.READ: EdgeKind.REFERENCES,
    UseKind.ANNOTATION: EdgeKind.ANNOTATES,
    UseKind.RAISED: EdgeKind.RAISES,
    UseKind.CAUGHT: EdgeKind.CATCHES,
    UseKind.REGISTERED: EdgeKind.REGISTERS,
}
_CLASSES = frozenset({UseKind.RAISED, UseKind.CAUGHT})


def add_uses(project: PythonEvaluator, edges: EdgeSet, facts: Facts, constants: Constants) -> None:
    """Add uses of constants and properties as logical dependencies, those of functions and classes as references."""
    reads = _UseTargets(project, facts.path, constants)
    body = facts.body
    used = [
        (one.origin, *read)
        for one in body.uses
        for read in zip(one.expressions, one.lines, one.kinds, strict=True)
        if read[2] is not UseKind.DECORATOR
    ]
    for call in body.calls:
        if call.callee.kind is ExpressionKind.ATTRIBUTE and call.callee.parts[0].kind in _FOLLOWED:
            used.append((call.origin, call.callee.parts[0], call.line, UseKind.READ))
    inside = facts.path + "::"
    references = []
    for where, what, line, kind in used:
        origin = identity(facts.path, where)
        found = (reads.of_class(what) if kind in _CLASSES else []) or reads.of(what)
        for target, confidence, logical in found:
            if logical and kind is UseKind.READ:
                if target != origin and (where or not target.startswith(inside)):
                    edges.add(Edge(origin, target, EdgeKind.DEPENDS_LOGICALLY, confidence, line))
            else:
                references.append(CodeReference(origin, target, _EDGES[kind], line, confidence))
    add_references(edges, references)


class _UseTarget(NamedTuple):
    id: str
    confidence: float
    logical: bool = True
    """Whether it is a constant or a method that runs, rather than a function or class that is only named."""


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
                constant = self._constants.of(read) if read.kind is not ExpressionKind.DEFINITION else None
                known += [_UseTarget(constant, SURE)] if constant is not None else self._definitions(read)
            elif read.kind in _CHAIN and read.parts:
                known += self._attribute(read) if read.kind is ExpressionKind.ATTRIBUTE else ()
                known += self.of(read.parts[0])
        return known

    def of_class(self, read: Expression) -> list[_UseTarget]:
        """Return the classes that the expression names, or of which its values are instances."""
        values = self._project.evaluate(read, self._where)
        classes = [value.of if isinstance(value, Instance) else value for value in values]
        return self._targets([value for value in classes if isinstance(value, ClassValue)])

    def _definitions(self, read: Expression) -> list[_UseTarget]:
        """Return the functions and classes that the expression names."""
        values = self._project.evaluate(read, self._where)
        return self._targets([value for value in values if isinstance(value, (ClassValue, FunctionValue))])

    @staticmethod
    def _targets(values: Sequence[ClassValue | FunctionValue]) -> list[_UseTarget]:
        ids = dict.fromkeys(identity(value.path, value.qualname) for value in values)
        return [_UseTarget(target, EVIDENT if len(ids) == 1 else ONE_OF_FEW, False) for target in ids]

    def _attribute(self, read: Expression) -> list[_UseTarget]:
        if _is_module_path(read.parts[0]):
            for value in self._project.evaluate(read.parts[0], self._where):
                if isinstance(value, ModuleValue) and value.path:
                    constant = self._constants.in_module(value.path, read.name)
                    return self._definitions(read) if constant is None else [_UseTarget(constant, SURE)]
        found = self._methods(read.parts[0], (read.name,)) if self._project.lookup(surface.PROPERTY, read.name) else []
        return found or [one for one in self._definitions(read) if one.id.rpartition(".")[2] == read.name]

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
