"""The possible values of expressions, by Python's rules and the types evident from annotations and constructors."""

from collections.abc import Callable

from treering.code.facts import SymbolLookup
from treering.code.languages.python import standard_library
from treering.code.languages.python.annotations import LazyArguments
from treering.code.languages.python.body import Expression, ExpressionKind
from treering.code.languages.python.fixtures import fixture_functions
from treering.code.languages.python.operations import Operations
from treering.code.languages.python.project import MAX_DEPTH, EvaluationContext
from treering.code.languages.python.values import (
    EXTERNAL,
    NOTHING,
    ClassValue,
    ExternalInstance,
    ExternalValue,
    Instance,
    LambdaValue,
    Super,
    TypeForm,
    Values,
    merged,
)


class PythonEvaluator(Operations):
    """Evaluates the expressions of one file, and those of other files that they lead to."""

    def __init__(self, path: str, bindings: tuple[Expression, ...], lookup: SymbolLookup) -> None:
        super().__init__(lookup)
        self._path = path
        self._bindings = bindings
        self._locals: dict[int, Values] = {}

    def evaluate(self, expression: Expression, where: EvaluationContext) -> Values:
        evaluate = _EVALUATE.get(expression.kind)
        if evaluate is None or self._depth >= MAX_DEPTH:
            return NOTHING
        self._depth += 1
        found = evaluate(self, expression, where)
        self._depth -= 1
        return found

    def local(self, ref: int) -> Values:
        """Evaluate a binding; the bindings it depends on first and iteratively, so that long chains do not recurse."""
        if ref not in self._locals:
            self._locals[ref] = NOTHING
            waiting = [(ref, iter(self._dependencies(ref)))]
            while waiting:
                current, needed = waiting[-1]
                before = next((one for one in needed if one not in self._locals), None)
                if before is None:
                    self._locals[current] = self.evaluate(self._bindings[current], EvaluationContext(self._path))
                    waiting.pop()
                else:
                    self._locals[before] = NOTHING
                    waiting.append((before, iter(self._dependencies(before))))
        return self._locals[ref]

    def is_constructed_here(self, expression: Expression, where: EvaluationContext) -> bool:
        """Whether the value is created by calling a class here, so that its class is exact; also through `with`."""
        if expression.kind is ExpressionKind.LOCAL:
            bound = [self._bindings[ref] for ref in expression.refs]
            return bool(bound) and all(
                each.kind is not ExpressionKind.LOCAL and self.is_constructed_here(each, where) for each in bound
            )
        if expression.kind in (ExpressionKind.ENTERED, ExpressionKind.ENTERED_ASYNC):
            inner = expression.parts[0]
            return self.is_constructed_here(inner, where) and self.evaluate(expression, where) == self.evaluate(
                inner, where
            )
        if expression.kind is not ExpressionKind.CALL:
            return False
        called = self.evaluate(expression.parts[0], where)
        return bool(called) and all(isinstance(each, ClassValue) and self._has_default_new(each) for each in called)

    def _has_default_new(self, value: ClassValue) -> bool:
        return self.member(value, "__new__") is None

    def _dependencies(self, ref: int) -> tuple[int, ...]:
        expression = self._bindings[ref]
        while expression.parts:
            expression = expression.parts[0]
        return expression.refs


_Evaluate = Callable[[PythonEvaluator, Expression, EvaluationContext], Values]


