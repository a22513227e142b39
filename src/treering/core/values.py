"""Base classes and field types of values: frozen, validated, and stable across a JSON round trip."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)

from treering.core.errors import InvalidInput

# A B-tree entry of PostgreSQL holds 2,704 bytes; the widest key is tenant + project + facet value + id.
KEY_BYTES = 200
LABEL_BYTES = 256
PATH_BYTES = 1024
# Each label is a row in the facet index; a record with more is a data dump.
LABELS = 1_000
# Larger texts belong in a file, whose path can be remembered.
TEXT_BYTES = 64 * 1024 * 1024
# JSON parsers limit nesting (pydantic near 200) and the length of numbers (Python at 4,300 digits).
NESTING = 32
NUMBER_BITS = 13_000


# An absolute path (also of Windows), a home directory, or a parent directory.
_OUTSIDE = re.compile(r"^(?:[/\\~]|[A-Za-z]:[/\\])|(?:^|[/\\])\.\.(?:[/\\]|$)")


class FrozenDict(Mapping[str, Any]):
    """An immutable JSON object; nested objects are frozen too, lists are tuples."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Any], room: int = NESTING) -> None:
        self._items = {_json_text(str(key)): _freeze(item, room) for key, item in items.items()}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def brief(text: str, limit: int = 60) -> str:
    """The beginning of a text on one line, for a `repr`."""
    line = " ".join(text[: 2 * limit].split())
    return line if len(line) <= limit and len(text) <= 2 * limit else f"{line[: limit - 1]}…"


class Value(BaseModel):
    """A frozen value. `make` and `replace` raise `InvalidInput` for invalid fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @classmethod
    def make(cls, **fields: Any) -> Self:
        """Build from untrusted fields."""
        try:
            return cls(**fields)
        except ValidationError as exc:
            raise InvalidInput(_explain(cls.__name__, exc)) from exc

    @classmethod
    def defaults(cls) -> Self:
        """Like `cls()`, but without building the slow validator."""
        return cast(Self, cls.model_construct())

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Build from the output of `to_json`."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as exc:
            raise InvalidInput(_explain(cls.__name__, exc)) from exc

    def to_json(self) -> str:
        """The value as JSON; `from_json` returns an equal value."""
        return self.model_dump_json()

    def replace(self, **changes: Any) -> Self:
        """A new, validated value that differs in `changes`."""
        return self.make(**{**self.__dict__, **changes})

    def with_constants(self, **constants: Any) -> Self:
        """Like `replace`, but without building the slow validator: only for values that the code itself names."""
        return cast(Self, self.model_construct(**{**self.__dict__, **constants}))


def _field_path(location: tuple[int | str, ...]) -> str:
    """Path of a field, without the union members that Pydantic adds, such as `literal['code']`."""
    return ".".join(str(part) for part in location if "[" not in str(part))


def _explain(name: str, exc: ValidationError) -> str:
    reasons = [
        f"{_field_path(e['loc']) or 'value'}: {e['msg'].removeprefix('Value error, ')}" for e in exc.errors()[:3]
    ]
    more = f" (and {exc.error_count() - 3} more)" if exc.error_count() > 3 else ""
    return f"not a valid {name}: {'; '.join(reasons)}{more}"


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("contains a NUL character, which PostgreSQL cannot store; remove it")
    return text


def _json_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains a lone surrogate, which is not text; replace it first") from None
    return _storable(text)


def is_storable(text: str) -> bool:
    """Whether both engines can store `text`."""
    try:
        _json_text(text)
    except (ValueError, AttributeError, TypeError):
        return False
    return True


def storable(value: Any) -> Any:
    """JSON that both engines can store: a NUL becomes its symbol, a lone surrogate the replacement character."""
    if isinstance(value, str):
        return value if is_storable(value) else _storable_text(value)
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def _storable_text(text: str) -> str:
    return text.replace("\0", "\u2400").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_key(text: object) -> bool:
    """Whether `text` is a valid `Key`."""
    try:
        return type(text) is str and len(text.encode()) <= KEY_BYTES and bool(_printable(text))
    except ValueError:
        return False


def _within(limit: int, name: str) -> AfterValidator:
    def check(text: str) -> str:
        if len(text) > limit or not (text.isascii() or len(text.encode()) <= limit):
            raise ValueError(f"{name} has {len(text.encode()):,} bytes; the limit is {limit:,}")
        return text

    return AfterValidator(check)


def _printable(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if not text.isprintable():
        raise ValueError("contains a control or separator character; use printable characters")
    return text


def _repository_path(path: str) -> str:
    """The path without `./` and `//`, so that each file has one name."""
    steps = [step for step in path.split("/") if step not in ("", ".")]
    plain = "/".join(steps) or "."
    if _OUTSIDE.search(path) or _OUTSIDE.search(plain):
        raise ValueError(f"{path!r} is outside the project; pass a path relative to the repository root")
    return _printable(f"{plain}/" if steps and path.endswith("/") else plain)


def _distinct(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


def _freeze(value: Any, room: int = NESTING) -> Any:
    if isinstance(value, (Mapping, list, tuple)):
        if room == 0:
            raise ValueError(f"is nested deeper than {NESTING} levels; flatten it")
        if isinstance(value, Mapping):
            return FrozenDict(value, room - 1)
        return tuple(_freeze(item, room - 1) for item in value)
    if isinstance(value, str):
        return _json_text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return _finite(value)
    raise ValueError(f"{type(value).__name__} is not JSON; use text, numbers, booleans, lists and mappings")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not JSON; use a finite number")
    if isinstance(value, int) and value.bit_length() > NUMBER_BITS:
        raise ValueError("contains a number with thousands of digits; store it as text")
    return value


def fitting(text: str, characters: int, room: int = LABEL_BYTES) -> str:
    """The text, cut to at most this many characters and bytes."""
    if len(text) <= characters and len(text.encode("utf-8", "replace")) <= room:
        return text
    end = "…"
    cut = text[: characters - len(end)].encode("utf-8", "ignore")[: room - len(end.encode())]
    return cut.decode("utf-8", "ignore") + end


def thaw(value: Any) -> Any:
    """Frozen JSON as dicts and lists, for serialisers."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


