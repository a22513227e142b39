"""Operations on values: attributes, calls, iteration, subscripts, context managers."""

from collections.abc import Callable, Mapping, Sequence

from treering.code.facts import SymbolLookup
from treering.code.languages.python import standard_library
from treering.code.languages.python.annotations import Annotations
from treering.code.languages.python.body import Expression, Trait
from treering.code.languages.python.project import EvaluationContext
from treering.code.languages.python.values import (
    EXTERNAL,
    NOTHING,
    ClassValue,
    ExternalInstance,
    ExternalValue,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    Super,
    TypeForm,
    Value,
    Values,
    merged,
)


class Operations(Annotations):
    def __init__(self, lookup: SymbolLookup) -> None:
        super().__init__(lookup)
        self._attributes: dict[tuple[Value, str], Values] = {}
        self._results: dict[FunctionValue, Values] = {}
        self._getters: dict[str, dict[Value, FunctionValue]] = {}

    # attributes

    def attribute(self, value: Value, name: str) -> Values:
        key = (value, name)
        known = self._attributes.get(key)
        if known is None:
            self._attributes[key] = NOTHING
            known = _ATTRIBUTES[type(value)](self, value, name)
            self._attributes[key] = known
        return known

    def getters(self, name: str) -> Mapping[Value, FunctionValue]:
        """Return the properties of this name that were evaluated so far, by receiver."""
        return self._getters.get(name, {})

    def class_attribute(self, value: ClassValue, name: str) -> Values:
        member = self.member(value, name)
        if member is None:
            return self.unknown_member(value, name)
        found = self.evaluate_all(member.values, EvaluationContext(member.owner.path, value))
        if self.is_enum(value) and not any(isinstance(one, (FunctionValue, ClassValue)) for one in found):
            return (Instance(value),)
        return tuple([self._bound(one, value) for one in found])

    def is_enum(self, value: ClassValue) -> bool:
        return any(
            isinstance(base, ExternalValue) and base.name in standard_library.ENUMS
            for one in self.mro(value)
            for bases in self.bases(one)
            for base in bases
        )

    def instance_attribute(self, value: Instance, name: str) -> Values:
        return self._attribute_among(value, self.mro(value.of), name)

    def super_attribute(self, value: Super, name: str) -> Values:
        return self._attribute_among(value.receiver, self.mro(value.of)[1:], name, value.of)

    def _attribute_among(
        self, receiver: Value, classes: tuple[ClassValue, ...], name: str, of: ClassValue | None = None
    ) -> Values:
        member = self.member_among(classes, name)
        if member is None and name == "__class__":
            return standard_library.class_of(receiver)
        if member is None:
            getter = self.member_among(classes, "__getattr__") if of is None else None
            if getter is not None:
                return self._results_of(getter.values, EvaluationContext(getter.owner.path, receiver))
            known = of if of is not None else classes[0]
            return self.unknown_member(known, name)
        where = EvaluationContext(member.owner.path, receiver)
        found = []
        for one in self.evaluate_all(member.values, where):
            if isinstance(one, FunctionValue) and one.receiver is None:
                made = self.function(one.path, one.qualname)
                if made is not None and made.traits & Trait.PROPERTY and made.owner:
                    self._getters.setdefault(name, {})[receiver] = one
                    found.append(self.result(self._bound(one, receiver), ()))
                    continue
            given = self.special(one, "__get__") if isinstance(one, Instance) else None
            found.append(given or (self._bound(one, receiver),))
        return merged(found or [NOTHING])

    def _results_of(self, values: tuple[Expression, ...], where: EvaluationContext) -> Values:
        functions = [one for one in self.evaluate_all(values, where) if isinstance(one, FunctionValue)]
        return merged([self.result(self._bound(one, where.receiver), ()) for one in functions] or [NOTHING])

    @staticmethod
    def _bound(value: Value, receiver: Value | None) -> Value:
        if isinstance(value, FunctionValue) and value.receiver is None:
            return FunctionValue(value.path, value.qualname, receiver)
        return value

    def special(self, value: Instance, name: str) -> Values | None:
        """Return the result of a special method such as `__iter__`, or None if no class of the project defines it."""
        if self.member(value.of, name) is None:
            return None
        found = [self.call(one, ()) for one in self.instance_attribute(value, name)]
        return merged(found or [NOTHING])

    # calls

    def call(self, value: Value, given: Sequence[Values]) -> Values:
        """Return the result of calling the value with these positional arguments."""
        called = _CALLS.get(type(value))
        return NOTHING if called is None else called(self, value, given)

    def construct(self, value: ClassValue, given: Sequence[Values]) -> Values:
        """Return what calling a class makes: an instance, unless its `__new__` declares another class."""
        member = self.member(value, "__new__")
        where = EvaluationContext(value.path if member is None else member.owner.path, value)
        for one in () if member is None else self.evaluate_all(member.values, where):
            made = self.function(one.path, one.qualname) if isinstance(one, FunctionValue) else None
            if made is not None and made.returns:
                declared = [each for each in self.result(self._bound(one, value), given) if isinstance(each, Instance)]
                if declared and not any(each.of in self.mro(value) for each in declared):
                    return tuple(declared)
        return (Instance(value),)

    def call_external(self, value: ExternalValue, given: Sequence[Values]) -> Values:
        known = standard_library.CALLS.get(value.name)
        return standard_library.called(value.name) if known is None else known(given, self.elements)

    def result(self, value: Value, given: Sequence[Values]) -> Values:
        if not isinstance(value, FunctionValue):
            return NOTHING
        made = self.function(value.path, value.qualname)
        if made is None:
            return NOTHING
        if made.overloads:
            made = self.fitting_overloads(made, value, given)
            if not made.overloads:
                return self.plain_result(made, value)
        generic = self.generic_result(made, value, given)
        if generic is not None:
            return generic
        known = self._results.get(value)
        if known is None:
            self._results[value] = NOTHING
            known = self.plain_result(made, value)
            self._results[value] = known
        return known

    # iteration, subscription, context managers

    def elements(self, values: Values) -> Values:
        return merged([self._element(value) for value in values] or [NOTHING])

    def _element(self, value: Value) -> Values:
        if isinstance(value, ExternalInstance):
            return standard_library.element_of(value)
        if isinstance(value, ClassValue) and self.is_enum(value):
            return (Instance(value),)
        if not isinstance(value, Instance):
            return EXTERNAL if isinstance(value, ExternalValue) else NOTHING
        for begin, step in (("__iter__", "__next__"), ("__aiter__", "__anext__")):
            iterators = self.special(value, begin)
            if iterators is None:
                continue
            found = [
                self.awaited_values(self.special(one, step) or NOTHING)
                if step == "__anext__"
                else self.special(one, step)
                for one in iterators
                if isinstance(one, Instance)
            ]
            found += [standard_library.element_of(one) for one in iterators if isinstance(one, ExternalInstance)]
            return merged([one for one in found if one] or [NOTHING])
        item = self.special(value, "__getitem__")
        return self.unknown_member(value.of, "__iter__") if item is None else item

    def items(self, values: Values, index: int | None) -> Values:
        return merged([self._item(value, index) for value in values] or [NOTHING])

    def _item(self, value: Value, index: int | None) -> Values:
        if isinstance(value, ExternalInstance):
            return standard_library.item_of(value, index)
        if isinstance(value, ClassValue):
            return (value,)
        if isinstance(value, Instance):
            field = None if index is None else self.tuple_field(value, index)
            if field is not None:
                return self.instance_attribute(value, field)
            found = self.special(value, "__getitem__")
            return self.unknown_member(value.of, "__getitem__") if found is None else found
        return EXTERNAL if isinstance(value, ExternalValue) else NOTHING

    def tuple_field(self, value: Instance, index: int) -> str | None:
        """Return the name of an item of a `NamedTuple`."""
        for one in self.mro(value.of):
            named = any(
                isinstance(base, ExternalValue) and base.name in standard_library.TUPLES
                for base in merged(self.bases(one))
            )
            made = self.class_of(one) if named else None
            if made is not None and index < len(made.fields):
                return made.fields[index]
        return None

    def awaited_values(self, values: Values) -> Values:
        found = []
        for value in values:
            if isinstance(value, ExternalInstance):
                found.append(standard_library.awaited(value))
            elif isinstance(value, Instance):
                found.append(self.special(value, "__await__") or NOTHING)
        return merged(found or [NOTHING])

    def entered(self, values: Values, method: str) -> Values:
        found = []
        for value in values:
            if isinstance(value, ExternalInstance):
                found.append(standard_library.entered(value))
            elif isinstance(value, Instance):
                given = self.special(value, method)
                if given is not None and method == "__aenter__":
                    given = self.awaited_values(given)
                found.append(given or (value,))
        return merged(found or [NOTHING])


_ATTRIBUTES: dict[type, Callable[..., Values]] = {
    ModuleValue: Operations.module_attribute,
    ClassValue: Operations.class_attribute,
    Instance: Operations.instance_attribute,
    Super: Operations.super_attribute,
    FunctionValue: lambda project, value, name: (value,) if name in standard_library.WRAPPED else EXTERNAL,
    LambdaValue: lambda project, value, name: EXTERNAL,
    TypeForm: lambda project, value, name: EXTERNAL,
    ExternalValue: lambda project, value, name: (ExternalValue(f"{value.name}.{name}"),),
    ExternalInstance: lambda project, value, name: standard_library.method_of(value, name),
}
_CALLS: dict[type, Callable[..., Values]] = {
    ClassValue: Operations.construct,
    FunctionValue: Operations.result,
    LambdaValue: lambda project, value, given: value.results,
    TypeForm: lambda project, value, given: value.instances,
    Instance: lambda project, value, given: project.special(value, "__call__") or NOTHING,
    ExternalValue: Operations.call_external,
    ExternalInstance: lambda project, value, given: standard_library.called_instance(value),
}