def _attribute(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    values = project.evaluate(expression.parts[0], where)
    return merged([project.attribute(value, expression.name) for value in values] or [NOTHING])


def _call(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    callees = project.evaluate(expression.parts[0], where)
    given = LazyArguments(project, expression, where)
    return merged([project.call(callee, given) for callee in callees] or [NOTHING])


def _subscript(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    values = project.evaluate(expression.parts[0], where)
    if any(isinstance(value, ExternalValue) for value in values):
        return (TypeForm(project.annotated(expression, where)),)
    return project.items(values, int(expression.name) if expression.name.isdigit() else None)


def _first_known(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    first = project.evaluate(expression.parts[0], where)
    if any(isinstance(value, Instance) for value in first):
        return first
    return project.evaluate(expression.parts[1], where) or first


def _excluded(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    values, excluded = (project.evaluate(part, where) for part in expression.parts)
    classes = set(excluded)
    for value in excluded:
        if isinstance(value, ExternalInstance) and value.name == "tuple":
            classes.update(one for inside in value.contents for one in inside)
    names = {standard_library.last_name(one.name).lower() for one in classes if isinstance(one, ExternalValue)}
    return tuple(
        value
        for value in values
        if not (isinstance(value, Instance) and classes.intersection(project.mro(value.of)))
        and not (isinstance(value, ExternalInstance) and value.name in names)
    )


def _unpacked(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    index = int(expression.name)
    found = []
    for value in project.evaluate(expression.parts[0], where):
        field = project.tuple_field(value, index) if isinstance(value, Instance) else None
        if field is not None:
            found.append(project.attribute(value, field))
        elif isinstance(value, ExternalInstance) and value.name == "tuple":
            found.append(standard_library.item_of(value, index))
        else:
            found.append(project.elements((value,)))
    return merged(found or [NOTHING])


def _holding(name: str) -> _Evaluate:
    def evaluate(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
        return (ExternalInstance(name, (project.evaluate_all(expression.parts, where),)),)

    return evaluate


def _dict(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    return (ExternalInstance("dict", (NOTHING, project.evaluate_all(expression.parts, where))),)


def _tuple(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    return (ExternalInstance("tuple", tuple([project.evaluate(part, where) for part in expression.parts])),)


def _constant(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    return NOTHING if expression.name == "None" else (ExternalInstance(expression.name),)


def _self(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    own = ClassValue(where.path, expression.name)
    if isinstance(where.receiver, Instance) and own in project.mro(where.receiver.of):
        return (where.receiver,)
    return (Instance(own),)


def _cls(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    own = ClassValue(where.path, expression.name)
    receiver = where.receiver.of if isinstance(where.receiver, Instance) else where.receiver
    if isinstance(receiver, ClassValue) and own in project.mro(receiver):
        return (receiver,)
    return (own,)


def _super(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    own = ClassValue(where.path, expression.name)
    written = [value for value in project.evaluate_all(expression.parts, where) if isinstance(value, ClassValue)]
    receiver = where.receiver if where.receiver is not None else Instance(own)
    return tuple([Super(after, receiver) for after in written or [own]])


def _lambda(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    return (LambdaValue(project.evaluate(expression.parts[0], where)),)


def _inherited_parameter(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    method = project.function(where.path, expression.parts[0].name)
    if method is None or not method.owner:
        return NOTHING
    name = method.qualname.rpartition(".")[2]
    for ancestor in project.mro(ClassValue(where.path, method.owner))[1:]:
        overridden = project.function(ancestor.path, f"{ancestor.qualname}.{name}")
        if overridden is not None:
            annotation = dict(overridden.parameters).get(expression.name)
            return NOTHING if annotation is None else project.annotated(annotation, EvaluationContext(ancestor.path))
    return NOTHING


def _fixture(project: PythonEvaluator, expression: Expression, where: EvaluationContext) -> Values:
    found = fixture_functions(project, where.path, expression.parts[0].name, expression.name)
    if not found and expression.name in standard_library.FIXTURES:
        return EXTERNAL
    return merged([project.fixture_value(function) for function in found] or [NOTHING])


_EVALUATE: dict[ExpressionKind, _Evaluate] = {
    ExpressionKind.NAME: lambda project, expression, where: project.name(where.path, expression.name),
    ExpressionKind.LOCAL: lambda project, expression, where: merged([project.local(ref) for ref in expression.refs]),
    ExpressionKind.DEFINITION: lambda project, expression, where: project.definition(where.path, expression.name),
    ExpressionKind.ATTRIBUTE: _attribute,
    ExpressionKind.CALL: _call,
    ExpressionKind.AWAIT: lambda project, expression, where: project.awaited_values(
        project.evaluate(expression.parts[0], where)
    ),
    ExpressionKind.SUBSCRIPT: _subscript,
    ExpressionKind.ELEMENT: lambda project, expression, where: project.elements(
        project.evaluate(expression.parts[0], where)
    ),
    ExpressionKind.ENTERED: lambda project, expression, where: project.entered(
        project.evaluate(expression.parts[0], where), "__enter__"
    ),
    ExpressionKind.ENTERED_ASYNC: lambda project, expression, where: project.entered(
        project.evaluate(expression.parts[0], where), "__aenter__"
    ),
    ExpressionKind.EITHER: lambda project, expression, where: project.evaluate_all(expression.parts, where),
    ExpressionKind.FIRST_KNOWN: _first_known,
    ExpressionKind.EXCLUDED: _excluded,
    ExpressionKind.UNPACKED: _unpacked,
    ExpressionKind.TUPLE: _tuple,
    ExpressionKind.LIST: _holding("list"),
    ExpressionKind.DICT: _dict,
    ExpressionKind.CONSTANT: _constant,
    ExpressionKind.TYPED: lambda project, expression, where: project.annotated(expression.parts[0], where),
    ExpressionKind.SELF: _self,
    ExpressionKind.CLS: _cls,
    ExpressionKind.SUPER: _super,
    ExpressionKind.FIXTURE: _fixture,
    ExpressionKind.INHERITED_PARAMETER: _inherited_parameter,
    ExpressionKind.LAMBDA: _lambda,
    ExpressionKind.MODULE: lambda project, expression, where: project.imported(where.path, expression.name),
    ExpressionKind.TOP_MODULE: lambda project, expression, where: project.imported_top(where.path, expression.name),
    ExpressionKind.FROM: lambda project, expression, where: project.imported_from(
        where.path, expression.parts[0].name, expression.name
    ),
}
