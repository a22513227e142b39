"""Types of builtins and the standard library: containers, iteration, await and call results."""

import builtins
from collections.abc import Callable, Sequence

from treering.code.languages.python.values import (
    EXTERNAL,
    NOTHING,
    ClassValue,
    ExternalInstance,
    ExternalValue,
    Instance,
    LambdaValue,
    TypeForm,
    Value,
    Values,
    merged,
)

BUILTINS = frozenset(dir(builtins)) | {"reveal_type", "unicode", "WindowsError"}
STRINGS = frozenset({"__name__", "__file__", "__doc__", "__package__", "__qualname__"})
OBJECT = frozenset(dir(object)) | {"__dict__", "__slots__", "__annotations__", "__module__", "__name__", "__bases__"}
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
FIXTURES = frozenset(
    {"request", "tmp_path", "tmp_path_factory", "tmpdir", "monkeypatch", "capsys", "caplog", "recwarn", "pytestconfig"}
)
"""Parameters that pytest itself fills."""

WRAPPED = frozenset({"__wrapped__", "__func__", "func", "fget"})
"""Attributes under which wrappers of `functools` and descriptors keep the function."""

_NO_TYPE = frozenset({"Any", "object", "NoReturn", "Never", "TypeAlias", "ParamSpec", "Literal", "LiteralString"})
TRANSPARENT = frozenset(
    {"Optional", "Union", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack"}
)
"""Type forms whose instances are those of their parts."""
MAPPINGS = frozenset({"dict", "mapping", "mutablemapping", "defaultdict", "ordereddict", "chainmap"})
_ITERABLES = frozenset(
    {
        *("list", "set", "frozenset", "deque", "sequence", "iterable", "iterator", "collection", "generator"),
        *("asyncgenerator", "asynciterator", "asynciterable", "mutablesequence", "abstractset", "mutableset"),
        *("keysview", "valuesview", "reversible", "container", "contextmanager"),
    }
)
AWAITABLES = frozenset({"coroutine", "awaitable", "future", "task"})
MANAGERS = frozenset({"contextmanager", "abstractcontextmanager", "asynccontextmanager", "abstractasynccontextmanager"})


def last_name(name: str) -> str:
    return name.rpartition(".")[2]


def instance_of(value: Value) -> Values:
    """Return the instance that an annotation with this value describes."""
    if isinstance(value, ClassValue):
        return (Instance(value),)
    if isinstance(value, TypeForm):
        return value.instances
    if isinstance(value, ExternalValue):
        name = last_name(value.name)
        return NOTHING if name in _NO_TYPE else (ExternalInstance(name.lower()),)
    if isinstance(value, ExternalInstance) and value.name == "typevar":
        return value.contents[0] if value.contents else NOTHING
    return NOTHING


def class_of(value: Value) -> Values:
    if isinstance(value, Instance):
        return (value.of,)
    return (ExternalValue(value.name),) if isinstance(value, ExternalInstance) else NOTHING


def element_of(value: ExternalInstance) -> Values:
    """Return what iterating over it yields."""
    if value.name == "tuple":
        return merged(list(value.contents)) if value.contents else NOTHING
    if value.contents and (value.name in _ITERABLES or value.name in MAPPINGS):
        return value.contents[0]
    return NOTHING if value.name in _ITERABLES or value.name in MAPPINGS else EXTERNAL


def item_of(value: ExternalInstance, index: int | None) -> Values:
    """Return what subscripting it yields."""
    if value.name == "tuple" and index is not None and -len(value.contents) <= index < len(value.contents):
        return value.contents[index]
    if value.name in MAPPINGS:
        return value.contents[1] if len(value.contents) > 1 else NOTHING
    return element_of(value)


def awaited(value: ExternalInstance) -> Values:
    if value.name in AWAITABLES:
        return value.contents[-1] if value.contents else NOTHING
    return EXTERNAL


def entered(value: ExternalInstance) -> Values:
    if value.name in MANAGERS:
        return value.contents[0] if value.contents else NOTHING
    return EXTERNAL


def listed(values: Values) -> Values:
    return (ExternalInstance("list", (values,)),)


_MAPPING_METHODS: dict[str, Callable[[Values, Values], Values]] = {
    "get": lambda key, value: value,
    "pop": lambda key, value: value,
    "setdefault": lambda key, value: value,
    "values": lambda key, value: listed(value),
    "keys": lambda key, value: listed(key),
    "items": lambda key, value: listed((ExternalInstance("tuple", (key, value)),)),
    "copy": lambda key, value: (ExternalInstance("dict", (key, value)),),
}
_ELEMENT_METHODS = frozenset({"pop", "popleft", "__next__"})
_CONTENT_TYPES = frozenset({"contextvar", "queue", "simplequeue", "lifoqueue", "priorityqueue"})
_CONTENT_METHODS = frozenset({"get", "get_nowait"})


def method_of(value: ExternalInstance, name: str) -> Values:
    """Return an attribute of an external object; results are known for common container methods."""
    if value.name in MAPPINGS and len(value.contents) > 1 and name in _MAPPING_METHODS:
        return (LambdaValue(_MAPPING_METHODS[name](*value.contents[:2])),)
    if value.name in _ITERABLES and value.contents and name in _ELEMENT_METHODS:
        return (LambdaValue(value.contents[0]),)
    if value.name in _CONTENT_TYPES and value.contents and name in _CONTENT_METHODS:
        return (LambdaValue(value.contents[0]),)
    if value.name in _ITERABLES and name == "copy":
        return (LambdaValue((value,)),)
    return EXTERNAL


def _first(values: Sequence[Values]) -> Values:
    return values[0] if values else NOTHING


def _elements(values: Sequence[Values], iterate: Callable[[Values], Values]) -> Values:
    return iterate(values[0]) if values else NOTHING


_Call = Callable[[Sequence[Values], Callable[[Values], Values]], Values]
"""The result of a call, from its positional arguments and a function that iterates."""

CALLS: dict[str, _Call] = {
    "functools.partial": lambda given, iterate: _first(given),
    "functools.partialmethod": lambda given, iterate: _first(given),
    "functools.update_wrapper": lambda given, iterate: _first(given),
    **dict.fromkeys(
        ("functools.lru_cache", "functools.cache", "functools.singledispatch"),
        lambda given, iterate: _first(given) or EXTERNAL,
    ),
    "builtins.staticmethod": lambda given, iterate: _first(given),
    "builtins.classmethod": lambda given, iterate: _first(given),
    "typing.TypeVar": lambda given, iterate: (
        ExternalInstance("typevar", (merged([instance_of(bound) for bound in _first(given)]),) if given else ()),
    ),
    "typing.cast": lambda given, iterate: merged([instance_of(value) for value in _first(given)]) if given else NOTHING,
    "typing.NewType": lambda given, iterate: given[1] if len(given) > 1 else NOTHING,
    "contextlib.closing": lambda given, iterate: (ExternalInstance("contextmanager", (_first(given),)),),
    "contextlib.nullcontext": lambda given, iterate: (ExternalInstance("contextmanager", (_first(given),)),),
    "weakref.ref": lambda given, iterate: (LambdaValue(_first(given)),),
    "weakref.proxy": lambda given, iterate: _first(given),
    "copy.copy": lambda given, iterate: _first(given),
    "copy.deepcopy": lambda given, iterate: _first(given),
    "asyncio.run": lambda given, iterate: _awaited_all(_first(given)),
    "asyncio.create_task": lambda given, iterate: _first(given),
    "asyncio.ensure_future": lambda given, iterate: _first(given),
    "asyncio.wait_for": lambda given, iterate: _first(given),
    "builtins.next": _elements,
    "builtins.anext": lambda given, iterate: (ExternalInstance("coroutine", (_elements(given, iterate),)),),
    **dict.fromkeys(
        ("builtins." + name for name in ("iter", "list", "set", "tuple", "frozenset", "sorted", "reversed", "aiter")),
        lambda given, iterate: listed(_elements(given, iterate)),
    ),
    **dict.fromkeys(
        ("builtins.min", "builtins.max"),
        lambda given, iterate: merged(list(given)) if len(given) > 1 else _elements(given, iterate),
    ),
    "builtins.enumerate": lambda given, iterate: listed(
        (ExternalInstance("tuple", ((ExternalInstance("int"),), _elements(given, iterate))),)
    ),
    "builtins.zip": lambda given, iterate: listed(
        (ExternalInstance("tuple", tuple([iterate(values) for values in given])),)
    ),
    "builtins.filter": lambda given, iterate: listed(iterate(given[1]) if len(given) > 1 else NOTHING),
    "builtins.type": lambda given, iterate: merged([class_of(value) for value in _first(given)]) if given else NOTHING,
    "builtins.object.__new__": lambda given, iterate: (
        merged([instance_of(value) for value in _first(given)]) if given else NOTHING
    ),
    "builtins.getattr": lambda given, iterate: NOTHING,
    "builtins.dict": lambda given, iterate: _first(given) or (ExternalInstance("dict"),),
}
CALLS["typing_extensions.TypeVar"] = CALLS["typing.TypeVar"]
CALLS["collections.deque"] = CALLS["itertools.islice"] = CALLS["itertools.cycle"] = CALLS["builtins.list"]
CALLS["itertools.zip_longest"] = CALLS["builtins.zip"]
CALLS["itertools.chain"] = lambda given, iterate: listed(merged([iterate(values) for values in given] or [NOTHING]))


def _awaited_all(values: Values) -> Values:
    return merged([awaited(value) for value in values if isinstance(value, ExternalInstance)] or [NOTHING])


def called(name: str) -> Values:
    """Return the result of calling an external name without a specific rule."""
    module, _, own = name.rpartition(".")
    if module in ("builtins", "collections"):
        return (ExternalInstance(own.lower()),)
    return EXTERNAL


def called_instance(value: ExternalInstance) -> Values:
    return value.contents[0] if value.name == "callable" and value.contents else EXTERNAL