def _frozen_mapping(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError("is not a mapping")
    return FrozenDict(value) if value else EMPTY


Text = Annotated[str, AfterValidator(_storable), _within(TEXT_BYTES, "a text")]
Key = Annotated[str, AfterValidator(_printable), _within(KEY_BYTES, "a name or id")]
Label = Annotated[str, AfterValidator(_printable), _within(LABEL_BYTES, "a label")]
FilePath = Annotated[str, AfterValidator(_printable), AfterValidator(_repository_path), _within(PATH_BYTES, "a path")]
Labels = Annotated[tuple[Label, ...], AfterValidator(_distinct), Field(max_length=LABELS)]
FilePaths = Annotated[tuple[FilePath, ...], AfterValidator(_distinct), Field(max_length=LABELS)]
Keys = Annotated[tuple[Key, ...], AfterValidator(_distinct), Field(max_length=LABELS)]
Instant = Annotated[AwareDatetime, AfterValidator(_utc)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Positive = Annotated[int, Field(ge=1, lt=2**63)]
Json = Annotated[Any, BeforeValidator(_freeze), PlainSerializer(thaw)]
FrozenMap = Annotated[Any, BeforeValidator(_frozen_mapping), PlainSerializer(thaw, return_type=dict[str, Any])]

EMPTY = FrozenDict({})


class Record(Value):
    """A value that is stored under its id. Its `repr` shows the id and the fields in `repr_fields`, shortened."""

    repr_fields: ClassVar[tuple[str, ...]] = ()

    id: Key

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        yield "id", self.id
        for name in self.repr_fields:
            value = getattr(self, name)
            yield name, brief(value) if isinstance(value, str) and not isinstance(value, Enum) else value

    @classmethod
    def from_stored(cls, fields: Mapping[str, Any]) -> Self:
        """Build from stored fields."""
        return cls.model_validate(fields)
