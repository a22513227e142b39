"""Types from annotations of names, parameters and results."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import overload

import msgspec

from treering.code.facts import SymbolLookup
from treering.code.languages.python import standard_library
from treering.code.languages.python.body import (
    UNKNOWN,
    Expression,
    ExpressionKind,
    ParameterNames,
    PythonFunction,
    PythonOverload,
    Trait,
)
from treering.code.languages.python.project import EvaluationContext, PythonProject
from treering.code.languages.python.values import (
    NOTHING,
    ClassValue,
    ExternalInstance,
    ExternalValue,
    FunctionValue,
    Instance,
    Value,
    Values,
    merged,
)

_MAX_ARGUMENT_DEPTH = 4
"""Maximum nesting of type arguments: a method may wrap its own type repeatedly."""
_PLAIN_TYPES = {
    "str": {"str"},
    "bytes": {"bytes"},
    "float": {"float"},
    "int": {"int", "float"},
    "bool": {"bool", "int", "float"},
}
"""Builtin types of which a literal is certain, with the types that accept it."""
_GENERIC = frozenset({"Generic", "Protocol"})
_NOT_A_TYPE = frozenset(
    {
        ExpressionKind.CONSTANT,
        ExpressionKind.CALL,
        ExpressionKind.UNKNOWN,
        ExpressionKind.LAMBDA,
        ExpressionKind.LIST,
        ExpressionKind.DICT,
    }
)


class LazyArguments(Sequence[Values]):
    """The first positional arguments of a call, evaluated on access: most never are."""

    def __init__(self, project: PythonProject, call: Expression, where: EvaluationContext) -> None:
        self._project, self._parts, self._where = project, call.parts[1:], where
        self._rest = call.name

    def fit(self, names: ParameterNames) -> bool:
        """Whether a function with these parameters accepts their number and keywords."""
        rest = self._rest.split()
        if "*" in rest:
            return True
        keywords = {each for each in rest if each != "?"}
        filled = len(self._parts) + rest.count("?")
        if filled > len(names.positional) and not names.many:
            return False
        known = {*names.positional[filled:], *names.keyword_only}
        missing = set(names.required).difference(names.positional[:filled], keywords)
        return not missing and (names.keywords or keywords <= known)

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, index: int) -> Values: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Values, ...]: ...
    def __getitem__(self, index: int | slice) -> Values | tuple[Values, ...]:
        if isinstance(index, slice):
            return tuple([self._project.evaluate(part, self._where) for part in self._parts[index]])
        return self._project.evaluate(self._parts[index], self._where)


class Annotations(PythonProject):
    def __init__(self, lookup: SymbolLookup) -> None:
        super().__init__(lookup)
        self._type_parameters: dict[ClassValue, tuple[str, ...]] = {}
        self._type_arguments: dict[tuple[ClassValue, Instance], tuple[Values, ...]] = {}
        self._fixtures: dict[FunctionValue, Values] = {}

    @abstractmethod
    def elements(self, values: Values) -> Values:
        """Return what iterating over the values yields."""

    def annotated(self, expression: Expression, where: EvaluationContext) -> Values:
        """Return the instances that an annotation describes; empty for `None` and for types that are not evident."""
        kind = expression.kind
        if kind in _NOT_A_TYPE:
            return NOTHING
        if kind in (ExpressionKind.EITHER, ExpressionKind.TUPLE):
            return merged([self.annotated(part, where) for part in expression.parts] or [NOTHING])
        if kind is ExpressionKind.SUBSCRIPT:
            return self._subscripted(expression, where)
        found = []
        for value in self.evaluate(expression, where):
            if isinstance(value, ExternalValue) and standard_library.last_name(value.name) == "Self":
                found.append(_instance(where))
            elif isinstance(value, ExternalInstance) and value.name == "typevar":
                found.append(self._argument(expression, where.receiver) or standard_library.instance_of(value))
            elif isinstance(value, ExternalInstance) and value.name == "tuple":
                found += [standard_library.instance_of(one) for inside in value.contents for one in inside]
            else:
                found.append(standard_library.instance_of(value))
        return merged(found or [NOTHING])

    def _subscripted(self, expression: Expression, where: EvaluationContext) -> Values:
        form, *arguments = expression.parts
        found = []
        for value in self.evaluate(form, where):
            if isinstance(value, ExternalValue):
                name = standard_library.last_name(value.name)
                made = _FORMS.get(name, _contained)
                found.append(made(self, name, arguments, where))
            elif isinstance(value, ClassValue) and self._parameters(value):
                given = tuple([self.annotated(one, where) for one in arguments])
                deep = any(_is_deep(one, _MAX_ARGUMENT_DEPTH) for one in given)
                found.append((Instance(value, () if deep else given),))
            else:
                found.append(standard_library.instance_of(value))
        return merged(found or [NOTHING])

    def _parameters(self, value: ClassValue) -> tuple[str, ...]:
        """Return the type variables of a generic class in order."""
        known = self._type_parameters.get(value)
        if known is None:
            made = self.class_of(value)
            bases = [base for base in made.bases if base.kind is ExpressionKind.SUBSCRIPT] if made is not None else []
            named = [base for base in bases if base.parts[0].name in _GENERIC] or bases
            parts = [part for base in named for part in base.parts[1:] if part.kind is ExpressionKind.NAME]
            known = tuple(dict.fromkeys(part.name for part in parts if self._is_variable(part, value.path)))
            self._type_parameters[value] = known
        return known

    def _is_variable(self, part: Expression, path: str) -> bool:
        values = self.evaluate(part, EvaluationContext(path))
        return any(isinstance(one, ExternalInstance) and one.name == "typevar" for one in values)

    def _argument(self, variable: Expression, receiver: Value | None) -> Values | None:
        """Return the type bound to a type variable in a member of the receiver; None if no class declares it."""
        if not isinstance(receiver, Instance):
            return None
        for one in self.mro(receiver.of):
            parameters = self._parameters(one)
            if variable.name in parameters:
                given = receiver.arguments if one == receiver.of else self._base_arguments(one, receiver)
                place = parameters.index(variable.name)
                return given[place] if place < len(given) else NOTHING
        return None

    def _base_arguments(self, base: ClassValue, receiver: Instance) -> tuple[Values, ...]:
        """Return the type arguments with which a class or its ancestors subscript a generic base."""
        key = (base, receiver)
        known = self._type_arguments.get(key)
        if known is None:
            self._type_arguments[key] = ()
            known = self._type_arguments[key] = self._written_arguments(base, receiver)
        return known

    def _written_arguments(self, base: ClassValue, receiver: Instance) -> tuple[Values, ...]:
        for one in self.mro(receiver.of):
            made = self.class_of(one)
            for written in made.bases if made is not None else ():
                if written.kind is ExpressionKind.SUBSCRIPT and base in self.evaluate(
                    written.parts[0], EvaluationContext(one.path)
                ):
                    return tuple(
                        [self.annotated(part, EvaluationContext(one.path, receiver)) for part in written.parts[1:]]
                    )
        return ()

    def generic_result(self, made: PythonFunction, value: FunctionValue, given: Sequence[Values]) -> Values | None:
        """Return the result of a function that returns its receiver or its first argument, else None."""
        returned = made.returns[0] if len(made.returns) == 1 and not made.traits & Trait.PROPERTY else UNKNOWN
        if returned.kind is not ExpressionKind.NAME or not self._is_variable(returned, value.path):
            return None
        if self._argument(returned, value.receiver) is not None:
            return None
        for number, (_, annotation) in enumerate(made.parameters[:1]):
            if annotation == returned and number < len(given):
                return given[number]
            if annotation.kind is ExpressionKind.SUBSCRIPT and returned in annotation.parts and number < len(given):
                return merged([standard_library.instance_of(one) for one in given[number]] or [NOTHING])
        if (made.owner and not made.parameters) or all(annotation != returned for _, annotation in made.parameters):
            own = _instance(EvaluationContext(value.path, value.receiver))
            if own:
                return self._returned(made, own)
        return None

    def fitting_overloads(self, made: PythonFunction, value: FunctionValue, given: Sequence[Values]) -> PythonFunction:
        """Return the function with only the overloads that accept the arguments; all if none can be excluded.

        None is excluded for `Class.method(instance, …)`, whose first argument is the receiver.
        """
        bound_to_class = made.traits & (Trait.STATIC | Trait.CLASS_METHOD)
        if made.owner and isinstance(value.receiver, ClassValue) and not bound_to_class:
            return made
        where = EvaluationContext(value.path, value.receiver)
        fitting = [each for each in made.overloads if self._accepts(each, given, where)]
        if not fitting or len(fitting) == len(made.overloads):
            return made
        returns = tuple(dict.fromkeys(one for each in fitting for one in each.returns))
        return msgspec.structs.replace(made, returns=returns, overloads=())

    def _accepts(self, overload: PythonOverload, given: Sequence[Values], where: EvaluationContext) -> bool:
        """Whether it takes that many arguments, and none certainly differs from the type of its parameter."""
        if isinstance(given, LazyArguments) and not given.fit(overload.names):
            return False
        annotations = dict(overload.parameters)
        for number, name in enumerate(overload.names.positional[: len(given)]):
            wanted = self.annotated(annotations[name], where) if name in annotations else NOTHING
            values = given[number] if wanted else NOTHING
            if values and not any(self._fits(value, wanted) for value in values):
                return False
        return True

    def _fits(self, value: Value, wanted: Values) -> bool:
        """Whether a value may be an instance of one of the types; true if that is not evident."""
        if isinstance(value, Instance):
            ancestors = self.mro(value.of)
            return self.has_external_ancestor(value.of) or any(
                one.of in ancestors if isinstance(one, Instance) else not _is_plain_type(one) for one in wanted
            )
        if isinstance(value, ExternalInstance) and value.name in _PLAIN_TYPES:
            types = {one.name for one in wanted if isinstance(one, ExternalInstance)}
            return not types <= _PLAIN_TYPES.keys() or not types.isdisjoint(_PLAIN_TYPES[value.name])
        return True

    def plain_result(self, made: PythonFunction, value: FunctionValue) -> Values:
        where = EvaluationContext(value.path, value.receiver)
        if made.returns:
            values = merged([self.annotated(annotation, where) for annotation in made.returns])
            if made.traits & Trait.GENERATOR or not made.traits & Trait.ASYNC:
                return self._managed(made, values)
            return self._returned(made, values)
        values = self.evaluate_all(made.results, where)
        if made.traits & Trait.GENERATOR:
            return self._managed(made, (ExternalInstance("generator", (values,)),))
        return self._returned(made, values)

    def _returned(self, made: PythonFunction, values: Values) -> Values:
        if made.traits & Trait.ASYNC:
            return (ExternalInstance("coroutine", (values,)),)
        return self._managed(made, values)

    def _managed(self, made: PythonFunction, values: Values) -> Values:
        if made.traits & Trait.CONTEXT_MANAGER:
            return (ExternalInstance("contextmanager", (self.elements(values),)),)
        return values

    def fixture_value(self, function: FunctionValue) -> Values:
        """Return the value of a fixture for a test: what its function yields, else what it returns."""
        known = self._fixtures.get(function)
        if known is None:
            self._fixtures[function] = NOTHING
            known = self._fixtures[function] = self._fixture_result(function)
        return known

    def _fixture_result(self, function: FunctionValue) -> Values:
        made = self.function(function.path, function.qualname)
        if made is None:
            return NOTHING
        values = self.plain_result(made, function)
        if made.traits & Trait.GENERATOR:
            return self.elements(values)
        if made.traits & Trait.ASYNC:
            return merged([standard_library.awaited(value) for value in values if isinstance(value, ExternalInstance)])
        return values


def _is_plain_type(value: Value) -> bool:
    return isinstance(value, ExternalInstance) and value.name in _PLAIN_TYPES


def _is_deep(values: Values, limit: int) -> bool:
    """Whether type arguments are nested deeper than the limit."""
    for value in values:
        inside = value.arguments if isinstance(value, Instance) else ()
        inside = value.contents if isinstance(value, ExternalInstance) else inside
        if inside and (not limit or any(_is_deep(one, limit - 1) for one in inside)):
            return True
    return False


def _instance(where: EvaluationContext) -> Values:
    if isinstance(where.receiver, ClassValue):
        return (Instance(where.receiver),)
    return (where.receiver,) if isinstance(where.receiver, Instance) else NOTHING


_Form = Callable[[Annotations, str, list[Expression], EvaluationContext], Values]


def _parts(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return merged([project.annotated(argument, where) for argument in arguments] or [NOTHING])


def _first(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return project.annotated(arguments[0], where) if arguments else NOTHING


def _class(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return merged([standard_library.class_of(value) for value in _parts(project, name, arguments, where)] or [NOTHING])


def _callable(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return (ExternalInstance("callable", (project.annotated(arguments[-1], where),) if arguments else ()),)


def _tuple(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    if len(arguments) == 2 and arguments[1].kind is ExpressionKind.UNKNOWN:
        return (ExternalInstance("list", (project.annotated(arguments[0], where),)),)
    return (ExternalInstance("tuple", tuple([project.annotated(argument, where) for argument in arguments])),)


def _contained(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return (ExternalInstance(name.lower(), tuple([project.annotated(argument, where) for argument in arguments])),)


def _nothing(project: Annotations, name: str, arguments: list[Expression], where: EvaluationContext) -> Values:
    return NOTHING


_FORMS: dict[str, _Form] = {
    **dict.fromkeys(standard_library.TRANSPARENT, _parts),
    "Annotated": _first,
    "Type": _class,
    "type": _class,
    "Callable": _callable,
    "Tuple": _tuple,
    "tuple": _tuple,
    "Literal": _nothing,
}
