"""Values of every kind, derived from the models themselves: a new field is generated without being named here."""

import types
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from functools import cache, partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import treering.core
from treering.core.conditions import AllOf, AnyOf, Condition, Not
from treering.core.conditions import Test as FieldTest
from treering.core.episodes import Artifact, Episode, Vector
from treering.core.observations import PackedWords
from treering.core.past_sessions import SessionWords
from treering.core.payloads import Payload, knowledge_type, knowledge_types
from treering.core.queries import Filter, KnowledgeFilter, Page
from treering.core.records import Knowledge, RecordChunk, Relation, text_digest
from treering.core.settings import PatternSettings, Settings
from treering.core.settings.store import Cron, MaintenanceSettings
from treering.core.values import (
    KEY_BYTES,
    LABEL_BYTES,
    PATH_BYTES,
    Count,
    FilePath,
    FrozenMap,
    Instant,
    Json,
    Key,
    Label,
    Positive,
    Record,
    Share,
    Text,
    Value,
)
from treering.core.wording import statement_keys

V = TypeVar("V", bound=Value)
R = TypeVar("R", bound=Record)
F = TypeVar("F", bound=Filter)

FEW = 3
# Words that engines and indexes are likely to stumble over.
AWKWARD = (
    "🌳🧠",
    "שלום עולם",
    "مرحبا",
    "e\u0301té",
    "a'b\"c",
    "%_*^:",
    "NEAR(x)",
    "\u202eabc",
    "ﬁne",
    "İ",
    "\t\r\n",
    "\x7f",
)

_NAMES = st.characters(exclude_categories=("C", "Z"))


def _fitting(limit: int) -> Callable[[str], bool]:
    return lambda text: bool(text.strip()) and len(text.encode()) <= limit


