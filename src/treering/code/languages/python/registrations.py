"""Functions that are called later by what they are registered with: registries, frameworks, the language itself."""

import re
from collections.abc import Iterator

from treering.code.facts import Facts
from treering.code.languages.edges import EVIDENT, ONE_OF_FEW
from treering.code.languages.python.body import Expression, ExpressionKind, PythonClass, PythonUses, UseKind
from treering.code.languages.python.constants import Constants
from treering.code.languages.python.evaluator import PythonEvaluator
from treering.code.languages.python.project import EvaluationContext
from treering.code.languages.python.values import ClassValue, ExternalValue, FunctionValue, Values, identity
from treering.code.languages.references import CodeReference
from treering.core.graph import EdgeKind

POSSIBLE = 0.6
"""A framework outside the project may call it."""
_NAMED = frozenset({ExpressionKind.NAME, ExpressionKind.FROM})
_REGISTERING = re.compile(r"(?:^|_)(?:regist|receiver|hook|task|listen|handle|subscri|connect|route|actor|event)")
"""External decorators that register what they decorate, by their names."""
_NO_FRAMEWORK = frozenset({"builtins", "typing", "typing_extensions", "abc", "enum", "dataclasses", "collections"})
"""Modules whose base classes call no other methods than special ones."""
_STANDARD = _NO_FRAMEWORK | {"functools", "contextlib", "warnings", "asyncio", "unittest", "pytest"}
"""Modules whose decorators register nothing."""
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})


def registrations(project: PythonEvaluator, facts: Facts, constants: Constants) -> Iterator[CodeReference]:
    """Yield a reference from each registry to what is registered with it."""
    for uses in facts.body.uses:
        for expression, line, kind in zip(uses.expressions, uses.lines, uses.kinds, strict=True):
            if kind is UseKind.DECORATOR:
                yield from _decorated(project, facts.path, (uses, expression, line), constants)
    yield from _implicit_methods(project, facts)


def _decorated(
    project: PythonEvaluator, path: str, use: tuple[PythonUses, Expression, int], constants: Constants
) -> Iterator[CodeReference]:
    uses, decorator, line = use
    target = identity(path, uses.origin)
    outer = uses.origin.rpartition(".")[0]
    where = EvaluationContext(path)
    function = bool(outer) and bool(project.function(path, outer))
    if decorator.kind is ExpressionKind.ATTRIBUTE:
        receiver = decorator.parts[0]
        constant = constants.of(receiver) if receiver.kind in _NAMED else None
        values = project.evaluate(receiver, where) if constant is None else ()
        registries = [constant] if constant is not None else _definitions(values)
        for registry in registries:
            yield CodeReference(registry, target, EdgeKind.REGISTERS, line, EVIDENT)
        if registries:
            return
        if function or (not outer and not any(isinstance(value, ExternalValue) for value in values)):
            yield CodeReference(identity(path, outer), target, EdgeKind.REGISTERS, line, ONE_OF_FEW)
            return
    names = [value.name for value in project.evaluate(decorator, where) if isinstance(value, ExternalValue)]
    registers = any(name.partition(".")[0] not in _STANDARD for name in names) and (
        outer or any(_REGISTERING.search(name.rpartition(".")[2]) for name in names)
    )
    if registers:
        yield CodeReference(identity(path, outer), target, EdgeKind.REGISTERS, line, POSSIBLE)


def _definitions(values: Values) -> list[str]:
    return [identity(value.path, value.qualname) for value in values if isinstance(value, (ClassValue, FunctionValue))]


def _implicit_methods(project: PythonEvaluator, facts: Facts) -> Iterator[CodeReference]:
    """Yield a reference from each class to the methods that the language or a base outside the project calls."""
    lines = {one.qualname: one.line for one in facts.definitions if not one.test}
    for made in facts.body.classes:
        owner = identity(facts.path, made.qualname)
        framework = _is_framework(project, ClassValue(facts.path, made.qualname)) if _has_hooks(made) else False
        for name in made.methods:
            qualname = f"{made.qualname}.{name}"
            special = name.startswith("__") and name.endswith("__")
            if name in _CONSTRUCTORS or qualname not in lines or not (special or (framework and name[0] != "_")):
                continue
            confidence = ONE_OF_FEW if special else POSSIBLE
            yield CodeReference(owner, identity(facts.path, qualname), EdgeKind.REGISTERS, lines[qualname], confidence)


def _has_hooks(made: PythonClass) -> bool:
    return bool(made.bases or made.dynamic) and any(name[0] != "_" for name in made.methods)


def _is_framework(project: PythonEvaluator, value: ClassValue) -> bool:
    """Whether a base outside the project, or a lookup by a computed name, may call methods of the class."""
    return any(_is_dynamic(project, one) or _has_framework_base(project, one) for one in project.mro(value))


def _is_dynamic(project: PythonEvaluator, value: ClassValue) -> bool:
    made = project.class_of(value)
    return made is not None and made.dynamic


def _has_framework_base(project: PythonEvaluator, value: ClassValue) -> bool:
    return any(
        isinstance(base, ExternalValue) and base.name.partition(".")[0] not in _NO_FRAMEWORK
        for bases in project.bases(value)
        for base in bases
    )
