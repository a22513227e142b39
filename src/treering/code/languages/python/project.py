"""Names, classes and members across the files of a project, found by symbol lookups."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from treering.code.facts import SymbolLookup
from treering.code.languages.python import surface
from treering.code.languages.python.body import Expression, PythonClass, PythonFunction, Trait
from treering.code.languages.python.modules import PythonModules, directory_of, is_package, join
from treering.code.languages.python.standard_library import BUILTINS, OBJECT, STRINGS
from treering.code.languages.python.values import (
    EXTERNAL,
    NOTHING,
    ClassValue,
    ExternalInstance,
    ExternalValue,
    FunctionValue,
    ModuleValue,
    TypeForm,
    Value,
    Values,
    merged,
)

MAX_DEPTH = 40
"""A value that takes more steps than this to find is not evident."""


class EvaluationContext(NamedTuple):
    """The context of an evaluation: the file of the expression and the receiver of its method."""

    path: str
    receiver: Value | None = None


class ClassMember(NamedTuple):
    """A class member, with the class among the ancestors that defines it."""

    owner: ClassValue
    values: tuple[Expression, ...]


class PythonProject(ABC):
    """State of one resolution; discarded afterwards."""

    def __init__(self, lookup: SymbolLookup) -> None:
        self._lookup = lookup
        self._depth = 0
        self.modules = PythonModules(lookup)
        self._names: dict[tuple[str, str], Values | None] = {}
        self._orders: dict[ClassValue, tuple[tuple[ClassValue, ...], bool]] = {}
        self._members: dict[tuple[ClassValue, str], ClassMember | None] = {}

    @abstractmethod
    def evaluate(self, expression: Expression, where: EvaluationContext) -> Values:
        """Return the possible values of the expression; empty if they are not evident."""

    def evaluate_all(self, expressions: tuple[Expression, ...], where: EvaluationContext) -> Values:
        return merged([self.evaluate(expression, where) for expression in expressions] or [NOTHING])

    def lookup(self, *key: str) -> tuple[tuple[str, Any], ...]:
        return self._lookup(*key)

    # modules and their names

    def module(self, path: str) -> ModuleValue:
        package = is_package(path)
        return ModuleValue(path, directory_of(path) if package else "")

    def own_name(self, path: str, name: str) -> Values | None:
        """Return what a module binds to a name or imports with a star; None if it has no such name."""
        key = (path, name)
        if key in self._names:
            return self._names[key]
        if self._depth >= MAX_DEPTH:
            return None
        self._names[key] = NOTHING
        self._depth += 1
        given = self._lookup(surface.NAME, path, "", name)
        found = self.evaluate_all(given[0][1], EvaluationContext(path)) if given else self._starred(path, name)
        if found is None:
            found = self._stub_name(path, name)
        self._depth -= 1
        self._names[key] = found
        return found

    def _stub_name(self, path: str, name: str) -> Values | None:
        """Return what the stub beside a module says about a name that the module creates at run time."""
        if not path.endswith(".py") or not self.modules.exists(path + "i"):
            return None
        return self.own_name(path + "i", name)

    def _starred(self, path: str, name: str) -> Values | None:
        for _, modules in self._lookup(surface.STARS, path):
            for module in modules:
                target = self.modules.locate(path, module)
                if target is None or target == path:
                    continue
                exports = self._lookup(surface.EXPORTS, target)
                if name in exports[0][1] if exports else not name.startswith("_"):
                    found = self.own_name(target, name)
                    if found is not None:
                        return found
        return None

    def name(self, path: str, name: str) -> Values:
        """Return a name as seen by the module's code."""
        found = self.own_name(path, name)
        if found is not None:
            return found
        if name in BUILTINS:
            return (ExternalValue("builtins." + name),)
        if name in STRINGS:
            return (ExternalInstance("str"),)
        return self._external_star_import(path, name)

    def _external_star_import(self, path: str, name: str) -> Values:
        """A name that the project does not bind comes from a star import of an external module, if there is one."""
        for _, modules in self._lookup(surface.STARS, path):
            for module in modules:
                if not module.startswith(".") and self.modules.locate(path, module) is None:
                    return (ExternalValue(f"{module}.{name}"),)
        return NOTHING

    def module_attribute(self, module: ModuleValue, name: str) -> Values:
        found = self.own_name(module.path, name) if module.path else None
        if found:
            return found
        if module.directory or not module.path:
            inside = self.modules.submodule(module.directory, name)
            if inside is not None:
                return (self.module(inside),)
            if not module.path:
                return (ModuleValue("", join(module.directory, name)),)
        return NOTHING

    def imported(self, path: str, module: str) -> Values:
        found = self.modules.locate(path, module)
        if found is not None:
            return (self.module(found),)
        directory = self.modules.directory(path, module)
        if directory is not None:
            return (ModuleValue("", directory),)
        return NOTHING if module.startswith(".") else (ExternalValue(module),)

    def imported_from(self, path: str, module: str, name: str) -> Values:
        found = self.modules.locate(path, module)
        if found is not None:
            return self.module_attribute(self.module(found), name)
        inside = self.modules.locate(path, f"{module}{name}" if module.endswith(".") else f"{module}.{name}")
        if inside is not None:
            return (self.module(inside),)
        return NOTHING if module.startswith(".") else (ExternalValue(f"{module}.{name}"),)

    def imported_top(self, path: str, module: str) -> Values:
        """Return the package that `import a.b.c` binds."""
        top, _, rest = module.partition(".")
        found = self.modules.locate(path, module)
        if found is None or not rest:
            return self.imported(path, top)
        directory = directory_of(found)
        package = is_package(found)
        for _ in range(rest.count(".") + (1 if package else 0)):
            directory = directory_of(directory)
        file = self.modules.package_file(directory)
        return (ModuleValue(file or "", directory),)

    # classes

    def function(self, path: str, qualname: str) -> PythonFunction | None:
        given = self._lookup(surface.FUNCTION, path, qualname)
        return given[0][1] if given else None

    def class_of(self, value: ClassValue) -> PythonClass | None:
        given = self._lookup(surface.CLASS, value.path, value.qualname)
        return given[0][1] if given else None

    def definition(self, path: str, qualname: str, receiver: Value | None = None) -> Values:
        """Return the class or function of this name in a file."""
        if self._lookup(surface.CLASS, path, qualname):
            return (ClassValue(path, qualname),)
        if self._lookup(surface.FUNCTION, path, qualname):
            return (FunctionValue(path, qualname, receiver),)
        return NOTHING

    def mro(self, value: ClassValue) -> tuple[ClassValue, ...]:
        """Return the class and its ancestors in method resolution order."""
        return self._compute_mro(value)[0]

    def has_external_ancestor(self, value: ClassValue) -> bool:
        return self._compute_mro(value)[1]

    def bases(self, value: ClassValue) -> list[Values]:
        made = self.class_of(value)
        return [] if made is None else [self.evaluate(base, EvaluationContext(value.path)) for base in made.bases]

    def _compute_mro(self, value: ClassValue) -> tuple[tuple[ClassValue, ...], bool]:
        known = self._orders.get(value)
        if known is not None:
            return known
        alone = ((value,), False)
        if self._depth >= MAX_DEPTH:
            return alone
        self._orders[value] = alone
        self._depth += 1
        foreign = False
        lines: list[tuple[ClassValue, ...]] = []
        for base in self.bases(value):
            foreign = foreign or any(isinstance(one, (ExternalValue, ExternalInstance, TypeForm)) for one in base)
            for one in base:
                if isinstance(one, ClassValue):
                    mro, far = self._compute_mro(one)
                    foreign = foreign or far
                    lines.append(mro)
        self._depth -= 1
        found = ((value, *_linearise(lines)), foreign)
        self._orders[value] = found
        return found

    def member(self, value: ClassValue, name: str) -> ClassMember | None:
        key = (value, name)
        if key not in self._members:
            self._members[key] = self.member_among(self.mro(value), name)
        return self._members[key]

    def member_among(self, classes: tuple[ClassValue, ...], name: str) -> ClassMember | None:
        for place, one in enumerate(classes):
            given = self._lookup(surface.NAME, one.path, one.qualname, name)
            if given:
                inherited = self._property_among(classes[place:], name) if len(classes) > place + 1 else None
                return inherited or ClassMember(one, given[0][1])
        return None

    def _property_among(self, classes: tuple[ClassValue, ...], name: str) -> ClassMember | None:
        """Return an inherited property to which the first class only assigns: `self.name = …` calls its setter."""
        if not self._lookup(surface.PROPERTY, name):
            return None
        defined = (self.function(one.path, f"{one.qualname}.{name}") for one in classes)
        owner, made = next(((one, made) for one, made in zip(classes, defined, strict=True) if made), (None, None))
        if owner is None or made is None or not made.traits & Trait.PROPERTY:
            return None
        given = self._lookup(surface.NAME, owner.path, owner.qualname, name)
        return ClassMember(owner, given[0][1]) if given else None

    def unknown_member(self, value: ClassValue, name: str) -> Values:
        """Return what is known of a member that no class of the project defines."""
        if name == "__new__":
            return (ExternalValue("builtins.object.__new__"),)
        if self.has_external_ancestor(value) or name in OBJECT:
            return EXTERNAL
        return NOTHING


def _linearise(lines: list[tuple[ClassValue, ...]]) -> list[ClassValue]:
    """Merge by C3 linearisation; if that is impossible, keep the order of appearance."""
    if len(lines) == 1:
        return list(lines[0])
    waiting = [list(line) for line in [*lines, tuple(line[0] for line in lines)] if line]
    mro: list[ClassValue] = []
    while waiting:
        tails = {one for line in waiting for one in line[1:]}
        head = next((line[0] for line in waiting if line[0] not in tails), waiting[0][0])
        mro.append(head)
        waiting = [rest for line in waiting if (rest := [one for one in line if one != head])]
    return mro