def _names(limit: int) -> st.SearchStrategy[str]:
    plain = st.text(_NAMES, min_size=1, max_size=8)
    return plain | plain.map(lambda text: (text * limit)[: limit // 4]).filter(_fitting(limit))


def _long(text: str) -> str:
    return text * (5_000 // len(text))


keys = _names(KEY_BYTES)
labels = _names(LABEL_BYTES)
paths = _names(PATH_BYTES - len("src/")).map(lambda path: f"src/{path.replace('..', '')}")
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
short_texts = st.text(characters, max_size=20) | st.sampled_from(AWKWARD)
texts = short_texts | st.text(characters, min_size=1, max_size=3).map(_long)
zones = st.sampled_from((UTC, timezone(timedelta(hours=-11)), timezone(timedelta(hours=5, minutes=45))))
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)
shares = st.floats(0, 1)
counts = st.integers(0, 9) | st.integers(0, 2**62)
scalars = st.none() | st.booleans() | st.integers() | st.integers(-(10**300), 10**300) | short_texts
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    scalars | numbers,
    lambda inner: st.lists(inner, max_size=FEW) | st.dictionaries(short_texts, inner, max_size=FEW),
    max_leaves=5,
)
json_objects = st.dictionaries(short_texts, json_values, max_size=FEW)
packed_words = st.just("") | st.builds(
    lambda words, length: SessionWords(words[: len(words) // 5 * 4], words[len(words) // 5 * 4 :], length).packed(),
    st.binary(max_size=40).map(lambda words: words[: len(words) // 5 * 5]),
    st.integers(0, 10**9 - 1),
)

_WIDE: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (Key, keys),
    (Label, labels),
    (FilePath, paths),
    (Text, texts),
    (PackedWords, packed_words),
    (Instant, moments),
    (Share, shares),
    (Count, counts),
    (Positive, counts.map(lambda count: count + 1)),
    (Json, json_values),
    (FrozenMap, json_objects),
    (Vector, st.lists(numbers, max_size=FEW).map(tuple)),
    (Condition, st.deferred(lambda: conditions)),
    (type(None), st.none()),
    (bool, st.booleans()),
    (int, st.integers(-9, 9)),
    (float, numbers),
    (str, short_texts),
)


# So few values that records share them and filters find some.
_NARROW: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (Key, st.sampled_from(("a", "b", "c"))),
    (Label, st.sampled_from(("fact", "gotcha", "Ada", "ada"))),
    (FilePath, st.sampled_from(("src/a.py", "src/b.py", "README.md"))),
    (Text, st.sampled_from(("cold water", "Cold  Water", "warm air", "fire"))),
    (Instant, st.sampled_from([datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)])),
    (Share, st.sampled_from((0.0, 0.25, 0.5, 1.0))),
    (Count, st.integers(1, 3)),
    (Positive, st.integers(1, 3)),
    (Json, st.none()),
    (FrozenMap, st.just({})),
    *(
        (alias, strategy)
        for alias, strategy in _WIDE
        if alias not in (Key, Label, FilePath, Text, Instant, Share, Count, Positive)
    ),
)
_UNIVERSES = {"wide": _WIDE, "narrow": _NARROW}


def _strategy(hint: Any, universe: str) -> st.SearchStrategy[Any]:
    """A strategy for a type hint; `Annotated` aliases of the house are leaves."""
    known = [strategy for alias, strategy in _UNIVERSES[universe] if hint == alias]
    if known:
        return known[0]
    if get_origin(hint) in _ORIGINS:
        return _ORIGINS[get_origin(hint)](get_args(hint), universe)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if isinstance(hint, type) and issubclass(hint, Value):
        return st.deferred(lambda: values(hint, universe))
    raise TypeError(f"no strategy for {hint!r}: add its alias to _WIDE")


def _one_of(arguments: tuple[Any, ...], universe: str) -> st.SearchStrategy[Any]:
    return st.one_of(*(_strategy(argument, universe) for argument in arguments))


def _tuples(arguments: tuple[Any, ...], universe: str) -> st.SearchStrategy[tuple[Any, ...]]:
    if arguments[-1] is Ellipsis:
        return st.lists(_strategy(arguments[0], universe), max_size=FEW).map(tuple)
    return st.tuples(*(_strategy(argument, universe) for argument in arguments))


_ORIGINS: Mapping[Any, Callable[[tuple[Any, ...], str], st.SearchStrategy[Any]]] = {
    Annotated: lambda arguments, universe: _strategy(arguments[0], universe),
    Union: _one_of,
    types.UnionType: _one_of,
    Literal: lambda arguments, universe: st.sampled_from(arguments),
    tuple: _tuples,
    frozenset: lambda arguments, universe: st.frozensets(_strategy(arguments[0], universe), min_size=1),
}


_BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": lambda value, bound: value > bound,
    "ge": lambda value, bound: value >= bound,
    "lt": lambda value, bound: value < bound,
    "le": lambda value, bound: value <= bound,
    "min_length": lambda value, bound: len(value) >= bound,
    "max_length": lambda value, bound: len(value) <= bound,
}


def _bounded(strategy: st.SearchStrategy[Any], metadata: list[Any]) -> st.SearchStrategy[Any]:
    """Keeps what the `Field(…)` of a field allows."""
    for limit in metadata:
        for name, holds in _BOUNDS.items():
            if (bound := getattr(limit, name, None)) is not None:
                pushed = strategy.map(partial(_pushed, name=name, bound=bound))
                strategy = pushed.filter(partial(_allowed, holds=holds, bound=bound))
    return strategy


def _allowed(value: Any, holds: Callable[[Any, Any], bool], bound: Any) -> bool:
    return value is None or holds(value, bound)


def _pushed(value: Any, name: str, bound: Any) -> Any:
    """Moves a value towards its bound, so that few examples are thrown away."""
    if isinstance(value, str):
        return value[:bound] if name == "max_length" else value
    if name in ("gt", "ge") and isinstance(value, (int, float)) and value <= bound:
        return type(value)(bound + min(1 + bound - value, 1e300))
    return value


def _field(cls: type[Value], name: str, hint: Any, universe: str) -> st.SearchStrategy[Any]:
    if (cls, name) == (Artifact, "digest"):
        return st.binary(min_size=32, max_size=32).map(bytes.hex)
    if cls is MaintenanceSettings and hint is Cron:
        return st.sampled_from(("", "0 3 * * *", "*/5 2-4 1 * 1"))
    if (cls, name) == (Episode, "cold"):
        return st.none()
    if (cls, name) == (KnowledgeFilter, "same_text"):
        said = st.tuples(st.sampled_from(("fact", "gotcha")), st.sampled_from(("cold water", "fire")))
        return st.lists(said, max_size=FEW).map(lambda texts: tuple(text_digest(*text) for text in texts))
    if (cls, name) == (KnowledgeFilter, "statement_keys"):
        return st.sampled_from(("cold water", "fire", "")).map(statement_keys)
    return _bounded(_strategy(hint, universe), cls.model_fields[name].metadata)


def _one_target(fields: dict[str, Any]) -> dict[str, Any]:
    record = fields.get("record")
    return {**fields, "file": None if record else (fields.get("file") or "src/a.py")}


def _ordered(low: str, high: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def order(fields: dict[str, Any]) -> dict[str, Any]:
        if fields.get(low) is None or fields.get(high) is None:
            return {**fields, low: None, high: None} if low == "valid_from" else _without(fields, low, high)
        first, last = sorted((fields[low], fields[high]))
        return {**fields, low: first, high: last}

    return order


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


# What a model asks of several fields together.
_TOGETHER: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    Relation.__name__: _one_target,
    RecordChunk.__name__: _ordered("start_line", "end_line"),
    Knowledge.__name__: _ordered("valid_from", "valid_until"),
    "Applicability": _ordered("complexity_min", "complexity_max"),
}


@cache
def values(cls: type[V], universe: str = "wide") -> st.SearchStrategy[V]:
    """Values of one class; optional fields are sometimes left out."""
    if cls is Knowledge:
        names = sorted(knowledge_types()) if universe == "wide" else ["fact", "gotcha"]
        return st.sampled_from(names).flatmap(lambda name: knowledge(name, universe))  # type: ignore[arg-type, return-value]
    if cls in (Settings, PatternSettings):
        # All of them at once are more than one example can hold.
        return _some_of(cls, universe)
    return _built(cls, {}, universe)


def _some_of(cls: type[V], universe: str) -> st.SearchStrategy[V]:
    names = st.lists(st.sampled_from(sorted(cls.model_fields)), unique=True, max_size=3)
    fields = names.flatmap(
        lambda chosen: st.fixed_dictionaries({name: _fields(cls, universe)[name] for name in chosen})
    )
    return fields.map(lambda drawn: cls.make(**drawn))


@cache
def knowledge(type_name: str, universe: str = "wide") -> st.SearchStrategy[Knowledge]:
    """Knowledge of one type, with or without its payload."""
    payload = st.none() | values(knowledge_type(type_name).payload, universe)
    return _built(Knowledge, {"type": st.just(type_name), "payload": payload}, universe)


def _built(cls: type[V], given: Mapping[str, st.SearchStrategy[Any]], universe: str) -> st.SearchStrategy[V]:
    fields = {**_fields(cls, universe), **given}
    required = {name: fields[name] for name, field in cls.model_fields.items() if field.is_required() or name in given}
    together = _TOGETHER.get(cls.__name__, lambda drawn: drawn)
    optional = {name: strategy for name, strategy in fields.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda drawn: cls.make(**together(drawn)))


@cache
def _fields(cls: type[Value], universe: str) -> dict[str, st.SearchStrategy[Any]]:
    hints = get_type_hints(cls, include_extras=True)
    return {name: _field(cls, name, hints[name], universe) for name in cls.model_fields}


def field(cls: type[Value], name: str) -> st.SearchStrategy[Any]:
    """What may stand in one field, out of few values."""
    return _fields(cls, "narrow")[name]


@cache
def filters(cls: type[F]) -> st.SearchStrategy[F]:
    """Filters that ask little enough to find something."""
    names = st.lists(st.sampled_from(sorted(cls.model_fields)), unique=True, max_size=2)
    fields = names.flatmap(lambda chosen: st.fixed_dictionaries({name: field(cls, name) for name in chosen}))
    return fields.map(lambda drawn: cls.make(**drawn))


def records(cls: type[R], **fixed: Any) -> st.SearchStrategy[list[R]]:
    """Some records of one kind, alike in many ways, each under an id of its own."""
    some = st.lists(values(cls, "narrow"), max_size=10)
    return some.map(lambda drawn: [each.replace(id=f"r{place}", **fixed) for place, each in enumerate(drawn)])


conditions: st.SearchStrategy[Any] = st.recursive(
    st.deferred(lambda: values(FieldTest)),
    lambda inner: (
        st.builds(Not, condition=inner)
        | st.builds(AllOf, conditions=st.lists(inner, max_size=2))
        | st.builds(AnyOf, conditions=st.lists(inner, max_size=2))
    ),
    max_leaves=4,
)


# A class is found below `Value` once its module is imported, and the library imports only what it uses.
for _module in walk_packages(treering.core.__path__, "treering.core."):
    import_module(_module.name)


def _concrete(cls: type[V]) -> list[type[V]]:
    below = [sub for child in cls.__subclasses__() for sub in _concrete(child)]
    return below + ([cls] if cls.model_fields and "[" not in cls.__name__ and cls is not Page else [])


VALUES: tuple[type[Value], ...] = tuple(
    sorted({cls for cls in _concrete(Value) if cls.__module__.startswith("treering.")}, key=lambda cls: cls.__name__)
)
RECORDS: tuple[type[Record], ...] = tuple(cls for cls in VALUES if issubclass(cls, Record) and cls is not Record)
FILTERS: tuple[type[Filter], ...] = tuple(cls for cls in VALUES if issubclass(cls, Filter))
PAYLOADS: tuple[type[Payload], ...] = tuple(cls for cls in VALUES if issubclass(cls, Payload))
