"""Lossless conversion between values and rows. Long text is moved to the blob store."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, Generic, TypeVar

from treering.adapters.sql.kinds import RecordKind
from treering.core.errors import BlobMissing, Unreadable
from treering.core.scope import Scope
from treering.core.values import Record
from treering.ports.blobs import Blobs

V = TypeVar("V", bound=Record)
Row = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
BLOBS = "~blobs"
# Columns with practically unlimited text.
_UNBOUNDED = frozenset({"content", "text", "before", "error", "rest"})
# Columns that quote a record; moved, too, if the database must not hold text.
_QUOTING = frozenset({"citation"})
# Kinds that stay in the database: ids and labels, never a record's text.
_OPERATIONAL = frozenset({"job", "audit", "entity"})
_NOTHING = "{}"
# Errors from decoding a row that is not what was written; pydantic's error is a ValueError.
_NOT_A_RECORD = (ValueError, TypeError, KeyError, AttributeError, OverflowError)


def micros(moment: datetime) -> int:
    """Microseconds since 1970; exact, unlike a float timestamp."""
    return (moment - _EPOCH) // _MICROSECOND


def instant(stored: int) -> datetime:
    return _EPOCH + stored * _MICROSECOND


def primitive(value: Any) -> Any:
    """The value as a type that drivers accept."""
    if isinstance(value, datetime):
        return micros(value)
    if isinstance(value, Enum):
        return value.value
    return value


@dataclass(frozen=True)
class Encoded:
    """A row, and the digests of the blobs it refers to."""

    row: Row
    blobs: tuple[str, ...] = ()


def _is_choice(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Enum)


class Codec(Generic[V]):
    """Encodes one kind of value."""

    def __init__(self, kind: RecordKind[V], blob_bytes: int | None) -> None:
        self._kind = kind
        self._blob_bytes = None if blob_bytes == 0 and kind.name in _OPERATIONAL else blob_bytes
        fields = kind.value.model_fields
        self._columns = tuple(c.name for c in kind.table.c if c.name in fields and c.name not in ("rest", "lifecycle"))
        self._moments = tuple(c.name for c in kind.table.c if c.name in self._columns and "moment" in c.info)
        self._choices = tuple(name for name in self._columns if _is_choice(fields[name].annotation))
        self._plain = tuple(name for name in self._columns if name not in (*self._choices, *self._moments))
        moved = _UNBOUNDED if blob_bytes else _UNBOUNDED | _QUOTING
        self._texts = tuple(column.name for column in kind.table.c if column.name in moved)
        self._has_lifecycle = "lifecycle" in kind.table.c
        self._in_rest = tuple(
            name for name in fields if name not in self._columns and not (name == "lifecycle" and self._has_lifecycle)
        )

    def encode(self, scope: Scope, value: V, blobs: Blobs) -> Encoded:
        fields = value.__dict__
        row: Row = {"tenant": scope.tenant, "project": scope.project}
        for name in self._plain:
            row[name] = fields[name]
        for name in self._choices:
            row[name] = fields[name].value
        for name in self._moments:
            moment = fields[name]
            row[name] = None if moment is None else (moment - _EPOCH) // _MICROSECOND
        for name, derive in self._kind.derived.items():
            row[name] = primitive(derive(value))
        if self._has_lifecycle:
            row["lifecycle"] = fields["lifecycle"].to_json()
        row["rest"] = self._rest(value)
        return self._spill(scope, row, blobs)

    def decode(self, scope: Scope, row: Mapping[Any, Any], blobs: Blobs) -> V:
        try:
            return self._decoded(scope, row, blobs)
        except BlobMissing as exc:
            raise BlobMissing(f"{self._kind.name} {row.get('id')!r}: {exc}") from exc
        except _NOT_A_RECORD as exc:
            reason = " ".join(str(exc).split())[:300]
            raise Unreadable(
                f"{self._kind.name} {row.get('id')!r} cannot be read: {reason}; use the version of Treering or of the "
                "plug-in that wrote it, or restore it from a backup"
            ) from exc

    def _decoded(self, scope: Scope, row: Mapping[Any, Any], blobs: Blobs) -> V:
        fields = self._gather(scope, row, blobs)
        for name in self._moments:
            if fields[name] is not None:
                fields[name] = instant(fields[name])
        if self._has_lifecycle:
            fields["lifecycle"] = json.loads(row["lifecycle"])
        return self._kind.value.from_stored(fields)

    def _rest(self, value: V) -> str:
        """Only non-empty fields: omitted ones are restored as the field's empty default."""
        fields = value.__dict__
        filled = {name for name in self._in_rest if fields[name] is not None and fields[name] != ()}
        return value.model_dump_json(include=filled, exclude_none=True) if filled else _NOTHING

    def stored(self, row: Mapping[Any, Any]) -> Encoded:
        """A stored row, independent of the settings at the time of writing."""
        return Encoded(dict(row), tuple(json.loads(row["rest"]).get(BLOBS, {}).values()))

    def _spill(self, scope: Scope, row: Row, blobs: Blobs) -> Encoded:
        if self._blob_bytes is None:
            return Encoded(row)
        limit, characters = self._blob_bytes, 0
        for name in self._texts:
            characters += len(row[name] or "")
        if characters * 4 <= limit:
            return Encoded(row)
        texts = {name: (row[name] or "").encode() for name in self._texts}
        long = {name: text for name, text in texts.items() if len(text) > limit and text != _NOTHING.encode()}
        if not long:
            return Encoded(row)
        digests = {name: blobs.put(scope, data) for name, data in long.items()}
        rest = {} if "rest" in digests else json.loads(row["rest"])
        kept = {**row, **dict.fromkeys(digests, ""), "rest": json.dumps({**rest, BLOBS: digests})}
        return Encoded(kept, tuple(digests.values()))

    def _gather(self, scope: Scope, row: Mapping[Any, Any], blobs: Blobs) -> dict[str, Any]:
        rest: dict[str, Any] = json.loads(row["rest"])
        texts = {name: row[name] for name in self._columns}
        for name, digest in rest.pop(BLOBS, {}).items():
            whole = blobs.get(scope, digest).decode()
            if name == "rest":
                rest = json.loads(whole)
            else:
                texts[name] = whole
        return {**rest, **texts}


def codec_of(kind: RecordKind[V], blob_bytes: int | None) -> Codec[V]:
    """The codec of a kind; `blob_bytes` is the length above which text moves to the blob store, None for never."""
    return _codec(kind, blob_bytes)


# Cached: the layout is the same for every transaction, and computing it costs as much as a small statement.
_codec: Callable[[RecordKind[Any], int | None], Codec[Any]] = cache(Codec)
