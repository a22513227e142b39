"""Values to rows and back, without loss. Long text moves to the blob store on the way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Generic, TypeVar

from treering.adapters.sql.kinds import Kind
from treering.core.scope import Scope
from treering.core.values import Record
from treering.ports.blobs import Blobs

V = TypeVar("V", bound=Record)
Row = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BLOBS = "~blobs"


def micros(moment: datetime) -> int:
    """Microseconds since 1970; exact, unlike a float timestamp."""
    return (moment - _EPOCH) // _MICROSECOND


def instant(stored: int) -> datetime:
    return _EPOCH + stored * _MICROSECOND


def primitive(value: Any) -> Any:
    """What a driver takes."""
    if isinstance(value, datetime):
        return micros(value)
    if isinstance(value, Enum):
        return value.value
    return value


@dataclass(frozen=True)
class Encoded:
    """A row, and the digests of the blobs it points to."""

    row: Row
    blobs: tuple[str, ...] = ()


class Codec(Generic[V]):
    """Encodes one kind of value."""

    def __init__(self, kind: Kind[V], blob_bytes: int | None) -> None:
        self._kind = kind
        self._blob_bytes = blob_bytes
        fields = kind.value.model_fields
        self._columns = tuple(c.name for c in kind.table.c if c.name in fields and c.name not in ("rest", "lifecycle"))
        self._moments = tuple(c.name for c in kind.table.c if c.name in self._columns and "moment" in c.info)
        self._has_lifecycle = "lifecycle" in kind.table.c
        self._in_rest = set(fields) - set(self._columns) - ({"lifecycle"} if self._has_lifecycle else set())

    def encode(self, scope: Scope, value: V, blobs: Blobs) -> Encoded:
        fields = value.__dict__
        row: Row = {"tenant": scope.tenant, "project": scope.project}
        for name in self._columns:
            row[name] = primitive(fields[name])
        for name, derive in self._kind.derived.items():
            row[name] = primitive(derive(value))
        if self._has_lifecycle:
            row["lifecycle"] = fields["lifecycle"].to_json()
        row["rest"] = value.model_dump_json(include=self._in_rest, exclude_none=True) if self._in_rest else "{}"
        return self._spill(scope, row, blobs)

    def decode(self, scope: Scope, row: Mapping[Any, Any], blobs: Blobs) -> V:
        fields = self._gather(scope, row, blobs)
        for name in self._moments:
            if fields[name] is not None:
                fields[name] = instant(fields[name])
        if self._has_lifecycle:
            fields["lifecycle"] = json.loads(row["lifecycle"])
        return self._kind.value.model_validate(fields)

    def _spill(self, scope: Scope, row: Row, blobs: Blobs) -> Encoded:
        if self._blob_bytes is None:
            return Encoded(row)
        long = {
            name: text.encode()
            for name, text in row.items()
            if isinstance(text, str) and len(text) * 4 > self._blob_bytes and len(text.encode()) > self._blob_bytes
        }
        if not long:
            return Encoded(row)
        digests = {name: blobs.put(scope, data) for name, data in long.items()}
        rest = {} if "rest" in digests else json.loads(row["rest"])
        kept = {**row, **dict.fromkeys(digests, ""), "rest": json.dumps({**rest, _BLOBS: digests})}
        return Encoded(kept, tuple(digests.values()))

    def _gather(self, scope: Scope, row: Mapping[Any, Any], blobs: Blobs) -> dict[str, Any]:
        rest: dict[str, Any] = json.loads(row["rest"])
        texts = {name: row[name] for name in self._columns}
        for name, digest in rest.pop(_BLOBS, {}).items():
            whole = blobs.get(scope, digest).decode()
            if name == "rest":
                rest = json.loads(whole)
            else:
                texts[name] = whole
        return {**rest, **texts}
