"""Base classes and shared parts of requests and answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from treering.core.episodes import Episode
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.turns import Turn

T = TypeVar("T")


class Answered(BaseModel):
    """An answer, made from the attributes of a value of the library."""

    model_config = ConfigDict(from_attributes=True)


class Asked(BaseModel):
    """The body of a request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")

    def given(self, *names: str) -> dict[str, Any]:
        """The fields that the request sets, or those of `names` that it sets."""
        fields = self.model_dump(exclude_unset=True)
        return {name: value for name, value in fields.items() if not names or name in names}


class ListPage(BaseModel, Generic[T]):
    """One page of a list. Pass `next` as `after` to get the next one; it is null at the end."""

    model_config = ConfigDict(from_attributes=True)

    items: list[T]
    next: str | None = None
    total: int | None = Field(default=None, description="Number of all items, if the request asked for it.")


Limit = Annotated[int, Query(ge=1, le=1_000, description="Maximum number of items.")]
After = Annotated[str | None, Query(max_length=2_000, description="`next` of the page before.")]
Descending = Annotated[bool, Query(description="Newest, or largest, first.")]
Total = Annotated[bool, Query(description="Count all items as well.")]
Moment = Annotated[
    datetime | None, Query(description="A time in ISO 8601 with an offset.", examples=["2026-05-08T13:56:00Z"])
]
Text = Annotated[str, Field(min_length=1, description="Text, word for word.")]
RecordKindName = Literal["knowledge", "turn", "episode", "pattern"]
StoredRecord = Knowledge | Turn | Episode | Pattern


class RecordOfKind(Answered):
    """A record of any kind."""

    kind: RecordKindName
    record: StoredRecord


_KINDS: Mapping[type, RecordKindName] = {
    Knowledge: "knowledge",
    Turn: "turn",
    Episode: "episode",
    Pattern: "pattern",
}


def record_of_kind(record: StoredRecord) -> RecordOfKind:
    return RecordOfKind.model_construct(kind=_KINDS[type(record)], record=record)


class ScoreTerm(Answered):
    """One term of a score: a value and its weight."""

    name: str
    value: float
    weight: float


class CountAnswer(Answered):
    """A number of records."""

    count: int
